"""The classifiers on generated runs whose truth is known by construction.

The wordings are those for development: who mends a rule may look at what a failure here prints. What the rules are worth
is measured on the other set, in the notebooks. The floors are well below what is measured and catch a rule that breaks,
not a figure that moves. Instructions and limits that are in words alone have none: a rule that does not read them is sound.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import pytest

from misstep_harness.classifiers import CLASSIFIERS, classify_all
from misstep_harness.generate.sessions import Case, generate_sessions
from misstep_harness.verdict import Verdict

RIGHT = 0.85
FOUND = {"infinite_loop": 0.9, "tool_call_failure": 0.6}


@pytest.fixture(scope="module")
def judged() -> list[tuple[Case, Sequence[Verdict]]]:
    cases = generate_sessions(300, 987_001, wordings="development")
    return [(case, [one for one in classify_all(case.trajectory) if one.label == "yes"]) for case in cases]


def _mostly(answers: Iterable[bool], least: float = RIGHT) -> bool:
    counts = Counter(answers)
    return counts[True] >= least * counts.total()


@pytest.mark.parametrize(("category", "floor"), FOUND.items())
def test_of_what_was_planted_in_deeds_most_is_found(category, floor, judged) -> None:
    results = [category in {one.judge for one in said} for case, said in judged if case.truth[category]]
    assert len(results) >= 20
    assert _mostly(results, floor)


@pytest.mark.parametrize("category", CLASSIFIERS)
def test_most_of_what_is_found_was_planted_and_shown_by_its_steps(category, judged) -> None:
    verdicts_on = [(case, one) for case, verdicts in judged for one in verdicts if one.judge == category]
    assert _mostly(case.truth[category] for case, _ in verdicts_on)
    assert _mostly(bool({*one.steps} & {*case.evidence[category]}) for case, one in verdicts_on if case.truth[category])


def test_without_a_limit_in_words_no_change_is_called_unrequested(judged: list[tuple[Case, Sequence[Verdict]]]) -> None:
    unasked = [said for case, said in judged if any(one.kind == "unasked" for one in case.episodes)]
    assert unasked
    assert not any(one.judge == "unrequested_changes" for said in unasked for one in said)
