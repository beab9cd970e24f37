"""What was planted in generated cases and what judges found of it, by subcategory: the cells of table 1."""

from collections.abc import Mapping, Set

import numpy as np
from msgspec import Struct

from misstep.analysis.measures.judging.reference import majority
from misstep.analysis.measures.judging.sample import JudgedSample
from misstep.analysis.measures.triage.cases import JudgedCases
from misstep.analysis.stats.estimate import Estimate
from misstep.harness.records.attribution import FAULTS, Fault, TriageVerdict, taxonomy

NONE_PLANTED = "no case of it was generated"


class Planted(Struct, frozen=True):
    """The cases of one subcategory, or of a label without one.

    - `found`, `named`: Run of a judge → the share of them that it gives the label, and that it gives the subcategory as
      well; unanswered cases count as missed.
    """

    label: Fault
    subcategory: str
    observed: str
    n: int
    found: Mapping[str, Estimate]
    named: Mapping[str, Estimate]


def planted_and_found(cases: JudgedCases) -> tuple[Planted, ...]:
    """Return every cell of the taxonomy in its order, with what was planted of it and what each run found."""
    labels, finer, book = majority(cases.gold).label_of, majority(cases.subcategories).label_of, taxonomy()
    samples = {run: cases.sample(run) for run in cases.runs}
    cells = [(label, name, cell.observed) for label in FAULTS for name, cell in book[label].subcategories.items()]
    cells += [(label, "", "success") for label in FAULTS if book[label].success and label != "task"]
    planted = []
    for label, name, observed in cells:
        these = {item for item, gold in labels.items() if gold == label and finer.get(item, "") == name}
        if these or name:
            shares = {run: _share(sample, these, label) for run, sample in samples.items()}
            named = {run: _share(sample, these, label, name) for run, sample in samples.items()}
            planted.append(Planted(label, name, observed, len(these), shares, named))
    return tuple(planted)


def _share(sample: JudgedSample, these: Set[str], label: Fault, name: str | None = None) -> Estimate:
    whole = np.array([one.item in these for one in sample.verdicts], dtype=np.bool_)
    finely = [name is None or (isinstance(one, TriageVerdict) and one.subcategory == name) for one in sample.verdicts]
    labelled = sample.answers == sample.codes.places[label]
    return sample.units.share(labelled & np.array(finely, dtype=np.bool_), whole, NONE_PLANTED)
