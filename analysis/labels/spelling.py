"""Names and labels as written: what counts of their spelling, and how several are listed."""

import re
import unicodedata
from collections.abc import Iterable
from math import isfinite

_NUMBER = re.compile(r"[+-]?(\d++(?:\.\d*+)?|\.\d++)([eE][+-]?\d+)?", re.ASCII)
_UNSEEN = dict.fromkeys([0xAD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF])


def visible(text: str) -> str:
    """Return a text without byte order marks, zero-width spaces and the like; what joins letters or emoji is kept."""
    return text if text.isascii() else text.translate(_UNSEEN)


def trimmed(cell: str) -> str:
    """Return a label without what cannot be seen, and in one of the ways that Unicode has to write its letters."""
    return unicodedata.normalize("NFC", visible(cell).strip())


def number(label: str) -> float | None:
    """Return the finite number that a label is, with a decimal point; `None` for any other label."""
    if not _NUMBER.fullmatch(label):
        return None
    found = float(label)
    return found if isfinite(found) else None


def listed(names: Iterable[str], most: int = 20) -> str:
    """Return names as a person reads them, the long tail counted."""
    quoted = [repr(name) for name in names]
    rest = len(quoted) - most
    return ", ".join(quoted[:most]) + (f" and {rest:,} more" if rest > 0 else "")
