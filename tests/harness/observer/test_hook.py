"""The hook answers an event with guidance once an episode, and with nothing whatever goes wrong."""

import io
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from misstep.harness.observer import hook
from misstep.harness.observer.follow import growing_runs
from misstep.harness.observer.hook import HookInput, answer, answer_hook, continued
from misstep.harness.observer.replay import ReplayOptions
from tests.harness.observer.growing_sessions import EDIT, edited, looping, written

OBSERVE = partial(continued, options=ReplayOptions(arm="guide"))


def _event(file: Path, name: str = "PostToolUse", agent: str | None = None) -> HookInput:
    return HookInput("s1", str(file), name, agent)


def _answers(file: Path, folder: Path, calls: int) -> str:
    """The guidance behind a session of so many calls; empty where there is none."""
    said = answer(_event(written(file, looping(calls))), OBSERVE, folder)
    return "" if said is None else said["hookSpecificOutput"]["additionalContext"]


def test_guidance_comes_behind_the_call_at_which_it_is_due_and_once(tmp_path: Path) -> None:
    file, folder = tmp_path / "s1.jsonl", tmp_path / "state"
    told = [calls for calls in range(1, 13) if _answers(file, folder, calls)]
    assert told == [5, 10]
    assert "<system-reminder from=" in _answers(file, tmp_path / "afresh", 5)


@pytest.mark.parametrize("is_there", [True, False], ids=["in the transcript", "not in it yet"])
def test_no_firmer_word_comes_with_the_call_by_which_the_agent_breaks_out(is_there: bool, tmp_path: Path) -> None:
    file, folder = tmp_path / "s1.jsonl", tmp_path / "state"
    assert _answers(file, folder, 6)
    written(file, [*looping(10), *(edited(11) if is_there else [])])
    event = HookInput("s1", str(file), "PostToolUse", None, "Edit", EDIT, {"filePath": "notes.txt"})
    assert answer(event, OBSERVE, folder) is None
    (record,) = folder.glob("*.json")
    assert json.loads(record.read_text())["interventions"][-1]["withheld"] == "stale"
    assert answer(_event(written(file, [*looping(10), *edited(11)])), OBSERVE, folder) is None


def test_the_call_of_the_event_is_no_news_where_it_is_one_of_the_loop(tmp_path: Path) -> None:
    file = written(tmp_path / "s1.jsonl", looping(6))
    again = HookInput("s1", str(file), "PostToolUse", None, "Bash", {"command": "cat notes.txt"}, {"stdout": "x"})
    assert answer(again, OBSERVE, tmp_path / "state")
    assert _answers(file, tmp_path / "state", 10)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"detector": "prompted"}, "--follow FILE --detector prompted --model M"),
        ({"detector": "prompted", "model": "m"}, "--follow FILE --detector prompted --model M"),
        ({"detector": "rules", "model": "m"}, "--follow FILE --detector prompted --model M"),
        ({"detector": "nobody"}, "there is no 'nobody'"),
        ({"detector": "rules", "categories": "nothing"}, "there is no category nothing"),
        ({"detector": "rules", "alone": False}, "Leave out paths"),
    ],
)
def test_a_hook_that_cannot_do_what_it_is_asked_for_says_so_to_the_user(
    asked: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path / "cache"))
    file = written(tmp_path / "s1.jsonl", looping(6))
    event = {"session_id": "s1", "transcript_path": str(file), "hook_event_name": "PostToolUse"}
    out, err = _answered(monkeypatch, capfd, json.dumps(event).encode(), **asked)
    assert said in err
    assert json.loads(out) == {"systemMessage": err.strip()}


def test_of_a_file_of_several_sessions_its_own_is_observed_or_else_the_last(tmp_path: Path) -> None:
    file = written(tmp_path / "s1.jsonl", [*looping(6), *looping(2, "s2", "v")])
    assert answer(_event(file), OBSERVE, tmp_path / "own")
    assert not answer(HookInput("s2", str(file), "PostToolUse"), OBSERVE, tmp_path / "other")
    assert not answer(HookInput("s3", str(file), "PostToolUse"), OBSERVE, tmp_path / "last")


def test_a_session_that_goes_on_from_another_is_observed_like_any(tmp_path: Path) -> None:
    file = written(tmp_path / "s1.jsonl", [*looping(1, "s0"), *looping(6)])
    assert any(run.parent for run in growing_runs(file))
    assert answer(_event(file), OBSERVE, tmp_path / "state")


def test_the_answer_names_its_event(tmp_path: Path) -> None:
    file = written(tmp_path / "s1.jsonl", looping(6))
    said = answer(_event(file, "PostToolUseFailure"), OBSERVE, tmp_path)
    assert said is not None
    assert set(said) == {"hookSpecificOutput"}
    assert said["hookSpecificOutput"]["hookEventName"] == "PostToolUseFailure"


