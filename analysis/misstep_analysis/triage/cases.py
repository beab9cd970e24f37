"""Judges on the same triage cases, with what is known of these: what every figure of triage starts from."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, structs

from misstep_analysis.gold import Construction, GoldLabel, families_of
from misstep_analysis.judging.judged import JudgedItems
from misstep_analysis.judging.sample import JudgedSample, judged_sample, majority
from misstep_analysis.tables import Evidence
from misstep_harness.triage.records.attribution import FAULTS, TriageVerdict, taxonomy

LABELS: tuple[str, ...] = FAULTS
AGENT, TASK = "agent", "task"
BASELINE = "triage@phrases"
"""The table from exception name and log phrase to cause that every comparison has beside its judges."""


class JudgedCases(Struct, frozen=True):
    """Some runs of judges on the same cases."""

    on: str
    source: str
    runs: Mapping[str, tuple[TriageVerdict, ...]]
    gold: tuple[GoldLabel, ...]
    subcategories: tuple[GoldLabel, ...] = ()
    constructions: Mapping[str, Construction] = {}
    evidence: Evidence = "real"
    dataset: str = ""

    @property
    def clusters(self) -> dict[str, str]:
        """Case → its family of tasks, where that is known."""
        return families_of(dict(self.constructions))

    def sample(self, run: str) -> JudgedSample:
        """Return the verdicts of a run beside the gold labels."""
        return judged_sample(self.runs[run], self.gold, LABELS, clusters=self.clusters, positive=AGENT)

    def judged(self) -> list[JudgedItems]:
        """Return each run as the questions about any judge take it."""
        return [
            JudgedItems(run, self.dataset, self.source, verdicts, self.gold, self.clusters, LABELS, AGENT)
            for run, verdicts in self.runs.items()
        ]


def finer_labels() -> tuple[str, ...]:
    """Return the subcategories in the order of the taxonomy, and a sound pass, which has none."""
    return (*(name for category in taxonomy().values() for name in category.subcategories), "pass")


def finer_gold(cases: JudgedCases) -> list[GoldLabel]:
    """Return the gold subcategory of each case; that of a sound pass is its label. Cases without one are left out."""
    named = majority(cases.subcategories).label_of
    passes = [item for item, label in majority(cases.gold).label_of.items() if label == "pass" and item not in named]
    rater = next((one.rater for one in cases.subcategories), "construction")
    return [GoldLabel(item, rater, label) for item, label in [*named.items(), *((item, "pass") for item in passes)]]


def finer_verdicts(verdicts: Iterable[TriageVerdict]) -> list[TriageVerdict]:
    """Verdicts whose label is the subcategory; one that names none is left unanswered, never given one."""
    finer = []
    for verdict in verdicts:
        label = verdict.subcategory or ("pass" if verdict.label == "pass" else None)
        status = "answered" if label else "abstained"
        finer.append(verdict if verdict.label is None else structs.replace(verdict, label=label, status=status))
    return finer
