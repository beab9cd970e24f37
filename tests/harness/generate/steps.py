"""What the steps of a generated session show, told from calls and answers alone, without the rules under test."""

import re
from typing import Any

import msgspec

from misstep.harness.generate.families import load_families
from misstep.harness.generate.voice import load_wordings
from misstep.harness.trajectory import Step

EDITORS = {
    *("Edit", "Write", "replace_in_file", "write_file", "apply_patch"),
    *(tool for family in load_families() for tool in (family.edit.tool, family.write.tool)),
}
"""Tools that change things, by name."""


def stands_in(wording: str, text: str) -> bool:
    place = 0
    for piece in re.split(r"\$\{?\w+\}?", wording):
        result = text.find(piece, place)
        if result < 0:
            return False
        place = result + len(piece)
    return True


def is_worded(text: str, *kinds: str) -> bool:
    return any(stands_in(one.text, text) for one in load_wordings() if one.kind in kinds)


def call_of(step: Step) -> bytes:
    return b" ".join(msgspec.json.encode((call.name, call.arguments), order="sorted") for call in step.calls)


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in strings(part)]


def changes(step: Step) -> bool:
    for call in step.calls:
        texts = strings(call.arguments)
        if call.name in EDITORS or any(text in ("str_replace", "create", "apply_patch") for text in texts):
            return True
        if any(text.startswith(("sed -i", "cat > ")) for text in texts):
            return True
    return False
