"""What a report says of runs of judges of triage beyond those of any judge."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import structs

from misstep_analysis.judging.assessment import assessment_document
from misstep_analysis.judging.judged_runs import JudgedRun
from misstep_analysis.judging.report.assessment import NO_JUDGE, assessed, is_plumbing, scores_text
from misstep_analysis.tables import Table, of_evidence
from misstep_analysis.tables.text import table_text
from misstep_analysis.tables.wording import counted_text, in_words, number_text
from misstep_analysis.triage.comparison import (
    ComparedCases,
    JudgedCases,
    causes,
    causes_sentence,
    causes_table,
    compared,
    direction_table,
    judges_of_triage_table,
    triage_scores,
    triage_tables,
)
from misstep_harness.escaping import plain
from misstep_harness.triage.records import TriageVerdict

MOST_CASES = 60
_MOST_EVIDENCE = 90


def cases_text(verdicts: Sequence[TriageVerdict]) -> str:
    """Return the cases in order: label, subcategory, certainty, and the place and text of the strongest evidence."""
    shown = verdicts[:MOST_CASES]
    names = [plain(verdict.item) for verdict in shown]
    causes = [_cause(verdict) for verdict in shown]
    wide, wider = max(map(len, names), default=0), max(map(len, causes), default=0)
    lines = [
        f"{name:{wide}}  {cause:{wider}}  {_evidence(verdict)}".rstrip()
        for name, cause, verdict in zip(names, causes, shown, strict=True)
    ]
    left = len(verdicts) - len(shown)
    more = [f"… and {counted_text(left, 'more case')}; --json prints all of them."] if left else []
    return "".join(f"{line}\n" for line in [*lines, *more])


def _cause(verdict: TriageVerdict) -> str:
    if verdict.label is None:
        return verdict.status
    parts = [verdict.label, in_words(verdict.subcategory)]
    sure = f" ({number_text(verdict.score, 'share')})" if verdict.score is not None else ""
    return ", ".join(filter(None, parts)) + sure


def _evidence(verdict: TriageVerdict) -> str:
    if verdict.label is None:
        text = verdict.error or verdict.rationale
    elif verdict.evidence:
        text = f"{verdict.evidence[0].where}: {verdict.evidence[0].text}"
    else:
        text = verdict.rationale
    line = " ".join(plain(text).split())
    return line if len(line) <= _MOST_EVIDENCE else f"{line[: _MOST_EVIDENCE - 1]}…"


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
    comparison: ComparedCases = compared(judged_cases(runs), seed=seed)
    directions = {name: one.direction for name, one in comparison.runs.items()}
    table = direction_table(directions, comparison.cases.source)
    return [judges_of_triage_table(comparison), of_evidence(table, comparison.cases.evidence)]


def triage_text(run: JudgedRun, notes: Sequence[str] = ()) -> str:
    """Return the run for a terminal: the answer in one line, then by label and subcategory, then the cases."""
    cases = judged_cases({run.judge: run})
    verdicts = cases.runs[run.judge]
    shares = causes(verdicts, run.clusters)
    sentences = [causes_sentence(shares), *notes, *([NO_JUDGE] if is_plumbing(run) else [])]
    table = causes_table(shares, run.judge, cases.source, cases.evidence)
    scores = f"\n{scores_text(assessed(run))}" if run.gold else ""
    table_lines = table_text(structs.replace(table, finding=""))  # the answer is above
    return "\n".join(sentences) + f"\n\n{table_lines}\n{cases_text(verdicts)}{scores}"


def triage_document(run: JudgedRun, notes: Sequence[str] = ()) -> dict[str, Any]:
    """Return the run as a document: the verdicts, the shares of the labels, and scores if there are gold labels."""
    verdicts = cast("tuple[TriageVerdict, ...]", run.verdicts)
    shares = causes(verdicts, run.clusters)
    scores = assessment_document(assessed(run)) if run.gold else None
    return {
        "n": shares.n,
        "answered": shares.answered,
        "finding": causes_sentence(shares),
        "notes": [*notes, *([NO_JUDGE] if is_plumbing(run) else [])],
        "causes": {label: json.loads(msgspec.json.encode(share)) for label, share in shares.shares.items()},
        "verdicts": [msgspec.to_builtins(verdict) for verdict in verdicts],
        "scores": scores,
    }
