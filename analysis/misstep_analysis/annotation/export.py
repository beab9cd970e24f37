"""Write the results of an annotation study: labels for other tools, gold labels for a benchmark, and JSON.

labels.csv              item,rater,label and more: the blind labels of the independent phase, a line each
calibration.csv         the same of the calibration set
consensus.csv           the label of each case, and how it came about; ties are named
gold.csv                item,rater,label: the consensus, as benchmarks have it
gold_subcategories.csv  the same of the subcategories
history.csv             every answer, in the order in which they were given
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import structs, to_builtins

from misstep_analysis.annotation.disagreement import Disagreement, disagreement
from misstep_analysis.annotation.plan import AnnotatedStudy, State, consensus
from misstep_analysis.gold import GoldLabel, write_gold
from misstep_analysis.tables.files import csv_of
from misstep_harness.annotation import RaterAnswer
from misstep_harness.errors import UsageError
from misstep_harness.journal.records import replace_file
from misstep_harness.journal.run_folder import make_folder

RATER = "consensus"
"""The rater of the gold labels that a study gives."""

_RATING = ("item", "rater", "label", "subcategory", "phase", "certainty", "note", "steps")
_HISTORY = ("item", "rater", "phase", "revision", "label", "subcategory", "certainty", "note", "steps", "at", "seconds")
_GOLD = ("item", "rater", "label")

_FIGURES = {
    "agreement": "report",
    "boundaries": "boundaries",
    "lean": "lean",
    "by_rater": "raters",
    "raters_alike": "raters_alike",
    "subcategories": "subcategories",
    "phases": "phases",
    "phases_difference": "phases_difference",
    "certainties": "certainties",
    "seconds": "seconds",
}
"""Name in the JSON → the field of `Disagreement`."""


def measured(state: State, resamples: int, seed: int) -> Disagreement:
    """Return the result of a study as far as it has gone."""
    if not any(one.label is not None for one in state.answers):
        raise UsageError(
            "nobody has given a label yet", "Label some with `misstep annotate CASES --study STUDY` first."
        )
    return disagreement(state.study, resamples, seed)


def write_export(study: AnnotatedStudy, disagreement: Disagreement, out: Path) -> tuple[Path, ...]:
    """Write the files of a study into a folder, and return their paths."""
    make_folder(out)
    blind = list(study.blind().values())
    texts = {
        "labels.csv": _table(_RATING, (one for one in blind if one.phase == "independent")),
        "calibration.csv": _table(_RATING, (one for one in blind if one.phase == "calibration")),
        "consensus.csv": csv_of(
            ("item", "label", "subcategory", "how", "candidates"),
            ((one.item, one.label or "", one.subcategory, one.how, one.candidates) for one in disagreement.consensus),
        ),
        "gold_subcategories.csv": csv_of(
            _GOLD, ((one.item, RATER, one.subcategory) for one in disagreement.consensus if one.subcategory)
        ),
        "history.csv": _table(_HISTORY, study.answers),
    }
    for name, text in texts.items():
        replace_file(out / name, text.encode())
    write_gold(out, gold_labels(study))
    return tuple(out / name for name in (*texts, "gold.csv"))


def gold_labels(study: AnnotatedStudy) -> list[GoldLabel]:
    """Return the consensus of a study as gold labels, by the name of the rater if there is one alone."""
    rater = study.raters[0] if len(study.raters) == 1 else RATER
    return [GoldLabel(one.item, rater, one.label) for one in consensus(study) if one.label]


def document(state: State, disagreement: Disagreement) -> dict[str, Any]:
    """Return the result as one JSON value; `agreement` has the shape of `misstep agreement --json`."""
    again, raters = disagreement.reconciled, state.plan.raters
    flows = [{"from": before, "to": after, "n": n} for (before, after), n in again.flows.items()]
    figures = {name: to_builtins(getattr(disagreement, field)) for name, field in _FIGURES.items()}
    return {
        "n": disagreement.n,
        "raters": list(raters),
        "phase": state.phase,
        "finished": state.finished,
        "left": {rater: len(state.left(rater)) for rater in raters},
        "disputed": list(disagreement.disputed),
        **figures,
        "reconciled": {**to_builtins(structs.replace(again, flows={})), "flows": flows},
        "consensus": to_builtins(disagreement.consensus),
    }


def _table(columns: Sequence[str], answers: Iterable[RaterAnswer]) -> str:
    def cell(value: Any) -> Any:
        return " ".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else value

    return csv_of(columns, ([cell(getattr(one, column)) for column in columns] for one in answers))
