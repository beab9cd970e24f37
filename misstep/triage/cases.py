"""The cases of `misstep triage` judged, and what was found printed."""

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from misstep.harness.escaping import plain
from misstep.harness.progress import say
from misstep.options.common import json_text
from misstep.options.model import ModelOptions, client_settings

if TYPE_CHECKING:
    from misstep.harness.runs.triage.benchmark import AskedCases
    from misstep.harness.runs.triage.case_judge import CaseJudge


def judge_cases(
    judge: "CaseJudge",
    cases: "AskedCases",
    run: Path,
    asking: ModelOptions,
    *,
    workers: int | None,
    curate: Path | None,
    kept: bool,
    json: bool,
) -> None:
    """Judge the cases and print what was found."""
    import sys

    from misstep.harness.runs.judging.judge import run_judge
    from misstep.harness.runs.triage.processes import at_once
    from misstep.harness.triage.root_file_systems import RootFileSystems
    from misstep.judge.options import exit_unless_whole

    client = client_settings(asking)
    images = RootFileSystems() if judge.method.access == "sandbox" else None  # removed with it, at the end
    shown = judge if images is None else replace(judge, images=images.folder)
    with at_once(shown, workers) as (opened, concurrency):  # before anything starts threads
        from misstep.analysis.gold import check_gold, item_ids
        from misstep.studies.curation import check_free, curation_text
        from misstep.studies.curation import curate as curated

        check_gold(cases.folder, judge.labels, item_ids(cases.folder))
        if curate is not None:
            check_free(curate)
        ended = run_judge(opened, cases.folder, run, client, concurrency=concurrency, arguments=sys.argv[1:])

    from misstep.studies.judged_runs import open_run
    from misstep.studies.judging.triage import triage_document, triage_text

    judged = open_run(run, str(cases.folder))
    print(json_text(triage_document(judged, cases.notes)) if json else triage_text(judged, cases.notes), end="")
    if curate is not None:
        (say if json else print)(curation_text(curated(judged, curate, cases.cases), curate))
    if kept:
        from misstep.studies.judging.scored import write_scores

        write_scores(judged)
        say(f"misstep: the run is in {plain(str(run))}")
    exit_unless_whole(ended)
