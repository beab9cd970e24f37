"""A user's own sessions: each word in its place, what was detected where nothing was said, and the arm as drawn."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from misstep_harness.errors import NoTrajectory, UsageError
from misstep_harness.intervention import ABOUT, INTERVENTION, Intervention, Misbehaviour
from misstep_harness.observer.arms import hears_guidance
from misstep_harness.observer.experiment.own_sessions import Assignment, GuidedRun, LeftOut, guided_runs, with_words
from misstep_harness.observer.records import DECISIONS
from misstep_harness.trajectory import Source, Step, Trajectory
from tests.harness.observer.experiment.own_transcripts import LOOPS, TOLD, session, write_lines, write_sessions

HALF = Assignment(0.5)
LOOP = (Misbehaviour("infinite_loop", (2, 3, 4)),)


def _only(path: Path, assignment: Assignment = Assignment(), left_out: LeftOut | None = None) -> GuidedRun:  # noqa: B008
    (one,) = guided_runs([path], assignment, left_out or LeftOut())
    return one


@pytest.mark.parametrize("told", [True, False], ids=["told", "not told"])
def test_a_detection_has_one_word_at_the_same_step_whether_or_not_it_was_said(tmp_path: Path, told: bool) -> None:
    one = _only(write_lines(tmp_path / "s-1.jsonl", session("s-1", told=told, recovers=True)))
    (item,) = one.items
    assert item.step == 2 + LOOPS
    assert item.extra == {"categories": ["infinite_loop"], "evidence": [2, 3, 4], "heard": told, "detected": True}
    assert INTERVENTION in one.run.steps[item.step].extra
    assert (one.arm, one.unit, one.project) == ("", "s-1", "/home/kim/1")


def test_arms_are_drawn_as_the_hook_draws_them(tmp_path: Path) -> None:
    arms = {one.unit: one.arm for one in guided_runs([write_sessions(tmp_path / "all")], HALF, LeftOut())}
    assert arms == {name: "guide" if hears_guidance(name, share=0.5) else "shadow" for name in arms}
    assert set(arms.values()) == {"guide", "shadow"}
    by_project = {one.unit for one in guided_runs([tmp_path / "all"], Assignment(by="project"), LeftOut())}
    assert by_project == {f"/home/kim/{number}" for number in range(10)}


def test_a_control_that_was_told_something_says_that_the_draw_is_another(tmp_path: Path) -> None:
    name = next(f"s-{number}" for number in range(50) if not hears_guidance(f"s-{number}", share=0.5))
    file = write_lines(tmp_path / "told.jsonl", session(name, told=True, recovers=True))
    with pytest.raises(UsageError, match="drawn as a control"):
        _only(file, HALF)


def _decision(arm: str, file: Path, **fields: Any) -> dict[str, Any]:
    drawn = {"unit": "kim", "experiment": "hook", "share": 0.5, "arm": arm, "detector": "prompted", "at": "2026-01-01"}
    return {"session": "s-1", "project": "/p", "transcript": str(file), **drawn, **fields}


@pytest.mark.parametrize("arm", ["guide", "shadow"])
def test_the_hooks_log_says_who_is_in_which_arm_and_what_was_detected(tmp_path: Path, arm: str) -> None:
    file = write_lines(tmp_path / "s-1.jsonl", session("s-1", told=arm == "guide", recovers=True))
    word = msgspec.to_builtins(Intervention(LOOP, 4, guidance=TOLD))
    word_record = {"step": 4, "guidance": TOLD, "intervention": word}
    withheld = {"step": 5, "intervention": word}
    log = tmp_path / DECISIONS
    write_lines(log, [_decision(arm, file), _decision(arm, file, **word_record), _decision(arm, file, **withheld)])
    log.write_text(log.read_text() + '{"half')
    for path in (log, tmp_path):
        one = _only(path)
        assert (one.arm, one.unit, one.project, one.detector) == (arm, "kim", "/p", "prompted")
        assert [(item.step, item.extra["heard"]) for item in one.items] == [(5, arm == "guide")]


def test_a_transcript_that_is_gone_is_counted(tmp_path: Path) -> None:
    write_lines(tmp_path / DECISIONS, [_decision("guide", tmp_path / "gone.jsonl")])
    left_out = LeftOut()
    with pytest.raises(NoTrajectory):
        _only(tmp_path / DECISIONS, left_out=left_out)
    assert left_out.transcripts == [str(tmp_path / "gone.jsonl")]


def test_a_file_that_is_no_session_is_counted_and_costs_nothing_else(tmp_path: Path) -> None:
    write_lines(tmp_path / "s-1.jsonl", session("s-1", told=False, recovers=True))
    (tmp_path / "broken.jsonl").write_text(json.dumps(session("s-2", told=False, recovers=True)[0]) + "\n{oh\n{no}\n")
    left_out = LeftOut()
    list(guided_runs([tmp_path], HALF, left_out))
    assert left_out.unreadable


def test_evidence_is_counted_in_the_run_with_its_words() -> None:
    steps = tuple(Step("agent") for _ in range(8))
    seen = [(1, Intervention(LOOP, 1)), (5, Intervention(LOOP, 5))]
    run, items = with_words(Trajectory("r", Source("misstep"), steps=steps), seen)
    assert [item.step for item in items] == [2, 7]
    assert items[1].extra["evidence"] == [3, 4, 5]
    assert len(run.steps) == 10


def test_a_heard_word_is_on_the_detection_that_has_its_text_though_a_newer_one_is_nearer() -> None:
    heard = Step("system", "A", extra={INTERVENTION: 0, ABOUT: ["infinite_loop"]})
    steps = (*[Step("agent")] * 6, heard, *[Step("agent")] * 3)
    newer = (Misbehaviour("infinite_loop", (2, 3, 4, 5)),)
    seen = [(4, Intervention(LOOP, 4, guidance="A")), (5, Intervention(newer, 5, guidance="B"))]
    _, items = with_words(Trajectory("r", Source("misstep"), steps=steps), seen)
    (word,) = [item for item in items if item.extra["heard"]]
    assert (word.extra["detected"], word.extra["evidence"]) == (True, [2, 3, 4])
