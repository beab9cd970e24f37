"""Nobody leads by tasks that the others did not try, by an equal share, or beyond chance without a test of it."""

import numpy as np
import pytest

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.comparison import best_of, compare_judges
from misstep_analysis.judging.scores import score
from misstep_analysis.passing.paired_systems import compare_systems
from misstep_analysis.reflexive.ablation import compare_loops
from misstep_analysis.reflexive.scores import score_loop
from misstep_analysis.reflexive.tables import runs_table
from misstep_analysis.reflexive.work import worked_run
from misstep_analysis.repair.scores import repairs_finding, score_repairs
from misstep_analysis.sessions.leading import Contest, lead_of
from misstep_analysis.triage.comparison import compared, runs_finding
from misstep_harness.verdict import Verdict
from tests.analysis.reflexive.made_up import Log
from tests.analysis.repair.made_up import arm, attempt
from tests.analysis.triage.made_up import judged_cases


@pytest.mark.parametrize(
    ("contests", "first", "shown", "sentence"),
    [
        ([("a", "b", 0.4, True)], ("a",), True, "The best of 2 runs is a."),
        ([("a", "b", -0.4, True)], ("b",), True, "The best of 2 runs is b."),
        ([("a", "b", -0.1, False)], ("b",), False, "Of 2 runs b is ahead, but its lead over a may be chance."),
        ([("a", "b", 0.0, False)], ("a", "b"), False, "Of 2 runs a and b are level, and none is ahead of them."),
        ([("a", "b", None, False)], (), False, "Of 2 runs none is shown to be the best: some share no cases."),
    ],
)
def test_two_runs_lead_by_the_sign_and_the_test_of_what_they_share(contests, first, shown, sentence) -> None:
    lead = lead_of("ab", [Contest(*one) for one in contests])
    assert (lead.first, lead.shown, lead.sentence) == (first, shown, sentence)


def test_of_three_the_first_must_be_ahead_of_each_of_the_others() -> None:
    circle = [Contest("a", "b", 0.1, True), Contest("b", "c", 0.1, True), Contest("a", "c", -0.1, True)]
    assert "none is ahead of all others" in lead_of("abc", circle).sentence
    partly = [Contest("a", "b", 0.5, True), Contest("a", "c", 0.1, False), Contest("b", "c", -0.4, True)]
    assert lead_of("abc", partly).sentence == "Of 3 runs a is ahead, but its lead over c may be chance."
    assert lead_of("abc", partly[:2]).sentence == "Of 3 runs a is ahead, but its lead over c may be chance."
    assert lead_of("abc", partly[1:]).first == (), "a and b share nothing"


EASY, HARD = [f"easy {n}" for n in range(60)], [f"hard {n}" for n in range(60)]
GOLD = [GoldLabel(item, "ann", "yes" if place % 2 else "no") for place, item in enumerate([*EASY, *HARD])]
OTHER = {"yes": "no", "no": "yes"}


def judged(name: str, right: set[str], items: list[str]) -> list[Verdict]:
    truth = {one.item: one.label for one in GOLD}
    return [Verdict(item, name, truth[item] if item in right else OTHER[truth[item]]) for item in items]


def best(runs: dict[str, list[Verdict]]) -> str:
    scored = {name: score(verdicts, GOLD, resamples=50) for name, verdicts in runs.items()}
    return best_of(scored, compare_judges(runs, GOLD))


def test_a_judge_of_easier_items_is_not_better_than_one_that_beats_it_on_those_they_share() -> None:
    """By its own items `a` is right on 90%, `b` on 50%; on the hard ones, which both judged, `b` is ahead."""
    shared = HARD[:40]
    runs = {"a": judged("a", {*EASY}, [*EASY, *shared]), "b": judged("b", {*shared}, [*shared, *HARD[40:]])}
    sentence = best(runs)
    assert sentence.startswith(
        "The best of 2 runs is b. b gives the gold label on 100.0 points more of 40 items than a"
    )
    assert "a is clearly better" not in sentence
    assert "Each on its own items: a 60.0%" in sentence


def test_judges_without_a_shared_item_are_not_ranked() -> None:
    sentence = best({"a": judged("a", {*EASY}, EASY), "b": judged("b", set(), HARD)})
    assert sentence.startswith("Of 2 runs none is shown to be the best: some share no items.")
    assert "better" not in sentence


def repaired(solved: dict[str, str], cases: dict[str, str]) -> str:
    arms = [arm(*(attempt(case, case in solved[name]) for case in tried), name=name) for name, tried in cases.items()]
    return repairs_finding([score_repairs(one) for one in arms])


def test_repairs_of_other_cases_are_not_ranked_and_a_lead_is_one_on_the_same_cases() -> None:
    assert repaired({"a": "abcd", "b": ""}, {"a": "abcd", "b": "efgh"}).startswith("Of 2 runs none is shown to be")
    ahead = repaired({"a": "abcdefgh", "b": "ijkl"}, {"a": "abcdefghijkl", "b": "ijklmnop"})
    assert ahead.startswith("Of 2 runs b is ahead, but its lead over a may be chance. b solves 4 of 8 cases.")


@pytest.mark.parametrize(("a", "b"), [("a", "b"), ("abcdefghi", "abcdefghj")])
def test_repairs_that_solve_as_many_are_level(a: str, b: str) -> None:
    """1 of 28 and 27 of 28 alike, whichever case it is."""
    cases = "abcdefghijklmnopqrstuvwxyzAB"
    assert repaired({"a": a, "b": b}, {"a": cases, "b": cases}).startswith("Of 2 runs a and b are level")


def loops(solved: dict[str, int], items: dict[str, list[str]]) -> str:
    runs = {}
    for name, worked in items.items():
        log = Log(*worked)
        for place, item in enumerate(worked):
            log.begin(item)
            _ = (
                log.passing(item).end(item)
                if place < solved[name]
                else log.failing(item).end(item, "time_budget", "time_budget")
            )
        runs[name] = log.done()
    work = {name: worked_run(log) for name, log in runs.items()}
    return runs_table({name: score_loop(one) for name, one in work.items()}, compare_loops(work)).finding


def test_loops_on_other_items_are_not_ranked() -> None:
    assert loops({"a": 12, "b": 0}, {"a": EASY[:12], "b": HARD[:12]}).startswith("Of 2 runs none is shown to be the")
    assert loops({"a": 12, "b": 0}, {"a": EASY[:12], "b": EASY[:12]}).startswith("The best of 2 runs is a. a: The loop")


def test_triage_names_no_best_judge_within_chance() -> None:
    gold = ["agent", "task", "infrastructure", "pass"] * 3
    close = ["agent", "task", "infrastructure", "agent", *gold[4:]]
    sentence = runs_finding(compared(judged_cases(gold, {"x": gold, "y": close}), resamples=50))
    assert sentence.startswith("x finds 3 of 3 defects of tasks, with kappa 1.000")
    assert ". Of 2 judges x is ahead, but its lead over y may be chance." in sentence


def test_of_runs_drawn_alike_few_are_called_the_best() -> None:
    rng = np.random.default_rng(11)
    called = 0
    for _ in range(200):
        tried = {name: {str(n): (1, int(rng.random() < 0.5)) for n in range(40)} for name in "abcd"}
        called += lead_of("abcd", [pair.contest for pair in compare_systems(tried, "none")]).shown
    assert called <= 14
