"""Shares of sessions put right by people's labels: of what a judge answered, of all, of any category."""

import numpy as np
import pytest

from misstep_analysis.sessions.session_comparison import corrected_changes
from misstep_analysis.sessions.session_rates import (
    FLAGGED_ALONE,
    LEFT_ALONE_ALONE,
    NOBODY,
    JudgedSession,
    corrected_shares,
    majorities,
)
from misstep_analysis.stats.correction import rogan_gladen
from misstep_analysis.stats.estimate import Estimate

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


def test_rates_of_the_judged_part_are_never_put_on_what_rules_decided() -> None:
    """Rules flag 30 of 80 sessions, people call none of the judged ones positive: 30 of 80 it is, not all."""
    sessions = _sessions(10, 50, rule_flags=30)
    labelled = {f"s{i}": i < 6 for i in range(0, 50, 2)}
    gold = {"loop": dict.fromkeys(labelled, False), "limits": labelled}
    shares = corrected_shares(NAMES, sessions, gold)
    assert shares["any"].value == shares["limits"].value
    judged = rogan_gladen((10, 50), (3, 3), (20, 22)).estimate
    assert shares["any"].value == pytest.approx((30 + 50 * (judged.value or 0.0)) / 80)


def test_what_rules_flagged_is_put_right_by_labels_of_what_rules_decided_alone() -> None:
    sessions = _sessions(20, 100, rule_flags=40)
    rules = {"limits": GOLD["limits"] | {f"r{i}": i < 9 for i in range(12)}}
    share, judged = (corrected_shares(NAMES, sessions, labels)["limits"] for labels in (rules, GOLD))
    alone = rogan_gladen((20, 100), (8, 8), (10, 12)).estimate.value or 0.0
    assert judged.value == pytest.approx((40 + 100 * alone) / 140)
    assert share.value == pytest.approx((40 * 9 / 12 + 100 * alone) / 140)


def test_a_part_whose_labels_do_not_tell_its_share_leaves_the_whole_without_a_value() -> None:
    by_rule = [JudgedSession(f"r{i}", ("no", "yes" if i < 20 else "no"), (False, False)) for i in range(60)]
    of_flagged = {"limits": GOLD["limits"] | {f"r{i}": True for i in range(10)}}
    of_others = {"limits": GOLD["limits"] | {f"r{i}": False for i in range(30, 40)}}
    of_rules = {"limits": {f"r{i}": i < 20 for i in range(15, 25)}}
    for gold, reason in ((of_flagged, FLAGGED_ALONE), (of_others, LEFT_ALONE_ALONE), (of_rules, NOBODY)):
        share = corrected_shares(NAMES, by_rule + _sessions(20, 100), gold)["limits"]
        assert (share.value, share.reason) == (None, reason)


def _drawn(rng: np.random.Generator, by_rule: float, n: int = 160, labelled: int = 40) -> dict[str, Estimate]:
    """Corrected shares of sessions; rules flag some, and a judge errs on a tenth of the others' yes and no."""
    flagged = rng.random(n) < by_rule
    truth = flagged | (rng.random(n) < 0.2)
    judged = np.where(rng.random(n) < 0.1, ~truth, truth)
    sessions = [
        JudgedSession(f"s{i}", ("no", "yes" if flagged[i] or judged[i] else "no"), (False, not flagged[i]))
        for i in range(n)
    ]
    open_ones = rng.permutation(np.flatnonzero(~flagged))[:labelled]
    of_limits = {f"s{i}": bool(truth[i]) for i in open_ones}
    return corrected_shares(NAMES, sessions, {"limits": of_limits, "loop": dict.fromkeys(of_limits, False)})


@pytest.mark.parametrize("by_rule", [0.15, 0.4, 0.7])
def test_the_interval_holds_the_truth_however_much_rules_flagged(by_rule: float) -> None:
    rng, samples = np.random.default_rng(38), 200
    truth = by_rule + (1 - by_rule) * 0.2
    drawn = [_drawn(rng, by_rule) for _ in range(samples)]
    for name in ("limits", "any"):
        held = sum((one[name].low or 0.0) <= truth <= (one[name].high or 0.0) for one in drawn)
        assert held >= 0.92 * samples


def test_two_runs_drawn_alike_seldom_show_a_corrected_change() -> None:
    rng, pairs = np.random.default_rng(3), 100
    claims = 0
    for _ in range(pairs):
        change = corrected_changes(_drawn(rng, 0.4), _drawn(rng, 0.4))
        (any_change,) = (one.difference for one in change if one.category == "any")
        claims += not (any_change.low or 0.0) <= 0 <= (any_change.high or 0.0)
    assert claims <= 0.07 * pairs
