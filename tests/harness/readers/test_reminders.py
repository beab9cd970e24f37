"""Guidance that reached an agent is a marked step of its run, whichever program recorded it; nothing else is."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.intervention import ABOUT, INTERVENTION
from misstep_harness.readers import read_file
from misstep_harness.reminder import reminder
from misstep_harness.trajectory import Trajectory

OURS = reminder("Stop and look.", ["infinite_loop", "a bad > name"])
THEIRS = "<system-reminder>\nDo not edit x.py\n</system-reminder>"


def _line(kind: str, content: Any = None, **fields: Any) -> dict[str, Any]:
    message = {} if content is None else {"message": {"role": kind, "content": content}}
    return {"type": kind, "sessionId": "s1", "uuid": f"u{len(str(content))}"} | message | fields


def _context(*content: str, kind: str = "hook_additional_context") -> dict[str, Any]:
    attachment = {"type": kind, "hookEvent": "PostToolUse", "hookName": "PostToolUse:Bash", "content": list(content)}
    return _line("attachment", attachment=attachment)


CALL = _line("assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}])
RESULT = _line("user", [{"type": "tool_result", "tool_use_id": "t1", "content": OURS}])


def _session(tmp_path: Path, *lines: dict[str, Any]) -> Trajectory:
    file = tmp_path / "s1.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in (_line("user", "Mend it"), CALL, RESULT, *lines)))
    (run,) = read_file(file)
    assert isinstance(run, Trajectory)
    return run


@pytest.mark.parametrize(
    "line",
    [
        _context(OURS),
        _context("what another hook says", OURS),
        _line("user", f"<system-reminder>\nPostToolUse hook: {OURS}\n</system-reminder>", isMeta=True),
        _line("user", OURS),
    ],
    ids=["a hook's context", "of several hooks", "as older versions wrote it", "as a user's message"],
)
def test_what_misstep_told_the_agent_is_an_intervention(tmp_path: Path, line: dict[str, Any]) -> None:
    run = _session(tmp_path, line, CALL)
    (told,) = [step for step in run.steps if INTERVENTION in step.extra]
    assert (told.role, told.text) == ("system", OURS)
    assert (told.extra[INTERVENTION], told.extra[ABOUT]) == (0, ["infinite_loop"])


@pytest.mark.parametrize(
    "line",
    [
        _context(THEIRS),
        _context(OURS, kind="hook_success"),
        _line("user", THEIRS),
        _line("assistant", [{"type": "text", "text": OURS}]),
        RESULT,
    ],
    ids=["another's reminder", "what a hook printed", "another's in a message", "the agent's words", "a tool's answer"],
)
def test_what_others_say_is_none(tmp_path: Path, line: dict[str, Any]) -> None:
    assert not [step for step in _session(tmp_path, line).steps if INTERVENTION in step.extra]


def test_a_reminder_in_a_persons_message_is_apart_from_the_persons_words(tmp_path: Path) -> None:
    run = _session(tmp_path, _line("user", [{"type": "text", "text": OURS}, {"type": "text", "text": "Go on"}]))
    assert [(step.role, step.text) for step in run.steps[-2:]] == [("user", "Go on"), ("system", OURS)]


def test_reminders_are_found_in_other_formats_and_numbered_in_their_order(tmp_path: Path) -> None:
    messages = [{"role": "system", "content": OURS}, {"role": "user", "content": OURS}]
    chat = {"messages": [{"role": "user", "content": "Mend it"}, {"role": "assistant", "content": "Well."}, *messages]}
    file = tmp_path / "chat.jsonl"
    file.write_text(json.dumps(chat) + "\n")
    (run,) = read_file(file)
    assert isinstance(run, Trajectory)
    assert [step.extra.get(INTERVENTION) for step in run.steps] == [None, None, 0, 1]


def test_what_else_the_program_says_beside_a_reminder_stays(tmp_path: Path) -> None:
    said = [("user", "Mend it"), ("assistant", "Well."), ("system", f"The tests are red.\n{OURS}")]
    file = tmp_path / "chat.jsonl"
    file.write_text(json.dumps({"messages": [{"role": role, "content": text} for role, text in said]}) + "\n")
    (run,) = read_file(file)
    assert isinstance(run, Trajectory)
    assert [(step.role, step.text) for step in run.steps[2:]] == [("system", "The tests are red."), ("system", OURS)]
