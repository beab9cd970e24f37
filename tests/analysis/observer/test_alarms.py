"""Alarms are right behind an onset and false elsewhere; what cannot be computed says why."""

from collections.abc import Iterable
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from misstep_analysis.observer.alarms import WINDOW, WatchedRun, alarms, alarms_table, watched_run
from misstep_analysis.tables import Row
from misstep_harness.intervention import Intervention, Misbehaviour, ObservedRun


def _run(name: str, onsets: tuple[int, ...], result: tuple[int, ...], n: int = 100) -> WatchedRun:
    return WatchedRun("set", "made up", name, n, onsets, result)


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
    (result,) = alarms(runs)
    assert (result.found.value, result.found.n) == (3 / 5, 5)
    assert result.onsets_found.value == 2 / 5
    assert result.early.value == 1 / 5
    assert result.false_runs.value == 1 / 2
    assert result.false_per_100.value == pytest.approx(100 * 4 / 700)
    assert result.delay.value == WINDOW


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
    assert watched_run("set", "rules", record, [7, 3, 3]) == WatchedRun("set", "rules", "a", 30, (3, 7), (5, 20))


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=2, max_size=6))
def test_the_alarms_of_other_runs_are_what_speaking_at_the_same_steps_would_find(steps: list[tuple[int, int]]) -> None:
    (result,) = alarms([_run(str(number), (onset,), (alarm,)) for number, (onset, alarm) in enumerate(steps)])
    pairs = list(permutations(steps, 2))
    right = sum(one[0] <= other[1] <= one[0] + WINDOW for one, other in pairs)
    assert result.by_others.value == pytest.approx(right / len(pairs))


def test_the_table_has_the_same_lines_for_each_detector_and_what_a_step_costs() -> None:
    runs = [_run("a", (3,), (5,)), _run("b", (), ())]
    result = alarms([*runs, *(structs.replace(run, detector="other") for run in runs)])
    table = alarms_table(
        "alarms",
        "Alarms",
        result,
        sources={"set": "made up"},
        evidence="generated",
        milliseconds={"made up": 0.1, "other": 0.2},
    )
    names = {group: [row.quantity for row in table.rows if row.group == group] for group in groups(table.rows)}
    assert list(names) == ["made up, on set", "other, on set"]
    assert names["made up, on set"] == names["other, on set"]
    assert [row.value for row in table.rows if row.quantity == "Milliseconds a step"] == [0.1, 0.2]


def test_the_finding_claims_no_more_than_the_alarms_of_other_runs_leave() -> None:
    def finding(runs: list[WatchedRun]) -> str:
        return alarms_table("alarms", "Alarms", alarms(runs), sources={"set": "made up"}, evidence="generated").finding

    always = [_run(str(onset), (onset,), (20,)) for onset in range(10)]
    right = [_run(str(onset), (onset,), (onset,)) for onset in range(0, 1000, 20)]
    one_right = [_run(str(n), (40 * n,), (40 * n,) if n == 0 else (999,)) for n in range(9)]
    assert finding(always).startswith("No detector is shown to find more")
    assert finding(one_right).startswith("No detector is shown to find more")
    more = "made up finds more than the alarms of other runs would (p 0.00100): 100.0%"
    assert finding(right).startswith(more)
    assert finding([*right, *(structs.replace(run, detector="other") for run in always)]).startswith(
        more.replace("p 0.00100", "p 0.00100, adjusted 0.00200")
    )
    assert finding([_run("clean", (), (5,))]) == "No run that was looked at has a problem that could be found."
    assert alarms_table("lead_time", "Alarms", [], sources={}).finding == "No run was looked at."


def groups(rows: Iterable[Row]) -> list[str]:
    """The groups of some rows, each once."""
    return list(dict.fromkeys(row.group for row in rows))
