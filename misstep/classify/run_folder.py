"""The run that keeps what `misstep classify` finds."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct, structs

from misstep.options.model import priced_by
from misstep_analysis.runs.finished import named_inputs, read_scores
from misstep_analysis.sessions.costs import costs_of
from misstep_analysis.sessions.documents import findings_files, show_flagged
from misstep_analysis.sessions.findings import Findings, NewSessions, findings, with_new
from misstep_harness.journal.classified import SessionFinding, Summary, labelled_sessions
from misstep_harness.journal.opened import OpenRun
from misstep_harness.journal.records import SESSIONS, Records, read_manifest, read_records, replace_file
from misstep_harness.places import path_text
from misstep_harness.runs.classify import ClassifyPlan
from misstep_harness.runs.files_run import Conclude
from misstep_harness.runs.verdict_cache import classify_into
from misstep_harness.usage import Prices, StepUsage


class _Content(Struct, frozen=True, gc=False):
    """What a session is recognised by: it has another content if any of this differs."""

    item: str
    n_steps: int = 0
    started: str | None = None
    parent: str | None = None
    usage: tuple[StepUsage, ...] = ()


_CONTENTS = Records(_Content, SESSIONS, "session")


def findings_into(
    paths: Sequence[Path], plan: ClassifyPlan, out: Path, tell: Callable[[SessionFinding], None]
) -> Findings:
    """Return the findings of a run, brought up to date; see `classified_findings`."""
    results: list[Findings] = []
    categories = plan.categories

    def findings_of(summary: Summary, folder: Path) -> Findings:
        costs = costs_of(categories, labelled_sessions(folder), priced_by())
        result = findings(categories, summary, costs=costs)
        results.append(result)
        told: set[tuple[str, str]] = set()
        if since := _finished(out):
            results[0] = with_new(result, since, _new_items(folder, out))
            told |= {(one.item, one.category) for one in read_scores(out, Findings).findings}
        for one in result.findings:
            if (one.item, one.category) not in told:
                tell(one)
        return results[0]

    conclude = concluding_with(findings_of, list(map(path_text, paths)), plan.arguments)
    classify_into(paths, plan, out, conclude, show_flagged)
    return results[0] if results else with_new(read_scores(out, Findings), _finished(out), [])


def _finished(run: Path) -> str:
    manifest = read_manifest(run)
    return manifest.finished if manifest is not None else ""


def _new_items(run: Path, earlier: Path) -> list[str]:
    known = {hash(one) for one in read_records(earlier, _CONTENTS)}
    return [one.item for one in read_records(run, _CONTENTS) if one.parent is None and hash(one) not in known]


def at_prices(run: OpenRun, prices: Prices, new: NewSessions | None) -> Findings:
    """Count the costs of a finished run again at some prices, in its scores and on its page."""
    scores = read_scores(run.folder, Findings)
    costs = costs_of(tuple(scores.categories), labelled_sessions(run.folder), priced_by(prices))
    result, manifest = structs.replace(scores, costs=costs, new=new), run.manifest
    for name, content in findings_files(result, run.folder, named_inputs(manifest), manifest.arguments).items():
        replace_file(run.folder / name, content)
    return result


def concluding_with(
    findings_of: Callable[[Summary, Path], Findings], inputs: Sequence[str], arguments: Sequence[str]
) -> Conclude:
    """Return the scores and the page of a run, with the findings that its summary and its folder give."""

    def conclude(summary: Summary, folder: Path) -> dict[str, bytes]:
        return findings_files(findings_of(summary, folder), folder, inputs, arguments)

    return conclude
