"""A judge's scores as a ranking and as probabilities, as a sentence and a table."""

from collections.abc import Iterator

from misstep.analysis.measures.judging.calibration.calibrated_scores import AS_GIVEN, CalibratedBy, CalibratedScores
from misstep.analysis.tables import Row, Table, estimate_row, made_by_this
from misstep.analysis.tables.files import csv_of
from misstep.analysis.tables.wording import counted_text, number_text, with_interval


def calibrated_finding(found: CalibratedScores, judge: str) -> str:
    """Return how well the scores rank, and which method brings the Brier score down most."""
    ranking = f"{judge}'s scores rank items by “{found.label}”"
    if found.ranking.value is None:
        return f"Nothing says how well {ranking}; {found.ranking.reason}."
    told = f"{ranking} with an area under the ROC curve of {with_interval(found.ranking, 'coefficient')}"
    better = [one for one in found.methods if one.gain.value is not None]
    if not better:
        return f"{told}."
    best = min(better, key=lambda one: one.gain.value or 0.0)
    given = next(one for one in found.methods if one.method == AS_GIVEN)
    return (
        f"{told}; {best.method} calibration changes the Brier score from "
        f"{number_text(given.brier.value, 'coefficient')} to {number_text(best.brier.value, 'coefficient')} on items "
        f"held out, by {with_interval(best.gain, 'coefficient')}."
    )


@made_by_this
def calibrated_scores_table(found: CalibratedScores, judge: str, source: str) -> Table:
    """Return the ranking of all items by a judge's scores, and the probabilities on those held out."""
    group = "As a ranking, all items with a score"
    meaning = "how sure the judge is of the label it gave" if found.score_of == "given" else f"of “{found.label}”"
    left_out = counted_text(found.without_score, "item")
    tested = f"{counted_text(found.held_out, 'item')}{' of other runs' if found.clustered else ' held out'}"
    return Table(
        name="calibrated_scores",
        paper="judging",
        title=f"{judge}'s scores for “{found.label}”",
        finding=calibrated_finding(found, judge),
        rows=(
            estimate_row("Area under the ROC curve", found.ranking, "coefficient", group, source),
            estimate_row("Average precision", found.average_precision, "coefficient", group, source),
            estimate_row(f"Share of “{found.label}”", found.positives, "share", group, source),
            *(row for one in found.methods for row in _rows(one, source)),
        ),
        notes=(
            f"A score is taken as {meaning}. The methods are fitted on {counted_text(found.fitted, 'item')} and tested "
            f"on {tested}.",
            "The Brier score is 0 for probabilities that are always right; always giving the share of the label p has "
            "p(1-p). Chance alone keeps the calibration error above 0.",
            *([f"{left_out} without a score left out."] if found.without_score else []),
        ),
    )


def probabilities_csv(found: CalibratedScores) -> str:
    """Return the probabilities of the items held out as CSV: a row an item, a column a method."""
    items = next(iter(found.probabilities.values()), {})
    rows = ([item, *(given[item] for given in found.probabilities.values())] for item in items)
    return csv_of(["item", *(name.replace(" ", "_") for name in found.probabilities)], rows)


def _rows(one: CalibratedBy, source: str) -> Iterator[Row]:
    group = f"As probabilities, {one.method}, items held out"
    yield estimate_row("Brier score", one.brier, "coefficient", group, source)
    yield estimate_row("Calibration error", one.calibration_error, "coefficient", group, source)
    if one.method != AS_GIVEN:
        yield estimate_row("Brier score less that of the scores as given", one.gain, "coefficient", group, source)
