"""Score repair attempts: solve rate, patch generation, errors and iterations (the Engineering Agent, section 7.2).

A rate is the mean over the attempts of a case, then over cases: a case that was attempted more often weighs no more.
With one attempt a case that is a share of cases, with Wilson's interval; otherwise whole cases are resampled.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

import numpy as np
from msgspec import Struct, structs, to_builtins

from misstep_analysis.repair.attempts import (
    RepairArm,
    by_case,
    counted,
    ended_as,
    had_error,
    in_order,
    noted,
    ran,
    solved_counts,
    was_cut_off,
)
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.raters.patterns import FloatArray
from misstep_analysis.stats.resampling import bootstrap, bootstrapped
from misstep_analysis.tables import Row, Table, TableHead, Unit, made_by_this, rows_in, rows_of
from misstep_analysis.tables.wording import FEWEST_UNITS, counted_text, number_text, rate_text
from misstep_harness.repair.records import FLAKY, HELD_OUT_TESTS, NOT_AFFIRMED, SUITE, RepairAttempt, failed_word

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
_SIGNALS = TableHead(
    "repair_signals",
    _PAPER,
    "What the validators say of the patches",
    ("The oracle's tests decide whether a case is solved; the others are signals to a reviewer.",),
)


def solved_at(k: int) -> str:
    """Return what SR@k is called in a table."""
    return SOLVED if k == 1 else f"Solved by one of {k} (SR@{k})"


class Iterations(Struct, frozen=True):
    """How many commands an attempt took: the mean over cases and the median over attempts."""

    mean: Estimate
    median: Estimate


class Spent(Struct, frozen=True):
    """What all attempts took together, and how many of them have it on record; `None` where none has."""

    total: float | None
    recorded: int

    @property
    def each(self) -> float | None:
        """Return what one attempt took on average."""
        return None if self.total is None or not self.recorded else self.total / self.recorded


class ValidatorCounts(Struct, frozen=True):
    """What one validator said of patches: passed, failed, could not tell."""

    passed: int
    failed: int
    unknown: int


class RepairScores(Struct, frozen=True):
    """The figures of the attempts of one arm.

    - `not_affirmed`, `flaky`: Cases that did not hold, and with a flaky oracle: they count in `solve_rate_all` alone.
    - `unscored`: Attempts at cases that count which broke before their patch was scored.
    - `solve_rate`: SR@1: an unscored attempt solved nothing.
    - `solve_rate_all`: The same with these cases as not solved: a loaded machine, on which the golden patch itself
      runs out of time, must not raise a rate.
    - `solve_rate_at`: k → SR@k: one of k attempts solves the case, for k up to the fewest attempts at any case.
    - `error_rate`: ER: the run or its scoring broke (`attempts.had_error`).
    - `iterations`: IC, of the attempts in which the agent ran.
    - `second_tests`: What tests beside the oracle's say of the patches that solve their case.
    """

    arm: RepairArm
    n: int
    attempts: int
    not_affirmed: int
    flaky: int
    unscored: int
    solve_rate: Estimate
    solve_rate_scored: Estimate
    solve_rate_all: Estimate
    solve_rate_at: dict[int, Estimate]
    patch_generation_rate: Estimate
    error_rate: Estimate
    cut_off_rate: Estimate
    iterations: Iterations
    spent: dict[str, Spent]
    signals: dict[str, ValidatorCounts]
    second_tests: ValidatorCounts


def headline(scores: RepairScores) -> str:
    """Return how many cases one arm solves, in one sentence."""
    if not scores.n:
        return f"{scores.arm.name} has no attempt at a case that holds."
    tries = "" if scores.attempts == scores.n else f" in {counted_text(scores.attempts, 'attempt')}"
    broken = f"; {counted_text(scores.unscored, 'attempt')} broke and solved nothing" if scores.unscored else ""
    solved = f"{number_text(scores.solve_rate.value, 'share')} of {counted_text(scores.n, 'case')}"
    if scores.attempts == scores.n or scores.n >= FEWEST_UNITS:
        solved = rate_text(scores.solve_rate, "case")
    lost = scores.not_affirmed + scores.flaky
    with_lost = number_text(scores.solve_rate_all.value, "share")
    left = f"; with {counted_text(lost, 'case')} that did not hold as not solved, {with_lost}" if lost else ""
    return f"{scores.arm.name} solves {solved}{tries}{broken}{left}."


def repairs_finding(arms: Sequence[RepairScores]) -> str:
    """Return which of several arms leads on the cases that they share, and what it solves; of one its headline."""
    known = [arm for arm in arms if arm.solve_rate.value is not None]
    if not known:
        return "No attempt at a case that holds is on record."
    if len(known) == 1:
        return headline(known[0])
    from misstep_analysis.repair.comparison import compare_repairs
    from misstep_analysis.sessions.leading import lead_of

    contests = [pair.contest for pair in compare_repairs([one.arm for one in known])]
    lead = lead_of([one.arm.name for one in known], contests)
    shown = [one for one in known if one.arm.name in lead.first[:1]] or known[:_HEADLINES]
    return " ".join([lead.sentence, *map(headline, shown)])


@made_by_this
def repairs_table(arms: Sequence[RepairScores]) -> Table:
    """Return the figures of arms in the rows of table III."""
    rows = (row for arm in arms for row in score_rows(arm))
    return _SCORES.table(repairs_finding(arms), rows, _left_out(arms))


@made_by_this
def repair_rates_table(arms: Sequence[RepairScores]) -> Table:
    """Return the same in the shape of table III: a line an arm, and SR@1, PGR, ER and IC as columns."""
    rows: list[Row] = []
    drawn: list[Row] = []
    for arm in arms:
        name, where = arm.arm.name, (arm.arm.benchmark, arm.arm.evidence)
        rates = {SOLVED: arm.solve_rate, PATCHED: arm.patch_generation_rate, ERRORS: arm.error_rate}
        rows += [*rows_in("share", rates, name, *where), *rows_in("number", _iterations(arm), name, *where)]
        drawn += rows_in("share", {name: arm.solve_rate}, "", *where) if arm.solve_rate.value is not None else []
    return _RATES.table(repairs_finding(arms), rows, _left_out(arms), drawn=drawn)


def _iterations(one: RepairScores) -> dict[str, Estimate]:
    return {MEAN_ITERATIONS: one.iterations.mean, MEDIAN_ITERATIONS: one.iterations.median}


def _left_out(arms: Sequence[RepairScores]) -> Iterable[str]:
    for arm in arms:
        has = "has" if arm.flaky == 1 else "have"
        flaky = f"{has} a flaky oracle, which passes and fails on the same code,"
        for count, why in ((arm.not_affirmed, "did not hold"), (arm.flaky, flaky)):
            if count:
                counts = "counts" if count == 1 else "count"
                yield f"{arm.arm.name}: {counted_text(count, 'case')} {why} and {counts} in no other rate."


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


@made_by_this
def signals_table(arms: Sequence[RepairScores]) -> Table:
    """Return what the validators said of the patches of each arm."""
    rows: list[Row] = []
    for arm in arms:
        for name, signal in arm.signals.items():
            counts = {"passed": signal.passed, failed_word(name): signal.failed, "could not tell": signal.unknown}
            rows += rows_in("count", counts, name, arm.arm.name, arm.arm.evidence, n=sum(structs.astuple(signal)))
    names = list(dict.fromkeys(name for arm in arms for name in arm.signals))
    finding = f"{counted_text(len(names), 'validator')}: {', '.join(names)}." if names else "No validator was asked."
    accidents = [_accidents(arm) for arm in arms if any(structs.astuple(arm.second_tests))]
    return _SIGNALS.table(finding, rows, accidents)


def _accidents(one: RepairScores) -> str:
    tests = one.second_tests
    patches = {
        "pass the rest of the suite too": tests.passed,
        "fail another test": tests.failed,
        "meet no other test, so nothing tells whether they pass by accident": tests.unknown,
    }
    counts = "; ".join(f"{count:,} {words}" for words, count in patches.items() if count)
    return f"{one.arm.name}, patches that solve their case: {counts}."


MOST_K = 10
RESAMPLES = 10_000

_NO_CASE = "no attempt at a case that holds"
_SPENT_of_scores = ("seconds", "input_tokens", "output_tokens", "cost_usd")

Cases = Mapping[str, Sequence[RepairAttempt]]


def score_repairs(arm: RepairArm, seed: int = 0, resamples: int = RESAMPLES) -> RepairScores:
    """Return the figures of an arm; `seed` and `resamples` are of the bootstrap over cases."""
    attempts = counted(arm.attempts)
    cases = by_case(attempts)
    scored = by_case(attempt for attempt in attempts if attempt.solved is not None)

    def rate(holds: Callable[[RepairAttempt], bool], of: Cases) -> Estimate:
        return mean_of_cases([[float(holds(one)) for one in tries] for tries in of.values()], seed, resamples)

    solve_rate = rate(_solved, cases)
    spent: dict[str, list[float | None]] = {
        **{name: [getattr(one, name) for one in attempts] for name in _SPENT_of_scores},
        **{name: [noted(one, name) for one in attempts] for name in ("test_runs", "candidates")},
    }
    return RepairScores(
        arm=arm,
        n=len(cases),
        attempts=len(attempts),
        not_affirmed=len(by_case(ended_as(NOT_AFFIRMED, arm.attempts))),
        flaky=len(by_case(ended_as(FLAKY, arm.attempts))),
        unscored=sum(attempt.solved is None for attempt in attempts),
        solve_rate=solve_rate,
        solve_rate_scored=rate(_solved, scored),
        solve_rate_all=rate(lambda one: _solved(one) and one.case in cases, by_case(arm.attempts)),
        solve_rate_at=_solve_rates(cases, solve_rate, seed, resamples),
        patch_generation_rate=rate(lambda attempt: attempt.patched, cases),
        error_rate=rate(had_error, cases),
        cut_off_rate=rate(was_cut_off, cases),
        iterations=iterations_of(cases, seed, resamples),
        spent={name: _sum(values) for name, values in spent.items()},
        signals=signal_counts(attempts),
        second_tests=_second_tests(attempts),
    )


def _second_tests(attempts: Sequence[RepairAttempt]) -> ValidatorCounts:
    verdicts: Counter[bool | None] = Counter()
    for attempt in filter(_solved, attempts):
        answers = {signal.passed for signal in attempt.signals if signal.validator in (SUITE, HELD_OUT_TESTS)}
        verdicts[False if False in answers else True if True in answers else None] += 1
    return ValidatorCounts(verdicts[True], verdicts[False], verdicts[None])


def _solved(attempt: RepairAttempt) -> bool:
    return attempt.solved is True


def _solve_rates(cases: Cases, first: Estimate, seed: int, resamples: int) -> dict[int, Estimate]:
    """SR@k for every k that each case has attempts enough for; SR@1 is the solve rate itself."""
    if not cases:
        return {}
    counts = solved_counts(cases)
    rates = {1: first}
    for k in range(2, min([MOST_K, *(tried for tried, _ in counts)]) + 1):
        from misstep_analysis.stats.pass_at_k import mean_over_tasks

        rates[k] = mean_over_tasks(counts, k, np.random.default_rng(seed), resamples=resamples).mean
    return rates


def mean_of_cases(values: Sequence[Sequence[float]], seed: int, resamples: int = RESAMPLES) -> Estimate:
    """Return the mean over cases of the mean of each case's values."""
    if not values:
        return Estimate(None, n=0, reason=_NO_CASE)
    if all(len(of_case) == 1 and of_case[0] in (0, 1) for of_case in values):
        return wilson(int(sum(of_case[0] for of_case in values)), len(values))
    return _resampled_mean(values, seed, resamples)


