"""The sentence on several runs: which is best, with its interval, and whether it can be told apart from the next."""

from analysis.gold import GoldLabel
from analysis.judging.comparison import compare_judges
from analysis.judging.scores import score
from analysis.report.judge_findings import best_of, best_per_benchmark
from harness.verdict import Verdict

N = 200
GOLD = [GoldLabel(f"i{n}", "ann", "yes" if n % 2 else "no") for n in range(N)]


def verdicts(judge: str, right: int) -> tuple[Verdict, ...]:
    """A judge that gives the gold label on the first items and the other one on the rest."""
    other = {"yes": "no", "no": "yes"}
    return tuple(Verdict(row.item, judge, row.label if n < right else other[row.label]) for n, row in enumerate(GOLD))


def sentence(**right: int) -> str:
    said = {judge: verdicts(judge, count) for judge, count in right.items()}
    scored = {judge: score(given, GOLD, benchmark="made up", resamples=50) for judge, given in said.items()}
    return best_of(scored, compare_judges(said, GOLD))


def test_a_run_that_is_clearly_better_is_told_apart_with_the_interval_of_the_difference():
    told = sentence(weak=100, strong=160)
    assert told.startswith(
        "strong gives the gold label most often: on 80.0% (95% interval 73.9% to 85.0%) of 200 items"
    )
    assert "It is told apart from the next, weak: +30.0 pp, 95% interval +" in told


def test_a_run_that_is_hardly_better_cannot_be_told_apart():
    told = sentence(strong=151, weak=150, poor=20)
    assert "It cannot be told apart from the next, weak: +0.5 pp" in told


def test_without_an_item_in_common_it_is_said_that_there_is_no_comparison():
    scored = {judge: score(verdicts(judge, count), GOLD, resamples=50) for judge, count in {"a": 150, "b": 100}.items()}
    assert best_of(scored, []).endswith("; it cannot be compared with the next, b.")


def test_of_several_benchmarks_the_best_run_on_each_is_named_the_lowest_first():
    easy = {"a": score(verdicts("a", 190), GOLD, benchmark="easy", resamples=50)}
    hard = {name: score(verdicts(name, n), GOLD, benchmark="hard", resamples=50) for name, n in [("a", 60), ("b", 80)]}
    told = best_per_benchmark([easy, hard])
    assert told.startswith("The best runs give the gold label on 40.0% of hard (95% interval 33.5% to ")
    assert "and 95.0% of easy (95% interval 91.0% to 97.3%)" in told


def test_items_without_a_gold_label_are_none_of_those_that_the_share_is_of():
    gold = [row for row in GOLD if row.item not in ("i0", "i1")]
    said = {"strong": verdicts("strong", 160), "weak": verdicts("weak", 100)}
    scored = {judge: score(given, gold, benchmark="made up", resamples=50) for judge, given in said.items()}
    assert "of 198 items of made up" in best_of(scored, compare_judges(said, gold))


def test_runs_that_are_level_are_not_ranked_and_one_run_of_an_agent_leaves_no_interval():
    assert sentence(strong=150, other=150).startswith("No run gives the gold label more often than strong: on 75.0%")
    together = {row.item: "run" for row in GOLD}
    said = {"strong": verdicts("strong", 160), "weak": verdicts("weak", 100)}
    scored = {judge: score(given, GOLD, clusters=together, resamples=50) for judge, given in said.items()}
    told = best_of(scored, compare_judges(said, GOLD, clusters=together))
    assert told.startswith("strong gives the gold label most often: on 80.0% (no 95% interval) of 200 items")
    assert "+30.0 pp, no 95% interval, p " in told
