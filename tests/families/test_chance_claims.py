"""What is said of two samples that were drawn alike: "changed", "more often", "best" and "shown" are rare by chance.

Each sentence is made of records, through the functions that its command calls. The seeds are fixed, so that a test ends
alike each time; 20 of them are drawn a day and `settings().max_examples` with `HYPOTHESIS_PROFILE=nights`.
"""

import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import settings
from scipy.stats import binom

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.comparison import best_of, compare_judges, comparison_finding
from misstep_analysis.judging.drift import JudgedText, drift, drift_finding
from misstep_analysis.judging.judged import JudgedItems, judges_table, scored_items
from misstep_analysis.judging.preferences import position_finding, preferences, systems_finding
from misstep_analysis.judging.recorded_tables import compared, pairs_table
from misstep_analysis.judging.scores import Scores, best_per_benchmark, headline, score
from misstep_analysis.observer.alarms import WatchedRun, alarms, alarms_table
from misstep_analysis.observer.experiments.comparison import compare_arms, experiment_finding
from misstep_analysis.observer.experiments.sessions import ExperimentSession
from misstep_analysis.passing.attempts import PassAttempts, SystemAttempts, TaskCounts
from misstep_analysis.passing.scores import PASSES, pair_finding, pass_report, passes_headline
from misstep_analysis.repair.attempts import RepairArm
from misstep_analysis.repair.comparison import compare_repairs, repair_comparison_table
from misstep_analysis.repair.scores import repairs_finding, score_repairs
from misstep_analysis.sessions.session_comparison import SessionRun, compare_sessions
from misstep_analysis.sessions.session_comparison import comparison_finding as sessions_finding
from misstep_analysis.triage.comparison import JudgedCases, runs_finding
from misstep_analysis.triage.comparison import compared as compared_cases
from misstep_harness.repair.records import RepairAttempt
from misstep_harness.session import Session
from misstep_harness.triage.records import TriageVerdict
from misstep_harness.verdict import OrderAnswer, PairVerdict, Verdict

_LEVEL, _MOST, _OFTEN, _DAILY = 0.05, 0.07, 200, 20
SEEDS = settings().max_examples if settings().max_examples >= _OFTEN else _DAILY

Random = np.random.Generator

_CLAIM = re.compile(
    r"more often than always|less often than always|would (?:get \d|do better)|is clearly better|[Tt]he best"
    r"|finds more than|changed by|The (?:judge|system) changed|Both the judge|is ahead of"
    r"|prefers the (?:first|second) place"
    r"|\b[1-9]\d* of \d+ pairs? |^With \w+ against|^From \w+ to|[1-9]\d* of \d+ judges beats?"
)
_DENIED = re.compile(
    r"(?:None|Neither) of the \d+ runs gives the gold label more often than always"
    r"|(?:not|None of \w+(?: \w+)*) (?:is )?shown to[^.;]*|not clearly[^.;]*"
    r"|would get [^;]*; the difference may be chance|may be chance"
)


def claims(sentence: str) -> bool:
    """Whether a sentence says that something differs; what is called not shown is none."""
    return bool(_CLAIM.search(_DENIED.sub("", sentence)))


def gold_of(truth: "np.typing.NDArray[np.bool_]") -> list[GoldLabel]:
    return [GoldLabel(f"i{place}", "people", "yes" if one else "no") for place, one in enumerate(truth)]


def right_on(truth: "np.typing.NDArray[np.bool_]", right: "np.typing.NDArray[np.bool_]", judge: str) -> list[Verdict]:
    """The verdicts of a judge that is right on these items."""
    said = truth == right
    return [Verdict(f"i{place}", judge, "yes" if one else "no") for place, one in enumerate(said)]


def scored(truth, right, judge: str = "judge", clusters: dict[str, str] | None = None) -> Scores:
    verdicts = right_on(truth, right, judge)
    return score(verdicts, gold_of(truth), ("yes", "no"), benchmark="made", clusters=clusters, resamples=1)


def judge_run(rng: Random) -> str:
    """As often right as always saying "no" is, on other items."""
    return headline(scored(rng.random(120) < 0.3, rng.random(120) < 0.7))


def judge_run_even(rng: Random) -> str:
    """A coin beside labels of which either is the more frequent by chance."""
    return headline(scored(rng.random(100) < 0.5, rng.random(100) < 0.5))


def judge_run_clustered(rng: Random) -> str:
    """The same with items of 60 sessions that are alike within a session."""
    session = np.repeat(np.arange(60), 4)
    names = {f"i{place}": f"session {of}" for place, of in enumerate(session)}
    easy, right = (rng.beta(3.5, 1.5, 60)[session] for _ in range(2))
    return headline(scored(rng.random(240) >= easy, rng.random(240) < right, clusters=names))


