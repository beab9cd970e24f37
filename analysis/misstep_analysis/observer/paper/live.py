"""Live experiments with a scripted agent, beside Wink's figures: generated sessions, which confirm nothing of these.

They show that the observer, the guidance and the judge work as a whole, and that the paper's tables need a control,
assigned units and the errors of the judge.
"""

from collections.abc import Mapping, Sequence
from typing import get_args

from msgspec import Struct

from misstep_analysis.observer.experiments.shadow import MisbehaviourRates, misbehaviour_rates
from misstep_analysis.observer.recovery import (
    WINDOW,
    Judgements,
    Problem,
    Start,
    mixed,
    problems,
    recovery_at,
    recovery_rate,
)
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import Row, Table, TableHead, estimate_row, made_by_this, rows_in
from misstep_analysis.tables.wording import interval_words, number_text, with_interval
from misstep_harness.live_session import Heeds, LiveArm, LiveSession

RATES = tuple(round(0.1 * step, 1) for step in range(11))
RECOVERED, APART = f"Recovered within {WINDOW} steps, with guidance", "Guidance less detection alone"
ALONE = f"Recovered within {WINDOW} steps, detection alone"

NOTE = (
    "Generated: live sessions of a scripted agent whose misbehaviour is planted and which heeds guidance as drawn. "
    "They say what this software does, and are not confirmation of the paper's figures."
)

_HEEDING = TableHead(
    "heeding_curve",
    "wink",
    "Recovery over the probability that an agent heeds guidance",
    (
        NOTE,
        "The probability was drawn and measures nothing: other agents may heed more or less. On the curve, agents that "
        "do not follow guidance ignore it; those that heed it by half are apart.",
    ),
)


class LiveExperiments(Struct, frozen=True):
    """Two experiments as they were run.

    - `shadow`: Sessions with detection alone, and with guidance (RQ1 and RQ2).
    - `ab`: Sessions without an observer, and with guidance (RQ3).
    - `judgements`: A judge's labels of recovery, by session of `shadow` and intervention.
    - `heeds`: The drawn probabilities of what an agent does with guidance.
    """

    shadow: tuple[LiveSession, ...]
    ab: tuple[LiveSession, ...]
    seed: int
    judgements: Judgements
    heeds: Mapping[str, float] = {}

    @property
    def agents(self) -> str:
        """Return whose sessions they are: how often agents heed guidance was drawn, and every effect hangs on it."""
        rate, half = (self.heeds.get(name) for name in ("follows", "half"))
        if rate is None:
            return "agents that heed guidance as drawn"
        by_half = f", and by half with {number_text(half, 'share')}" if half else ""
        return f"agents that heed guidance with probability {number_text(rate, 'share')}{by_half} (drawn, not measured)"

    def source(self, of: Sequence[LiveSession]) -> str:
        """Return the source text of figures of some sessions."""
        return f"generated, seed {self.seed}, n {len(of):,}"

    def problems(self, of: Sequence[LiveSession], arm: LiveArm, start: Start) -> list[Problem]:
        """Return the problems of one arm of an experiment, with a judge's labels if there are any."""
        labels = self.judgements if of is self.shadow else {}
        return problems((one for one in of if one.arm == arm), start, labels)


def curve_of(live: LiveExperiments) -> tuple[dict[float, Estimate], Estimate, Estimate]:
    """Return rate → recovery with guidance; that of agents that heed by half; that with detection alone."""
    kinds: tuple[Heeds, ...] = get_args(Heeds)
    guided = [one for one in live.shadow if one.arm == "guide"]
    strata = {kind: problems((one for one in guided if one.heeds == kind), "word") for kind in kinds}
    alone = recovery_rate(live.problems(live.shadow, "shadow", "word"))
    return {rate: recovery_at(rate, strata) for rate in RATES}, recovery_rate(strata["half"]), alone


def heeding_places() -> dict[str, float]:
    """Return quantity of a curve's row → its heeding rate in percent."""
    return {number_text(rate, "share"): 100 * rate for rate in RATES}


@made_by_this
def heeding_table(live: LiveExperiments) -> Table:
    """Return recovery with guidance at each heeding rate, and its difference from detection alone."""
    curve, half, alone = curve_of(live)
    source = live.source(live.shadow)

    def row(rate: float, estimate: Estimate, group: str) -> Row:
        unit = "difference" if group == APART else "share"
        return estimate_row(number_text(rate, "share"), estimate, unit, group, source, "generated")  # type: ignore[arg-type]

    apart = {rate: mixed([(1.0, one), (-1.0, alone)]) for rate, one in curve.items()}
    rows = [row(rate, one, RECOVERED) for rate, one in curve.items()]
    rows.append(estimate_row("agents that heed by half", half, "share", RECOVERED, source, "generated"))
    rows.append(estimate_row("at any rate", alone, "share", ALONE, source, "generated"))
    rows += [row(rate, one, APART) for rate, one in apart.items()]
    drawn = [row(rate, one, RECOVERED) for rate, one in curve.items()] + [row(rate, alone, ALONE) for rate in RATES]
    shown = next((rate for rate, one in apart.items() if one.low is not None and one.low > 0), None)
    least = (
        f"from {number_text(shown, 'share')} on, guidance recovers more than that"
        if shown is not None
        else "at no rate does guidance recover more than that beyond its interval"
    )
    finding = (
        f"Where no agent heeds guidance {with_interval(curve[0.0], 'share')} recover, where all do "
        f"{with_interval(curve[1.0], 'share')}, and with detection alone {with_interval(alone, 'share')}: {least}. "
        f"The recorded sessions are of {live.agents}."
    )
    return _HEEDING.table(finding, rows, drawn=drawn)


CATEGORIES: Mapping[str, Sequence[str]] = {
    "rp": ("infinite_loop",),
    "tcf": ("tool_call_failure",),
    "sd": ("did_not_follow_instructions", "unrequested_changes"),
    "overall": ("infinite_loop", "tool_call_failure", "did_not_follow_instructions", "unrequested_changes"),
}

LEVEL = 0.05


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
    if live is None or shadow is None:
        return ""
    difference, p_value = shadow.clustered.small_sample, shadow.clustered.small_sample_test.p_value
    alone, guided = (number_text(share, "share") for share in shadow.shares)
    sure = f"{interval_words(difference.low, difference.high, 'difference')}; p {number_text(p_value, 'p')}"
    none = "" if p_value is not None and p_value < LEVEL else ", no difference was found"
    return (
        f" In generated sessions of {live.agents} the rate is {alone} with detection alone and {guided} with guidance: "
        f"{number_text(difference.value, 'difference')} over units ({sure}{none})."
    )
