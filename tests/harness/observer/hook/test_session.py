"""A session's observer has guidance ready once an episode, logs its arm, and says what is wrong once."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.observer.arms import hears_guidance
from misstep_harness.observer.follow import growing_runs
from misstep_harness.observer.hook.session import HookSession
from tests.harness.observer.growing_sessions import EDIT, edited, looping, written


def _event(file: Path, name: str = "PostToolUse", **more: Any) -> dict[str, Any]:
    return {"session_id": "s1", "transcript_path": str(file), "hook_event_name": name, "cwd": "/app", **more}


_OPEN: list[HookSession] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    """Each session has a process for its detector."""
    yield
    while _OPEN:
        _OPEN.pop().close()


def _session(folder: Path, **values: str) -> HookSession:
    folder.mkdir(exist_ok=True)
    _OPEN.append(HookSession(values, folder, "name"))
    return _OPEN[-1]


def _said(session: HookSession, event: dict[str, Any]) -> str:
    """The guidance at an event, which the hook prints."""
    reply = session.reply(event)
    session.printed()
    return json.loads(reply)["hookSpecificOutput"]["additionalContext"] if reply else ""


def _decisions(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "decisions.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("anew", [False, True], ids=["one process", "a process for each event"])
def test_guidance_comes_behind_the_call_at_which_it_is_due_and_once(tmp_path: Path, anew: bool) -> None:
    file, folder = tmp_path / "s1.jsonl", tmp_path / "state"
    session = _session(folder)
    texts = []
    for calls in range(1, 13):
        session = _session(folder) if anew else session
        if _said(session, _event(written(file, looping(calls)))):
            texts.append(calls)
    assert texts[0] <= 5
    assert 2 <= len(texts) <= 3
    assert [one["step"] for one in _decisions(folder)[1:] if one.get("intervention", {}).get("delivered_at")] == texts


def test_the_user_sees_one_line_whenever_the_agent_is_told_something(tmp_path: Path) -> None:
    event = _event(written(tmp_path / "s1.jsonl", looping(6)))
    shown = json.loads(_session(tmp_path / "state").reply(event))["systemMessage"]
    assert shown.startswith("misstep: the agent was told that it misbehaves (infinite_loop: ")
    assert (shown.count("\n"), len(shown) < 400) == (0, True)
    assert not _session(tmp_path / "control", arm_share="0").reply(event)


def test_guidance_that_no_hook_printed_comes_at_the_next_call(tmp_path: Path) -> None:
    file, folder = tmp_path / "s1.jsonl", tmp_path / "state"
    session = _session(folder)
    first = session.reply(_event(written(file, looping(6))))
    written(file, looping(7))
    assert session.reply(_event(file, "UserPromptSubmit")) == first.replace(b"PostToolUse", b"UserPromptSubmit")
    session.printed()
    assert _decisions(folder)[-1]["step"] == 7
    assert not session.reply(_event(file))


def test_guidance_that_is_never_printed_is_logged_as_not_heard(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    session = _session(folder)
    session.reply(_event(written(tmp_path / "s1.jsonl", looping(6))))
    session.close()
    assert _decisions(folder)[-1]["intervention"]["withheld"] == "ended"


@pytest.mark.parametrize("is_there", [True, False], ids=["in the transcript", "not in it yet"])
def test_no_firmer_word_comes_with_the_call_by_which_the_agent_breaks_out(is_there: bool, tmp_path: Path) -> None:
    file, folder = tmp_path / "s1.jsonl", tmp_path / "state"
    session = _session(folder, every="5")
    assert _said(session, _event(written(file, looping(6))))
    written(file, [*looping(10), *(edited(11) if is_there else [])])
    more = {"tool_name": "Edit", "tool_input": EDIT, "tool_response": {"filePath": "notes.txt"}}
    assert not _said(session, _event(file, **more))
    assert _decisions(folder)[-1]["intervention"]["withheld"] == "stale"


def test_of_a_file_of_several_sessions_its_own_is_observed_or_else_the_last(tmp_path: Path) -> None:
    file = written(tmp_path / "s1.jsonl", [*looping(6), *looping(2, "s2", "v")])
    for name, speaks in (("s1", True), ("s2", False), ("s3", False)):
        assert bool(_said(_session(tmp_path / name), _event(file) | {"session_id": name})) == speaks


def test_a_session_that_goes_on_from_another_is_observed_like_any(tmp_path: Path) -> None:
    file = written(tmp_path / "s1.jsonl", [*looping(1, "s0"), *looping(6)])
    assert any(run.parent for run in growing_runs(file))
    assert _said(_session(tmp_path / "state"), _event(file))


def test_a_session_that_begins_anew_under_its_id_is_observed_anew(tmp_path: Path) -> None:
    file, session = tmp_path / "s1.jsonl", _session(tmp_path / "state")
    assert _said(session, _event(written(file, looping(9))))
    assert _said(session, _event(written(file, looping(6))))


def test_a_record_that_is_broken_counts_as_none(tmp_path: Path) -> None:
    file, folder = tmp_path / "s1.jsonl", tmp_path / "state"
    assert _said(_session(folder), _event(written(file, looping(6))))
    (folder / "name.json").write_bytes(b'{"item": ')
    assert _said(_session(folder), _event(file))


def test_old_records_go_and_the_log_stays(tmp_path: Path) -> None:
    file, folder = written(tmp_path / "s1.jsonl", looping(1)), tmp_path / "state"
    folder.mkdir()
    for name in ("old.json", "decisions.jsonl"):
        (folder / name).write_text("")
        os.utime(folder / name, (0, 0))
    (folder / "gone.sock").symlink_to("nowhere")
    assert _session(folder).reply(_event(file)) == b""
    assert {one.name for one in folder.iterdir()} == {"name.json", "decisions.jsonl", "gone.sock"}


@pytest.mark.parametrize("by", ["session", "project"])
def test_a_session_of_the_other_arm_hears_nothing_and_is_logged_with_what_it_would_have_heard(tmp_path, by) -> None:
    file, folder = written(tmp_path / "s1.jsonl", looping(6)), tmp_path / "state"
    unit = {"session": "s1", "project": "/app"}[by]
    name = next(name for name in map(str, range(99)) if not hears_guidance(unit, name, 0.5))
    assert not _session(folder, arm_share="0.5", arm_by=by, experiment=name).reply(_event(file))
    begun, noted = _decisions(folder)
    assert (begun["arm"], begun["unit"], begun["experiment"], begun["share"]) == ("shadow", unit, name, 0.5)
    assert (begun["session"], begun["project"], begun["transcript"]) == ("s1", "/app", str(file))
    assert "intervention" not in begun
    assert noted["guidance"].startswith("<system-reminder")
    assert noted["intervention"]["withheld"] == "shadow"


def test_own_words_are_said(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    level = '[[levels]]\nsays = ["Round and round."]\ndo = ["Stop."]\ndont = []\n'
    (texts / "infinite_loop.toml").write_text(3 * level)
    session = _session(tmp_path / "state", guidance=str(texts))
    assert "Round and round.\nDO:\n- Stop.\n" in _said(session, _event(written(tmp_path / "s1.jsonl", looping(6))))


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"detector": "prompted"}, "needs a model. Name one with --model."),
        ({"model": "m"}, "asks no model"),
        ({"detector": "nobody"}, "'nobody' is not among"),
        ({"categories": "nothing"}, "unknown category nothing"),
        ({"every": "often"}, "`$.every`"),
        ({"arm_share": "1.5"}, "`$.arm_share`"),
        ({"evry": "1"}, "unknown field `evry`"),
        ({"guidance": "/nowhere"}, "--guidance /nowhere is not a folder"),
    ],
)
def test_a_hook_that_cannot_do_what_it_is_asked_for_says_so_each_time(values, text, tmp_path) -> None:
    session = _session(tmp_path / "state", **values)
    event = _event(written(tmp_path / "s1.jsonl", looping(6)))
    for _ in range(2):
        answer = json.loads(session.reply(event))
        session.printed()
        assert set(answer) == {"systemMessage"}
        assert text in answer["systemMessage"]


@pytest.mark.parametrize("path", ["/nowhere/at/all", "/", "/dev/null", __file__, "a\0b", None, 3])
def test_a_transcript_that_cannot_be_read_is_said_once(path: Any, tmp_path: Path) -> None:
    session = _session(tmp_path / "state")
    event = _event(tmp_path) | {"transcript_path": path}
    assert list(json.loads(session.reply(event))) == ["systemMessage"]
    session.printed()
    assert not session.reply(event)


class Broken:
    """Detector that would end the process."""

    name = "broken"

    async def detect(self, trajectory: Any, ask: Any) -> Any:  # noqa: ARG002
        raise SystemExit("no such luck")


def test_a_question_without_an_answer_is_said_once(tmp_path: Path) -> None:
    file = tmp_path / "s1.jsonl"
    session = _session(tmp_path / "state", detector=f"{__name__}:Broken", every="1")
    texts = []
    for calls in (1, 2, 3):
        texts.append(b"no such luck" in session.reply(_event(written(file, looping(calls)))))
        session.printed()
    session.close()
    assert texts == [True, False, False]
