"""A threshold that keeps a precision, or why there is none, as a sentence and a table."""

from msgspec import structs

from misstep.analysis.measures.judging.calibration.precision_threshold import LABEL_ALONE, PrecisionThreshold
from misstep.analysis.stats.decisions.thresholds import ThresholdStep
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Row, Table, estimate_row, made_by_this
from misstep.analysis.tables.wording import counted_text, number_text, with_interval

_HELD_OUT = "Held-out half"
_TESTED = "Held-out half, in the order tested"


def threshold_text(found: PrecisionThreshold, threshold: float) -> str:
    """Return a threshold in words: so many votes, the label alone, or a score."""
    if found.votes_of is not None:
        return f"at least {round(threshold * found.votes_of)} of {found.votes_of} votes"
    if threshold <= LABEL_ALONE:
        return "the label alone"
    return f"a score of at least {number_text(threshold)}"


def threshold_sentence(found: PrecisionThreshold, judge: str) -> str:
    """Return what was found, in one sentence: the threshold with the bound of its precision, or why there is none."""
    floor, sure = number_text(found.floor, "share"), f"with {found.confidence:.0%} confidence"
    if found.threshold is None:
        given = f"{judge}'s “{found.label}” a precision of {floor}"
        return f"No threshold is shown to give {given} {sure}: {found.reason}."
    precision, recall = found.precision, found.recall
    told = (
        f"{judge}'s “{found.label}” keeps a precision of {floor} by {threshold_text(found, found.threshold)}: "
        f"{number_text(precision.value, 'share')} of {found.flagged:,} flagged items held out are right, at least "
        f"{number_text(precision.low, 'share')} {sure}"
    )
    if recall.value is None:
        return f"{told}."
    return f"{told}; {with_interval(recall, 'share')} of the items with that label are found."


@made_by_this
def threshold_table(found: PrecisionThreshold, judge: str, source: str) -> Table:
    """Return the threshold on the held-out half, and the thresholds that were tested there."""
    steps = [_step_row(found, step, source) for step in found.steps]
    return Table(
        name="precision_threshold",
        paper="judging",
        title=f"A threshold for “{found.label}” of {judge}",
        finding=threshold_sentence(found, judge),
        rows=(*_held_out_rows(found, source), *steps),
        notes=(
            f"{counted_text(found.calibration, 'item')} choose the threshold to begin with, the most lenient of "
            f"those with about the best chance to be shown to keep the floor ({found.chance:.0%} by these items), and "
            f"{counted_text(found.held_out, 'item')} of other runs test it. Items without an answer are never flagged "
            f"and count as missed: {found.unanswered:,}.",
            "A threshold is shown to keep the floor if the one-sided lower bound of its precision reaches it. From the "
            "first one on, more lenient ones are tested in turn, up to the first that fails; what comes after it is "
            "not tested.",
        ),
    )


def _held_out_rows(found: PrecisionThreshold, source: str) -> list[Row]:
    if found.tried is None:
        return []
    group = f"{_HELD_OUT}: {threshold_text(found, found.tried)}"
    flagged = Estimate(found.flagged, n=found.held_out)
    return [
        estimate_row("Precision", _one_sided(found.precision), "share", group, source),
        estimate_row("Recall", found.recall, "share", group, source),
        estimate_row("Items flagged", flagged, "count", group, source),
    ]


def _step_row(found: PrecisionThreshold, step: ThresholdStep, source: str) -> Row:
    kept = "shown to keep the floor" if step.passes else "not shown to keep the floor"
    told = kept if step.tested else "after the first failure: not tested"
    name = threshold_text(found, step.threshold)
    reason = "; ".join(filter(None, (step.precision.reason, told)))
    bounded = _one_sided(step.precision) if step.tested else structs.replace(step.precision, low=None, high=None)
    precision = structs.replace(bounded, reason=reason)
    return estimate_row(f"{name[0].upper()}{name[1:]}", precision, "share", _TESTED, source)


def _one_sided(precision: Estimate) -> Estimate:
    """Return a precision with its lower bound alone, which is what was tested: the upper end is that of all shares."""
    return structs.replace(precision, high=None)
