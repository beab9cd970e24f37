"""How often a judge gives each label: all that is known of it where nobody has labelled what it was asked about."""

import numpy as np
from msgspec import Struct

from misstep.analysis.measures.judging.sample import JudgedSample
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Table, estimate_row, made_by_this
from misstep.analysis.tables.wording import counted_text, with_interval

NOTHING_ANSWERED = "no item was answered"


class LabelShares(Struct, frozen=True):
    """The share of each label among the answers.

    - `answered`, `unanswered`, `labelled`: Items with an answer, without, and with a gold label.
    - `shares`: Label → its share of the answered: the label that counts as found first, then the most frequent.
    """

    answered: int
    unanswered: int
    labelled: int
    shares: dict[str, Estimate]


def label_shares(sample: JudgedSample) -> LabelShares:
    """Return the share of each label among the answers; items of one cluster count as one unit."""
    answered = sample.answered
    n = int(np.count_nonzero(answered))
    shares = {
        label: sample.units.share(sample.answers == place, answered, NOTHING_ANSWERED)
        for label, place in sample.codes.places.items()
    }
    ranked = dict(sorted(shares.items(), key=lambda one: (one[0] != sample.positive, -(one[1].value or 0))))
    return LabelShares(n, len(answered) - n, int(np.count_nonzero(sample.known)), ranked)


def shares_finding(found: LabelShares, judge: str, benchmark: str) -> str:
    """Return how often the judge says what is looked for, and that how often it is right is not known."""
    label, share = next(iter(found.shares.items()), ("", Estimate(None)))
    items = counted_text(found.answered + found.unanswered, "item")
    if share.value is None:
        return f"{judge} answered none of the {items} of {benchmark}."
    unanswered = f"; {found.unanswered:,} have no answer" if found.unanswered else ""
    return (
        f"{judge} says “{label}” of {with_interval(share, 'share')} of the {found.answered:,} answered items of "
        f"{benchmark}{unanswered}. Nobody has labelled them, so how often it is right is not known."
    )


@made_by_this
def label_shares_table(found: LabelShares, judge: str, benchmark: str) -> Table:
    """Return how often the judge gives each label."""
    group = "Share of the answered"
    return Table(
        name="label_shares",
        paper="judging",
        title=f"{judge} on {benchmark}",
        finding=shares_finding(found, judge, benchmark),
        rows=tuple(estimate_row(label, share, "share", group, benchmark) for label, share in found.shares.items()),
        notes=("A judge errs: its share of a label is not how often the label holds.",),
    )
