"""Sentences on judges: beside no judge at all first, wrong answers apart from missing ones, then which is the best."""

import pytest

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.comparison import best_of, compare_judges, pair_sentence
from misstep_analysis.judging.scores import best_per_benchmark, headline, score, standings
from misstep_analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p
from misstep_harness.verdict import Verdict

N = 200
GOLD = [GoldLabel(f"i{n}", "ann", "yes" if n % 2 else "no") for n in range(N)]


def verdicts(judge: str, right: int) -> tuple[Verdict, ...]:
    """A judge that gives the gold label on the first items and the other one on the rest."""
    other = {"yes": "no", "no": "yes"}
    return tuple(Verdict(row.item, judge, row.label if n < right else other[row.label]) for n, row in enumerate(GOLD))


def sentence(**right: int) -> str:
    runs = {judge: verdicts(judge, count) for judge, count in right.items()}
    scored = {judge: score(given, GOLD, benchmark="made up", resamples=50) for judge, given in runs.items()}
    return best_of(scored, compare_judges(runs, GOLD))


def test_a_run_that_is_clearly_better_is_told_apart_with_the_interval_of_the_difference():
    line = sentence(weak=110, strong=160)
    assert line.startswith(
        "strong gives the gold label most often: on 80.0% (95% interval 73.9% to 85.0%) of 200 items of made up, more "
        "often than always saying “no” would (50.0%). "
    )
    assert "strong is clearly better than the next, weak: +25.0 pp, 95% interval +" in line


def test_without_an_item_in_common_it_is_said_that_there_is_no_comparison():
    scored = {judge: score(verdicts(judge, count), GOLD, resamples=50) for judge, count in {"a": 150, "b": 100}.items()}
    assert best_of(scored, []).endswith(" a cannot be compared with the next, b.")


def test_of_several_benchmarks_the_best_run_on_each_is_named_the_lowest_first():
    easy = {"a": score(verdicts("a", 190), GOLD, benchmark="easy", resamples=50)}
    hard = {name: score(verdicts(name, n), GOLD, benchmark="hard", resamples=50) for name, n in [("a", 60), ("b", 80)]}
    line = best_per_benchmark([easy, hard])
    assert line.startswith("The highest shares of gold labels given are 40.0% of hard (95% interval 33.5% to ")
    assert "; 95.0% of easy (95% interval 91.0% to 97.3%), more often than always saying “no” would (50.0%)." in line


def test_runs_that_are_level_are_not_ranked_and_one_run_of_an_agent_leaves_no_interval():
    assert sentence(strong=150, other=150).startswith("No run gives the gold label more often than strong: on 75.0%")
    together = {row.item: "run" for row in GOLD}
    runs = {"strong": verdicts("strong", 160), "weak": verdicts("weak", 120)}
    scored = {judge: score(given, GOLD, clusters=together, resamples=50) for judge, given in runs.items()}
    line = best_of(scored, compare_judges(runs, GOLD, clusters=together))
    assert line.startswith("strong gives the gold label most often: on 80.0% (no 95% interval: 1 run is too few)")
    assert "+20.0 pp, no 95% interval, p " in line


RARE = [GoldLabel(f"i{n}", "ann", "present" if n < 40 else "absent") for n in range(N)]
"""Labels of which four of five are “absent”: who reads nothing and says so is right on 80%."""


def rarely(judge: str, right: int, failed: int = 0) -> tuple[Verdict, ...]:
    """A judge that is right on the last items, wrong on the first, and of those between gives some no answer."""
    other = {"present": "absent", "absent": "present"}
    verdicts: list[Verdict] = []
    for n, row in enumerate(RARE):
        if N - right - failed <= n < N - right:
            verdicts.append(Verdict(row.item, judge, None, status="failed", error="time-out"))
        else:
            verdicts.append(Verdict(row.item, judge, row.label if n >= N - right else other[row.label]))
    return tuple(verdicts)


def scores_of(judge: str, right: int, failed: int = 0):
    return score(rarely(judge, right, failed), RARE, judge=judge, benchmark="rare things", resamples=50)


