"""Text from outside made safe to show: no control codes, no invisible turns of direction, no markup."""

import re

_TERMINAL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_INVISIBLE = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\u061c]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Text without terminal control codes; what would turn its direction unseen is shown as `⟨U+202E⟩`.

    Tabs and line ends stay; `\r\n` and a lone `\r` are line ends; a lone surrogate becomes U+FFFD.
    """
    text = _TERMINAL.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    text = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", _CONTROL.sub("", text))
    return _INVISIBLE.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def one_line(text: str) -> str:
    """Printable text on one line, each run of blanks made one."""
    return " ".join(printable(text).split())
