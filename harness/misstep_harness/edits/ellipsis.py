"""Recognise lines such as `# ... rest of the code ...`, which stand for what their author left out.

In what is kept they stand for any lines; in what is added they would delete what they stand for.
"""

import re
from collections.abc import Sequence
from itertools import groupby

from misstep_harness.edits.changes import Line

_ELLIPSIS = re.compile(r"(#|//|/\*|<!--|--|;|%)?[ \t]{0,4}(\.{3}|\[\.{3}\]|…|\(\.{3}\))(.{0,200})")
_SAID = re.compile(
    r"\b(?:existing|rest|remaining|remainder|unchanged|omitted|previous|others?|same|as before|code|more|above"
    r"|below|implementation|methods?|functions?|imports?|lines?|content)\b",
    re.IGNORECASE,
)
_PROMPT = ">>>"
_QUOTES = re.compile("\"\"\"|'''")
_CLOSING = re.compile(r"\s{0,2}(?:\*/|-->)?\s{0,2}")


def is_ellipsis(text: str) -> bool:
    """Return whether a line does nothing but stand for others: `...` alone, or a comment that opens with it."""
    word = text.strip()
    if len(word) > 210 or not (match := _ELLIPSIS.fullmatch(word)):
        return False
    rest = match[3].strip()
    aside = match[3].startswith((" (", "\t("))  # `...(given)` without a space spreads a list, in JavaScript
    return bool(match[1]) or not rest or bool(_CLOSING.fullmatch(rest)) or aside


def says_left_out(text: str) -> bool:
    """Return whether a comment with an ellipsis, anywhere in it, says in words that code was left out."""
    word = text.strip()[:210]
    opens = word.startswith(("#", "//", "/*", "<!--", "--", ";", "%"))
    return opens and ("..." in word or "…" in word) and bool(_SAID.search(word))


def left_out(lines: Sequence[Line]) -> str:
    """Return the first added line that stands for code of the file; empty where none does.

    A bare `...` is Python's too: the body of a stub that is added and replaces nothing, and, within an example of
    doctest (from `>>>` to the next empty line), a further line of the example or of what it prints.
    """
    deleted = {line.text.strip() for line in lines if line.tag == "-"}
    above = ""
    in_example = False
    for unchanged, run in groupby(lines, lambda line: line.tag == " "):
        changed = list(run)
        replaces = not unchanged and any(line.tag == "-" and line.text.strip() for line in changed)
        for line in changed:
            word = line.text.strip()
            if line.tag != "-":
                in_example = word.startswith(_PROMPT) or (in_example and bool(word) and _QUOTES.search(word) is None)
            shown = in_example and word.startswith("...")
            if line.tag == "+" and is_ellipsis(word) and word not in deleted and not shown:
                stub = word == "..." and above.endswith((":", '"""', "'''"))
                if replaces or says_left_out(word) or (word[0] in ".…" and not stub):
                    return line.text
            if word and line.tag != "-":
                above = word
    return ""
