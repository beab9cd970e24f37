"""Text from outside, fenced: what a recorded run says is data to a judge, and never an instruction.

    <data a41f0c9be2d77310>
    … the text …
    </data a41f0c9be2d77310>

The mark follows from the text and a salt, so that no text can hold its own closing line. Lines that look like those of
a fence, tokens of chat templates, and characters that hide or reorder what a reader sees are broken up or written out.
"""

import hashlib
import re
import unicodedata
from bisect import bisect_left
from functools import lru_cache

MARK_LENGTH = 16

_ANGLES = "|".join(
    (
        r"\s*+(?:/\s*+)?data\b",
        r"[|｜][\w ]",
        r"/?<sys>>|/?sys>>",
        r"/?(?:s|sys|bos|eos|pad|unk|mask|cls|sep|sop|eop)>",
        r"(?:start|end)_of_(?:turn|text|image|utterance)>|(?:begin|end)_of_(?:text|sentence)>",
        r"/?(?:think|thinking|tool_call|tool_response)>",
        r"/?_?(?:system|user|assistant|bot|human)_?>",
        r"fim_(?:prefix|middle|suffix|pad)>",
        r"(?:extra_id_|unused|reserved_|special_)\d+>|0x[0-9a-f]{2}>",
    )
)
_BRACKETS = "|".join(
    (
        "inst|system_prompt|available_tools|tool_calls|tool_results|tool_content|args|call_id|think|model_settings",
        "img|img_break|img_end|audio|begin_audio|prefix|middle|suffix",
        "gmask|smask|mask|cls|sep|pad|unk|bos|eos",
    )
)
_TURNS = re.compile(rf"<(?={_ANGLES})|\[(?=/?(?:{_BRACKETS})\])|[|｜]>", re.IGNORECASE)
"""Where a line of a fence, or a control token of a common chat template, opens or closes."""

_OPENING = "<[|｜"
"""A character that each of them has: it is found sooner than any of them."""

_OPENING_LINE = re.compile(rf"<data ([0-9a-f]{{{MARK_LENGTH}}})>")
_CLOSING_LINE = re.compile(rf"</data ([0-9a-f]{{{MARK_LENGTH}}})>")

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LOOKALIKES = {
    ord("<"): "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}",
    ord(">"): "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}",
    ord("["): "\N{FULLWIDTH LEFT SQUARE BRACKET}",
}
_KEPT = "\n\t"

_HIDING_CATEGORIES = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
_HIDING_RANGES = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2060, 0x206F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0xE0000, 0xE0FFF),
)
"""Characters of other categories that show nothing: fillers, selectors of a variant, places that are to be ignored."""

_SHORT = 80

_VARIANT_OF_A_SYMBOL = "\ufe0e\ufe0f"
"""As text, as a picture: what a symbol may be followed by once, as in ordinary text."""


def fence(text: str, salt: str = "") -> str:
    """Return a text between two lines that it cannot hold itself."""
    safe = readable(text)
    mark = _mark(safe, salt)
    return f"<data {mark}>\n{safe}\n</data {mark}>"


def fenced_parts(message: str) -> tuple[str, ...]:
    """Return the texts that stand between fences in a message."""
    lines = message.split("\n")
    closing: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if match := _CLOSING_LINE.fullmatch(line):
            closing.setdefault(match[1], []).append(number)
    parts: list[str] = []
    after = 0
    for number, line in enumerate(lines):
        opened = _OPENING_LINE.fullmatch(line) if number >= after else None
        ends = closing.get(opened[1], []) if opened else []
        place = bisect_left(ends, number + 2)
        if place < len(ends):
            parts.append("\n".join(lines[number + 1 : ends[place]]))
            after = ends[place] + 1
    return tuple(parts)


def _mark(text: str, salt: str) -> str:
    """Digits that do not occur in the text: the first that a digest gives, whatever the text."""
    turn = 0
    while True:
        digest = hashlib.sha256(f"{turn}\0{salt}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:MARK_LENGTH]
        if digest not in text:
            return digest
        turn += 1


def readable(text: str) -> str:
    """Return the text without control tokens of chat templates, invisible characters written out as `⟨U+202E⟩`."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    shown = _CONTROLS.sub(lambda match: _named(match[0]), plain) if plain.isascii() else _all_shown(plain)
    has_opening = any(character in shown for character in _OPENING)
    return _TURNS.sub(lambda match: match[0].translate(_LOOKALIKES), shown) if has_opening else shown


def one_line(text: str) -> str:
    """Return a text in a line of ours, such as a label: readable, its white space single blanks."""
    return _short_line(text) if len(text) <= _SHORT else _line(text)


def _line(text: str) -> str:
    return " ".join(readable(text).split())


_short_line = lru_cache(maxsize=4096)(_line)
"""Names of tools, speakers and labels come again with every step and every item."""


def _all_shown(text: str) -> str:
    shown: list[str] = []
    before = ""
    for character in text:
        is_variant = character in _VARIANT_OF_A_SYMBOL and before != "" and unicodedata.category(before) in ("So", "Sm")
        shown.append(character if is_variant else _SIGNS[character])
        before = character
    return "".join(shown)


class _Signs(dict[str, str]):
    """Each character as it is shown, looked up once."""

    def __missing__(self, character: str) -> str:
        self[character] = shown = _named(character) if _hides(character) else character
        return shown


_SIGNS = _Signs()


def _hides(character: str) -> bool:
    if character in _KEPT:
        return False
    code = ord(character)
    return unicodedata.category(character) in _HIDING_CATEGORIES or any(
        first <= code <= last for first, last in _HIDING_RANGES
    )


def _named(character: str) -> str:
    return f"\N{MATHEMATICAL LEFT ANGLE BRACKET}U+{ord(character):04X}\N{MATHEMATICAL RIGHT ANGLE BRACKET}"
