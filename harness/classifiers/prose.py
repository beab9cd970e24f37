r"""A user's turn as sentences of the user's own: without code, logs, quotations and what programs add to it.

    "Only edit `src/a.py`.\n```\n# do not touch\n```"  → "Only edit ⟦0⟧." with the names ("src/a.py",)

File names, commands and other marked words are taken out and numbered, so that their dots and words do not read as
the sentence's; `Prose.name` gives them back.
"""

import re

from msgspec import Struct

OPEN, CLOSE = "\ue000", "\ue001"
NAME = rf"{OPEN}\d+{CLOSE}"
"""The pattern of a name that was taken out."""

LONGEST = 20_000
"""Characters of a turn that are read: a request comes first, and what is longer holds pasted material."""

_FENCE = re.compile(r"^[ \t>]*(```+|~~~+).*?(?:^[ \t>]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_QUOTE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_INDENTED = re.compile(r"(?:\A|\n)[ \t]*\n((?:(?: {4}|\t)(?![-*•]|\d+[.)]).*(?:\n|\Z))+)")
_PROMPT = re.compile(
    r"^\s*(?:\$ |>>> |\.\.\. |Traceback \(|  File \"|\d{4}-\d\d-\d\d[T ]\d\d:|(?:ERROR|WARN(?:ING)?|"
    r"INFO|DEBUG)\b[: ]).*$",
    re.MULTILINE,
)
_OWN_TAGS = (
    "user_query|task|instructions?|request|query|user_request|user_message|prompt|rules|constraints|requirements"
)
_TAGGED = re.compile(rf"<(?!(?:{_OWN_TAGS})\b)([a-z][\w-]*)(?:\s[^<>\n]*)?>.*?</\1>", re.DOTALL | re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"https?://[^\s)>\]]+")
_BACKTICKS = re.compile(r"(`+)([^`\n]+)\1")
_LONG_QUOTATION = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|(?<!\w)'[^'\n]{3,}'(?!\w)")
_EXTENSIONS = (
    "py|pyi|js|jsx|ts|tsx|mjs|cjs|go|rs|java|kt|scala|rb|php|c|h|cc|cpp|hpp|cs|swift|m|lua|pl|ex|exs|sh|bash|sql|vue|svelte|"
    "dart|hs|ml|clj|jl|html|htm|css|scss|sass|less|md|mdx|rst|adoc|txt|json|jsonl|yaml|yml|toml|cfg|ini|conf|env|lock|xml|"
    "csv|tsv|proto|tf|gradle|ipynb|properties|log|db|sqlite|diff|patch|pdf|svg|png|bat|ps1|cmake|mk|graphql|prisma|in"
)
_FOLDERS = (
    "src|lib|app|apps|test|tests|docs|doc|api|pkg|cmd|internal|packages|scripts|config|server|client|core|web|frontend|"
    "backend|components|utils|include|tools|examples|public|assets|data|services|models|bin|build|dist|db|migrations|\\.github"
)
_PATH = re.compile(
    rf"(?<![\w/.@{OPEN}])(?:"
    rf"(?:~|\.{{1,2}})?/[\w.@*+-]+(?:/[\w.@*+-]+)*/?"  # /a/b, ./a, ~/a
    rf"|(?:{_FOLDERS})(?:/[\w.@*+-]+)+/?|[\w.@*+-]+(?:/[\w.@*+-]+)+/"  # src/a, a/b/
    rf"|[\w.@*+-]+(?:/[\w.@*+-]+){{2,}}"  # a/b/c
    rf"|(?:[\w.@*+-]+/)*[\w@*+.-]*\.(?:{_EXTENSIONS})\b(?![\w/(]|\.\w)"  # a.py, *.py, b/a.py
    rf"|[\w.-]+/(?![\w/])"  # tests/
    r"|(?:Makefile|Dockerfile|Gemfile|Procfile|Jenkinsfile|LICENSE|CHANGELOG|CONTRIBUTING|\.gitignore|"
    r"\.env)\b(?![\w/.])"
    rf")"
)
_BREAK = re.compile(r"(?<=[.!?;])\s+|\n+")
_SPACE = re.compile(r"[ \t]+")


class Prose(Struct, frozen=True, gc=False):
    """The sentences of a turn, and the names that were taken out of them."""

    sentences: tuple[str, ...]
    names: tuple[str, ...]

    def name(self, mark: str) -> str:
        """The name that a mark stands for."""
        return self.names[int(mark.strip()[1:-1])]

    def names_in(self, text: str) -> list[str]:
        """The names that the marks in a piece of text stand for."""
        return [self.name(mark) for mark in re.findall(NAME, text)]

    def shown(self, text: str) -> str:
        """A piece of text with its names put back, for a person."""
        return re.sub(NAME, lambda match: self.name(match.group()), text).strip()


def own_words(text: str) -> str:
    """What the user says, without code, logs, quotations and tagged blocks."""
    text = text[:LONGEST].replace("’", "'")
    if "<" in text:
        text = _TAGGED.sub("\n", _COMMENT.sub(" ", text))
    if "```" in text or "~~~" in text:
        text = _FENCE.sub("\n", text)
    if ">" in text:
        text = _QUOTE.sub("", text)
    if "\n    " in text or "\n\t" in text:
        text = _INDENTED.sub("\n\n", text)
    return _PROMPT.sub("", text)


def prose_of(text: str) -> Prose:
    """A turn's own sentences with their names taken out."""
    names: list[str] = []

    def out(name: str) -> str:
        names.append(name)
        return f"{OPEN}{len(names) - 1}{CLOSE}"

    def quotation(match: re.Match[str]) -> str:
        inside = match.group()[1:-1].strip()
        return out(inside) if inside and len(inside.split()) <= 3 else " "

    said = _LINK.sub(" ", own_words(text).replace(OPEN, "").replace(CLOSE, ""))
    said = _BACKTICKS.sub(lambda match: out(match.group(2).strip()), said)
    said = _LONG_QUOTATION.sub(quotation, said)
    said = said.replace("**", "").replace("__", "")
    said = _PATH.sub(lambda match: _path_out(match.group(), out), said)
    sentences = tuple(_SPACE.sub(" ", part).strip() for part in _BREAK.split(said) if part.strip())
    return Prose(sentences, tuple(names))


def _path_out(path: str, out: object) -> str:
    ending = ""
    while path.endswith((".", "-", "+")):
        path, ending = path[:-1], path[-1] + ending
    return f"{out(path)}{ending}" if callable(out) and path else path + ending
