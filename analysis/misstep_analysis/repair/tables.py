"""Scores and comparisons of repair attempts as tables."""

from collections.abc import Iterable, Sequence

from msgspec import structs

from misstep_analysis.passing.paired_systems import PairedSystems, PairWords, compare_systems, pair_finding, pair_rows
from misstep_analysis.repair.attempts import RepairArm, by_case, counted, solved_counts
from misstep_analysis.repair.scores import RepairScores
from misstep_analysis.sessions.leading import lead_of
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Row, Table, TableHead, Unit, made_by_this, rows_in, rows_of
from misstep_analysis.tables.wording import counted_text, number_text, with_interval
from misstep_harness.repair.records.repair_attempt import failed_word

SOLVED = "Solved (SR@1)"
SOLVED_OF_ALL = "Solved, cases that did not hold as not solved"
PATCHED = "Patch generated (PGR)"
ERRORS = "Error (ER)"
MEAN_ITERATIONS = "Iterations, mean (IC)"
MEDIAN_ITERATIONS = "Iterations, median (IC)"

KS_SHOWN = (2, 5, 10)

_HEADLINES = 3
"""So many runs at most are told one by one where none leads."""

NOTES = (
    "A rate is the mean over the attempts of a case, then over cases. With one attempt a case the interval is "
    "Wilson's, otherwise it resamples whole cases.",
    "Error: the run or the scoring of its patch broke, or the run was stopped from outside. A run that reached its "
    "limit of commands or seconds is cut off, which is not an error; nor is a refused command or a failing test.",
    "A case whose tests do not fail before, or not pass with the golden patch here, is left out. A loaded machine may "
    "do that and must not raise a rate, so that the rate with these cases as not solved is beside it.",
)

NONE_SHARED = "no case that counts was attempted by both"

REPAIRS = PairWords(
    ahead="solves {} more than",
    alike="solve as many of",
    noun="case",
    difference="Difference of solve rates",
    adjusted="p-value, adjusted for all pairs",
)

_PAPER = "repair"
_SPENT: dict[str, tuple[str, Unit]] = {
    "seconds": ("Seconds an attempt", "seconds"),
    "input_tokens": ("Input tokens an attempt", "number"),
    "output_tokens": ("Output tokens an attempt", "number"),
    "cost_usd": ("Cost an attempt", "usd"),
    "test_runs": ("Test runs an attempt", "number"),
    "candidates": ("Candidates an attempt", "number"),
}
_SCORES = TableHead("repairs", _PAPER, "Solve rate, patches, errors and iterations", NOTES)
_RATES = TableHead("repair_rates", _PAPER, "Runs beside each other")
_COMPARISON = TableHead(
    "repair_comparison",
    _PAPER,
    "Repairs compared on the same cases",
    (
        "The difference is the first's solve rate less the second's, over the cases that both attempted and that "
        "hold. With one attempt a case the test is McNemar's (mid-p), with more each case goes either way as a "
        "whole.",
    ),
)
_SIGNALS = TableHead(
    "repair_signals",
    _PAPER,
    "What the validators say of the patches",
    ("The oracle's tests decide whether a case is solved; the others are signals to a reviewer.",),
)


def solved_at(k: int) -> str:
    """Return what SR@k is called in a table."""
    return SOLVED if k == 1 else f"Solved by one of {k} (SR@{k})"


def headline(scores: RepairScores) -> str:
    """Return how many cases one arm solves, in one sentence."""
    if not scores.n:
        return f"{scores.arm.name} has no attempt at a case that holds."
    tries = "" if scores.attempts == scores.n else f" in {counted_text(scores.attempts, 'attempt')}"
    broken = f"; {counted_text(scores.unscored, 'attempt')} broke and solved nothing" if scores.unscored else ""
    solved = f"{with_interval(scores.solve_rate, 'share')} of {counted_text(scores.n, 'case')}"
    lost = scores.not_affirmed + scores.flaky
    with_lost = number_text(scores.solve_rate_all.value, "share")
    left = f"; with {counted_text(lost, 'case')} that did not hold as not solved, {with_lost}" if lost else ""
    return f"{scores.arm.name} solves {solved}{tries}{broken}{left}."


def repairs_finding(arms: Sequence[RepairScores]) -> str:
    """Return which of several arms leads on the cases that they share, and what it solves; of one its headline."""
    known = [one for one in arms if one.solve_rate.value is not None]
    if not known:
        return "No attempt at a case that holds is on record."
    if len(known) == 1:
        return headline(known[0])
    contests = [pair.contest for pair in compare_repairs([one.arm for one in known])]
    lead = lead_of([one.arm.name for one in known], contests)
    shown = [one for one in known if one.arm.name in lead.first[:1]] or known[:_HEADLINES]
    return " ".join([lead.sentence, *map(headline, shown)])


@made_by_this
def repairs_table(arms: Sequence[RepairScores]) -> Table:
    """Return the figures of arms in the rows of table III."""
    rows = (row for one in arms for row in score_rows(one))
    return _SCORES.table(repairs_finding(arms), rows, _left_out(arms))


