"""Whether a judge can be trusted, by a table of its labels beside people's: its rates as one short table."""

from misstep.analysis.measures.judging.assessment import Assessment
from misstep.analysis.measures.judging.sample import JudgedSample
from misstep.analysis.measures.judging.wording import headline
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Row, Table, Unit, estimate_row, made_by_this


def positive_rates(sample: JudgedSample) -> dict[str, Estimate]:
    """Return the true positive and the true negative rate of the answered items; empty without a positive label."""
    if sample.positive not in sample.labels:
        return {}
    positive = sample.codes.places[sample.positive]
    holds, says = sample.gold == positive, sample.answers == positive
    asked = sample.known & sample.answered
    return {
        "true_positive_rate": sample.units.share(
            says, asked & holds, f"people say “{sample.positive}” of no item that was answered"
        ),
        "true_negative_rate": sample.units.share(
            ~says, asked & ~holds, f"people say “{sample.positive}” of every item that was answered"
        ),
    }


@made_by_this
def check_table(assessment: Assessment, rates: dict[str, Estimate], source: str) -> Table:
    """Return how often a judge is right, and in which direction it errs."""
    scores = assessment.scores
    figures: list[tuple[str, Estimate, Unit]] = [
        ("Accuracy", scores.accuracy, "share"),
        ("Most frequent label alone", scores.majority_share, "share"),
        ("Cohen's kappa", scores.cohen_kappa, "coefficient"),
    ]
    if rates:
        figures += [
            ("True positive rate (TPR)", rates["true_positive_rate"], "share"),
            ("True negative rate (TNR)", rates["true_negative_rate"], "share"),
        ]
    else:
        figures += [(f"Recall of “{label}”", one.recall, "share") for label, one in scores.labels.items()]
    if assessment.reliability.scored.value:
        figures += [
            ("Mean score less share right", assessment.reliability.overconfidence, "difference"),
            ("Expected calibration error", assessment.reliability.expected_calibration_error, "coefficient"),
        ]
    rows: list[Row] = [estimate_row(name, estimate, unit, "", source) for name, estimate, unit in figures]
    return Table(
        name="check",
        paper="judging",
        title=f"{scores.judge} against people's labels",
        finding=headline(scores),
        rows=tuple(rows),
    )
