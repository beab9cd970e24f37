r"""A user's turn as sentences of the user's own: without code, logs, quotations and what programs add to it.

    "Only edit `src/a.py`.\n```\n# do not touch\n```"  → "Only edit ⟦0⟧." with the names ("src/a.py",)

File names, commands and other marked words are taken out and numbered, so that their dots and words do not read as
the sentence's; `Sentence.name` gives them back.
"""

import re

from msgspec import Struct

OPEN, CLOSE = "\ue000", "\ue001"
_GAP = "\ue002"
"""Stands for a space between backticks while a turn is cut into sentences: `go test ./... -v` is no two sentences."""

NAME = rf"{OPEN}\d+{CLOSE}"
"""The pattern of a name that was taken out."""

LONGEST = 20_000
"""Characters of a turn that are read: a request comes first, and what is longer holds pasted material."""

LONGEST_SENTENCE = 600
"""Characters of a sentence that are read: what is longer is no sentence that a person wrote."""

_FENCE = re.compile(r"^[ \t>]*(```+|~~~+).*?(?:^[ \t>]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_QUOTE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_INDENTED = re.compile(r"(?:\A|\n)[ \t]*\n((?:(?: {4}|\t)(?![-*•]|\d+[.)]).*(?:\n|\Z))+)")
_PROMPT = re.compile(
    r"\s*(?:\$ |>>> |\.\.\. |Traceback \(|  File \"|\d{4}-\d\d-\d\d[T ]\d\d:|(?:ERROR|WARN(?:ING)?|"
    r"INFO|DEBUG)\b[: ])"
)
_OWN_TAGS = (
    "user_query|task|instructions?|request|query|user_request|user_message|prompt|rules|constraints|requirements"
)
_TAGGED = re.compile(rf"<(?!(?:{_OWN_TAGS})\b)([a-z][\w-]*)(?:\s[^<>\n]*)?>.*?</\1>", re.DOTALL | re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"https?://[^\s)>\]]+")
_BACKTICKS = re.compile(r"(`+)([^`\n]+)\1")
_QUOTATION = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|(?<!\w)'[^'\n]{3,}'(?!\w)")
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
    rf"|(?:[\w.@*+-]+/)*[\w@*+.-]*\.(?:{_EXTENSIONS})\b(?![\w/(]|\.\w)"  # a.py, *.py, b/a.py
    rf"|[\w.@*+-]+(?:/[\w.@*+-]+){{2,}}/?"  # a/b/c
    rf"|(?:{_FOLDERS})(?:/[\w.@*+-]+)+/?|[\w.@*+-]+(?:/[\w.@*+-]+)*/(?![\w/])"  # src/a, a/b/
    r"|(?:Makefile|Dockerfile|Gemfile|Procfile|Jenkinsfile|LICENSE|CHANGELOG|CONTRIBUTING|\.gitignore|"
    r"\.env)\b(?![\w/.])"
    rf")"
)
_BREAK = re.compile(r"(?<=[.!?;])\s+|\n+")
_NAME = re.compile(NAME)
_PRODUCTS = frozenset(("node.js", "vue.js", "next.js", "react.js", "nuxt.js", "three.js", "d3.js", "express.js"))
_WORDS_OF_A_NAME = 3
_SPACE = re.compile(r"[ \t]+")


class Sentence(Struct, frozen=True, gc=False):
    """A sentence with marks in place of its names."""

    text: str
    names: tuple[str, ...]

    def name(self, mark: str) -> str:
        """The name that a mark stands for."""
        return self.names[int(mark.strip()[1:-1])]

    def names_in(self, text: str) -> list[str]:
        """The names that the marks in a piece of the sentence stand for."""
        return [self.name(mark) for mark in _NAME.findall(text)]

    def shown(self, text: str) -> str:
        """A piece of the sentence with its names put back, for a person."""
        return _NAME.sub(lambda match: self.name(match.group()), text).strip()


def marked(raw: str) -> Sentence:
    """A sentence as the user wrote it with its names taken out: paths, and what stands between backticks or quotes."""
    names: list[str] = []

    def out(name: str) -> str:
        names.append(name.replace(_GAP, " ").strip())
        return f"{OPEN}{len(names) - 1}{CLOSE}"

    def path_out(match: re.Match[str]) -> str:
        path = match.group()
        stem = path.rstrip(".-+")
        return out(stem) + path[len(stem) :] if stem and path.lower() not in _PRODUCTS else path

    text = _BACKTICKS.sub(lambda match: out(match.group(2)), raw) if "`" in raw else raw
    if '"' in text or "“" in text or "'" in text:
        text = _QUOTATION.sub(lambda match: out(match.group()[1:-1]), text)
    if "http" in text:
        text = _LINK.sub(" ", text)
    if "." in text or "/" in text or "file" in text or "LICENSE" in text or "CHANGE" in text or "CONTRIB" in text:
        text = _PATH.sub(path_out, text)
    return Sentence(_SPACE.sub(" ", text).strip(), tuple(names))


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
    return text


def sentences_of(text: str) -> list[str]:
    """A turn's own sentences, without what it quotes at length."""
    said = own_words(text).replace(OPEN, "").replace(CLOSE, "").replace(_GAP, "").replace("**", "")
    if "`" in said:
        said = _BACKTICKS.sub(lambda match: match.group().replace(" ", _GAP), said)
    if '"' in said or "“" in said:
        said = _QUOTATION.sub(_without_length, said)
    return [
        part[:LONGEST_SENTENCE]
        for part in _BREAK.split(said)
        if part and not part.isspace() and not _PROMPT.match(part)
    ]


def _without_length(match: re.Match[str]) -> str:
    return match.group() if len(match.group().split()) <= _WORDS_OF_A_NAME else " "


def has(text: str, words: tuple[str, ...]) -> bool:
    """Whether one of the words stands in a text: a cheap look before a pattern is tried."""
    for word in words:  # noqa: SIM110 (a generator is three times slower, and this runs on every sentence)
        if word in text:
            return True
    return False