@pytest.mark.parametrize(("name", "agent"), [("Stop", None), ("PreToolUse", None), ("PostToolUse", "a7")])
def test_other_events_and_sub_agents_are_let_be(tmp_path: Path, name: str, agent: str | None) -> None:
    file = written(tmp_path / "s1.jsonl", looping(6))
    assert answer(_event(file, name, agent), OBSERVE, tmp_path) is None


def test_while_another_call_of_the_same_turn_is_answered_nothing_is_said(tmp_path: Path) -> None:
    file = written(tmp_path / "s1.jsonl", looping(6))
    answer(_event(written(file, looping(1))), OBSERVE, tmp_path / "state")
    (lock,) = (tmp_path / "state").glob("*.lock")
    held = (
        f"import fcntl, sys; stream = open({str(lock)!r}, 'ab'); fcntl.lockf(stream, fcntl.LOCK_EX)\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", held], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert _answers(file, tmp_path / "state", 6) == ""
        process.communicate(b"")
    assert _answers(file, tmp_path / "state", 6)


def test_a_session_that_begins_anew_under_its_id_is_observed_anew(tmp_path: Path) -> None:
    file, folder = tmp_path / "s1.jsonl", tmp_path / "state"
    assert _answers(file, folder, 9)
    assert _answers(file, folder, 6)


def test_a_record_that_is_broken_counts_as_none(tmp_path: Path) -> None:
    file, folder = tmp_path / "s1.jsonl", tmp_path / "state"
    assert _answers(file, folder, 5)
    (record,) = folder.glob("*.json")
    record.write_bytes(b'{"item": ')
    assert _answers(file, folder, 5)


def test_records_are_the_users_own_and_old_ones_go(tmp_path: Path) -> None:
    file, folder = tmp_path / "s1.jsonl", tmp_path / "state"
    _answers(file, folder, 1)
    assert folder.stat().st_mode & 0o077 == 0
    (old,) = folder.glob("*.json")
    os.utime(old, (0, 0))
    answer(HookInput("s2", str(file), "PostToolUse"), OBSERVE, folder)
    assert not old.exists()
    assert len(list(folder.glob("*.json"))) == 1


def _answered(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    said: bytes,
    detector: str = "rules",
    **how: Any,
) -> tuple[str, str]:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(said)))
    answer_hook(5, detector, **how)
    captured = capfd.readouterr()
    return captured.out, captured.err


def test_on_the_command_line_one_object_comes_in_and_one_goes_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path / "cache"))
    file = written(tmp_path / "s1.jsonl", looping(6))
    event = {"session_id": "s1", "transcript_path": str(file), "hook_event_name": "PostToolUse", "tool_input": {}}
    out, err = _answered(monkeypatch, capfd, json.dumps(event).encode())
    document: dict[str, Any] = json.loads(out)
    assert (err, set(document)) == ("", {"hookSpecificOutput"})


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\xff\xfe",
        b"[1, 2]",
        b"{" * 5000,
        b'{"session_id": "s", "transcript_path": "/nowhere/at/all", "hook_event_name": "PostToolUse"}',
        b'{"session_id": "s", "transcript_path": "/", "hook_event_name": "PostToolUse"}',
        b'{"session_id": "s", "transcript_path": "/dev/null", "hook_event_name": "PostToolUse"}',
        json.dumps({"session_id": "s", "transcript_path": __file__, "hook_event_name": "PostToolUse"}).encode(),
        b'{"session_id": "s", "transcript_path": "a\\u0000b", "hook_event_name": "PostToolUse"}',
    ],
)
def test_whatever_is_wrong_with_the_input_nothing_is_said_but_one_line_on_stderr(
    said: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path / "cache"))
    out, err = _answered(monkeypatch, capfd, said)
    assert out == ""
    assert err.startswith("misstep: ")
    assert err.count("\n") == 1


def test_a_fault_of_the_observer_is_not_the_agents(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise SystemExit(3)

    monkeypatch.setattr(hook, "answer", broken)
    said = b'{"session_id": "s", "transcript_path": "x", "hook_event_name": "PostToolUse"}'
    assert _answered(monkeypatch, capfd, said)[0] == ""


def test_after_its_own_time_limit_the_process_ends_with_0(tmp_path: Path) -> None:
    script = "from harness.observer.hook import answer_hook\nanswer_hook(5, 'rules', seconds=0.05)\nraise SystemExit(9)"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, cwd=tmp_path) as process:
        assert process.wait(60) == 0  # its standard input never ends
        process.communicate()
