"""Rules that every classifier keeps, whatever its category."""

import re
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep_harness.classifiers import CLASSIFIERS, classifier_for, classify_all
from misstep_harness.errors import UsageError
from misstep_harness.trajectory import Source, Step, ToolCall, ToolResult, Trajectory
from misstep_harness.verdict import Verdict
from tests.harness.classifiers.building import bash, edit, misses, run, says, user

SHOWS: dict[str, Trajectory] = {
    "infinite_loop": run(user("Fix it."), *[bash("grep -rn load src", "src/a.py:1: load")] * 4, says("Done.")),
    "tool_call_failure": run(user("Fix it."), *[misses("src/a.py", f"x{turn}") for turn in range(4)], says("I stop.")),
    "unrequested_changes": run(user("Fix src/a.py. Don't touch src/b.py."), edit("src/b.py"), says("Done.")),
    "did_not_follow_instructions": run(user("Use pnpm, not npm."), bash("npm test", "ok"), says("Done.")),
}  # fmt: skip
"""One run for each shipped category that shows it; a new category needs one too."""

TEXT = st.text(max_size=60) | st.sampled_from(
    [
        "Only edit a.py.",
        "Don't run the tests!",
        "use `x`",
        "Error: unknown tool",
        "```",
        "<a>",
        "`",
        "[[[",
        "s/a/b/ && <<E",
    ]
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["command", "path", "old_str", "new_str", "query", "n"]), TEXT | st.none() | st.integers()
)
CALLS = st.builds(ToolCall, st.sampled_from(["bash", "Edit", "Read", "apply_patch", "x_y", ""]), ARGUMENTS | TEXT)
RESULTS = st.builds(ToolResult, TEXT, st.none() | st.booleans(), st.none() | st.integers(0, 127))
STEPS = st.builds(
    Step,
    st.sampled_from(["user", "agent", "system"]),
    TEXT,
    TEXT,
    st.lists(CALLS, max_size=2).map(tuple),
    st.lists(RESULTS, max_size=2).map(tuple),
)
TRAJECTORIES = st.builds(
    Trajectory, st.just("any"), st.just(Source("any")), TEXT, st.lists(STEPS, max_size=8).map(tuple)
)


@pytest.fixture(params=list(CLASSIFIERS))
def category(request: pytest.FixtureRequest) -> str:
    """Each registered category."""
    return str(request.param)


def test_every_shipped_category_has_a_run_that_shows_it() -> None:
    assert set(SHOWS) == set(CLASSIFIERS)


def test_its_run_is_found(category: str) -> None:
    verdict = classifier_for(category).classify(SHOWS[category])
    assert (verdict.label, verdict.judge, verdict.status) == ("yes", category, "answered")


@settings(deadline=None)
@given(TRAJECTORIES)
def test_whatever_the_run_the_verdict_is_well_formed(trajectory: Trajectory) -> None:
    verdicts = classify_all(trajectory)
    assert [verdict.judge for verdict in verdicts] == list(CLASSIFIERS)
    for verdict in verdicts:
        assert verdict.item == trajectory.id
        assert verdict.label in ("yes", "no", None)
        assert (verdict.label == "yes" or verdict.worth_a_look) == bool(verdict.steps)
        assert list(verdict.steps) == sorted(set(verdict.steps))
        assert all(trajectory.steps[step].role in ("agent", "user") for step in verdict.steps)
        assert verdict.rationale.endswith(".")
        assert "\n" not in verdict.rationale
    has_agent = any(step.role == "agent" for step in trajectory.steps)
    of_deeds = [verdict for verdict in verdicts if verdict.judge in ("infinite_loop", "tool_call_failure")]
    assert all((verdict.status == "abstained") == (not has_agent) for verdict in of_deeds)
    assert all(verdict.status in ("answered", "abstained") for verdict in verdicts)


@given(TRAJECTORIES)
def test_the_same_run_gets_the_same_verdict_in_any_order_of_categories(trajectory: Trajectory) -> None:
    forwards = classify_all(trajectory)
    assert classify_all(trajectory, list(CLASSIFIERS)[::-1])[::-1] == forwards
    assert [classifier_for(category).classify(trajectory) for category in CLASSIFIERS] == forwards


def test_an_empty_run_abstains(category: str) -> None:
    for trajectory in (run(), run(user("Only edit a.py."))):
        verdict = classifier_for(category).classify(trajectory)
        assert (verdict.label, verdict.status) == (None, "abstained")


def test_an_unrelated_step_at_the_end_takes_nothing_back(category: str) -> None:
    shown = SHOWS[category]
    if category == "did_not_follow_instructions":
        later = msgspec.structs.replace(shown, steps=(*shown.steps, says("That was all.")))
    else:
        later = msgspec.structs.replace(shown, steps=(*shown.steps, bash("date", "Mon")))
    assert classifier_for(category).classify(later).label == "yes"


def _renamed(trajectory: Trajectory) -> Trajectory:
    """The run with its files called otherwise throughout."""
    raw = msgspec.json.encode(trajectory).decode()
    for name, other in (
        ("src/a.py", "lib/orders.py"),
        ("src/b.py", "lib/shipping.py"),
        ("grep -rn load src", "grep -rn load lib"),
    ):
        raw = raw.replace(name, other)
    return msgspec.json.decode(raw, type=Trajectory)


def test_other_names_of_files_make_no_difference(category: str) -> None:
    classify: Callable[[Trajectory], Verdict] = classifier_for(category).classify
    before, after = classify(SHOWS[category]), classify(_renamed(SHOWS[category]))
    assert (before.label, before.steps) == (after.label, after.steps)


def test_the_evidence_is_bounded_however_long_the_run() -> None:
    verdicts = classify_all(run(*[bash("ls -la src", "x")] * 10_000))
    assert all(len(verdict.steps) <= 20 for verdict in verdicts)


def test_an_unknown_category_is_named_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="infinite_loop"):
        classify_all(run(), ["endless_loop"])


def test_text_from_outside_is_shortened_and_stands_on_one_line_in_a_rationale() -> None:
    nasty = "grep \x1b[31m" + "x" * 5_000 + "\nsecond line"
    (verdict,) = classify_all(run(*[bash(nasty, "y")] * 3), ["infinite_loop"])
    assert verdict.label == "yes"
    assert len(verdict.rationale) < 400
    assert re.search(r"[\n\x1b]", verdict.rationale) is None
