"""Text from outside, fenced: what a recorded run says is data to a judge, and never an instruction.

    <data a41f0c9be2d77310>
    … the text …
    </data a41f0c9be2d77310>

The mark follows from the text itself and from a salt, so that no text can hold its own closing line. What a model's
server could take for a turn of the conversation is broken up, and signs that hide or turn round what a
reader sees are written out.
"""

import hashlib
import re
import unicodedata

MARK_LENGTH = 16

_TURNS = re.compile(
    r"<\|(?=[a-zA-Z_ ])|\|>|\[(?=/?INST\])|<(?=/?(?:s|sys|start_of_turn|end_of_turn|bos|eos)>)|<(?=<SYS>>|</SYS>>)",
    re.IGNORECASE,
)
"""Where the control tokens of common chat templates open or close."""

_OPENING = "<|["
"""One of these is in each of them: looking for a sign is quicker than looking for them."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LOOKALIKES = {
    ord("<"): "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}",
    ord(">"): "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}",
    ord("["): "\N{FULLWIDTH LEFT SQUARE BRACKET}",
}
_KEPT = "\n\t"


def fence(text: str, salt: str = "") -> str:
    """A text between two lines that it cannot hold itself.

    Parameters
    ----------
    text
        Anything.
    salt
        What else the mark follows from, such as the item's id.
    """
    safe = readable(text)
    mark = _mark(safe, salt)
    return f"<data {mark}>\n{safe}\n</data {mark}>"


def _mark(text: str, salt: str) -> str:
    """Digits that do not occur in the text: the first that a digest gives, whatever the text."""
    turn = 0
    while True:
        digest = hashlib.sha256(f"{turn}\0{salt}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:MARK_LENGTH]
        if digest not in text:
            return digest
        turn += 1


def readable(text: str) -> str:
    """The text without control tokens of chat templates, and with invisible signs written out as `⟨U+202E⟩`."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    shown = _CONTROLS.sub(_named_match, plain) if plain.isascii() else "".join(map(_shown, plain))
    return _TURNS.sub(_broken, shown) if any(sign in shown for sign in _OPENING) else shown


def _broken(found: re.Match[str]) -> str:
    return found[0].translate(_LOOKALIKES)


def _named_match(found: re.Match[str]) -> str:
    return _named(found[0])


def _shown(sign: str) -> str:
    if sign in _KEPT:
        return sign
    return _named(sign) if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else sign


def _named(sign: str) -> str:
    return f"\N{MATHEMATICAL LEFT ANGLE BRACKET}U+{ord(sign):04X}\N{MATHEMATICAL RIGHT ANGLE BRACKET}"
