"""When a detector is asked, what its answer is worth, and what the observer says."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.intervention import Arm, Feedback, Misbehaviour, ObservedRun
from misstep_harness.observer.episodes import subject_of
from misstep_harness.observer.guidance import guidance_step
from misstep_harness.observer.state import ObserverState
from misstep_harness.trajectory import Step
from tests.harness.observer.made_up_runs import asked, looping, read

SAME = [asked(), *[read()] * 20]


def _answered(*answers: Feedback, arm: Arm = "guide", delay: int = 0, steps: Sequence[Step] = SAME) -> ObservedRun:
    """A run on which a detector that is asked every five steps gives these answers, each some steps later."""
    state = ObserverState("run-1", "made", arm=arm)
    left, wait = list(answers), 0
    for end in range(2, len(steps) + 1):
        seen = steps[:end]
        if state.in_flight and wait == 0:
            state.answered(left.pop(0), seen)
        if state.due(seen) and left:
            state.question_open(seen)
            wait = delay
        wait -= 1
        if state.in_flight and delay == 0:
            state.answered(left.pop(0), seen)
    state.ended(steps)
    return state.observed(steps)


def _asked() -> ObserverState:
    state = ObserverState("run-1", "made")
    state.question_open(SAME[:6])
    return state


def _said(run: ObservedRun) -> list[tuple[int | None, int, str]]:
    return [(one.delivered_at, one.level, one.withheld) for one in run.interventions]


def test_the_detector_is_asked_every_five_steps_of_the_agent() -> None:
    run = _answered(*[Feedback()] * 4)
    assert [one.step for one in run.invocations] == [5, 10, 15, 20]
    assert run.n_steps == 21


def test_steps_of_guidance_are_no_steps_of_the_agent() -> None:
    state = ObserverState("run-1", "made", every=2)
    steps = [asked(), read(), guidance_step("…", 0), read()]
    assert not state.due(steps[:2])
    assert state.due(steps)
    assert state.observed(steps).n_steps == 3


OTHER = "read_file(file_path='b.py')"
LEFT = [asked(), *[read()] * 5, *[read(f"b{number}.py") for number in range(9)]]


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (_answered(looping(3, 4, 5)), [(5, 1, "")]),
        (_answered(looping(3, 4, 5), looping(8, 9, 10)), [(5, 1, ""), (10, 2, "")]),
        (_answered(looping(3, 4, 5), looping(8, 9, 10, of=OTHER)), [(5, 1, ""), (10, 1, "")]),
        (_answered(looping(3, 4, 5), delay=3, steps=LEFT), [(None, 1, "stale")]),
        (
            _answered(*(looping(*range(3, end + 1)) for end in (5, 10, 15, 20))),
            [(5, 1, ""), (10, 2, ""), (15, 3, ""), (None, 3, "repeated")],
        ),
    ],
    ids=["at once", "the same after a pause", "another call", "over by then", "more firmly twice"],
)
def test_a_misbehaviour_is_told_when_and_as_firmly_as_it_is_due(run: ObservedRun, said: list[object]) -> None:
    assert _said(run) == said
    texts = [one.guidance for one in run.interventions if not one.withheld]
    assert len(set(texts)) == len(texts)
    assert "revised plan" in "".join(texts[2:3] or ["revised plan"])


def test_an_answer_that_comes_later_is_told_then() -> None:
    run = _answered(looping(3, 4, 5), delay=2)
    assert _said(run) == [(7, 1, "")]
    assert (run.interventions[0].detected_at, run.invocations[0].answered_at) == (5, 7)


def test_no_second_question_is_asked_while_one_is_open() -> None:
    run = _answered(Feedback(), Feedback(), delay=7)
    assert [one.step for one in run.invocations] == [5, 15]
    assert run.skipped == 2


def test_a_question_that_is_open_when_the_run_ends_stays_unanswered() -> None:
    run = _answered(looping(3, 4, 5), delay=30)
    assert [(one.status, one.answered_at) for one in run.invocations] == [("unanswered", None)]
    assert not run.interventions


def test_an_answer_that_comes_with_the_last_step_is_not_said_any_more() -> None:
    state = _asked()
    state.ended(SAME, looping(3, 4, 5))
    assert _said(state.observed(SAME)) == [(None, 1, "ended")]


def test_the_same_episode_is_not_spoken_of_twice() -> None:
    state = _asked()
    assert state.answered(looping(3, 4, 5), SAME[:9]) is not None
    state.question_open(SAME[:9])
    assert state.answered(looping(3, 4, 5, 6, 7, 8), SAME[:9]) is None
    assert _said(state.observed(SAME)) == [(8, 1, ""), (None, 1, "repeated")]


def test_what_an_earlier_answer_showed_in_full_is_left_out() -> None:
    run = _answered(looping(3, 4, 5), looping(3, 4, 5))
    assert [len(one.misbehaviours) for one in run.invocations] == [1, 0]


def test_several_misbehaviours_of_one_answer_make_one_intervention() -> None:
    both = Feedback((*looping(3, 4, 5).misbehaviours, Misbehaviour("unrequested_changes", (5,))))
    run = _answered(both)
    assert [one.categories for one in run.interventions] == [("infinite_loop", "unrequested_changes")]


def test_nothing_is_said_in_shadow_mode() -> None:
    answers = [looping(*range(3, end + 1)) for end in (5, 10)]
    run = _answered(*answers, arm="shadow")
    assert _said(run) == [(None, 1, "shadow"), (None, 2, "shadow")]
    assert [one.guidance for one in run.interventions] == [one.guidance for one in _answered(*answers).interventions]


def test_a_failed_question_is_no_answer() -> None:
    state = _asked()
    state.failed("ValueError: broken", SAME[:7])
    assert [(one.status, one.error) for one in state.observed(SAME).invocations] == [("failed", "ValueError: broken")]


def test_an_answer_without_an_end_is_cut() -> None:
    steps, text = tuple(range(99_999)), "x" * 9_999_999
    flood = Feedback(tuple(Misbehaviour(f"c{number}", steps, text) for number in range(9_999)))
    run = _answered(flood)
    assert len(run.invocations[0].misbehaviours) == 20
    assert len(run.interventions) == 1
    assert len(run.interventions[0].guidance) < 20_000


@pytest.mark.parametrize("answer", [None, "yes", 7, Feedback([]), Feedback((1,)), Feedback((Misbehaviour(3),))])  # type: ignore[arg-type]
def test_what_is_no_feedback_is_refused_and_the_question_stays_open(answer: object) -> None:
    state = _asked()
    with pytest.raises(TypeError):
        state.answered(answer, SAME[:6])  # type: ignore[arg-type]
    assert state.in_flight


FEEDBACK = st.builds(
    lambda found: Feedback(tuple(found)),
    st.lists(
        st.builds(
            Misbehaviour,
            st.sampled_from(["infinite_loop", "tool_call_failure", "unrequested_changes", "elsewhere"]),
            st.lists(st.integers(-3, 40)).map(tuple),
            evidence=st.fixed_dictionaries({}, optional={"call": st.sampled_from("ab"), "tool": st.sampled_from("ab")}),
        ),
        max_size=4,
    ),
)


@given(st.lists(st.tuples(st.integers(0, 9), FEEDBACK), max_size=8), st.sampled_from(["shadow", "guide"]))
def test_one_problem_is_spoken_of_once_a_level_at_most(answers: list[tuple[int, Feedback]], arm: Arm) -> None:
    state = ObserverState("run-1", "made", every=1, arm=arm)
    steps = [asked(), read()]
    for delay, feedback in answers:
        state.question_open(steps)
        steps += [read()] * delay
        state.answered(feedback, steps)
        steps.append(read())
    words = [one for one in state.observed(steps).interventions if one.withheld in ("", "shadow")]
    alone = [(one.misbehaviours[0], one.level) for one in words if len(one.misbehaviours) == 1]
    levels = [(result.category, subject_of(result), level) for result, level in alone if subject_of(result)]
    assert len(levels) == len(set(levels))
    assert all(1 <= one.level <= 3 for one in words)
    assert all(one.delivered_at is None or one.delivered_at >= one.detected_at for one in words)
