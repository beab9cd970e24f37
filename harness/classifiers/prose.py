r"""A user's turn as sentences of the user's own: without code, logs, quotations and what programs add to it.

"Only edit `src/a.py`.\n```\n# do not touch\n```"  → one sentence of the tokens "only", "edit", a name, "src/a.py"
"""

import re
from collections.abc import Iterator
from typing import Literal

from misstep.harness.classifiers.targets import is_path

LONGEST = 20_000
"""Characters of a turn that are read: a request comes first, and what is longer holds pasted material."""

LONGEST_SENTENCE = 600
"""Characters of a sentence that are read: no person writes a longer one."""

_OWN_TAGS = (
    "user_query|task|instructions?|request|query|user_request|user_message|prompt|rules|constraints|requirements"
)
_PASTED = (
    re.compile(rf"<!--.*?-->|<(?!(?:{_OWN_TAGS})\b)([a-z][\w-]*)(?:\s[^<>\n]*)?>.*?</\1>", re.DOTALL | re.IGNORECASE),
    re.compile(r"^[ \t>]*(```+|~~~+).*?(?:^[ \t>]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE),
    re.compile(r"^[ \t]*>.*$", re.MULTILINE),
    re.compile(r"(?:\A|\n)[ \t]*\n((?:(?: {4}|\t)(?![-*•]|\d+[.)]).*(?:\n|\Z))+)"),
)
"""What is not the user's own, in the order in which it goes: tagged blocks, code, quoted lines, indented lines."""

_QUOTATION = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”")
_WORDS_OF_A_NAME = 3
_BREAK = re.compile(r"(?<=[.!?;])(?<!\.\.)\s+|\n+")
_TOKEN = re.compile(r"(`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”)|([\w.@*+~/$'-]+)|(\S)")
_NOT = re.compile(r"n't\b|(?<=\bdo)nt\b")


def sentences_of(text: str) -> list[str]:
    """Return a turn's own sentences, without code, logs, tagged blocks and what it quotes at length."""
    text = text[:LONGEST].replace("’", "'")
    for pasted in _PASTED:
        text = pasted.sub("\n", text)
    text = _QUOTATION.sub(lambda match: match[0] if len(match[0].split()) <= _WORDS_OF_A_NAME else " ", text)
    return [part[:LONGEST_SENTENCE] for part in _BREAK.split(text.replace("**", "")) if part and not part.isspace()]


def tokens_of(sentence: str) -> Iterator[tuple[Literal["@", "?", "#"], str]]:
    """What a sentence is made of: `@` names (marked, paths, identifiers), `?` words in small letters, `#` signs."""
    for match in _TOKEN.finditer(sentence):
        marked, chunk, sign = match.groups(default="")
        text = chunk.rstrip(".-+'").lstrip("'")
        if marked:
            yield "@", marked[1:-1]
        elif not text:
            yield "#", sign or chunk
        elif "_" in text or is_path(text):
            yield "@", text
        elif text.replace("'", "").replace("-", "").isalpha():
            yield from (("?", word) for word in _NOT.sub(" not", text.lower()).replace("-", " ").split())
        else:
            yield "#", text


def has(text: str, words: tuple[str, ...]) -> bool:
    """Return whether one of the words is in a text: a cheap look before a pattern is tried."""
    for word in words:  # noqa: SIM110 (a generator is three times slower, and this runs on every sentence)
        if word in text:
            return True
    return False
