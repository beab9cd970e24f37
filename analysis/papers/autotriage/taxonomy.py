"""AutoTriage's table 1, a taxonomy without figures, with the planted and found cases of each of its cells."""

from collections.abc import Sequence

from misstep.analysis.measures.triage.cases import TASK, JudgedCases
from misstep.analysis.measures.triage.comparison import Planted, planted_and_found
from misstep.analysis.measures.triage.real import TriagedSet
from misstep.analysis.measures.triage.tables import in_words
from misstep.analysis.papers.autotriage.triage import GENERATOR, NONE_RECORDED, OTHER_CASES
from misstep.analysis.tables import Figure, Row, Table, TableHead, Unit, made_by_this, measured_on, rows_of
from misstep.analysis.tables.wording import counted_text
from misstep.harness.records.attribution import FAULTS, taxonomy

_TAXONOMY = TableHead(
    "taxonomy",
    "autotriage",
    "The taxonomy, what was planted of it and what was found (AutoTriage, table 1)",
    (
        "Table 1 prints no figures; the paper does not say how often its annotators used each label.",
        "Found: the judge gives the label, whatever subcategory it names. Unanswered cases count as missed.",
    ),
    generator=GENERATOR,
)


@made_by_this
def taxonomy_table(cases: JudgedCases | None, real: Sequence[TriagedSet] = ()) -> Table:
    """Return table 1: each cell of the taxonomy with the cases planted and found, and the real runs that map to it."""
    planted = planted_and_found(cases) if cases is not None else ()
    rows = [row for one in planted for row in _planted_rows(one, cases.source if cases is not None else "")]
    counted = {one.judged.dataset: one for one in reversed(real)}
    rows += [row for one in reversed(counted.values()) for row in _real_counts(one)]
    return _TAXONOMY.table(
        _taxonomy_finding(planted, cases),
        rows,
        (OTHER_CASES,) if cases is not None else (NONE_RECORDED,),
        datasets=counted,
    )


def _planted_rows(one: Planted, source: str) -> list[Row]:
    name, run = taxonomy()[one.label].name, "passed" if one.observed == "success" else "failed"
    group = f"{name}: {in_words(one.subcategory)}" if one.subcategory else f"{name}, run {run}"
    figures: list[tuple[str, Figure, Unit]] = [
        (f"Found by {judge}", share, "share") for judge, share in one.found.items()
    ]
    return rows_of([("Planted", one.n, "count"), *figures], group, source, "generated", n=one.n)


def _real_counts(one: TriagedSet) -> list[Row]:
    dataset, source, n = one.judged.dataset, one.judged.source, one.scores.n
    counts = {taxonomy()[label].name: one.scores.labels[label].support for label in FAULTS}
    rows = (Row(f"Runs of {dataset}", m, n=n, unit="count", group=name, source=source) for name, m in counts.items())
    return measured_on(dataset, rows)


def _taxonomy_finding(planted: Sequence[Planted], cases: JudgedCases | None) -> str:
    if cases is None or not planted:
        return "Table 1 prints a taxonomy without figures; no run on generated cases is recorded."
    whole = sum(one.n for one in planted)
    sentence = (
        f"{counted_text(whole, 'generated case')} have a known cause in {sum(one.n > 0 for one in planted)} cells"
    )
    of_task = sum(one.n for one in planted if one.label == TASK)
    absent = [in_words(one.subcategory) for one in planted if not one.n]
    lacking = f"; none of {', '.join(absent)}" if absent else ""
    return f"{sentence} of the taxonomy, {of_task} of them the fault of the task{lacking}."
