"""Shadow mode of live experiments: rows and a sentence for the table of Wink's RQ2, under its headings."""

from collections.abc import Sequence

from misstep.analysis.measures.experiments.shadow import MisbehaviourRates, misbehaviour_rates
from misstep.analysis.papers.wink.live import LEVEL, LiveExperiments, p_row
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.tables import Row, estimate_row
from misstep.analysis.tables.wording import interval_words, number_text


def rates_of(live: LiveExperiments | None) -> MisbehaviourRates | None:
    """Return the misbehaviour rates of the shadow experiment; `None` if there is none."""
    return None if live is None else misbehaviour_rates(live.shadow)


def shadow_rows(live: LiveExperiments | None, arms: Sequence[str], rate: str) -> list[Row]:
    """Return the rates of either arm, their difference and its tests, by invocations and by units."""
    found = rates_of(live)
    if live is None or found is None:
        return []
    source = live.source(live.shadow)
    rows = [
        estimate_row(name, wilson(x, n), "share", rate, source, "generated")
        for name, (x, n) in zip(arms, found.counts, strict=True)
    ]
    name, tests = "Detection alone less course-correction", "Test of the difference"
    over_units = found.clustered
    return [
        *rows,
        estimate_row(name, found.naive, "difference", rate, source, "generated"),
        estimate_row(f"{name}, over units", over_units.small_sample, "difference", rate, source, "generated"),
        p_row("p-value", found.naive_test, tests, source),
        p_row("p-value, over units", over_units.small_sample_test, tests, source),
    ]


def shadow_finding(live: LiveExperiments | None) -> str:
    """Return what the generated sessions say, over units; empty without any."""
    found = rates_of(live)
    if found is None:
        return ""
    difference, p_value = found.clustered.small_sample, found.clustered.small_sample_test.p_value
    alone, guided = (number_text(share, "share") for share in found.shares)
    sure = f"{interval_words(difference.low, difference.high, 'difference')}; p {number_text(p_value, 'p')}"
    none = "" if p_value is not None and p_value < LEVEL else ", no difference was found"
    return (
        f" In generated sessions the rate is {alone} with detection alone and {guided} with guidance: "
        f"{number_text(difference.value, 'difference')} over units ({sure}{none})."
    )
