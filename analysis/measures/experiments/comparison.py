"""Two arms of an experiment compared: sample ratio first, then each metric with a test that suits it, adjusted."""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct, structs

from misstep.analysis.measures.experiments.sessions import (
    KINDS,
    METRICS,
    ExperimentSession,
    Metric,
    of_session,
    unit_sums,
)
from misstep.analysis.stats.decisions.power import smallest_change
from misstep.analysis.stats.decisions.ratios import unit_variation
from misstep.analysis.stats.decisions.relative_change import RatioComparison, compare_ratios, compare_skewed
from misstep.analysis.stats.decisions.sequential import ALARM, AlwaysValid, always_valid, sample_ratio
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.printed.two_proportions import pooled_z
from misstep.analysis.stats.significance import Significance, holm
from misstep.harness.errors import UsageError

LEVEL = 0.05
"""At what adjusted p-value a change is said to be found."""

POWER = 0.8
"""The chance with which a change is to be found, for planning."""

CONTROLS = ("control", "shadow", "baseline", "off")
"""What the arm without treatment is called in most files."""

DRAWS = 2_000

_Arm = Sequence[ExperimentSession]


class _ArmSize(Struct, frozen=True):
    """How many units and sessions an arm has, and what part of the units it should have."""

    name: str
    units: int
    sessions: int
    share: float


class MetricChange(Struct, frozen=True):
    """One metric in both arms.

    `sessions` are those of the treatment and of the control in which it was measured, and `unmeasured` the others;
    `naive` takes calls as independent, `p_adjusted` is Holm's over the metrics, `always_valid` holds at all looks.
    `variation` is the coefficient of variation of a control's unit, and `smallest` the smallest relative decrease that
    arms of this size find with a chance of `POWER`.
    """

    metric: Metric
    compared: RatioComparison
    sessions: tuple[int, int]
    unmeasured: tuple[int, int]
    naive: Significance | None = None
    p_adjusted: float | None = None
    always_valid: AlwaysValid | None = None
    variation: float | None = None
    smallest: float | None = None

    @property
    def title(self) -> str:
        """Return what the metric is called."""
        return KINDS[self.metric].title

    @property
    def changed(self) -> bool:
        """Return whether its p-value stays below the level after adjustment."""
        return self.p_adjusted is not None and self.p_adjusted < LEVEL


class ExperimentReport(Struct, frozen=True):
    """An experiment as compared: `arms` are the treatment, the control, and any others that were assigned."""

    treatment: str
    control: str
    arms: tuple[_ArmSize, ...]
    ratio: Significance
    changes: tuple[MetricChange, ...]
    planned_units: int | None = None

    @property
    def mismatched(self) -> bool:
        """Return whether the arms do not fit their shares, so that no figure is an effect of the treatment."""
        return self.ratio.p_value is not None and self.ratio.p_value < ALARM


def compare_arms(
    sessions: Sequence[ExperimentSession],
    control: str = "",
    treatment: str = "",
    shares: Mapping[str, float] | None = None,
    planned_units: int | None = None,
    seed: int = 0,
) -> ExperimentReport:
    """Return every metric that was measured, in the treatment against the control."""
    sizes = _sizes(sessions, shares)
    control, treatment = _named(list(sizes), control, treatment)
    rng = np.random.default_rng(seed)
    arms = [[one for one in sessions if one.arm == name] for name in (treatment, control)]
    measured = [metric for metric in METRICS if any(of_session(one, metric) for arm in arms for one in arm)]
    changes = [_change(metric, arms[0], arms[1], planned_units, rng) for metric in measured]
    adjusted = holm([one.compared.test.p_value for one in changes]).p_values
    order = sorted(sizes.values(), key=lambda arm: (arm.name != treatment, arm.name != control, arm.name))
    return ExperimentReport(
        treatment,
        control,
        tuple(order),
        sample_ratio([arm.units for arm in order], [arm.share for arm in order]),
        tuple(structs.replace(one, p_adjusted=p) for one, p in zip(changes, adjusted, strict=True)),
        planned_units,
    )


def _sizes(sessions: Sequence[ExperimentSession], shares: Mapping[str, float] | None) -> dict[str, _ArmSize]:
    names = sorted({one.arm for one in sessions} | set(shares or ()))
    wanted = shares or dict.fromkeys(names, 1.0)
    missing = [name for name in names if name not in wanted]
    if missing:
        raise UsageError(f"no share for the arm {missing[0]!r}", "Give each arm its share of the units.")
    units = {name: [one.unit for one in sessions if one.arm == name] for name in names}
    whole = sum(wanted.values())
    return {name: _ArmSize(name, len(set(own)), len(own), wanted[name] / whole) for name, own in units.items()}


def _named(arms: Sequence[str], control: str, treatment: str) -> tuple[str, str]:
    known = f"There are: {', '.join(arms)}."
    for arm in filter(None, (control, treatment)):
        if arm not in arms:
            raise UsageError(f"no arm {arm!r}", known)
    if not control:
        likely = [name for name in arms if name.casefold() in CONTROLS and name != treatment]
        if len(likely) != 1:
            raise UsageError("which arm is the control cannot be told from the names", f"Name it. {known}")
        control = likely[0]
    if not treatment:
        others = [name for name in arms if name != control]
        if len(others) != 1:
            raise UsageError(f"{len(others)} arms beside the control {control!r}", f"Name the treatment. {known}")
        treatment = others[0]
    if control == treatment:
        raise UsageError(f"{control!r} is both control and treatment", known)
    return control, treatment


def _change(
    metric: Metric, treated: _Arm, control: _Arm, planned_units: int | None, rng: np.random.Generator
) -> MetricChange:
    first, second = unit_sums(treated, metric), unit_sums(control, metric)
    n_treated, n_control = (sum(of_session(one, metric) is not None for one in arm) for arm in (treated, control))
    sizes = (n_treated, n_control), (len(treated) - n_treated, len(control) - n_control)
    if not (len(first) and len(second)):
        nothing = Estimate(None, reason="an arm has no session in which it was measured")
        test = Significance(None, None, reason=nothing.reason)
        return MetricChange(metric, RatioComparison((nothing, nothing), nothing, nothing, test), *sizes)
    compared = compare_skewed(first, second, rng, DRAWS) if KINDS[metric].skewed else compare_ratios(first, second)
    always = naive = None
    if planned_units is not None and compared.se is not None and compared.difference.value is not None:
        planned_se = compared.se * ((len(first) + len(second)) / planned_units) ** 0.5
        always = always_valid(compared.difference.value, compared.se, planned_se, compared.difference.n)
    if metric == "failed_calls" and first[:, 1].sum() and second[:, 1].sum():
        (x1, n1), (x2, n2) = ((round(float(total)) for total in arm.sum(axis=0)) for arm in (first, second))
        naive = pooled_z(x1, n1, x2, n2)
    spread = unit_variation(second[:, 0], second[:, 1])
    smallest = None if spread is None else smallest_change((spread, spread), (len(first), len(second)), POWER, LEVEL)
    return MetricChange(metric, compared, *sizes, naive, None, always, spread, smallest)
