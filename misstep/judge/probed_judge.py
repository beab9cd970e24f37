"""Write what changed items did to a judge: a JSON document, a page, and text for a terminal."""

import shlex
from collections.abc import Sequence
from importlib.util import find_spec

from msgspec import structs

from misstep_analysis.judging.judged_runs import JudgedRun
from misstep_analysis.judging.probes import (
    flipped_table,
    probed_accuracy_table,
    probed_judge,
    probes_document,
    probes_table,
)
from misstep_analysis.judging.report import NO_JUDGE
from misstep_analysis.pages import Foot, Section, page, table_text
from misstep_analysis.tables import Table
from misstep_harness.errors import UsageError
from misstep_harness.items import Question
from misstep_harness.journal.records import replace_file
from misstep_harness.judges.probes import Probe

PROBES = "probes"
"""The name of the document and of the page in a run's folder."""


def write_probed(
    run: JudgedRun, label: str, chosen: Sequence[Probe], seed: int, *, plumbing: bool = False
) -> tuple[str, str]:
    """Measure what changes do to a run's labels, and write it as a document and as a page into its folder."""
    descriptions = {probe.name: probe.what for probe in chosen}
    result = probed_judge(run.items, run.verdicts, run.gold, label, descriptions)
    source = f"{run.question.name}, seed {seed}"
    tables = [probes_table(result, source)]
    if any(probe_result.accuracy.value is not None for probe_result in result.probes):
        tables.append(probed_accuracy_table(result, source))
    flipped = [Section("Labels that flip", (flipped_table(result, source),), folded=True)] if result.flipped else []
    figure = (f"Change in how often the label is “{label}”", "The dashed line means no change", 0.0)
    document, inputs = probes_document(result), (source, len(run.verdicts), seed)
    return _write_page(run, PROBES, document, tables, inputs, figure, flipped, plumbing=plumbing)


def _write_page(
    run: JudgedRun,
    name: str,
    document: str,
    tables: Sequence[Table],
    inputs: tuple[str, int, int],
    figure: tuple[str, str, float | None],
    sections: Sequence[Section] = (),
    *,
    plumbing: bool,
) -> tuple[str, str]:
    """Write a document and its page, and return the document and the text."""
    replace_file(run.folder / f"{name}.json", document.encode())
    table, (source, n, seed) = tables[0], inputs
    shown = structs.replace(table, finding=f"{table.finding} {NO_JUDGE}") if plumbing else table
    made_by = shlex.join(["misstep", *run.manifest.arguments])
    foot = Foot(made_by, inputs=(f"{source}: {n:,} items",), seed=seed)
    (title, note, reference), figures = figure, []
    if find_spec("matplotlib") is not None and table.drawn:
        from misstep_analysis.plots.rows import forest

        figures.append(forest(table.drawn, title, note, reference=reference))
    html = page(shown.title, shown.finding, [shown, *tables[1:]], figures, sections=sections, foot=foot)
    replace_file(run.folder / f"{name}.html", html.encode())
    text = "\n".join(map(table_text, tables))
    return document, f"{text}\n{NO_JUDGE}\n" if plumbing else text


def label_followed(question: Question, labels: Sequence[str], named: str = "") -> str:
    """Return the label whose rate probes are about: the one that is named, the positive one, or the first."""
    known = tuple(question.labels) or tuple(labels)
    if named and known and named not in known:
        raise UsageError(f"{named!r} is none of the labels {', '.join(known)}", "Name one of them with --label.")
    label = named or question.positive or next(iter(known), "")
    if not label:
        raise UsageError(f"the benchmark {question.name} has no label to follow", "Name one with --label.")
    return label
