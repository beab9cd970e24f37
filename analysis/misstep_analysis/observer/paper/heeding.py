"""Recovery in live experiments over the heeding rate, which was drawn."""

from typing import get_args

from misstep_analysis.observer.paper.live import NOTE, LiveExperiments
from misstep_analysis.observer.recovery import WINDOW, mixed, problems, recovery_at, recovery_rate
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Row, Table, TableHead, estimate_row, made_by_this
from misstep_analysis.tables.wording import number_text, with_interval
from misstep_harness.live_session import Heeds

RATES = tuple(round(0.1 * step, 1) for step in range(11))
RECOVERED, APART = f"Recovered within {WINDOW} steps, with guidance", "Guidance less detection alone"
ALONE = f"Recovered within {WINDOW} steps, detection alone"

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