def _resampled_mean(values: Sequence[Sequence[float]], seed: int, resamples: int) -> Estimate:
    means = np.array([fmean(of_case) for of_case in values])
    distinct, cases = np.unique(means, return_counts=True)
    drawn = bootstrap(lambda sets: sets @ distinct / len(means), cases, resamples, np.random.default_rng(seed))
    return bootstrapped(float(means.mean()), drawn, len(means), units="cases")


def iterations_of(cases: Cases, seed: int = 0, resamples: int = RESAMPLES) -> Iterations:
    """Iterations of the attempts in which the agent ran, with intervals over resampled cases."""
    counts = [sorted(one.iterations for one in tries if ran(one)) for tries in cases.values()]
    known = [of_case for of_case in counts if of_case]
    if not known:
        none = Estimate(None, n=0, reason="no run of an agent is on record")
        return Iterations(none, none)
    # Counts of commands are not shares, even where all of them are 0 or 1.
    return Iterations(_resampled_mean(known, seed, resamples), _median(known, seed, resamples))


def _median(cases: Sequence[Sequence[int]], seed: int, resamples: int) -> Estimate:
    alike = Counter(map(tuple, cases))
    flat = sorted((value, place) for place, of_case in enumerate(alike) for value in of_case)
    values = np.array([value for value, _ in flat], dtype=np.float64)
    places = np.array([place for _, place in flat])

    def medians(sets: FloatArray) -> FloatArray:
        up_to = np.cumsum(sets[:, places], axis=1)
        total = up_to[:, -1:]
        low = (up_to < np.floor((total + 1) / 2)).sum(axis=1)
        high = (up_to < np.floor(total / 2) + 1).sum(axis=1)
        return np.asarray((values[low] + values[high]) / 2)

    drawn = bootstrap(medians, np.array(list(alike.values())), resamples, np.random.default_rng(seed))
    middle = float(median(value for of_case in cases for value in of_case))
    return bootstrapped(middle, drawn, len(cases), units="cases")


