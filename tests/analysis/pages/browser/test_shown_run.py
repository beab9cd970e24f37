"""A run as a report opens it: its evidence in full, the rest within a bound, and every step accounted for."""

from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.pages.browser import EVIDENCE_SHOWN, STEPS_SHOWN, ShownRun, shown_run
from misstep_harness.trajectory import Source, Step, ToolResult, Trajectory


def run(n_steps: int, length: int = 10) -> Trajectory:
    """A run of equal steps."""
    steps = tuple(Step("agent", "a" * length, results=(ToolResult("r" * length),)) for _ in range(n_steps))
    return Trajectory("run-1", Source("atif"), "Do it.", steps)


def numbers(shown: ShownRun) -> list[int]:
    return [step.number for step in shown.steps]


def test_a_short_run_is_shown_whole():
    shown = shown_run(run(5), {2}, 10_000)
    assert numbers(shown) == [0, 1, 2, 3, 4]
    assert all(step.text.cut == 0 and step.skipped == 0 for step in shown.steps)


def test_the_evidence_is_in_full_where_everything_else_is_cut():
    shown = shown_run(run(40, length=EVIDENCE_SHOWN), {20}, 3_000)
    of = {step.number: step for step in shown.steps}
    assert of[20].text.cut == of[20].results[0].text.cut == 0
    assert all(step.text.cut > 0 for number, step in of.items() if number != 20)


def test_evidence_that_is_longer_than_its_bound_is_cut_and_says_by_how_much():
    (step,) = shown_run(run(1, length=EVIDENCE_SHOWN + 7), {0}, 100_000).steps
    assert step.text.cut == 7


def test_of_a_long_run_both_ends_and_the_evidence_with_its_neighbours_are_shown():
    shown = shown_run(run(1_000), {500}, 1_000_000)
    half = STEPS_SHOWN // 2
    assert numbers(shown) == [*range(half), 499, 500, 501, *range(1_000 - half, 1_000)]
    assert [step.skipped for step in shown.steps if step.skipped] == [499 - half, 1_000 - half - 502]


def test_evidence_beyond_the_end_of_the_run_is_no_step():
    assert numbers(shown_run(run(2), {7}, 1_000)) == [0, 1]


@given(st.integers(0, 400), st.integers(0, 3_000), st.sets(st.integers(0, 420), max_size=4), st.integers(0, 200_000))
def test_every_step_is_shown_or_counted_as_left_out_and_what_is_shown_keeps_the_bound(n, length, evidence, most):
    shown = shown_run(run(n, length), evidence, most)
    last = shown.steps[-1].number if shown.steps else -1
    assert len(shown.steps) + sum(step.skipped for step in shown.steps) + (n - 1 - last) == n == shown.n_steps
    texts = [
        len(text.start) + len(text.end)
        for step in shown.steps
        if step.number not in evidence
        for text in (step.text, *(result.text for result in step.results))
    ]
    fewest = 2 * (6 + 2 * len(evidence))
    assert sum(texts) <= max(most, 120 * fewest)
