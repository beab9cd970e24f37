"""The classifiers on generated runs whose truth is known by construction, of a seed that no rule was written on.

The floors are well below what is measured, and far above chance: they catch a rule that breaks, not a figure that moves.
"""

from collections import Counter

import pytest

from harness.classifiers import CLASSIFIERS, classify_all
from harness.generate.trajectories import Case, generate_trajectories

SEED = 987_001
CASES = 364
FLOOR = 0.9

NO_EXPLICIT_LIMIT = {"unasked_extras", "unrelated_rewrite"}
"""Unrequested changes where the user sets no limit in words: out of the reach of rules, and counted apart."""


@pytest.fixture(scope="module")
def judged() -> list[tuple[Case, dict[str, bool]]]:
    """Each case with what the classifiers say of it."""
    return [
        (case, {verdict.judge: verdict.label == "yes" for verdict in classify_all(case.trajectory)})
        for case in generate_trajectories(CASES, SEED)
    ]


def _share(counts: Counter[bool]) -> float:
    return counts[True] / counts.total()


@pytest.mark.parametrize("category", CLASSIFIERS)
def test_of_what_was_planted_in_words_or_deeds_nine_in_ten_are_found(
    category: str, judged: list[tuple[Case, dict[str, bool]]]
) -> None:
    found = Counter(
        said[category] for case, said in judged if case.truth[category] and case.variant not in NO_EXPLICIT_LIMIT
    )
    assert found.total() >= 20
    assert _share(found) >= FLOOR


@pytest.mark.parametrize("category", CLASSIFIERS)
def test_of_what_is_found_nine_in_ten_were_planted(category: str, judged: list[tuple[Case, dict[str, bool]]]) -> None:
    right = Counter(case.truth[category] for case, said in judged if said[category])
    assert _share(right) >= FLOOR


def test_the_evidence_meets_the_planted_steps(judged: list[tuple[Case, dict[str, bool]]]) -> None:
    meets = Counter(
        bool(set(verdict.steps) & set(case.evidence[verdict.judge]))
        for case, said in judged
        for verdict in classify_all(case.trajectory)
        if said[verdict.judge] and case.truth[verdict.judge]
    )
    assert _share(meets) >= FLOOR


def test_without_a_limit_in_words_no_change_is_called_unrequested(judged: list[tuple[Case, dict[str, bool]]]) -> None:
    said = [answers["unrequested_changes"] for case, answers in judged if case.variant in NO_EXPLICIT_LIMIT]
    assert said
    assert not any(said)
