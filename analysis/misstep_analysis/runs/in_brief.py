"""The lines that matter of a run of any kind: what it shows and how surely, what is missing, where the rest is."""

from typing import Any

from msgspec import Struct

from misstep_analysis.runs.finished import command_line
from misstep_analysis.runs.kind import Choice, RunResults
from misstep_analysis.tables import Evidence, Row
from misstep_analysis.tables.summary import TableInBrief, figure_lines, in_brief
from misstep_analysis.tables.wording import counted_text
from misstep_harness.escaping import plain
from misstep_harness.journal.opened import OpenRun
from misstep_harness.journal.records import REPORT

_MISSING = 2


class RunInBrief(Struct, frozen=True):
    """The lines that matter of a run.

    - `finding`: What it shows, in a sentence or two; of an unfinished run how far it is.
    - `n`: How many records it has.
    - `evidence`: `generated` where a program made what was measured: no finding about real runs follows from it.
    - `figures`: The main figures of its first table, with intervals.
    - `missing`: What has no answer, could not be read or could not be computed: none of it counts as a label.
    - `page`: Its page, `None` where none is written.
    - `again`: The command that writes the page, or goes on with an unfinished run; empty where runs have no page.
    """

    run: str
    command: str
    finished: bool
    finding: str
    n: int
    evidence: Evidence | None
    figures: tuple[Row, ...]
    missing: tuple[str, ...]
    page: str | None
    records: str
    again: str


def run_in_brief(kind: RunResults[Any], run: OpenRun, choice: Choice) -> RunInBrief:
    """Return the lines that matter of a run; no figure of an unfinished one, since what is missing may change it."""
    n = sum(1 for _ in run.read(kind.records))
    finished, page = bool(run.manifest.finished), run.folder / REPORT
    opened = kind.open(run, choice) if finished else run
    table = next(iter(kind.figures(opened)), None) if finished else None
    again = f"misstep report {run.folder}" if kind.has("figures") else ""
    counted = f"{counted_text(n, kind.records.one)} of `misstep {kind.command}`"
    without = f"{counted}{'' if finished else '; the run is not finished'}."
    brief = in_brief(table) if table is not None else TableInBrief(without, None, (), ())
    return RunInBrief(
        run=str(run.folder),
        command=kind.command,
        finished=finished,
        finding=brief.finding,
        n=n,
        evidence=brief.evidence,
        figures=brief.figures,
        missing=tuple(dict.fromkeys([*(kind.missing(opened) if finished else ()), *brief.undefined])),
        page=str(page) if page.is_file() else None,
        records=str(run.folder / kind.records.file),
        again=again if finished else command_line(run.manifest),
    )


def brief_text(run: RunInBrief) -> str:
    """Return a run in at most ten lines."""
    about = f"{counted_text(run.n, 'record')}, {f'evidence {run.evidence}' if run.evidence else 'without figures'}"
    missing = [f"missing: {one}" for one in run.missing]
    if len(missing) > _MISSING:
        missing[_MISSING - 1 :] = [f"missing: {len(missing) - _MISSING + 1} more things; --json names them"]
    page = run.page or (f"{run.again} writes it" if run.again else "none")
    rest = f"page: {page}" if run.finished else f"go on: {run.again}"
    lines = [run.finding, about, *figure_lines(run.figures), *missing, rest, f"rows: {run.records}"]
    return "\n".join(plain(line) for line in lines)
