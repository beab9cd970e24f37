"""What the steps of a generated session show, told from calls and answers alone, without the rules under test."""

import re
from typing import Any

import msgspec

from misstep_harness.generate.session import load_agents
from misstep_harness.generate.voice import SETS, load_wordings
from misstep_harness.trajectory import Step

EDITORS = {
    call.tool
    for wordings in SETS
    for agent in load_agents(wordings)
    for call in (agent.edit, agent.write)
    if call.tool not in {agent.run.tool, agent.read.tool}
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
    return any(
        stands_in(wording, text) for kind in kinds for texts in load_wordings()[kind].values() for wording in texts
    )


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