def test_the_first_sentence_is_the_agreement_with_its_interval_and_the_second_what_one_label_would_get() -> None:
    line = headline(scores_of("poor", 120))
    assert line.startswith("poor agrees with the gold labels on 60.0% of 200 items (53.1% to 66.5%). ")
    assert line.endswith("Always answering “absent” would do better: 80.0%.")


def test_fewer_than_ten_items_are_a_count_without_an_interval() -> None:
    scores = score(rarely("few", 200)[:9], RARE[:9], benchmark="rare things", resamples=50)
    assert headline(scores).startswith("few agrees with the gold labels on 9 of 9 items. ")


def test_one_label_that_does_as_well_by_chance_is_said_to_differ_by_chance() -> None:
    more = ". Always answering “absent” would get 80.0%."
    unshown = ". Always answering “absent” would get 80.0%; the difference may be chance."
    assert more in headline(scores_of("five_more_and_none_less", 165))
    assert unshown in headline(scores_of("four_more_and_none_less", 164))
    assert unshown in headline(scores_of("two_less", 158))
    mixed = list(rarely("mixed", 200))
    for n in (*range(20), *range(40, 55)):  # 20 of the 40 present are found, 15 of the 160 absent are lost
        mixed[n] = Verdict(f"i{n}", "mixed", "absent" if n < 20 else "present")
    scores = score(mixed, RARE, resamples=50)
    assert (scores.accuracy_all.value, scores.against_majority.standing()) == (165 / 200, "not shown")


def test_the_label_chosen_from_these_items_is_held_against_a_judge_with_its_advantage_taken_off() -> None:
    lost = score(rarely("six_less", 154), RARE, resamples=50).against_majority
    assert lost.standing() == "less often"
    assert lost.p_value == pytest.approx(2 * mcnemar_mid_p(PairedTable(154, 0, 6, 40)).p_value)


def test_of_several_judges_what_is_shown_is_adjusted_for_all_of_them() -> None:
    alone = score(rarely("a", 165), RARE, resamples=50)
    assert standings([alone]) == ["more often"]
    assert standings([alone] * 3) == ["not shown"] * 3


def test_items_of_one_run_are_one_case_beside_one_label_too() -> None:
    runs = {row.item: f"run {n // 5}" for n, row in enumerate(RARE)}
    verdicts_of = rarely("a", 165)
    assert score(verdicts_of, RARE, clusters=runs, resamples=50).against_majority.standing() == "not shown"


def test_what_was_not_answered_is_told_from_wrong_answers_of_one_run() -> None:
    line = headline(scores_of("poor", 120, failed=60))
    assert "Unanswered items (60 failed) count as wrong." in line
    assert "It agrees on 85.7% of 140 answered items (" in line
    assert line.endswith("and “absent” alone would on 85.7%.")


def test_where_no_run_comes_above_one_label_alone_that_is_what_is_said_first_of_several() -> None:
    scored = {"better": scores_of("better", 150), "worse": scores_of("worse", 60)}
    runs = {"better": rarely("better", 150), "worse": rarely("worse", 60)}
    line = best_of(scored, compare_judges(runs, RARE))
    assert line.startswith(
        "Neither of the 2 runs gives the gold label more often than always saying “absent” would (80.0%) on 200 items "
        "of rare things: better on 75.0% ("
    )
    assert "better is clearly better than the next, worse: +45.0 pp" in line


def test_a_difference_that_failed_calls_make_is_told_from_the_one_of_answers() -> None:
    runs = {"whole": rarely("whole", 160), "half": rarely("half", 60, failed=100)}
    scored = {"whole": scores_of("whole", 160), "half": scores_of("half", 60, failed=100)}
    pairs = compare_judges(runs, RARE)
    line = best_of(scored, pairs)
    assert "whole is clearly better than the next, half: +50.0 pp" in line
    assert "Unanswered items count as wrong there (half: 100 failed); over the 100 items that both" in line
    assert "answered the difference is +0.0 pp" in line
    assert "Items without an answer count as wrong; on the 100 that both answered they do" in pair_sentence(pairs[0])
