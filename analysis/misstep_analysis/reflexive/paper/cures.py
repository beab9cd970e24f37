"""The failure modes' witnesses as printed, beside runs of this software without and with the mechanism that cures each.

The runs are of generated items and synthetic agents: they show that a mode happens here without its mechanism, and not
with it. They confirm no printed figure.
"""

from collections.abc import Iterator, Sequence

from misstep_analysis.passing.paired_systems import LEVEL
from misstep_analysis.published import load_paper, published_row
from misstep_analysis.reflexive.cures import Cure
from misstep_analysis.reflexive.scores import ALSO, MEASURES
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Row, Table, TableHead, Unit, made_by_this, rows_of

_SLUG = "reflexive"
_APART: dict[Unit, Unit] = {"share": "difference"}
"""Unit of a figure → that of a difference, if it is another."""


_CURES = TableHead(
    "cures",
    _SLUG,
    "Each failure mode, its witness and its cure",
    (
        "A generated figure is the mean over seeds; the difference is without less with, of runs with one seed and "
        "the same items. Witnesses are of other agents on another target: nothing here confirms them.",
        "A figure without an interval is the same at every seed.",
    ),
)


@made_by_this
def cures_table(cures: Sequence[Cure], source: str) -> Table:
    """Return each failure mode: its printed witness, and its figures in runs without and with its mechanism."""
    modes = list(dict.fromkeys(cure.mode.name for cure in cures))
    shown = {cure.mode.name for cure in cures if cure.shown}
    missed = [name for name in modes if name not in shown]
    rest = f"; not shown: {', '.join(missed)}" if missed else ""
    return _CURES.table(
        (
            f"{len(shown)} of {len(modes)} failure modes show here where their mechanism is left out, and less or not "
            f"at all where it is not (level {LEVEL}, Holm's adjustment for {len(cures)} figures){rest}."
            if cures
            else "No run of the loop is on record."
        ),
        (row for name in modes for row in _rows([cure for cure in cures if cure.mode.name == name], source)),
    )


def _rows(cures: Sequence[Cure], source: str) -> Iterator[Row]:
    paper = load_paper(_SLUG)
    mode = cures[0].mode
    heading = f"{mode.name} ({mode.mechanism})"
    for id_ in mode.witness:
        yield published_row(paper[id_], f"Witness: {paper[id_].row} ({paper[id_].column})", group=heading)
    for cure in cures:
        measure = (MEASURES | ALSO)[cure.key]
        without, apart = cure.without, cure.without.difference
        figures: list[tuple[str, Estimate, Unit]] = [
            ("without", without.mean, measure.unit),
            ("with it", cure.whole.mean, measure.unit),
            *([] if apart is None else [("difference", apart, _APART.get(measure.unit, measure.unit))]),
            ("p adjusted", Estimate(without.p_adjusted, n=without.mean.n, method=without.test), "p"),
        ]
        named = [(f"{measure.name}, {name}", figure, unit) for name, figure, unit in figures]
        yield from rows_of(named, heading, source, "generated")
