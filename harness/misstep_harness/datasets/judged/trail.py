"""TRAIL: agent traces with the errors that annotators found in their spans.

One annotation, `annotations_<source>/<trace id>.json`, shortened:

    {"trace_id": "0f…", "errors": [{"category": "Formatting Errors", "location": "36b1c6c7218394ab",
     "evidence": "…", "description": "…", "impact": "LOW"}], "scores": [{"reliability_score": 4, …}]}

`location` names a span; if the trace is available it becomes the step that was made of the span. An item is a trace and
a category, `<trace id>/<category>`: present or absent. The categories are those that occur in the annotations.
`gold_errors.jsonl` has every single error. `trail_judges` reads `judge_outputs/` and the scores of a trace.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from misstep_harness.datasets.benchmark import Gold, GoldError, Item, SetWriter
from misstep_harness.datasets.upstream import files_in, json_file, trajectories
from misstep_harness.protocols import ReadFile
from misstep_harness.trajectory import Trajectory

NAME = "trail"
RATER = "annotators"
SOURCES = ("gaia", "swe_bench")


class Error(Struct, frozen=True):
    """One annotated error; one upstream record has no `description`."""

    category: str
    location: str
    evidence: str
    impact: str
    description: str = ""


class Annotation(Struct, frozen=True):
    """The annotations of one trace."""

    errors: tuple[Error, ...]


class _Trace(Struct, frozen=True):
    id: str
    source: str
    errors: tuple[Error, ...]
    run: Trajectory | None


def load(folder: Path, out: Path, read: ReadFile) -> None:
    """Write `trail`."""
    runs = {
        (name := path.name.partition(".")[0]): msgspec.structs.replace(run, id=name)
        for source in SOURCES
        for path in sorted((folder / f"traces_{source}").glob("*.json*"))
        for run in trajectories(path, read, NAME)
    }
    traces = [
        _Trace(path.name.removesuffix(".json"), source, json_file(path, Annotation).errors, runs.get(path.stem))
        for source in SOURCES
        for path in files_in(folder / f"annotations_{source}", "*.json")
    ]
    categories = sorted({error.category for trace in traces for error in trace.errors})
    pairs = [(trace, category) for trace in traces for category in categories]
    SetWriter(NAME, folder, out).write(
        [_item(trace, category) for trace, category in pairs],
        [Gold(item_id(trace.id, category), RATER, _label(trace, category)) for trace, category in pairs],
        {"traces": runs.values()},
        [error for trace in traces for error in _errors(trace)],
    )


def item_id(trace: str, category: str) -> str:
    """Return the id of the item that asks whether a trace has an error of a category."""
    return f"{trace}/{category}"


def _item(trace: _Trace, category: str) -> Item:
    return Item(
        id=item_id(trace.id, category),
        kind="misbehaviour",
        trajectory_id=None if trace.run is None else trace.id,
        task="" if trace.run is None else trace.run.task,
        unaskable="" if trace.run is not None else "its trace is not in the public files",
        extra={"trace": trace.id, "source": trace.source, "category": category, "cluster": trace.id},
    )


def _label(trace: _Trace, category: str) -> str:
    return "present" if any(error.category == category for error in trace.errors) else "absent"


def _errors(trace: _Trace) -> Iterator[GoldError]:
    step_of_span: dict[str, int] = {} if trace.run is None else trace.run.extra.get("step_of_span", {})
    for error in trace.errors:
        yield GoldError(
            trajectory=trace.id,
            label=error.category,
            step=step_of_span.get(error.location),
            location=error.location,
            impact=error.impact,
            reason=error.description,
            evidence=error.evidence,
        )
