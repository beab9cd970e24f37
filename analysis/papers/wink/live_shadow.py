"""Shadow mode of live experiments: rows and a sentence for the table of Wink's RQ2, under its headings."""

from collections.abc import Sequence

from misstep.analysis.measures.experiments.shadow import MisbehaviourRates, misbehaviour_rates
from misstep.analysis.papers.wink.live import LEVEL, LiveExperiments
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.tables import Row, rows_in
from misstep.analysis.tables.wording import interval_words, number_text


def _rates_of(live: LiveExperiments | None) -> MisbehaviourRates | None:
    return None if live is None else misbehaviour_rates(live.shadow)


def shadow_rows(live: LiveExperiments | None, arms: Sequence[str], rate: str) -> list[Row]:
    """Return the rates of either arm, their difference and its tests, by invocations and by units."""
    shadow = _rates_of(live)
    if live is None or shadow is None:
        return []
    source, over_units = live.source(live.shadow), shadow.clustered
    rates = {name: wilson(x, n) for name, (x, n) in zip(arms, shadow.counts, strict=True)}
    name = "Detection alone less course-correction"
    apart = {name: shadow.naive, f"{name}, over units": over_units.small_sample}
    tests = {"p-value": shadow.naive_test, "p-value, over units": over_units.small_sample_test}
    return [
        *rows_in("share", rates, rate, source, "generated"),
        *rows_in("difference", apart, rate, source, "generated"),
        *rows_in("p", tests, "Test of the difference", source, "generated"),
    ]


def shadow_finding(live: LiveExperiments | None) -> str:
    """Return the finding of the generated sessions, over units; empty without any."""
    shadow = _rates_of(live)
    if shadow is None:
        return ""
    difference, p_value = shadow.clustered.small_sample, shadow.clustered.small_sample_test.p_value
    alone, guided = (number_text(share, "share") for share in shadow.shares)
    sure = f"{interval_words(difference.low, difference.high, 'difference')}; p {number_text(p_value, 'p')}"
    none = "" if p_value is not None and p_value < LEVEL else ", no difference was found"
    return (
        f" In generated sessions the rate is {alone} with detection alone and {guided} with guidance: "
        f"{number_text(difference.value, 'difference')} over units ({sure}{none})."
    )
