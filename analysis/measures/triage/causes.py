"""Whose fault runs are by a judge: the share of each label with its interval, subcategories, and what is to be done.

The shares are the judge's: where gold labels are known, they stand beside them elsewhere, with how well both agree.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from misstep.analysis.measures.judging.sample import judged_sample
from misstep.analysis.measures.triage.cases import LABELS
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Evidence, Row, Table, estimate_row, made_by_this, of_evidence
from misstep.analysis.tables.wording import counted_text, number_text, with_interval
from misstep.harness.records.attribution import TriageVerdict, taxonomy

NOTHING_ANSWERED = "no run was answered"
_NAMES = {"task": "the task", "agent": "the agent", "infrastructure": "the infrastructure", "pass": "nobody"}


class Causes(Struct, frozen=True):
    """What a judge says of some runs.

    - `n`, `answered`: The runs, and those with a label.
    - `shares`: Label → its share of the answered.
    - `subcategories`: Label → subcategory → how many runs; those without one are counted under the empty name.
    """

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
    named = Counter(
        (one.label, one.subcategory) for one in sample.verdicts if isinstance(one, TriageVerdict) and one.label
    )
    by_label = {
        label: {name: n for (of, name), n in named.most_common() if of == label} for label in sample.codes.labels
    }
    return Causes(len(sample.verdicts), int(sample.answered.sum()), shares, by_label)


def causes_sentence(found: Causes) -> str:
    """Whose fault the runs are, in one line with intervals: the most frequent label first."""
    runs = counted_text(found.answered, "run")
    if not found.answered:
        return f"None of {counted_text(found.n, 'run')} has an answer."
    ranked = sorted(found.shares.items(), key=lambda one: -(one[1].value or 0.0))
    (label, most), *others = [(label, share) for label, share in ranked if share.value]
    told = [f"{_NAMES[label].capitalize()} is at fault in {with_interval(most, 'share')} of {runs}"]
    told += [f"{_NAMES[name]} in {_briefly(share)}" for name, share in others]
    left = found.n - found.answered
    rest = f"; {left:,} without an answer {'is' if left == 1 else 'are'} left out" if left else ""
    return f"{', '.join(told)}{rest}."


def _briefly(share: Estimate) -> str:
    low, high = (number_text(end, "share") for end in (share.low, share.high))
    return f"{number_text(share.value, 'share')} ({low} to {high})"


@made_by_this
def causes_table(found: Causes, judge: str, source: str, evidence: Evidence = "real") -> Table:
    """Whose fault the runs are: by label with its interval, then by subcategory, and what is to be done with them."""
    book = taxonomy()
    rows: list[Row] = []
    for label, share in found.shares.items():
        category = book[label]  # type: ignore[index]  # the labels are those of the code book
        rows.append(estimate_row("Share of the runs", share, "share", category.name, source))
        rows += [
            Row(_subcategory_name(name), count, n=found.answered, unit="count", group=category.name, source=source)
            for name, count in found.subcategories[label].items()
        ]
    table = Table(
        name="causes",
        paper="judging",
        title=f"Whose fault the runs are, by {judge}",
        finding=causes_sentence(found),
        rows=tuple(rows),
        notes=(
            "The judge errs: where gold labels are known, the tables below say how often and which way.",
            *_actions(),
        ),
    )
    return of_evidence(table, evidence)


def _subcategory_name(name: str) -> str:
    return name.replace("_", " ").capitalize() if name else "No subcategory named"


def _actions() -> list[str]:
    """Return what is to be done with the runs of each label, as the taxonomy says."""
    words = {
        "keep": "stays in training data",
        "filter": "is left out of training data",
        "rerun": "is run again",
        "repair_task": "waits until the task is repaired",
    }
    told = []
    for category in taxonomy().values():
        for cell, what in ((category.failure, "A failure"), (category.success, "A pass")):
            if cell is not None:
                told.append(f"{what} labelled “{category.name}” {words[cell.action]}.")
    return told
