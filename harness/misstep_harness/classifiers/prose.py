r"""A user's turn as sentences of the user's own: without code, logs, quotations and what programs add to it.

"Only edit `src/a.py`.\n```\n# do not touch\n```"  → one sentence, "Only edit `src/a.py`."
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

_SCRATCH = re.compile(r"^(?:/var)?/tmp/|^/private/tmp/|^\$\{?TMPDIR|^/dev/")
_FROM_ROOT = re.compile(r"^(?:/|[A-Za-z]:/)")
_HOME = re.compile(r"^(?:~\w*|\$\{?\w+\}?)/")


def parts_of(path: str) -> list[str]:
    """Return the parts of a path, without those that do not move."""
    return [part for part in path.replace("\\", "/").strip().split("/") if part not in ("", ".", "...")]


def is_scratch(path: str, projects: Iterable[str] = ()) -> bool:
    """Return whether a path lies in a folder for temporary files, and not in a project that lies there itself."""
    if _SCRATCH.match(path) is None:
        return False
    return not any(len(parts_of(one)) > 1 and path.startswith(f"{one.rstrip('/')}/") for one in projects)


@lru_cache(maxsize=4096)
def _between_slashes(path: str) -> str:
    return "/".join(["", *parts_of(_HOME.sub("", path.strip())), ""])


def names(target: str, path: str) -> bool:
    """Whether the target that a user named (a file, a folder or a pattern) covers a path that the agent wrote."""
    wanted, path_text = _between_slashes(target), _between_slashes(path)
    if "/" in (wanted, path_text):
        return False
    last = parts_of(target)[-1]
    if "*" in target and last == wanted.strip("/"):
        return fnmatchcase(path_text.rsplit("/", 2)[1], last)
    if "*" in target:
        return fnmatchcase(path_text, f"*{wanted.replace('**/', '*')}")
    is_file = "." in last.lstrip(".") and not target.endswith("/")
    from_root = _FROM_ROOT.match(target) is not None
    if is_file and from_root and _FROM_ROOT.match(path):
        return path_text == wanted
    if path_text.endswith(wanted) or (wanted.endswith(path_text) and (from_root or path_text.count("/") > 2)):
        return True
    return not is_file and (f"/{last}/" if from_root else wanted) in path_text


LONGEST = 20_000
"""Characters of a turn that are read: a request comes first, and what is longer holds pasted material."""

LONGEST_SENTENCE = 600
"""Characters of a sentence that are read: no person writes a longer one."""

_OWN_TAGS = (
    "user_query|task|instructions?|request|query|user_request|user_message|prompt|rules|constraints|requirements"
)
_PASTED: dict[tuple[str, ...], re.Pattern[str]] = {
    ("<",): re.compile(
        rf"<!--.*?-->|<(?!(?:{_OWN_TAGS})\b)([a-z][\w-]*)(?:\s[^<>\n]*)?>.*?</\1>", re.DOTALL | re.IGNORECASE
    ),
    ("```", "~~~"): re.compile(r"^[ \t>]*(```+|~~~+).*?(?:^[ \t>]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE),
    (">",): re.compile(r"^[ \t]*>.*$", re.MULTILINE),
    ("//", "#", ";;", "/*", "<!--", "%", "$ "): re.compile(r"^[ \t]*(?://|#|;;|/\*|<!--|%|\$ ).*$", re.MULTILINE),
    ("    ", "\t"): re.compile(r"(?:\A|\n)[ \t]*\n((?:(?: {4}|\t)(?![-*•]|\d+[.)]).*(?:\n|\Z))+)"),
}
"""What is not the user's own, in the order in which it goes: tagged blocks, code, quoted lines, comments and headings,
indented lines; each with pieces of which it has one."""

_QUOTATION = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”")
_WORDS_OF_A_NAME = 3
_BREAK = re.compile(r"(?<=[.!?;])(?<!\.\.)\s+|\n+")


def sentences_of(text: str) -> list[str]:
    """Return a turn's own sentences, without code, logs, tagged blocks and what it quotes at length."""
    text = text[:LONGEST].replace("’", "'")
    for pieces, pasted in _PASTED.items():
        text = pasted.sub("\n", text) if has(text, pieces) else text
    text = _QUOTATION.sub(lambda match: match[0] if len(match[0].split()) <= _WORDS_OF_A_NAME else " ", text)
    return [part[:LONGEST_SENTENCE] for part in _BREAK.split(text.replace("**", "")) if part and not part.isspace()]


def has(text: str, words: tuple[str, ...]) -> bool:
    """Return whether one of the words is in a text: a cheap look before a pattern is tried."""
    for word in words:  # noqa: SIM110 (a generator is three times slower, and this runs on every sentence)
        if word in text:
            return True
    return False
