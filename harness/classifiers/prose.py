r"""A user's turn as sentences of the user's own: without code, logs, quotations and what programs add to it.

"Only edit `src/a.py`.\n```\n# do not touch\n```"  → one sentence of the tokens "only", "edit", a name, "src/a.py"
"""

import re
from collections.abc import Iterator
from typing import Literal

from harness.classifiers.targets import is_path

LONGEST = 20_000
"""Characters of a turn that are read: a request comes first, and what is longer holds pasted material."""

LONGEST_SENTENCE = 600
"""Characters of a sentence that are read: what is longer is no sentence that a person wrote."""

_FENCE = re.compile(r"^[ \t>]*(```+|~~~+).*?(?:^[ \t>]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_QUOTE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_INDENTED = re.compile(r"(?:\A|\n)[ \t]*\n((?:(?: {4}|\t)(?![-*•]|\d+[.)]).*(?:\n|\Z))+)")
_OWN_TAGS = (
    "user_query|task|instructions?|request|query|user_request|user_message|prompt|rules|constraints|requirements"
)
_TAGGED = re.compile(rf"<(?!(?:{_OWN_TAGS})\b)([a-z][\w-]*)(?:\s[^<>\n]*)?>.*?</\1>", re.DOTALL | re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_QUOTATION = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”")
_WORDS_OF_A_NAME = 3
_BREAK = re.compile(r"(?<=[.!?;])(?<!\.\.)\s+|\n+")
_TOKEN = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|([\w.@*+~/$'-]+)|(\S)")
_NOT = re.compile(r"n'?t$")

Kind = Literal["name", "word", "sign"]


def sentences_of(text: str) -> list[str]:
    """A turn's own sentences, without code, logs, tagged blocks and what it quotes at length."""
    text = text[:LONGEST].replace("’", "'")
    if "<" in text:
        text = _TAGGED.sub("\n", _COMMENT.sub(" ", text))
    if "```" in text or "~~~" in text:
        text = _FENCE.sub("\n", text)
    if ">" in text:
        text = _QUOTE.sub("", text)
    if "\n    " in text or "\n\t" in text:
        text = _INDENTED.sub("\n\n", text)
    if '"' in text or "“" in text:
        text = _QUOTATION.sub(_without_length, text)
    return [part[:LONGEST_SENTENCE] for part in _BREAK.split(text.replace("**", "")) if part and not part.isspace()]


def _without_length(match: re.Match[str]) -> str:
    return match.group() if len(match.group().split()) <= _WORDS_OF_A_NAME else " "


def tokens_of(sentence: str) -> Iterator[tuple[Kind, str]]:
    """What a sentence is made of: names (marked, paths, identifiers), words in small letters, signs."""
    for match in _TOKEN.finditer(sentence):
        chunk, sign = match.group(4, 5)
        if chunk and chunk.islower() and chunk.isalpha() and chunk != "dont":
            yield "word", chunk
        elif sign:
            yield "sign", sign
        elif not chunk:
            yield "name", match.group(1) or match.group(2) or match.group(3)
        else:
            yield from _of_chunk(chunk.rstrip(".-+'").lstrip("'"), chunk)


def _of_chunk(text: str, chunk: str) -> Iterator[tuple[Kind, str]]:
    if not text:
        yield "sign", chunk
    elif "_" in text or is_path(text):
        yield "name", text
    elif text.replace("'", "").replace("-", "").isalpha():
        for word in text.lower().split("-"):
            stem = _NOT.sub("", word) if "'" in word or word == "dont" else word
            yield from (("word", one) for one in ((stem, "not") if stem != word else (word,)))
    else:
        yield "sign", text


def has(text: str, words: tuple[str, ...]) -> bool:
    """Whether one of the words stands in a text: a cheap look before a pattern is tried."""
    for word in words:  # noqa: SIM110 (a generator is three times slower, and this runs on every sentence)
        if word in text:
            return True
    return False
