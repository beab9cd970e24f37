"""Whose fault runs are by a judge: the share of each label with its interval, subcategories, and what is to be done."""

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from misstep_analysis.judging.sample import judged_sample
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Evidence, Row, Table, made_by_this, of_evidence, rows_in
from misstep_analysis.tables.wording import counted_text, in_words, number_text, with_interval
from misstep_analysis.triage.cases import LABELS
from misstep_harness.triage.records.attribution import TriageVerdict, taxonomy

NOTHING_ANSWERED = "no run was answered"
_NAMES = {"task": "the task", "agent": "the agent", "infrastructure": "the infrastructure", "pass": "nobody"}

_DEEDS = {
    "keep": "stays in training data",
    "filter": "is left out of training data",
    "rerun": "is run again",
    "repair_task": "waits until the task is repaired",
}


class Causes(Struct, frozen=True):
    """What a judge says of some runs; those without a subcategory are counted under the empty name."""

    n: int
    answered: int
    shares: dict[str, Estimate]
    subcategories: dict[str, dict[str, int]]


def causes(verdicts: Sequence[TriageVerdict], clusters: Mapping[str, str] | None = None) -> Causes:
    """Whose fault some runs are by a judge."""
    sample = judged_sample(verdicts, [], LABELS, clusters=clusters)
    shares = {
        label: sample.units.share(sample.answers == place, sample.answered, NOTHING_ANSWERED)
        for label, place in sample.codes.places.items()
    }
    subcategories: dict[str, dict[str, int]] = {label: {} for label in sample.codes.labels}
    named = Counter((one.label, one.subcategory) for one in sample.verdicts if isinstance(one, TriageVerdict))
    for (label, name), n in named.most_common():
        if label in subcategories:
            subcategories[label][name] = n
    return Causes(len(sample.verdicts), int(sample.answered.sum()), shares, subcategories)


def causes_sentence(runs: Causes) -> str:
    """Whose fault the runs are, in one line with intervals: the most frequent label first."""
    if not runs.answered:
        return f"None of {counted_text(runs.n, 'run')} has an answer."
    ranked = sorted(runs.shares.items(), key=lambda one: -(one[1].value or 0.0))
    (label, most), *others = [(label, share) for label, share in ranked if share.value]
    count = {label: sum(share for share in runs.subcategories[label].values()) for label in runs.shares}
    first = f"{_NAMES[label].capitalize()} is at fault in {count[label]:,} of {counted_text(runs.answered, 'run')}"
    parts = [f"{first}, {with_interval(most, 'share')}"]
    for name, share in others:
        value, low, high = (number_text(end, "share") for end in (share.value, share.low, share.high))
        parts.append(
            f"{_NAMES[name]} in {count[name]:,}, {value}" + ("" if share.low is None else f" ({low} to {high})")
        )
    left = runs.n - runs.answered
    rest = f"; {left:,} without an answer {'is' if left == 1 else 'are'} left out" if left else ""
    return f"{', '.join(parts)}{rest}."


@made_by_this
def causes_table(runs: Causes, judge: str, source: str, evidence: Evidence = "real") -> Table:
    """Whose fault the runs are: by label with its interval, then by subcategory, and what is to be done with them."""
    categories = {str(label): category for label, category in taxonomy().items()}
    rows: list[Row] = []
    for label, share in runs.shares.items():
        where = categories[label].name, source
        finer = {_subcategory_name(name): count for name, count in runs.subcategories[label].items()}
        rows += rows_in("share", {"Share of the runs": share}, *where)
        rows += rows_in("count", finer, *where, n=runs.answered)
    actions = (
        f"{what} labelled “{category.name}” {_DEEDS[cell.action]}."
        for category in categories.values()
        for cell, what in ((category.failure, "A failure"), (category.success, "A pass"))
        if cell is not None
    )
    notes = ("The judge errs: where gold labels are known, the tables below say how often and which way.", *actions)
    title = f"Whose fault the runs are, by {judge}"
    return of_evidence(Table("causes", "judging", title, causes_sentence(runs), tuple(rows), notes), evidence)


def _subcategory_name(name: str) -> str:
    return in_words(name).capitalize() if name else "No subcategory named"