def three_judges(rng: Random) -> tuple["np.typing.NDArray[np.bool_]", dict[str, list[Verdict]]]:
    truth = rng.random(120) < 0.3
    return truth, {name: right_on(truth, rng.random(120) < 0.7, name) for name in ("a", "b", "c")}


def judge_check(rng: Random) -> str:
    truth, runs = three_judges(rng)
    gold = gold_of(truth)
    each = {name: score(own, gold, ("yes", "no"), resamples=1) for name, own in runs.items()}
    return best_of(each, compare_judges(runs, gold))


def judge_compare(rng: Random) -> str:
    truth, runs = three_judges(rng)
    return comparison_finding(compare_judges(runs, gold_of(truth)))


def report_of_benchmarks(rng: Random) -> str:
    truth, runs = three_judges(rng)
    gold = gold_of(truth)
    halves = [{name: score(runs[name], gold, ("yes", "no"), resamples=1)} for name in "abc"]
    return best_per_benchmark(halves)


def recorded(rng: Random) -> list[JudgedItems]:
    truth, runs = three_judges(rng)
    gold = tuple(gold_of(truth))
    return [JudgedItems(name, "set", "set@1", tuple(own), gold, {}, ("yes", "no"), "yes") for name, own in runs.items()]


def recorded_judges(rng: Random) -> str:
    return judges_table([scored_items(one, resamples=1) for one in recorded(rng)]).finding


def recorded_pairs(rng: Random) -> str:
    finding = pairs_table(compared(recorded(rng))).finding
    return "more often than always" if re.search(r"\b[1-9]\d* (?:give|more often|less often)", finding) else ""


def triage_scores(rng: Random) -> str:
    labels = ("agent", "task", "infrastructure")
    truth = rng.integers(3, size=90)
    gold = tuple(GoldLabel(f"c{place}", "people", labels[one]) for place, one in enumerate(truth))

    def run(name: str) -> tuple[TriageVerdict, ...]:
        said = np.where(rng.random(90) < 0.6, truth, rng.integers(3, size=90))
        return tuple(TriageVerdict(f"c{place}", name, labels[one]) for place, one in enumerate(said))

    cases = JudgedCases("cases", "made", {name: run(name) for name in "abc"}, gold)
    return runs_finding(compared_cases(cases, resamples=1))


def _texts(rng: Random, texts: list[str]) -> list[JudgedText]:
    return [JudgedText(text, bool(rng.random() < 0.4), text) for text in texts]


def judge_drift_same_items(rng: Random) -> str:
    texts = [f"t{place}" for place in range(100)]
    return drift_finding("Share", ("old", "new"), drift(_texts(rng, texts), _texts(rng, texts)))


def judge_drift_with_anchors(rng: Random) -> str:
    anchors = [f"t{place}" for place in range(60)]
    old = [*anchors, *(f"old {place}" for place in range(90))]
    new = [*anchors, *(f"new {place}" for place in range(150))]
    return drift_finding("Share", ("old", "new"), drift(_texts(rng, old), _texts(rng, new), set(anchors)))


def _sessions(rng: Random, name: str, projects: int) -> SessionRun:
    labels = [tuple(("no", "yes")[int(rng.random() < share)] for share in (0.2, 0.1, 0.4)) for _ in range(100)]
    return SessionRun(
        name,
        ("loops", "failures", "limits"),
        tuple((Session(f"{name}{n}", name, project=f"p{n % projects}"), one) for n, one in enumerate(labels)),
    )


def report_of_two_runs(rng: Random) -> str:
    return sessions_finding(compare_sessions(_sessions(rng, "before", 100), _sessions(rng, "after", 100)))


def report_of_projects(rng: Random) -> str:
    return sessions_finding(compare_sessions(_sessions(rng, "before", 12), _sessions(rng, "after", 12)))


def experiment_report(rng: Random) -> str:
    def session(place: int, arm: str) -> ExperimentSession:
        calls = int(rng.integers(5, 40))
        numbers = int(rng.binomial(calls, 0.1)), calls, float(rng.lognormal(9, 1)), float(rng.lognormal(5, 0.6))
        return ExperimentSession(f"{arm}{place}", f"{arm}{place // 2}", arm, *numbers)

    sessions = [session(place, arm) for arm in ("shadow", "guide") for place in range(60)]
    return experiment_finding(compare_arms(sessions, "shadow", "guide"))


def observer(rng: Random) -> str:
    runs = [
        WatchedRun(
            "set", name, str(n), 100, (int(rng.integers(80)),), tuple(sorted(rng.integers(100, size=2).tolist()))
        )
        for name in ("rules", "model")
        for n in range(40)
    ]
    return alarms_table("alarms", "Alarms", alarms(runs), sources={"set": "made"}, evidence="generated").finding


