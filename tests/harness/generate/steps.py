"""What the steps of a generated session show, told from calls and answers alone, without the rules under test."""

from typing import Any

import msgspec

from misstep.harness.generate.families import load_families
from misstep.harness.generate.trajectories import Case
from misstep.harness.generate.voice import load_wordings
from misstep.harness.trajectory import Step, Trajectory
from tests.harness.generate.test_wordings import stands_in

EDITORS = {
    "Edit",
    "Write",
    "replace_in_file",
    "write_file",
    "apply_patch",
    "edit",
    *("modify_order_address", "modifyOrderAddress", "mcp__shop__modify_order_address", "order.redirect"),
    *(tool for family in load_families() for tool in (family.edit.tool, family.write.tool)),
}
"""Tools that change things, by name."""


def is_worded(text: str, *kinds: str) -> bool:
    """Whether a wording of one of the kinds stands in a text."""
    return any(stands_in(one.text, text) for one in load_wordings() if one.kind in kinds)


def told_in(case: Case) -> str:
    """All that the user and the program say."""
    return "\n".join(step.text for step in case.trajectory.steps if step.role in ("user", "system"))


def evidence_of(case: Case) -> list[Step]:
    """The evidence steps, of whichever category."""
    return [
        case.trajectory.steps[step] for step in sorted({step for steps in case.evidence.values() for step in steps})
    ]


def call_of(step: Step) -> bytes:
    return b" ".join(msgspec.json.encode((call.name, call.arguments), order="sorted") for call in step.calls)


def all_calls(trajectory: Trajectory) -> str:
    return "\n".join(msgspec.json.encode(call.arguments).decode() for step in trajectory.steps for call in step.calls)


def strings(value: Any) -> list[str]:
    """All texts in a call's arguments."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in strings(part)]


def changes(step: Step) -> bool:
    """Whether a step's call edits, writes or commits, by its shape."""
    for call in step.calls:
        texts = strings(call.arguments)
        if call.name in EDITORS or any(text in ("str_replace", "create", "apply_patch") for text in texts):
            return True
        if any(text.startswith(("sed -i", "cat > ", "str_replace_editor str_replace")) for text in texts):
            return True
    return False


def runs_tests(step: Step) -> bool:
    """Whether a step runs the tests."""
    commands = ("pytest", "vitest", "go test", "cargo test", "mvn test")
    return any(command in text for call in step.calls for text in strings(call.arguments) for command in commands)
