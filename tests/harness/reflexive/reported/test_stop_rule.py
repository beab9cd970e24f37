"""The loop's own rule: progress is content or a commit, checks are typed, and waiting is told from standing still."""

from hypothesis import given
from hypothesis import strategies as st

from misstep.harness.reflexive.reported.rounds import START, Round, first_stop
from misstep.harness.reflexive.reported.stop_rule import stop_rule
from misstep.harness.reflexive.settings import LoopSettings

EVERY = LoopSettings().failures_between


def stops_at(rounds: list[Round]) -> int | None:
    stop = first_stop(stop_rule, rounds)
    return None if stop is None else stop[0]


def test_a_check_that_passes_ends_the_work_whatever_the_agent_says() -> None:
    assert stops_at([Round(said="It is hopeless.", check="passed")]) == 1
    assert stops_at([Round(said="All done!", check="failed"), Round(said="Done!", check="unknown")]) is None


def test_commits_are_progress_though_nothing_is_left_uncommitted() -> None:
    assert stops_at([Round(said=f"{n}", commits=(f"{n}",), check="unknown") for n in range(30)]) is None


def test_new_content_is_progress_and_content_that_comes_back_is_none() -> None:
    fresh = [Round(said=f"{n}", content=f"{n}", check="unknown") for n in range(30)]
    assert stops_at(fresh) is None
    to_and_fro = [Round(said=f"{n}", content="ab"[n % 2], check="unknown") for n in range(30)]
    assert stops_at(to_and_fro) == 2 + 2 * EVERY


def test_standing_still_asks_the_strategist_first_and_stops_at_the_second_time() -> None:
    assert stops_at([Round(said=f"{n}") for n in range(30)]) == 2 * EVERY


def test_polling_is_waiting_while_what_it_sees_changes() -> None:
    seeing = [Round(said=f"{n}%", polling=True, check="unknown") for n in range(30)]
    assert stops_at(seeing) is None
    assert stops_at([Round(said="running", polling=True, check="unknown")] * 30) == 1 + 2 * EVERY
    undeclared = [Round(said=f"{n}%", check="unknown") for n in range(30)]
    assert stops_at(undeclared) == 2 * EVERY


def test_a_person_who_does_not_answer_is_asked_twice_and_work_in_between_starts_anew() -> None:
    ask = Round(said="May I?", asks="May I?", check="unknown")
    assert stops_at([ask, ask, ask]) == 2
    work = [Round(said=f"{n}", content=f"{n}", check="unknown") for n in range(4)]
    assert stops_at([work[0], ask, work[1], ask, work[2], ask]) is None


def test_a_diagnosis_that_outlives_the_answer_to_it_ends_the_work_although_content_is_new() -> None:
    message = "The partition table of the disk is locked by the kernel."
    assert stops_at([Round(said=message, content=f"{n}") for n in range(9)]) == 2 * EVERY
    other = ["Cron has no such entry.", "Users lack a shell.", "A mode is too wide."]
    first = [Round(said=message, content=f"a{n}") for n in range(EVERY)]
    then = [Round(said=text, content=f"b{n}") for n, text in enumerate(other)]
    assert stops_at([*first, *then]) is None


@given(st.lists(st.sampled_from([START, "a", "b", "c"]), min_size=1, max_size=20))
def test_no_run_is_stopped_before_the_strategist_could_have_been_asked_and_answered(contents: list[str]) -> None:
    stop = first_stop(stop_rule, [Round(said=f"{n}", content=name) for n, name in enumerate(contents)])
    assert stop is None or stop[0] >= 2 * EVERY
