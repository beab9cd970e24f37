"""Make text from outside safe to show: strip control codes and invisible changes of direction."""

import re
from typing import Any

_TERMINAL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
_CONTROL_CODES = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
_TURNS = "\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\u061c"
_SURROGATES = "\ud800-\udfff"
_CONTROL = re.compile(f"[{_CONTROL_CODES}]")
_INVISIBLE = re.compile(f"[{_TURNS}]")
_SURROGATE = re.compile(f"[{_SURROGATES}]")
_NOT_PRINTABLE = re.compile(f"[{_CONTROL_CODES}{_TURNS}{_SURROGATES}]")


def printable(text: str) -> str:
    r"""Text without terminal control codes; what would turn its direction unseen is shown as `⟨U+202E⟩`.

    Tabs and line ends stay; `\r\n` and a lone `\r` are line ends; a lone surrogate becomes U+FFFD.
    """
    if _NOT_PRINTABLE.search(text) is None:
        return text
    text = _TERMINAL.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    text = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", _CONTROL.sub("", text))
    return _INVISIBLE.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def one_line(text: str) -> str:
    """Printable text on one line, each run of blanks made one."""
    return " ".join(printable(text).split())


def plain(text: str) -> str:
    """Text from outside without terminal control codes and on one line, safe to print."""
    return printable(text).replace("\n", " ").replace("\t", " ")


def without_surrogates(text: str) -> str:
    """Return the text with U+FFFD for each lone surrogate, which no UTF-8 can hold."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def json_without_surrogates(value: Any) -> Any:
    """Return a decoded JSON value with U+FFFD for each lone surrogate, so that it can be written again."""
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, list):
        return [json_without_surrogates(one) for one in value]
    if isinstance(value, dict):
        return {without_surrogates(name): json_without_surrogates(one) for name, one in value.items()}
    return value
