"""What an item takes."""

import pytest

from misstep.analysis.measures.judging.item_costs import NOT_RECORDED, item_costs
from misstep.analysis.measures.judging.sample import judged_sample
from misstep.harness.verdict import Verdict


def test_mean_median_and_percentile_are_over_the_verdicts_that_say_so() -> None:
    verdicts = [Verdict(f"i{place}", "j", "yes", seconds=float(place)) for place in range(1, 21)]
    verdicts.append(Verdict("silent", "j", "yes"))
    seconds = item_costs(judged_sample(verdicts, [], ("yes",))).now["seconds"]
    assert (seconds.reported, seconds.mean.value, seconds.median, seconds.total) == (20, 10.5, 10.5, 210)
    assert seconds.percentile_95 == pytest.approx(19.05)
    assert seconds.mean.low is not None
    assert seconds.mean.low < 10.5


def test_what_came_from_the_cache_stands_apart() -> None:
    verdicts = [
        Verdict("a", "j", "yes", cost_usd=0.5, input_tokens=7),
        Verdict("b", "j", "yes", cost_usd=0.25, cached=True),
    ]
    costs = item_costs(judged_sample(verdicts, [], ("yes",)))
    assert (costs.asked, costs.cached) == (1, 1)
    assert (costs.now["cost_usd"].total, costs.from_cache["cost_usd"].total) == (0.5, 0.25)
    assert costs.from_cache["input_tokens"].mean.reason == NOT_RECORDED


def test_an_item_that_was_not_answered_costs_as_well() -> None:
    verdicts = [Verdict("a", "j", None, "refused", cost_usd=0.5), Verdict("b", "j", "yes", cost_usd=0.1)]
    assert item_costs(judged_sample(verdicts, [], ("yes",))).now["cost_usd"].total == pytest.approx(0.6)


def test_without_verdicts_there_is_no_cost_and_no_zero() -> None:
    cost = item_costs(judged_sample([], [], ("yes",))).now["cost_usd"]
    assert (cost.reported, cost.total, cost.median, cost.mean.value) == (0, None, None, None)
