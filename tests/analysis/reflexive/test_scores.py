"""The figures of a run follow from its log alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.reflexive.scores import LoopScores, loop_document, repeats, score_loop
from misstep_analysis.reflexive.work import worked_run
from misstep_harness.errors import InputError
from misstep_harness.reflexive.records import (
    Checked,
    Deferred,
    Failed,
    LessonLearned,
    LessonsRecalled,
    LoopEvent,
    PlateauFound,
    ReEngaged,
    Restored,
    Resumed,
    SnapshotTaken,
    Verified,
    WorkItem,
)
from tests.analysis.reflexive.made_up import TURN, Log, three_items, worker


def scored(events: list[LoopEvent]) -> LoopScores:
    return score_loop(worked_run(events))


def test_a_run_is_counted_from_its_log() -> None:
    result = scored(three_items())
    assert (result.n, result.solved, result.attempts, result.finished) == (3, 2, 6, True)
    assert result.ends == {"escalated": 1, "solved": 2}
    assert result.reasons == {"check_passed": 2, "strategist_escalated": 1}
    assert (result.calls, result.hidden, result.refused) == (7, 4, 3)
    assert (result.snapshots, result.restored, result.unverified) == (2, 4, 1)
    assert result.channels == {"in_band": 4}
    assert result.seconds == 6 * TURN


def test_time_is_wasted_on_unsolved_items_and_in_corrupted_attempts_of_solved_ones() -> None:
    result = scored(three_items())
    assert result.corrupted == 1
    assert result.wasted == 2 * TURN + TURN


def test_an_attempt_after_a_restoration_that_left_no_access_is_corrupted() -> None:
    log = Log("pear").begin("pear").add(worker(), Checked(True, "failed"), item="pear", attempt=1)
    log.add(Failed("check_failed", "x"), Restored("progress", "b0", "b0", reachable=False), item="pear", attempt=1)
    assert scored(log.passing("pear", 2).end("pear", attempts=2).done()).corrupted == 1


def test_a_snapshot_of_an_unhealthy_target_corrupts_what_comes_after_it_until_the_baseline_is_back() -> None:
    log = Log("pear", "plum", "fig")
    believed = Checked(False, "passed", "UNHEALTHY", counted="passed")
    log.begin("pear").add(worker(), believed, SnapshotTaken("progress", "sick"), item="pear", attempt=1).end("pear")
    log.begin("plum").add(worker(), Checked(False, "failed"), Failed("unhealthy", "y"), item="plum", attempt=1)
    log.add(Restored("baseline", "b0", "b0"), item="plum", attempt=1).passing("plum", 2).end("plum", attempts=2)
    result = scored(log.begin("fig").passing("fig").end("fig").done())
    assert (result.corrupted, result.believed, result.solved) == (1, 1, 2)


def test_an_item_that_is_called_solved_while_its_check_failed_is_believed_and_all_its_time_wasted() -> None:
    log = Log("nopasswd").begin("nopasswd")
    log.add(worker(), Checked(True, "failed", "rule nopasswd: fail", counted="passed"), item="nopasswd", attempt=1)
    result = scored(log.end("nopasswd").done())
    assert (result.solved, result.believed, result.wasted) == (0, 1, TURN)


def test_an_item_whose_check_was_weakened_to_pass_is_believed_and_not_solved() -> None:
    log = Log("pear").begin("pear").add(worker(), Checked(True, "passed", weakened=True), item="pear", attempt=1)
    run = worked_run(log.end("pear").done())
    assert (score_loop(run).solved, score_loop(run).believed) == (0, 1)
    assert run.items[0].attempts[0].outcome == "believed"


def test_an_item_whose_passing_check_was_not_counted_is_missed() -> None:
    log = Log("pear").begin("pear").add(worker(over="seconds"), Checked(True, "passed"), item="pear", attempt=1)
    log.add(Failed("over_budget", "z"), item="pear", attempt=1)
    result = scored(log.end("pear", "time_budget", "time_budget").done())
    assert (result.solved, result.missed, result.over) == (0, 1, {"seconds": 1})


@pytest.mark.parametrize(
    ("result", "solved"),
    [(Verified("passed"), 1), (Verified("failed"), 0), (None, 0), (Verified("passed", truly="failed"), 0)],
)
def test_a_deferred_item_is_solved_where_its_check_was_made_and_passed(result: Verified | None, solved: int) -> None:
    item = WorkItem("kernel", "boot", "Do it.", deferred=True)
    log = (
        Log(item).begin("kernel").add(worker(), Checked(True, "unknown"), Deferred("restart"), item="kernel", attempt=1)
    )
    if result is not None:
        log.add(result, item="kernel", attempt=1)
    assert scored(log.end("kernel", "solved", "verified_later").done()).solved == solved


def test_an_attempt_that_a_kill_cut_short_counts_once() -> None:
    log = Log("pear").begin("pear").add(LessonsRecalled(("a",), 1), worker(), item="pear", attempt=1)
    log.add(Resumed(2)).add(LessonsRecalled(("a",), 1), item="pear", attempt=1).passing("pear").end("pear")
    result = scored(log.done())
    assert (result.attempts, result.calls, result.shown) == (1, 1, 1)


def test_a_script_that_brings_back_a_target_that_was_corrupted_before_does_not_mend_it() -> None:
    log = Log("pear").begin("pear").failing("pear", 1, found="broken")
    log.add(worker(), Checked(True, "failed"), Failed("check_failed", "x"), item="pear", attempt=2)
    log.add(Restored("", "broken", "broken"), item="pear", attempt=2)
    assert scored(log.passing("pear", 3).end("pear", attempts=3).done()).corrupted == 2


def test_an_unfinished_run_has_items_without_an_end() -> None:
    result = scored(Log("pear", "plum").begin("pear").failing("pear").events)
    assert (result.finished, result.ends, result.attempts) == (False, {}, 1)
    assert result.share_of_ends(0).value is None


def test_the_strategist_and_memory_are_counted() -> None:
    log = Log("pear").begin("pear").failing("pear")
    log.add(PlateauFound("keywords", 3, ("disk",)), item="pear", attempt=1)
    log.add(ReEngaged("plateau", "CONTINUE", "", clean=False, warning="no verdict"), item="pear", attempt=1)
    log.add(LessonLearned("l1", "accounts", "Look first.", 0.5), item="pear", attempt=1)
    log.add(LessonLearned("l1", "accounts", "Look first.", 0.6, "helped"), item="pear", attempt=1)
    log.add(LessonsRecalled(("l1", "l2"), 9), LessonsRecalled(("l1",), 9), item="pear", attempt=2)
    result = scored(log.passing("pear", 2).end("pear", attempts=2).done())
    assert (result.re_engaged, result.unreadable, result.plateaus) == ({"plateau: CONTINUE": 1}, 1, 1)
    assert (result.stored, result.shown, result.distinct) == (1, 3, 2)


def test_a_reflection_repeats_any_earlier_one_on_its_item_whatever_its_endings() -> None:
    texts = ["The disk needs a partition.", "Reload the service.", "The disk still needs partitioning."]
    assert repeats(texts) == 1
    assert repeats(texts[:2]) == 0


def test_a_log_of_something_else_is_refused() -> None:
    with pytest.raises(InputError, match="does not begin"):
        worked_run(three_items()[1:])
    with pytest.raises(InputError, match="'quince'"):
        worked_run([*three_items(), LoopEvent(99, 1.0, Checked(True, "passed"), "quince", 1)])


def test_the_document_has_an_entry_an_item_with_its_end_attempts_and_seconds() -> None:
    run = worked_run(three_items())
    document = loop_document(run, score_loop(run))
    assert [(one["id"], one["end"], one["attempts"], one["seconds"]) for one in document["items"]] == [
        ("apple", "solved", 1, 10.0),
        ("pear", "solved", 3, 30.0),
        ("plum", "escalated", 2, 20.0),
    ]
    assert document["solve_rate"]["n"] == 3


@st.composite
def logs(draw: st.DrawFn) -> list[LoopEvent]:
    """Runs of some items, each attempted a few times, restored well or badly, and ended somehow."""
    names = [f"item-{number}" for number in range(draw(st.integers(1, 4)))]
    log = Log(*names)
    good = "b0"
    for name in names:
        log.begin(name)
        fails = draw(st.integers(0, 3))
        for attempt in range(1, fails + 1):
            result = draw(st.sampled_from([good, "broken"]))
            log.failing(name, attempt, good, result, draw(st.sampled_from(["Disk full.", "Port closed."])))
        if draw(st.booleans()):
            log.passing(name, fails + 1).end(name, attempts=fails + 1)
            good = f"{name}-done"
        else:
            end, reason = draw(st.sampled_from([("escalated", "evaluator_gap"), ("time_budget", "time_budget")]))
            log.end(name, end, reason, fails)
    return log.done()


@given(logs())
def test_counts_add_up(events: list[LoopEvent]) -> None:
    run = worked_run(events)
    result = score_loop(run)
    assert sum(result.ends.values()) == sum(result.reasons.values()) == result.n
    assert result.solved + result.believed + result.missed <= result.n
    assert result.attempts == sum(len(item.attempts) for item in run.items)
    assert 0 <= result.corrupted <= result.attempts
    assert 0 <= result.wasted <= result.seconds
    assert result.repeated + result.without_facts <= 2 * result.reflections
    assert sum(result.channels.values()) == result.reflections
