"""Classification of people's own files and folders: the findings, and the run that keeps them."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path

import msgspec

from misstep.analysis.pages.findings import Findings, findings
from misstep.harness.journal.classified import Summary, labelled_sessions
from misstep.harness.journal.records import REPORT, SCORES, encode
from misstep.harness.places import path_text
from misstep.harness.runs.classify import ClassifyAs, Conclude, classify_paths
from misstep.harness.runs.inputs import EVER, Changed
from misstep.harness.runs.opened import OpenRun
from misstep.harness.runs.shards.classify import ShardDone, classify_shard
from misstep.harness.runs.shards.layout import next_step
from misstep.harness.runs.standing_rules import FIND_RULES, RulesAsked
from misstep.harness.trajectory import Trajectory
from misstep.studies.finished_runs import named_inputs, read_scores, require_finished


def classified_findings(
    paths: Sequence[Path],
    categories: Sequence[str],
    classify: ClassifyAs,
    *,
    out: Path | None = None,
    workers: int | None = None,
    arguments: Sequence[str] = (),
    changed: Changed = EVER,
    rules: RulesAsked = FIND_RULES,
) -> Findings:
    """Return the findings in all trajectories of the files and folders `paths`."""
    conclude = concluding(categories, list(map(path_text, paths)), arguments)
    classified = partial(classify_paths, paths, categories, classify, out=out, workers=workers, arguments=arguments)
    summary = classified(conclude=conclude, changed=changed, show=show_flagged, rules=rules)
    return findings(categories, summary) if summary is not None else read_scores(out or Path(), Findings)


def shard_text(done: ShardDone, place: str) -> str:
    """Return the inputs of a shard, and the next step, for a terminal."""
    counts = done.counts
    was = "was done before" if done.before else "is done"
    read = f"sessions read: {counts.sessions:,}, unreadable: {counts.unreadable:,}, files skipped: {counts.skipped:,}"
    return f"shard {done.shard} {was}; {read}\n{next_step(done.shard, place)}"


def concluding(categories: Sequence[str], inputs: Sequence[str], arguments: Sequence[str]) -> Conclude:
    """Return the scores and the page of a finished run."""
    return concluding_with(lambda summary, _: findings(categories, summary), inputs, arguments)


def concluding_with(
    found: Callable[[Summary, Path], Findings], inputs: Sequence[str], arguments: Sequence[str]
) -> Conclude:
    """Return the scores and the page of a run, with the findings that its summary and its folder give."""

    def conclude(summary: Summary, folder: Path) -> dict[str, bytes]:
        result = found(summary, folder)
        return {SCORES: as_json(result), REPORT: _page(result, folder, inputs, arguments).encode()}

    return conclude


def as_json(result: Findings) -> bytes:
    """Return the document as indented JSON, with a line end."""
    return msgspec.json.format(encode(result), indent=2) + b"\n"


def classified_page(run: OpenRun) -> str:
    """Return the page of a finished run, made again."""
    require_finished(run)
    arguments = run.manifest.arguments
    return _page(read_scores(run.folder, Findings), run.folder, named_inputs(run.manifest), arguments)


def _page(result: Findings, run: Path, inputs: Sequence[str], arguments: Sequence[str]) -> str:
    from misstep.analysis.pages.sessions.page import sessions_page  # takes long, and only a run has a page

    return sessions_page(result, labelled_sessions(run), inputs, arguments)


def show_flagged(session: Trajectory, evidence: Collection[int]) -> str:
    """Return the data of a flagged session for the page of its run."""
    from misstep.analysis.pages.browser.shown_run import show_session  # takes long, and only a run has a page

    return show_session(session, evidence)


classified_shard = partial(classify_shard, show=show_flagged)
"""Do one shard of a run to its end, with what the page of the run needs."""
