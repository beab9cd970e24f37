"""The API key never leaves: whatever a server sends back is cleaned of it before it is kept or shown."""

import re
from urllib.parse import quote

SHOWN_INSTEAD = "[API key]"

_SHORTEST = 6
"""A key shorter than this is a placeholder for a server that wants none, and may be any word of a text."""

_ESCAPE = r"\u00"
"""What opens a sign of ASCII that JSON holds by its number."""


class Redaction:
    """Takes one key out of texts.

    Parameters
    ----------
    key
        The API key; the empty string where there is none.
    """

    def __init__(self, key: str) -> None:
        forms = (key, quote(key, safe=""), key.replace("/", r"\/"))
        self._forms = tuple(dict.fromkeys(forms)) if len(key) >= _SHORTEST else ()
        self._escaped = re.compile("".join(map(_in_json, key)))

    def __call__(self, text: str) -> str:
        """The text with the key shown as `[API key]`."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, SHOWN_INSTEAD)
        if self._forms and _ESCAPE in text:
            text = self._escaped.sub(SHOWN_INSTEAD, text)
        return text


def _in_json(sign: str) -> str:
    """A pattern for a sign of ASCII as JSON may hold it: as it is, or by its number."""
    return rf"(?:{re.escape(sign)}|\\u(?i:{ord(sign):04x}))"