@made_by_this
def repair_rates_table(arms: Sequence[RepairScores]) -> Table:
    """Return the same in the shape of table III: a line an arm, and SR@1, PGR, ER and IC as columns."""
    rows: list[Row] = []
    drawn: list[Row] = []
    for one in arms:
        name, where = one.arm.name, (one.arm.benchmark, one.arm.evidence)
        rates = {SOLVED: one.solve_rate, PATCHED: one.patch_generation_rate, ERRORS: one.error_rate}
        rows += [*rows_in("share", rates, name, *where), *rows_in("number", _iterations(one), name, *where)]
        drawn += rows_in("share", {name: one.solve_rate}, "", *where) if one.solve_rate.value is not None else []
    return _RATES.table(repairs_finding(arms), rows, _left_out(arms), drawn=drawn)


def _iterations(one: RepairScores) -> dict[str, Estimate]:
    return {MEAN_ITERATIONS: one.iterations.mean, MEDIAN_ITERATIONS: one.iterations.median}


def _left_out(arms: Sequence[RepairScores]) -> Iterable[str]:
    for one in arms:
        has = "has" if one.flaky == 1 else "have"
        flaky = f"{has} a flaky oracle, which passes and fails on the same code,"
        for count, why in ((one.not_affirmed, "did not hold"), (one.flaky, flaky)):
            if count:
                counts = "counts" if count == 1 else "count"
                yield f"{one.arm.name}: {counted_text(count, 'case')} {why} and {counts} in no other rate."


def score_rows(scores: RepairScores) -> list[Row]:
    """Return the rows of one arm; its name is their source, so that several stand side by side."""
    name = ", ".join(filter(None, (scores.arm.name, scores.arm.benchmark)))
    rates: dict[str, Estimate] = {solved_at(1): scores.solve_rate}
    if scores.unscored:
        rates["Solved, scored attempts alone"] = scores.solve_rate_scored
    if scores.not_affirmed or scores.flaky:
        rates[SOLVED_OF_ALL] = scores.solve_rate_all
    most = max(scores.solve_rate_at, default=1)
    rates |= {solved_at(k): at for k, at in scores.solve_rate_at.items() if k > 1 and (k in KS_SHOWN or k == most)}
    rates |= {PATCHED: scores.patch_generation_rate, ERRORS: scores.error_rate}
    rates["Cut off by a limit"] = scores.cut_off_rate
    spent = [
        (words, Estimate(one.each, n=one.recorded, method="mean over attempts on record"), unit)
        for field, (words, unit) in _SPENT.items()
        if (one := scores.spent[field]).recorded
    ]
    where = "", name, scores.arm.evidence
    return [*rows_in("share", rates, *where), *rows_in("number", _iterations(scores), *where), *rows_of(spent, *where)]


def compare_repairs(arms: Sequence[RepairArm]) -> tuple[PairedSystems, ...]:
    """Return every two of some arms on one set of cases; an attempt that broke counts as unsolved."""
    cases = {arm.name: by_case(counted(arm.attempts)) for arm in arms}
    tried = {name: dict(zip(of_arm, solved_counts(of_arm), strict=True)) for name, of_arm in cases.items()}
    return compare_systems(tried, NONE_SHARED)


@made_by_this
def repair_comparison_table(pairs: Sequence[PairedSystems]) -> Table:
    """Arms compared in pairs on the cases that both attempted."""
    alone, apart = len(pairs) == 1, sum(pair.apart for pair in pairs)
    finding = f"{apart} of {len(pairs)} pairs differ at the level 0.05 after Holm's adjustment."
    if len(pairs) < 2:
        finding = pair_finding(pairs[0], REPAIRS) if pairs else "There is nothing to compare with."
    rows = (row for pair in pairs for row in pair_rows(pair, REPAIRS, alone=alone))
    notes = [f"Adjusted after Holm for {len(pairs)} pairs."] if len(pairs) > 1 else []
    return _COMPARISON.table(finding, rows, notes)


@made_by_this
def signals_table(arms: Sequence[RepairScores]) -> Table:
    """Return what the validators said of the patches of each arm."""
    rows: list[Row] = []
    for one in arms:
        for name, signal in one.signals.items():
            counts = {"passed": signal.passed, failed_word(name): signal.failed, "could not tell": signal.unknown}
            rows += rows_in("count", counts, name, one.arm.name, one.arm.evidence, n=sum(structs.astuple(signal)))
    names = list(dict.fromkeys(name for one in arms for name in one.signals))
    finding = f"{counted_text(len(names), 'validator')}: {', '.join(names)}." if names else "No validator was asked."
    accidents = [_accidents(one) for one in arms if any(structs.astuple(one.second_tests))]
    return _SIGNALS.table(finding, rows, accidents)


def _accidents(one: RepairScores) -> str:
    tests = one.second_tests
    solved = counted_text(sum(structs.astuple(tests)), "attempt")
    fails, have = "fails" if tests.failed == 1 else "fail", "has" if tests.unknown == 1 else "have"
    failing = f" {tests.failed:,} of them {fails} a test beside the oracle's." if tests.failed else ""
    if not tests.unknown:
        return f"{one.arm.name}: {solved} with a solved case met tests beside the oracle's, too.{failing}"
    return (
        f"{one.arm.name}: of {solved} with a solved case {tests.unknown:,} {have} no test beside the oracle's, "
        f"so that nothing here tells one that passes by accident.{failing}"
    )
