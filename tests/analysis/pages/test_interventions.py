"""The page of a trajectory says when the observer saw what, what it said, and whether it showed again."""

from misstep_analysis.pages import Foot
from misstep_analysis.pages.interventions import AFTER, observer_view
from misstep_analysis.pages.trajectory import trajectory_page
from misstep_harness.intervention import INTERVENTION, Intervention, Invocation, Misbehaviour, ObservedRun
from misstep_harness.trajectory import Source, Step, Trajectory

LOOP = Misbehaviour("infinite_loop", (3, 4, 5), "It goes <round>.")
STEPS = (Step("user", "Go."), *(Step("agent", f"Look {number}.") for number in range(1, 40)))
TOLD = Intervention((LOOP,), 5, 6, guidance="Stop <now>.")
RECORD = ObservedRun(
    "a", "guide", "rules", 5, 40, (Invocation(5, misbehaviours=(LOOP,), answered_at=6), Invocation(10)), (TOLD,)
)


def _view(again: tuple[int, ...], record: ObservedRun = RECORD) -> tuple[tuple[int, ...], str]:
    (one,) = observer_view(record, STEPS, {"infinite_loop": (3, 4, 5, *again)}).interventions
    return one.again, one.after


def test_what_comes_after_is_what_shows_in_the_steps_behind_the_guidance() -> None:
    assert _view((7, 6 + AFTER, 7 + AFTER)) == ((7, 6 + AFTER), f"It shows again in the {AFTER} steps after guidance:")
    assert _view(()) == ((), f"It does not show in the {AFTER} steps after guidance.")
    last = ObservedRun("a", "guide", "rules", 5, 40, (), (Intervention((LOOP,), 39, 39),))
    assert _view((), last) == ((), "The run ends there.")


def test_what_the_observer_saw_later_counts_and_where_nobody_looked_that_is_said() -> None:
    later = Misbehaviour("infinite_loop", (9,))
    seen_again = ObservedRun("a", "guide", "rules", 5, 40, (Invocation(10, misbehaviours=(later,)),), (TOLD,))
    (one,) = observer_view(seen_again, STEPS, {}).interventions
    assert (one.again, one.after) == ((9,), f"It shows again in the {AFTER} steps after guidance:")
    unseen = ObservedRun("a", "guide", "rules", 5, 40, (Invocation(5, answered_at=6),), (TOLD,))
    (one,) = observer_view(unseen, STEPS, {}).interventions
    assert one.after == f"Nobody looked for it in the {AFTER} steps after guidance."


def test_the_time_line_has_the_evidence_the_word_and_the_steps_after_it() -> None:
    view = observer_view(RECORD, STEPS, {"infinite_loop": (3, 4, 5, 9)})
    (one,) = view.interventions
    assert [(bar.start, bar.length, bar.kind) for bar in one.bars] == [
        (3, 3, "shown"),
        (7, AFTER, "quiet"),
        (9, 1, "again"),
        (6, 1, "told"),
    ]
    assert [kind for kind, _ in view.key] == ["answered", "flagged", "shown", "told", "again", "quiet"]
    assert [bar.kind for bar in view.asked] == ["flagged", "answered"]
    assert view.finding == (
        "The detector rules was asked 2 times and saw misbehaviour 1 time; the agent was told 1 of 1 intervention."
    )


def test_a_detector_that_never_answered_saw_nothing_and_why_is_said() -> None:
    record = ObservedRun("a", "guide", "rules", 5, 40, (Invocation(5, "failed", error="ValueError: broken"),) * 2)
    assert observer_view(record, STEPS, {}).finding == (
        "The detector rules was asked 2 times and never answered. 2 questions without an answer: ValueError: broken."
    )


def _page(steps: tuple[Step, ...], record: ObservedRun | None) -> str:
    return trajectory_page(Trajectory("a", Source("made up"), "Go.", steps), [], Foot("misstep view a"), record)


def test_the_page_links_each_intervention_to_its_steps_and_escapes_what_it_says() -> None:
    page = _page(STEPS, RECORD)
    assert 'id="intervention-1"' in page
    assert 'Told here: <a href="#intervention-1">' in page
    assert "It goes &lt;round&gt;." in page
    assert "Stop &lt;now&gt;." in page
    assert "<now>" not in page


def test_a_word_that_was_withheld_says_why() -> None:
    shadow = ObservedRun("a", "shadow", "rules", 5, 40, (), (Intervention((LOOP,), 5, withheld="shadow"),))
    page = _page(STEPS, shadow)
    assert "only recorded: shadow mode says nothing" in page
    assert "Withheld here" in page


def test_a_step_of_guidance_is_called_so() -> None:
    reminder = Step("system", "<system-reminder>Stop.</system-reminder>", extra={INTERVENTION: 0})
    page = _page((*STEPS[:7], reminder, *STEPS[7:]), None)
    assert 'class="step guidance"' in page
    assert 'class="guidance" x="7"' in page
