"""Draw the figures of `docs/concepts.md` from the statistics that they explain.

`python -m scripts.concept_figures` writes them anew.
"""

from pathlib import Path

from misstep_analysis.plots.drawing import standalone
from misstep_analysis.plots.rows import forest
from misstep_analysis.stats.clusters.clustered_bounds import korn_graubard
from misstep_analysis.stats.correction import rogan_gladen
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import Row

FOLDER = Path(__file__).parents[1] / "docs" / "assets"

FLAGGED, JUDGED = 300, 1_000
SENSITIVITY, SPECIFICITY = (45, 50), (80, 100)
"""A judge that flags 300 of 1,000 runs, and what people's labels say of it."""

ANSWERED_YES, ANSWERED, ASKED = 15, 60, 100
SPREAD, GATHERED = ((3, 10),) * 10, ((10, 10),) * 3 + ((0, 10),) * 7
"""Ten projects with ten runs each, 30 of 100 with a misbehaviour: spread over all projects, or gathered in three."""


def figures() -> dict[str, str]:
    """Return the drawings by the names of their files."""
    drawn = {
        "printed and recomputed": _printed_and_recomputed(),
        "missing answers": _missing_answers(),
        "clusters": _clusters(),
        "corrected prevalence": _corrected(),
    }
    return {f"{title.replace(' ', '_')}.svg": standalone(forest(rows, title)) for title, rows in drawn.items()}


def _printed_and_recomputed() -> list[Row]:
    recomputed = _row("12 of 40 by its own counts", wilson(12, 40), "recomputed")
    return [Row("“33%” as a paper prints it", 0.33, unit="share", evidence="published"), recomputed]


def _missing_answers() -> list[Row]:
    return [
        _row(f"of the {ANSWERED} answered", wilson(ANSWERED_YES, ANSWERED)),
        _row("if each missing answer were a no", wilson(ANSWERED_YES, ASKED)),
        _row("if each missing answer were a yes", wilson(ANSWERED_YES + ASKED - ANSWERED, ASKED)),
    ]


def _clusters() -> list[Row]:
    return [
        _row("100 runs, each for itself", wilson(30, 100)),
        _row("10 projects that are alike", korn_graubard(SPREAD)),
        _row("10 projects, the 30 in three of them", korn_graubard(GATHERED)),
    ]


def _corrected() -> list[Row]:
    return [
        _row("share that the judge flags", wilson(FLAGGED, JUDGED)),
        _row("share corrected for its errors", rogan_gladen((FLAGGED, JUDGED), SENSITIVITY, SPECIFICITY).estimate),
    ]


def _row(quantity: str, estimate: Estimate, evidence: str = "generated") -> Row:
    ends = estimate.low, estimate.high
    return Row(quantity, estimate.value, *ends, n=estimate.n, unit="share", evidence=evidence)  # type: ignore[arg-type]


if __name__ == "__main__":
    for name, svg in figures().items():
        (FOLDER / name).write_text(svg, "utf-8")