def _sum(values: Sequence[float | None]) -> Spent:
    known = [value for value in values if value is not None]
    return Spent(sum(known) if known else None, len(known))


def signal_counts(attempts: Sequence[RepairAttempt]) -> dict[str, ValidatorCounts]:
    """Return what each validator said of the patches, by its name, in the order in which they are first met."""
    answers = Counter((signal.validator, signal.passed) for attempt in attempts for signal in attempt.signals)
    names = dict.fromkeys(name for name, _ in answers)
    return {name: ValidatorCounts(*(answers[name, passed] for passed in (True, False, None))) for name in names}


def repair_document(scores: RepairScores) -> dict[str, Any]:
    """Return the scores of an arm for scripts, with an entry for each case and attempt.

    In `cases` `solved` is `null` where a case does not hold, its oracle is flaky or its patch was not scored;
    `error` is `null` without one. Several attempts at a case are told apart by `sample`.
    """

    def named(one: Struct, *fields: str) -> dict[str, Any]:
        return {field: getattr(one, field) for field in fields}

    arm = scores.arm
    cases = [
        {
            "id": attempt.case,
            "sample": attempt.sample,
            "solved": None if attempt.ended in (NOT_AFFIRMED, FLAKY) else attempt.solved,
            "patched": attempt.patched,
            "error": attempt.error or None,
            **named(attempt, "ended", "iterations", "seconds"),
        }
        for attempt in in_order(arm.attempts)
    ]
    document: dict[str, Any] = to_builtins(
        {
            **named(scores, "n", "attempts", "not_affirmed", "flaky", "unscored"),
            **named(arm, "policy", "setting", "format", "benchmark"),
            **named(scores, "solve_rate", "solve_rate_scored", "solve_rate_all"),
            "sr_at": {str(k): rate for k, rate in scores.solve_rate_at.items()},
            **named(scores, "patch_generation_rate", "error_rate", "cut_off_rate", "iterations"),
            **{name: spent.total for name, spent in scores.spent.items()},
            **named(scores, "signals", "second_tests"),
            "cases": cases,
        }
    )
    return document
