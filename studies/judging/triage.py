"""What a report says of runs of judges of triage beyond those of any judge."""

from collections.abc import Mapping, Sequence
from typing import cast

from misstep.analysis.measures.triage.cases import JudgedCases
from misstep.analysis.measures.triage.causes import causes, causes_table
from misstep.analysis.measures.triage.comparison import ComparedCases, compared, triage_scores
from misstep.analysis.measures.triage.tables import direction_table, judges_of_triage_table, triage_tables
from misstep.analysis.tables import Table, of_evidence
from misstep.harness.records.attribution import TriageVerdict
from misstep.studies.judged_runs import JudgedRun


def judged_cases(runs: Mapping[str, JudgedRun]) -> JudgedCases:
    """Runs on one benchmark of triage as measures take them."""
    first = next(iter(runs.values()))
    return JudgedCases(
        on=first.question.name,
        source=first.question.name,
        runs={name: cast("tuple[TriageVerdict, ...]", run.verdicts) for name, run in runs.items()},
        gold=first.gold,
        subcategories=first.subcategories,
        constructions=first.constructions,
        evidence=first.question.evidence,
    )


def triage_run(run: JudgedRun, tables: Sequence[Table], seed: int) -> list[Table]:
    """The tables of one run: whose fault the runs are first, then those of any judge, then what is asked of triage."""
    cases = judged_cases({run.judge: run})
    # What the judge says of generated cases is as generated as they are.
    first = causes_table(causes(cases.runs[run.judge], run.clusters), run.judge, cases.source, cases.evidence)
    if not run.gold:
        return [first, *tables[1:]]
    further = triage_tables(triage_scores(cases, run.judge, seed=seed), run.judge, cases.source)
    return [first, *tables, *(of_evidence(table, cases.evidence) for table in further)]


def triage_comparison(runs: Mapping[str, JudgedRun], seed: int) -> list[Table]:
    """Runs on the same cases beside each other, and which way each errs."""
    found: ComparedCases = compared(judged_cases(runs), seed=seed)
    directions = {name: one.direction for name, one in found.runs.items()}
    table = direction_table(directions, found.cases.source)
    return [judges_of_triage_table(found), of_evidence(table, found.cases.evidence)]
