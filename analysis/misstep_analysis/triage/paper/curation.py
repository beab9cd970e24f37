"""Reward curation by judges on generated cases: kept runs, precision, and the worth of a reward of 1."""

from collections.abc import Mapping

from misstep_analysis.judging.sample import majority
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import Row, Table, TableHead, estimate_row, made_by_this, of_evidence
from misstep_analysis.tables.wording import number_text, with_interval
from misstep_analysis.triage.comparison import JudgedCases
from misstep_analysis.triage.curation import (
    NOTES,
    Curation,
    ErrorRates,
    action_rows,
    curation,
    decide,
    error_rates,
    figure_rows,
    generated_outcomes,
)
from misstep_analysis.triage.paper.triage import GENERATOR

IN_TRUTH = "By construction"
_SLUG = "autotriage"


def curated_runs(cases: JudgedCases) -> dict[str, Curation]:
    """Return the curation of generated cases by each run of a judge: name of the run → curation."""
    outcomes, gold = generated_outcomes(cases), majority(cases.gold).label_of
    return {
        name: curation([decide(verdict, outcomes.get(verdict.item)) for verdict in verdicts], gold, cases.clusters)
        for name, verdicts in cases.runs.items()
    }


def known_errors(cases: JudgedCases) -> dict[str, ErrorRates]:
    """Return the errors of each judge on labelled generated cases: name of the run → rates."""
    outcomes, gold = generated_outcomes(cases), majority(cases.gold).label_of
    return {
        name: error_rates([decide(verdict, outcomes.get(verdict.item)) for verdict in verdicts], gold, cases.source)
        for name, verdicts in cases.runs.items()
    }


_CURATION = TableHead("curation", _SLUG, "Reward curation by judges on generated cases", generator=GENERATOR)


@made_by_this
def curation_of_judges_table(cases: JudgedCases, curated: Mapping[str, Curation]) -> Table:
    """Return what each judge's curation keeps of the same generated cases, and the solve rate that it leaves."""
    rows: list[Row] = [estimate_row("Solutions", true_solve_rate(cases), "share", IN_TRUTH, cases.source)]
    for name, one in curated.items():
        rows += [*action_rows(one, cases.source, name), *figure_rows(one, cases.source, name)]
    table = _CURATION.table(
        _finding(cases, curated),
        rows,
        (
            *NOTES,
            "Solutions by construction are earned passes and failures that are the task's fault, over all cases.",
            "How often each cause occurs was set by the generator: precision elsewhere depends on how often it does "
            "there.",
        ),
    )
    return of_evidence(table, "generated")


def true_solve_rate(cases: JudgedCases) -> Estimate:
    """Return the share of generated cases that are solutions, as earned passes and failures of the task are."""
    outcomes, gold = generated_outcomes(cases), majority(cases.gold).label_of
    solved = [label == ("pass" if outcomes[item] == "passed" else "task") for item, label in gold.items()]
    return wilson(sum(solved), len(solved))


def _finding(cases: JudgedCases, curated: Mapping[str, Curation]) -> str:
    known = {name: one for name, one in curated.items() if one.precision.value is not None}
    if not known:
        return "No judge keeps a case."
    best = max(known, key=lambda name: (known[name].precision.value or 0.0, known[name].counts["keep"]))
    one = known[best]
    recorded = number_text(one.worth.recorded.value, "share")
    truth = number_text(true_solve_rate(cases).value, "share")
    return (
        f"{best} keeps {one.counts['keep']:,} of {one.n:,} generated runs, and {with_interval(one.precision, 'share')} "
        f"of them rightly. Of these runs {recorded} are recorded as solved, and {truth} are solutions by construction."
    )
