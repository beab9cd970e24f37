"""Runs of judges and of repairs in shards, merged and scored as the run of the whole would be."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import msgspec

from misstep.analysis.tables.wording import counted_text
from misstep.harness.errors import UsageError
from misstep.harness.journal.records import Manifest
from misstep.harness.lake.store import Store
from misstep.harness.runs.shards.item_merge import finished_shards, merge_judged, merge_repairs
from misstep.harness.runs.shards.plan import Plan
from misstep.studies.judged_runs import benchmark_of_run, open_run
from misstep.studies.judging.scores import scores_text, scores_text_json, write_scores
from misstep.studies.judging.triaged import triage_document, triage_text
from misstep.studies.merged_runs import Merged
from misstep.studies.repair_report import repairs_text, scores_json, write_repair_scores

_TRIAGE = "triage"


def merge_judge_run(store: Store, plan: Plan, digest: str, benchmark: str = "") -> Merged:  # noqa: ARG001
    """Merge the shards of a judge's run, and score it."""
    out = _folder(store)
    found = finished_shards(out, plan)
    folder = benchmark_of_run(found.manifest, out, benchmark)
    merge_judged(out, found, folder)
    assessment = write_scores(out, folder)
    scores = assessment.scores
    failed = f"{scores.failed:,} of {counted_text(scores.n, 'item')} failed; they have no label."
    complaints = [failed] if scores.failed else []
    if _printed_by(found.manifest) == _TRIAGE:
        run = open_run(out, str(folder))
        return _merged(triage_text(run), msgspec.json.encode(triage_document(run)).decode(), complaints)
    return _merged(scores_text(assessment), scores_text_json(assessment), complaints)


def merge_repair_run(store: Store, plan: Plan, digest: str) -> Merged:  # noqa: ARG001 (one signature for all kinds)
    """Merge the shards of a run of repairs, and score it."""
    out = _folder(store)
    merge_repairs(out, finished_shards(out, plan))
    scores = write_repair_scores(out, shlex.join(["misstep", "report", str(out)]))
    return _merged(repairs_text([scores]), scores_json(out))


def _folder(store: Store) -> Path:
    """The folder of the run."""
    if store.folder is None:
        raise UsageError(
            f"{store.place}: such a run needs a file system", "Name the folder that the shards had for --out."
        )
    return store.folder


def _printed_by(manifest: Manifest) -> str:
    """The command whose form the result is printed in: judges of triage are run by two."""
    return next((word for word in manifest.arguments if not word.startswith("-")), "")


def _merged(text: str, document: str, complaints: Sequence[str] = ()) -> Merged:
    return Merged(text.removesuffix("\n"), document.removesuffix("\n") + "\n", {}, list(complaints), complete=True)
