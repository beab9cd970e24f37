"""Scores and comparisons of repair attempts as tables."""

from collections.abc import Sequence

from msgspec import structs

from misstep.analysis.measures.repair.comparison import PairedRepairs
from misstep.analysis.measures.repair.scores import RepairScores, Spent
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Row, Table, Unit, estimate_row, made_by_this
from misstep.analysis.tables.wording import counted_text, p_text, points_text, with_interval
from misstep.harness.records.repair_attempt import failed_word

SOLVED = "Solved (SR@1)"
PATCHED = "Patch generated (PGR)"
ERRORS = "Error (ER)"
MEAN_ITERATIONS = "Iterations, mean (IC)"
MEDIAN_ITERATIONS = "Iterations, median (IC)"

KS_SHOWN = (2, 5, 10)

NOTES = (
    "A rate is the mean over the attempts of a case, then over cases. With one attempt a case the interval is "
    "Wilson's, otherwise it resamples whole cases.",
    "Error: the run or the scoring of its patch broke, or the run was stopped from outside. A run that reached its "
    "limit of commands or seconds is cut off, which is not an error; nor is a refused command or a failing test.",
    "A case whose tests do not fail before, or not pass with the golden patch, counts nowhere.",
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


def solved_at(k: int) -> str:
    """Return what SR@k is called in a table."""
    return SOLVED if k == 1 else f"Solved by one of {k} (SR@{k})"


def headline(scores: RepairScores) -> str:
    """Return how many cases one arm solves, in one sentence."""
    if not scores.n:
        return f"{scores.arm.name} has no attempt at a case that holds."
    tries = "" if scores.attempts == scores.n else f" in {counted_text(scores.attempts, 'attempt')}"
    broken = f"; {counted_text(scores.unscored, 'attempt')} broke and solved nothing" if scores.unscored else ""
    return (
        f"{scores.arm.name} solves {with_interval(scores.solve_rate, 'share')} of "
        f"{counted_text(scores.n, 'case')}{tries}{broken}."
    )


def repairs_finding(found: Sequence[RepairScores]) -> str:
    """Return what the best arm solves, of several; of one its headline."""
    known = [one for one in found if one.solve_rate.value is not None]
    if not known:
        return "No attempt at a case that holds is on record."
    best = max(known, key=lambda one: one.solve_rate.value or 0.0)
    opening = f"Of {len(found)} runs the best: " if len(found) > 1 else ""
    return f"{opening}{headline(best)}"


@made_by_this
def repairs_table(found: Sequence[RepairScores], source: str = "") -> Table:
    """Return the figures of some arms beside each other, in the rows of table III.

    `source` is what the cases are called, where arms do not say it.
    """
    return Table(
        name="repairs",
        paper=_PAPER,
        title="Solve rate, patches, errors and iterations",
        finding=repairs_finding(found),
        rows=tuple(row for one in found for row in score_rows(one, source)),
        notes=(*NOTES, *_left_out(found)),
    )


@made_by_this
def repair_rates_table(found: Sequence[RepairScores], source: str = "") -> Table:
    """Return the same in the shape of table III: a line an arm, and SR@1, PGR, ER and IC as columns."""
    rows = [row for one in found for row in _rate_rows(one, source)]
    return Table(
        name="repair_rates",
        paper=_PAPER,
        title="Runs beside each other",
        finding=repairs_finding(found),
        rows=tuple(rows),
        notes=_left_out(found),
        drawn=tuple(
            estimate_row(one.arm.name, one.solve_rate, "share", "", one.arm.benchmark or source, one.arm.evidence)
            for one in found
            if one.solve_rate.value is not None
        ),
    )


def _rate_rows(one: RepairScores, source: str) -> list[Row]:
    said, evidence = one.arm.benchmark or source, one.arm.evidence
    rates = {SOLVED: one.solve_rate, PATCHED: one.patch_generation_rate, ERRORS: one.error_rate}
    counts = {MEAN_ITERATIONS: one.iterations.mean, MEDIAN_ITERATIONS: one.iterations.median}
    return [
        *(estimate_row(name, rate, "share", one.arm.name, said, evidence) for name, rate in rates.items()),
        *(estimate_row(name, count, "number", one.arm.name, said, evidence) for name, count in counts.items()),
    ]


def _left_out(found: Sequence[RepairScores]) -> tuple[str, ...]:
    return tuple(
        f"{one.arm.name}: {counted_text(count, 'case')} {why} and {'counts' if count == 1 else 'count'} nowhere."
        for one in found
        for count, why in (
            (one.not_affirmed, "did not hold"),
            (
                one.flaky,
                f"{'has' if one.flaky == 1 else 'have'} a flaky oracle, which passes and fails on the same code,",
            ),
        )
        if count
    )


def score_rows(scores: RepairScores, source: str = "", group: str = "") -> list[Row]:
    """Return the rows of one arm; its name is their source, so that several stand side by side."""
    said = ", ".join(filter(None, (scores.arm.name, scores.arm.benchmark or source)))
    rates: dict[str, Estimate] = {solved_at(1): scores.solve_rate}
    if scores.unscored:
        rates["Solved, scored attempts alone"] = scores.solve_rate_scored
    most = max(scores.solve_rate_at, default=1)
    rates |= {solved_at(k): at for k, at in scores.solve_rate_at.items() if k > 1 and (k in KS_SHOWN or k == most)}
    rates |= {
        PATCHED: scores.patch_generation_rate,
        ERRORS: scores.error_rate,
        "Cut off by a limit": scores.cut_off_rate,
    }
    evidence = scores.arm.evidence
    rows = [estimate_row(name, rate, "share", group, said, evidence) for name, rate in rates.items()]
    counts = {MEAN_ITERATIONS: scores.iterations.mean, MEDIAN_ITERATIONS: scores.iterations.median}
    rows += [estimate_row(name, count, "number", group, said, evidence) for name, count in counts.items()]
    rows += [
        estimate_row(name, _each(scores.spent[field]), unit, group, said, evidence)
        for field, (name, unit) in _SPENT.items()
        if scores.spent[field].recorded
    ]
    return rows


def _each(spent: Spent) -> Estimate:
    return Estimate(spent.each, n=spent.recorded, method="mean over attempts on record")


def pair_finding(pair: PairedRepairs) -> str:
    """Return which of two arms solves more of the same cases, in one sentence."""
    difference = pair.difference.value
    if difference is None:
        return f"{pair.a} and {pair.b} cannot be compared: {pair.difference.reason}."
    cases = counted_text(pair.n, "case")
    if difference == 0:
        return f"{pair.a} and {pair.b} solve as many of the same {cases} ({p_text(pair.p_value, pair.p_adjusted)})."
    better, worse = (pair.a, pair.b) if difference > 0 else (pair.b, pair.a)
    doubt = "" if pair.apart else ", which may be chance"
    return (
        f"{better} solves {points_text(difference)} more than {worse} on the same {cases}{doubt} "
        f"({p_text(pair.p_value, pair.p_adjusted)})."
    )


@made_by_this
def repair_comparison_table(pairs: Sequence[PairedRepairs]) -> Table:
    """Arms compared in pairs on the cases that both attempted."""
    apart = sum(pair.apart for pair in pairs)
    finding = (
        pair_finding(pairs[0])
        if len(pairs) == 1
        else f"{apart} of {len(pairs)} pairs differ at the level 0.05 after Holm's adjustment."
    )
    return Table(
        name="repair_comparison",
        paper=_PAPER,
        title="Repairs compared on the same cases",
        finding=finding if pairs else "There is nothing to compare with.",
        rows=tuple(row for pair in pairs for row in pair_rows(pair, alone=len(pairs) == 1)),
        notes=(
            "The difference is the first's solve rate less the second's, over the cases that both attempted and that "
            "hold. With one attempt a case the test is McNemar's (mid-p), with more each case goes either way as a "
            "whole.",
            *([f"Adjusted after Holm for {len(pairs)} pairs."] if len(pairs) > 1 else []),
        ),
    )


def pair_rows(pair: PairedRepairs, *, alone: bool) -> list[Row]:
    """Return the rows of two arms; `alone` where no other pair is compared."""
    group = f"{pair.a} less {pair.b}"
    p_values = {"p-value": Estimate(pair.p_value, n=pair.n, method=pair.test, reason=pair.reason)}
    if not alone:
        p_values["p-value, adjusted for all pairs"] = Estimate(pair.p_adjusted, n=pair.n)
    counts = {f"More by {pair.a}": pair.more_a, f"More by {pair.b}": pair.more_b, "As many by both": pair.alike}
    return [
        estimate_row("Difference of solve rates", pair.difference, "difference", group),
        *(estimate_row(name, p_value, "p", group) for name, p_value in p_values.items()),
        *(estimate_row(name, Estimate(count, n=pair.n), "count", group) for name, count in counts.items()),
    ]


@made_by_this
def signals_table(found: Sequence[RepairScores]) -> Table:
    """Return what the validators said of the patches of each arm."""
    rows = [
        Row(words, count, n=said.passed + said.failed + said.unknown, source=one.arm.name, unit="count", group=name)
        for one in found
        for name, said in one.signals.items()
        for words, count in (
            ("passed", said.passed),
            (failed_word(name), said.failed),
            ("could not tell", said.unknown),
        )
    ]
    names = list(dict.fromkeys(name for one in found for name in one.signals))
    return Table(
        name="repair_signals",
        paper=_PAPER,
        title="What the validators say of the patches",
        finding=(
            f"{counted_text(len(names), 'validator')}: {', '.join(names)}." if names else "No validator was asked."
        ),
        rows=tuple(rows),
        notes=(
            "The oracle's tests decide whether a case is solved; the others are signals to a reviewer.",
            *(_accidents(one) for one in found if any(structs.astuple(one.second_tests))),
        ),
    )


def _accidents(one: RepairScores) -> str:
    """Return what is known of patches that solve their case by accident."""
    said = one.second_tests
    solved = counted_text(said.passed + said.failed + said.unknown, "attempt")
    failing = f" {said.failed:,} of them {'fails' if said.failed == 1 else 'fail'} a test beside the oracle's." * (
        said.failed > 0
    )
    have = "has" if said.unknown == 1 else "have"
    return (
        f"{one.arm.name}: of {solved} that solve their case {said.unknown:,} {have} no test beside the oracle's, "
        f"so that nothing here tells one that passes by accident.{failing}"
    )
