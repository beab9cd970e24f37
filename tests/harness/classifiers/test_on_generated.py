"""The classifiers on generated runs whose truth is known by construction.

The wordings are those for development: who mends a rule may look at what a failure here prints. What the rules are worth is
measured on the other set, in the notebooks. The floors are well below what is measured and catch a rule that breaks, not
a figure that moves. Instructions and limits that stand in words alone have none: a rule that does not read them is sound.
"""

from collections import Counter

import pytest

from misstep.harness.classifiers import CLASSIFIERS, classify_all
from misstep.harness.generate.trajectories import VARIANTS, Case, generate_trajectories

SEED = 987_001
CASES = 4 * len(VARIANTS)
RIGHT = 0.85
FOUND = {"infinite_loop": 0.9, "tool_call_failure": 0.6}

NO_EXPLICIT_LIMIT = {"unasked_extras", "unrelated_rewrite"}
"""Unrequested changes where the user sets no limit in words: out of the reach of rules."""


@pytest.fixture(scope="module")
def judged() -> list[tuple[Case, dict[str, bool]]]:
    """Each case with what the classifiers say of it."""
    return [
        (case, {verdict.judge: verdict.label == "yes" for verdict in classify_all(case.trajectory)})
        for case in generate_trajectories(CASES, SEED, wordings="development")
    ]


def _share(counts: Counter[bool]) -> float:
    return counts[True] / counts.total()


@pytest.mark.parametrize(("category", "floor"), FOUND.items())
def test_of_what_was_planted_in_deeds_most_is_found(
    category: str, floor: float, judged: list[tuple[Case, dict[str, bool]]]
) -> None:
    found = Counter(said[category] for case, said in judged if case.truth[category])
    assert found.total() >= 20
    assert _share(found) >= floor


@pytest.mark.parametrize("category", CLASSIFIERS)
def test_most_of_what_is_found_was_planted(category: str, judged: list[tuple[Case, dict[str, bool]]]) -> None:
    right = Counter(case.truth[category] for case, said in judged if said[category])
    assert right[True] >= RIGHT * right.total()


def test_the_evidence_meets_the_planted_steps(judged: list[tuple[Case, dict[str, bool]]]) -> None:
    meets = Counter(
        bool(set(verdict.steps) & set(case.evidence[verdict.judge]))
        for case, said in judged
        for verdict in classify_all(case.trajectory)
        if said[verdict.judge] and case.truth[verdict.judge]
    )
    assert _share(meets) >= RIGHT


def test_without_a_limit_in_words_no_change_is_called_unrequested(judged: list[tuple[Case, dict[str, bool]]]) -> None:
    said = [answers["unrequested_changes"] for case, answers in judged if case.variant in NO_EXPLICIT_LIMIT]
    assert said
    assert not any(said)
