"""Everything that whole counts can say, as one result: the JSON of `misstep merge FILE…`."""

from collections.abc import Sequence

from msgspec import Struct

from misstep.analysis.labels import Reading
from misstep.analysis.labels.counting import counted_labels
from misstep.analysis.measures.agreement import AgreementReport, agreement_report
from misstep.analysis.measures.counted.judges import CountedJudge, counted_judges
from misstep.analysis.measures.counted.sessions import counted_prevalence, counted_strata
from misstep.analysis.measures.counted.systems import CountedSystem, counted_systems
from misstep.analysis.measures.counted.times import CountedTimes, counted_times
from misstep.analysis.measures.prevalence import Prevalence
from misstep.harness.errors import InputError
from misstep.harness.records.whole_counts import Counts


class CountedReport(Struct, frozen=True, omit_defaults=True):
    """The figures of each kind of count that there is.

    `strata` has what sessions are told apart by, and the prevalence in each stratum; `agreement` has a report a
    question, whose lists of items are empty: counts name none.
    """

    resamples: int
    seed: int
    sessions: Prevalence | None = None
    strata: dict[str, dict[str, Prevalence]] = {}
    sub_agents: Prevalence | None = None
    agreement: dict[str, AgreementReport] = {}
    judges: tuple[CountedJudge, ...] = ()
    systems: tuple[CountedSystem, ...] = ()
    times: tuple[CountedTimes, ...] = ()


def counted_report(
    counts: Counts,
    file: str,
    reading: Reading | None = None,
    ks: Sequence[int] = (1, 2, 4),
    resamples: int = 10_000,
    seed: int = 0,
) -> CountedReport:
    """Return the figures of all that was counted."""
    if counts == Counts():
        raise InputError("there is nothing counted", "Count files with `misstep count`.", file=file)
    how = reading or Reading()
    labels = counted_labels(counts.ratings, how, file)
    return CountedReport(
        resamples,
        seed,
        sessions=counted_prevalence(counts.sessions) if counts.sessions else None,
        strata=counted_strata(counts.sessions),
        sub_agents=counted_prevalence(counts.sub_agents) if counts.sub_agents else None,
        agreement={name: agreement_report(one, how.level, resamples, seed) for name, one in labels.items()},
        judges=counted_judges(counts, resamples, seed),
        systems=counted_systems(counts.tasks, ks, resamples, seed),
        times=counted_times(counts.times),
    )
