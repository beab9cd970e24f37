"""What `misstep triage` prints of a run: whose fault the runs are with intervals, by subcategory, and case by case."""

import json
from collections.abc import Sequence
from typing import Any, cast

import msgspec
from msgspec import structs

from misstep.analysis.measures.judging.assessment import assessment_document
from misstep.analysis.measures.triage.causes import causes, causes_sentence, causes_table
from misstep.analysis.pages.triage_text import cases_text
from misstep.analysis.tables.text import table_text
from misstep.harness.records.attribution import TriageVerdict
from misstep.studies.judged_runs import JudgedRun
from misstep.studies.judging.assessment import NO_JUDGE, assessed
from misstep.studies.judging.report import is_plumbing
from misstep.studies.judging.scores import scores_text
from misstep.studies.judging.triage import judged_cases


def triage_text(run: JudgedRun, notes: Sequence[str] = ()) -> str:
    """Return the run for a terminal: the answer in one line, then by label and subcategory, then the cases."""
    cases = judged_cases({run.judge: run})
    verdicts = cases.runs[run.judge]
    found = causes(verdicts, run.clusters)
    said = [causes_sentence(found), *notes, *([NO_JUDGE] if is_plumbing(run) else [])]
    table = causes_table(found, run.judge, cases.source, cases.evidence)
    scores = f"\n{scores_text(assessed(run))}" if run.gold else ""
    told = table_text(structs.replace(table, finding=""))  # the answer stands above
    return "\n".join(said) + f"\n\n{told}\n{cases_text(verdicts)}{scores}"


def triage_document(run: JudgedRun, notes: Sequence[str] = ()) -> dict[str, Any]:
    """Return the run as a document: the verdicts, the shares of the labels, and scores if there are gold labels."""
    verdicts = cast("tuple[TriageVerdict, ...]", run.verdicts)
    found = causes(verdicts, run.clusters)
    scores = assessment_document(assessed(run)) if run.gold else None
    return {
        "n": found.n,
        "answered": found.answered,
        "finding": causes_sentence(found),
        "notes": [*notes, *([NO_JUDGE] if is_plumbing(run) else [])],
        "causes": {label: json.loads(msgspec.json.encode(share)) for label, share in found.shares.items()},
        "verdicts": [msgspec.to_builtins(verdict) for verdict in verdicts],
        "scores": scores,
    }