def repair_report(rng: Random) -> str:
    def arm(name: str) -> RepairArm:
        solved = [bool(one) for one in rng.random(40) < 0.2]
        return RepairArm(
            name,
            name,
            "all",
            "diff",
            tuple(RepairAttempt(f"c{n}", name, "all", "diff", solved=one) for n, one in enumerate(solved)),
        )

    arms = [arm(name) for name in "abcd"]
    best = repairs_finding([score_repairs(one, resamples=10) for one in arms])
    return f"{best} {repair_comparison_table(compare_repairs(arms)).finding}"


def passing(rng: Random) -> str:
    def system(name: str) -> SystemAttempts:
        passed = rng.binomial(3, 0.5, size=40)
        return SystemAttempts(name, {f"t{n}": TaskCounts(int(one), 3 - int(one)) for n, one in enumerate(passed)})

    report = pass_report(PassAttempts(tuple(map(system, "abc"))), (1,), resamples=10)
    apart = any("may be chance" not in pair_finding(pair, PASSES) for pair in report.pairs if pair.difference.value)
    return f"{passes_headline(report)} {'is clearly better' if apart else ''}"


def pairs_by_system(rng: Random) -> str:
    verdicts = [Verdict(f"p{n}", "judge", "ab"[int(rng.integers(2))]) for n in range(60)]
    systems = {f"p{n}": (("x", "y"), ("y", "z"), ("z", "x"))[n % 3] for n in range(60)}
    return systems_finding("judge", preferences(verdicts, systems))


def pairs_by_place(rng: Random) -> str:
    def verdict(place: int) -> PairVerdict:
        said = ["ab"[int(rng.integers(2))] for _ in range(2)]
        orders = tuple(OrderAnswer(first=first, label=label) for first, label in zip("ab", said, strict=True))
        label, status = (said[0], "answered") if said[0] == said[1] else (None, "abstained")
        return PairVerdict(f"p{place}", "judge", label, status, orders=orders)

    return position_finding("judge", preferences([verdict(n) for n in range(60)], {}).position)


SENTENCES: dict[str, Callable[[Random], str]] = {
    "judge run": judge_run,
    "judge run, even labels": judge_run_even,
    "judge run, items of sessions": judge_run_clustered,
    "judge check": judge_check,
    "judge compare": judge_compare,
    "report of several benchmarks": report_of_benchmarks,
    "notebook of recorded judges": recorded_judges,
    "notebook of recorded pairs": recorded_pairs,
    "triage scores": triage_scores,
    "judge drift, the same items": judge_drift_same_items,
    "judge drift, with anchors": judge_drift_with_anchors,
    "report A B": report_of_two_runs,
    "report A B, a dozen projects": report_of_projects,
    "experiment report": experiment_report,
    "observer": observer,
    "repair report": repair_report,
    "pass": passing,
    "judge run of pairs, systems": pairs_by_system,
    "judge run of pairs, places": pairs_by_place,
}


@pytest.mark.parametrize("command", SENTENCES)
def test_of_samples_drawn_alike_hardly_any_sentence_says_that_they_differ(command: str, record_property) -> None:
    said = [sentence for seed in range(SEEDS) if claims(sentence := SENTENCES[command](np.random.default_rng(seed)))]
    record_property("claims", f"{len(said)} of {SEEDS}")
    most = int(_MOST * SEEDS) if SEEDS >= _OFTEN else int(binom.ppf(0.99, SEEDS, _LEVEL))
    assert len(said) <= most, said[:3]


SHOWN = [
    "judge agrees with the gold labels on 30.0% of 90 items. Always answering “no” would do better: 70.0%.",
    "judge agrees with the gold labels on 90.0% of 90 items. Always answering “no” would get 70.0%.",
    "strong is clearly better than the next, weak: +25.0 pp.",
    "Of 4 runs the best: a solves 90.0% of 40 cases.",
    "The best of 3 systems, a, passes 50.0%.",
    "2 of 3 pairs of judges differ at the level 0.05 after Holm's adjustment.",
    "From before to after, loops rose by 20 points.",
    "Accuracy changed by −37.7 pp.",
]
UNSHOWN = [
    "judge agrees on 71.0% of 90 items. Always answering “no” would get 70.0%; the difference may be chance.",
    "None of 4 runs is shown to solve more than all others. The highest share: a solves 20.0% of 40 cases.",
    "0 of 3 pairs of judges differ at the level 0.05 after Holm's adjustment.",
    "a passes on 3.0 points more on the same 40 tasks, which may be chance (p 0.60).",
    "Accuracy is not shown to have changed: +1.0 pp.",
]


@pytest.mark.parametrize(("sentence", "claimed"), [*((one, True) for one in SHOWN), *((one, False) for one in UNSHOWN)])
def test_a_claim_is_told_from_its_denial(sentence: str, claimed: bool) -> None:
    assert claims(sentence) == claimed
