"""Shares of sessions put right by people's labels: of what a judge answered, of all, of any category."""

from misstep.analysis.measures.session_correction import NOBODY, JudgedSession, corrected_shares, majorities
from misstep.analysis.stats.correction import rogan_gladen

NAMES = ("loop", "limits")


def _sessions(flagged: int, n: int, *, rule_flags: int = 0) -> list[JudgedSession]:
    """Sessions without a loop; of `limits` rules flag some, and a judge the first of the others."""
    by_rule = [JudgedSession(f"r{i}", ("no", "yes"), (False, False)) for i in range(rule_flags)]
    by_judge = [JudgedSession(f"s{i}", ("no", "yes" if i < flagged else "no"), (False, True)) for i in range(n)]
    return by_rule + by_judge


GOLD = {"limits": {**{f"s{i}": i < 8 for i in range(10)}, **{f"s{i}": False for i in range(90, 100)}}}
"""Ten of the flagged ones, of which two wrongly, and ten of the others."""


def test_without_labels_nothing_is_corrected_and_the_reason_says_so() -> None:
    shares = corrected_shares(NAMES, _sessions(20, 100), {})
    assert {name: (one.value, one.reason) for name, one in shares.items()} == dict.fromkeys(
        (*NAMES, "any"), (None, NOBODY)
    )


def test_a_judges_share_is_corrected_by_its_errors() -> None:
    share = corrected_shares(NAMES, _sessions(20, 100), GOLD)["limits"]
    assert share == rogan_gladen((20, 100), (8, 8), (10, 12)).estimate


def test_what_rules_flagged_counts_as_it_is_beside_the_judges_corrected_share() -> None:
    alone = corrected_shares(NAMES, _sessions(20, 100), GOLD)["limits"]
    both = corrected_shares(NAMES, _sessions(20, 100, rule_flags=100), GOLD)["limits"]
    assert both.value == (100 + alone.value * 100) / 200
    assert both.n == 200


def test_any_is_corrected_by_sessions_that_are_labelled_for_all_categories() -> None:
    whole = GOLD | {"loop": dict.fromkeys(GOLD["limits"], False)}
    assert corrected_shares(NAMES, _sessions(20, 100), GOLD)["any"].value is None
    assert corrected_shares(NAMES, _sessions(20, 100), whole)["any"].value is not None
    assert corrected_shares(NAMES, _sessions(20, 100), {"any": GOLD["limits"]})["any"].value is not None


def test_most_people_decide_and_a_tie_says_nothing() -> None:
    labels = [("limits", "a", "yes"), ("limits", "a", "yes"), ("limits", "a", "no"), ("limits", "b", "yes")]
    assert majorities([*labels, ("limits", "b", "no")]) == {"limits": {"a": True}}
