"""What was planted in generated cases and what judges found of it, by subcategory: the cells of table 1."""

from collections.abc import Mapping

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

    - `label`, `subcategory`: Of the taxonomy; the subcategory is empty for passes that are sound, or that only the
      harness gave.
    - `observed`: Whether such runs failed or passed.
    - `n`: How many cases there are.
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
    finer = majority(cases.subcategories).label_of
    samples = {run: cases.sample(run) for run in cases.runs}
    book = taxonomy()
    cells = [(label, name, cell.observed) for label in FAULTS for name, cell in book[label].subcategories.items()]
    cells += [(label, "", "success") for label in FAULTS if book[label].success and label != "task"]
    found = [_planted(cases, samples, finer, cell) for cell in cells]
    return tuple(one for one in found if one.n or one.subcategory)


def _planted(
    cases: JudgedCases, samples: Mapping[str, JudgedSample], finer: Mapping[str, str], cell: tuple[Fault, str, str]
) -> Planted:
    label, name, observed = cell
    labels = majority(cases.gold).label_of
    these = {item for item, gold in labels.items() if gold == label and finer.get(item, "") == name}
    found, named = {}, {}
    for run, sample in samples.items():
        place = sample.codes.places[label]
        whole = np.array([one.item in these for one in sample.verdicts], dtype=np.bool_)
        said = sample.answers == place
        finely = np.array(
            [isinstance(one, TriageVerdict) and one.subcategory == name for one in sample.verdicts], dtype=np.bool_
        )
        found[run] = sample.units.share(said, whole, NONE_PLANTED)
        named[run] = sample.units.share(said & finely, whole, NONE_PLANTED)
    return Planted(label, name, observed, len(these), found, named)
