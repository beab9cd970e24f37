"""Texts as recordings keep them: on one line, short, and without the paths of the machine that they are from."""

import re

from misstep.harness.escaping import one_line

_KEPT = 160
_PATH = re.compile(r"(?<![\w.])/(?:[\w.+@-]+/)+[\w.+@-]*")


def placeless(text: str, most: int = _KEPT) -> str:
    """Return a text on one line of at most `most` characters, without the paths of the machine that it is from."""
    message = one_line(_PATH.sub("…", text))
    return message if len(message) <= most else f"{message[:most].rstrip()} …"
