"""The cases of `misstep triage` judged, and what was found printed."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from misstep.options.common import json_text
from misstep.options.model import ModelOptions, client_settings
from misstep_harness.escaping import plain
from misstep_harness.progress import say
from misstep_harness.runs.spread import Spread

if TYPE_CHECKING:
    from misstep_harness.triage.runs.benchmark import AskedCases
    from misstep_harness.triage.runs.judges import CaseJudge

_REQUESTS = 16
"""How many cases a model is asked about at once."""


def judge_cases(
    judge: "CaseJudge",
    cases: "AskedCases",
    run: Path,
    asking: ModelOptions,
    *,
    spread: Spread,
    curate: Path | None,
    kept: bool,
    json: bool,
) -> None:
    """Judge the cases and print what was found."""
    import sys

    from misstep.options.run_folders import exit_unless_whole
    from misstep_harness.runs.judging.judge import run_judge
    from misstep_harness.runs.spread import available, open_workers
    from misstep_harness.triage.images import RootFileSystems

    client = client_settings(asking)
    images = RootFileSystems() if judge.method.access == "sandbox" else None  # removed with it, at the end
    shown = judge if images is None or spread.dask else replace(judge, images=images.folder)
    asks, cases_at_once = judge.uses_model, spread.workers or (_REQUESTS if judge.uses_model else available())
    with open_workers(Spread() if asks else replace(spread, workers=cases_at_once)) as workers:  # before any threads
        from misstep_analysis.gold import check_gold, item_ids
        from misstep_analysis.triage.curation_report import check_free, curation_text
        from misstep_analysis.triage.curation_report import curate as curated

        check_gold(cases.folder, judge.labels, item_ids(cases.folder))
        if curate is not None:
            check_free(curate)
        ask = partial(run_judge, shown, cases.folder, run, client, arguments=sys.argv[1:])
        ended = ask(concurrency=cases_at_once, workers=workers)

    from misstep_analysis.judging.judged_runs import open_run
    from misstep_analysis.triage.judged import triage_document, triage_text

    judged = open_run(run, str(cases.folder))
    print(json_text(triage_document(judged, cases.notes)) if json else triage_text(judged, cases.notes), end="")
    if curate is not None:
        (say if json else print)(curation_text(curated(judged, curate, cases.cases), curate))
    if kept:
        from misstep_analysis.judging.report.scored import write_scores

        write_scores(judged)
        say(f"misstep: the run is in {plain(str(run))}")
    exit_unless_whole(ended)
