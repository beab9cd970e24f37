"""What the classifiers find in people's own files and folders: the findings, and the run that keeps them."""

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

import msgspec

from misstep.analysis.pages.findings import Findings, complaints, findings, findings_text, shares
from misstep.harness.journal.classified import Summary
from misstep.harness.journal.labelled_sessions import labelled_sessions
from misstep.harness.journal.records import REPORT, SCORES, encode
from misstep.harness.lake.store import Store, open_store
from misstep.harness.places import path_text
from misstep.harness.runs.classify import ClassifyAs, Conclude, classify_paths
from misstep.harness.runs.inputs import EVER, Changed
from misstep.harness.runs.shards.classify import ShardDone, classify_shard, plan_of_classify
from misstep.harness.runs.shards.cluster import open_cluster
from misstep.harness.runs.shards.layout import PLAN, Shard, next_step, shards_of
from misstep.harness.runs.shards.merge import merge_shards
from misstep.harness.runs.shards.plan import Plan
from misstep.harness.trajectory import Trajectory
from misstep.studies.finished_runs import finished_manifest, named_inputs, read_scores, scores_in
from misstep.studies.kinds.kind import Merged
from misstep.studies.merged_runs import merge_run, page_of


def classified_findings(
    paths: Sequence[Path],
    categories: Sequence[str],
    classify: ClassifyAs,
    *,
    out: Path | None = None,
    workers: int | None = None,
    arguments: Sequence[str] = (),
    changed: Changed = EVER,
) -> Findings:
    """What is found in all trajectories of the files and folders `paths`."""
    summary = classify_paths(
        paths,
        categories,
        classify,
        out=out,
        workers=workers,
        arguments=arguments,
        conclude=_concluding(categories, list(map(path_text, paths)), arguments),
        changed=changed,
        show=_show,
    )
    if summary is not None:
        return findings(categories, summary)
    return read_scores(out or Path(), Findings)


def classified_shard(
    shard: Shard,
    paths: Sequence[str],
    categories: Sequence[str],
    classify: ClassifyAs,
    *,
    out: str,
    workers: int | None = None,
    arguments: Sequence[str] = (),
    changed: Changed = EVER,
) -> ShardDone:
    """Do one shard of a run to its end, with what the page of the run needs; as `classify_shard`."""
    return classify_shard(
        shard,
        paths,
        categories,
        classify,
        out=out,
        workers=workers,
        arguments=arguments,
        changed=changed,
        show=_show,
    )


def classified_on_cluster(
    address: str,
    shards: int | None,
    paths: Sequence[str],
    categories: Sequence[str],
    classify: ClassifyAs,
    out: str,
    arguments: Sequence[str] = (),
    changed: Changed = EVER,
) -> Merged:
    """Do the shards of a run on the workers of a Dask cluster, those that are done left alone, and merge them."""
    store = open_store(out)
    with open_cluster(address) as cluster:
        count = cluster.shards_for(store, shards)
        plan_of_classify(store, count, paths, categories, arguments, changed)
        cluster.require_paths([*paths, f"{store.place}/{PLAN}"])
        run = partial(
            classified_shard,
            paths=paths,
            categories=categories,
            classify=classify,
            out=out,
            workers=1,
            arguments=arguments,
            changed=changed,
        )
        for _ in cluster.do(list(shards_of(count)), run):
            pass
    return merge_run(out)


def shard_text(done: ShardDone, out: str) -> str:
    """What a shard has read, and what comes next, for a terminal."""
    counts = done.counts
    was = "was done before" if done.before else "is done"
    read = f"sessions read: {counts.sessions:,}, unreadable: {counts.unreadable:,}, files skipped: {counts.skipped:,}"
    return f"shard {done.shard} {was}; {read}\n{next_step(done.shard, out)}"


def merge_classified(store: Store, plan: Plan, digest: str) -> Merged:
    """The run of which all shards are done, merged where it lies unless it stands there, and what it says."""
    categories = plan.manifest.settings["categories"]
    summary = merge_shards(
        store, plan, digest, _concluding(categories, named_inputs(plan.manifest), plan.manifest.arguments)
    )
    if summary is not None:
        found = findings(categories, summary)
    else:
        found = scores_in(store.read(SCORES), f"{store.place}/{SCORES}", Findings)
    return Merged(
        findings_text(found, page_of(store)),
        as_json(found).decode(),
        shares(found),
        list(complaints(found)),
        complete=not (found.unreadable or found.failed),
    )


def _concluding(categories: Sequence[str], inputs: Sequence[str], arguments: Sequence[str]) -> Conclude:
    """The scores and the page of a finished run."""

    def conclude(summary: Summary, folder: Path) -> dict[str, bytes]:
        found = findings(categories, summary)
        return {SCORES: as_json(found), REPORT: _page(found, folder, inputs, arguments).encode()}

    return conclude


def as_json(found: Findings) -> bytes:
    """The document as indented JSON, with a line end."""
    return msgspec.json.format(encode(found), indent=2) + b"\n"


def classified_page(run: Path) -> str:
    """The page of a finished run, made again."""
    manifest = finished_manifest(run, "classify")
    return _page(read_scores(run, Findings), run, named_inputs(manifest), manifest.arguments)


def _page(found: Findings, run: Path, inputs: Sequence[str], arguments: Sequence[str]) -> str:
    from misstep.analysis.pages.sessions.page import sessions_page  # takes long, and only a run has a page

    return sessions_page(found, labelled_sessions(run), inputs, arguments)


def _show(session: Trajectory, evidence: Collection[int]) -> str:
    from misstep.analysis.pages.sessions.shown import show_session  # takes long, and only a run has a page

    return show_session(session, evidence)
