"""Alarms are right behind an onset and false elsewhere; what cannot be computed says why."""

import pytest

from analysis.measures.alarms import WINDOW, WatchedRun, alarms, alarms_table, watched_run
from harness.intervention import Intervention, Misbehaviour, ObservedRun


def _run(name: str, onsets: tuple[int, ...], found: tuple[int, ...], n: int = 100) -> WatchedRun:
    return WatchedRun(name, n, onsets, found)


def test_an_alarm_is_about_an_onset_in_the_steps_before_it() -> None:
    runs = [
        _run("found", (10,), (12,)),
        _run("at its last step", (10,), (10 + WINDOW,)),
        _run("too late", (10,), (11 + WINDOW,)),
        _run("too early", (10,), (9,)),
        _run("missed", (10,), ()),
        _run("clean", (), ()),
        _run("clean, alarmed", (), (50, 60)),
    ]
    found = alarms("made up", runs)
    assert (found.found.value, found.found.n) == (3 / 5, 5)
    assert found.onsets_found.value == 2 / 5
    assert found.early.value == 1 / 5
    assert found.false_runs.value == 1 / 2
    assert found.false_per_100.value == pytest.approx(100 * 4 / 700)
    assert found.delay.value == WINDOW


def test_where_nothing_was_planted_there_is_no_recall_and_no_delay() -> None:
    found = alarms("made up", [_run("clean", (), (5,))])
    assert (found.found.value, found.delay.value, found.onsets_found.value) == (None, None, None)
    assert found.found.reason
    assert found.delay.reason


def test_a_problem_that_is_spoken_of_again_is_no_new_alarm() -> None:
    loop = (Misbehaviour("infinite_loop", (3,)),)
    record = ObservedRun(
        "a",
        "shadow",
        "rules",
        5,
        30,
        interventions=(
            Intervention(loop, 5, withheld="shadow"),
            Intervention(loop, 10, withheld="shadow", level=2),
            Intervention(loop, 15, withheld="repeated"),
            Intervention(loop, 20, withheld="stale"),
        ),
    )
    assert watched_run(record, [7, 3, 3]) == WatchedRun("a", 30, (3, 7), (5, 20))


def test_the_table_has_the_same_lines_for_each_detector() -> None:
    runs = [_run("a", (3,), (5,)), _run("b", (), ())]
    table = alarms_table(
        "alarms", "Alarms", [alarms("one", runs), alarms("two", runs)], source="made up", paper="wink",
        evidence="generated",
    )  # fmt: skip
    by_group = {group: [row.quantity for row in table.rows if row.group == group] for group in ("one", "two")}
    assert by_group["one"] == by_group["two"]
