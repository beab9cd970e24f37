"""A session that grows is read as far as it is whole, and guidance comes when it is due, once."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from misstep_harness.errors import InputError, UnknownFormat
from misstep_harness.intervention import Feedback
from misstep_harness.observer.follow import Failures, follow, growing_runs, mark_of, watch_of
from misstep_harness.observer.replay import ReplayOptions
from tests.families.recordings import recording_of
from tests.harness.observer.growing_sessions import edited, looping, written
from tests.harness.observer.made_up_runs import asked, read, run
from tests.misstep.made_up import atif

TWELVE = run(asked(), *[read()] * 12)

FAILURES: list[str] = []
GUIDE = partial(watch_of, ReplayOptions(arm="guide"), Failures(FAILURES.append))


class _Done(Exception):
    """No further look."""


def _told(file: Path, changes: Iterator[Callable[[], object]]) -> list[tuple[str, int]]:
    """What is told while a file changes from look to look: the run's id and the step."""
    texts = []

    def wait() -> None:
        change = next(changes, None)
        if change is None:
            raise _Done
        change()

    with suppress(_Done):
        for item, one in follow(file, GUIDE, wait=wait):
            texts.append((item, one.detected_at))
    return texts


def test_guidance_is_told_at_the_step_at_which_it_is_due_and_once(tmp_path: Path) -> None:
    file, lines = tmp_path / "s1.jsonl", looping(12)
    grown = (partial(written, file, lines[:number]) for number in range(1, len(lines) + 1))
    looks = [*grown, lambda: None]
    assert _told(file, iter(looks)) == [("s1", 5), ("s1", 10)]


def test_a_line_that_is_half_written_waits_for_its_end(tmp_path: Path) -> None:
    file, lines = tmp_path / "s1.jsonl", looping(5)
    half = partial(written, file, [*lines[:-1], lines[-1][:40]], b"")
    assert _told(file, iter([half])) == []
    assert _told(file, iter([half, partial(written, file, lines)])) == [("s1", 5)]


def test_a_file_that_is_cut_off_or_replaced_is_watched_anew(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    first, cut = partial(written, file, looping(6)), partial(written, file, looping(2))
    other = partial(written, file, looping(6, "s2"))
    assert _told(file, iter([first, cut, first])) == [("s1", 5), ("s1", 5)]
    assert _told(file, iter([first, file.unlink, other])) == [("s1", 5), ("s2", 5)]


def test_several_steps_that_come_at_once_are_told_once_and_weighed_by_all_of_them(tmp_path: Path) -> None:
    file = tmp_path / "s1.jsonl"
    assert _told(file, iter([partial(written, file, looping(12))])) == [("s1", 5)]
    file.unlink()
    out = [*looping(12), *edited(13)]
    assert _told(file, iter([partial(written, file, looping(9)), partial(written, file, out)])) == [("s1", 5)]


class Broken:
    """A detector that gives no answer."""

    name = "broken"

    async def detect(self, *_: object) -> Feedback:
        raise ValueError("no answer")


def test_why_questions_have_no_answer_is_told_once() -> None:
    texts: list[str] = []
    watch = watch_of(ReplayOptions(f"{__name__}:Broken"), Failures(texts.append), TWELVE)
    assert watch(TWELVE) == []
    assert texts == ["ValueError: no answer"]


def test_a_half_written_last_line_is_left_out(tmp_path: Path) -> None:
    lines = looping(3)
    whole = growing_runs(written(tmp_path / "a.jsonl", lines))
    half = growing_runs(written(tmp_path / "b.jsonl", [*lines, b'{"type": "assist'], end=b""))
    assert [run.steps for run in half] == [run.steps for run in whole]


def test_of_a_run_a_line_the_whole_ones_are_read(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_bytes(atif("first") + atif("second") + atif("third")[:90])
    assert [run.id for run in growing_runs(file)] == ["first", "second"]


def test_a_call_without_its_answer_is_not_yet_a_step(tmp_path: Path) -> None:
    (run,) = growing_runs(written(tmp_path / "a.jsonl", looping(3)[:-1]))
    assert len(run.steps) == 3


@pytest.mark.parametrize("name", ["claude_code", "codex", "gemini_cli"])
def test_sessions_of_other_agents_are_read_too(tmp_path: Path, name: str) -> None:
    file = tmp_path / "session.jsonl"
    file.write_bytes(recording_of(name))
    assert growing_runs(file)[0].steps


def test_a_list_of_events_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "events.json"
    events = [
        {"id": 0, "source": "user", "action": "message", "args": {"content": "Fix it"}},
        {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "Look."}},
        {"id": 2, "source": "agent", "observation": "run", "cause": 1, "content": "a.py"},
    ]
    whole = json.dumps(events).encode()
    file.write_bytes(whole)
    assert len(growing_runs(file)[0].steps) == 2
    file.write_bytes(whole[:-20])
    with pytest.raises(InputError):
        growing_runs(file)


def test_a_file_that_is_too_long_or_no_session_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", looping(3))
    with pytest.raises(InputError, match="more than 0 MiB"):
        growing_runs(file, most_bytes=100)
    (tmp_path / "notes.txt").write_text("Mend the fence.\n")
    with pytest.raises(UnknownFormat):
        next(follow(tmp_path / "notes.txt", GUIDE, wait=lambda: None))


def test_the_mark_of_a_file_changes_with_it(tmp_path: Path) -> None:
    assert mark_of(tmp_path / "a") is None
    first = mark_of(written(tmp_path / "a", [b"one"]))
    assert mark_of(written(tmp_path / "a", [b"another"])) != first
