"""Two arms of an experiment compared: sample ratio first, then each metric with a test that suits it, adjusted."""

from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.observer.experiments.sessions import (
    KINDS,
    METRICS,
    ExperimentSession,
    Metric,
    of_session,
    unit_sums,
)
from misstep_analysis.stats.decisions.power import smallest_change, units_an_arm
from misstep_analysis.stats.decisions.relative_change import (
    RatioComparison,
    compare_ratios,
    compare_skewed,
    unit_variation,
)
from misstep_analysis.stats.decisions.sequential import ALARM, AlwaysValid, always_valid, sample_ratio
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.two_proportions import pooled_z
from misstep_analysis.stats.significance import Significance, holm
from misstep_analysis.tables import Evidence, Figure, Row, Table, TableHead, Unit, made_by_this, rows_in, rows_of
from misstep_analysis.tables.wording import counted_text, interval_words, number_text, p_text
from misstep_harness.errors import UsageError

LEVEL = 0.05
"""The largest adjusted p-value that counts as a change."""

POWER = 0.8

CONTROLS = ("control", "shadow", "baseline", "off")

DRAWS = 2_000
_Arm = Sequence[ExperimentSession]
PLANNED_CHANGES = (-0.05, -0.1, -0.2)

_PLANNED = (
    "Planned before the next experiment, from the spread of this one's control: the power of this experiment "
    "for the change that it found would say nothing that its p-value does not.",
    "Units like these, with as many sessions each; one metric tested at the level, unadjusted.",
)


class _ArmSize(Struct, frozen=True):
    name: str
    units: int
    sessions: int
    share: float


class MetricChange(Struct, frozen=True):
    """One metric in both arms: `naive` takes calls as independent, `always_valid` holds at all looks.

    `variation` is that of a control's unit, and `smallest` the least relative decrease found with chance `POWER`.
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
    names = sorted({one.arm for one in sessions} | set(shares or ()))
    wanted = shares or dict.fromkeys(names, 1.0)
    missing = [name for name in names if name not in wanted]
    if missing:
        raise UsageError(f"no share for the arm {missing[0]!r}", "Give each arm its share of the units.")
    units = {name: [one.unit for one in sessions if one.arm == name] for name in names}
    whole = sum(wanted.values())
    sizes = {name: _ArmSize(name, len(set(own)), len(own), wanted[name] / whole) for name, own in units.items()}
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


def experiment_tables(
    report: ExperimentReport, source: str, evidence: Evidence = "real", paper: str = "experiment"
) -> tuple[Table, Table, Table]:
    """Return the changes of the metrics, the sizes of the arms, and a plan of the next experiment."""
    arguments = report, source, evidence, paper
    return changes_table(*arguments), arms_table(*arguments), plan_table(*arguments)


def experiment_finding(report: ExperimentReport) -> str:
    """A mismatch of the arms first, then what changed, then where no difference was found, each with its interval."""
    sentences = []
    if report.mismatched:
        sentences.append(
            f"The arms are not as large as they should be (p {number_text(report.ratio.p_value, 'p')}): what differs "
            "between them need not be an effect of the treatment."
        )
    changed = [one for one in report.changes if one.changed]
    unchanged = [one for one in report.changes if not one.changed and one.compared.test.p_value is not None]
    untested = [one for one in report.changes if one.compared.test.p_value is None]
    if changed:
        sentences.append(f"With {report.treatment} against {report.control}: {_listed(changed)}.")
    if unchanged:
        after = " after adjustment" if len(report.changes) > 1 else ""
        sentences.append(f"No difference was found{after} in {_listed(unchanged)}.")
    for one in report.changes:
        own, naive = one.compared.test.p_value, None if one.naive is None else one.naive.p_value
        if naive is not None and own is not None and naive < LEVEL <= own:
            p_value = number_text(naive, "p")
            sentences.append(
                f"A test that takes calls as independent would say p {p_value}: calls of one unit are alike."
            )
    sentences += [f"{one.title} cannot be compared: {one.compared.test.reason}." for one in untested]
    return " ".join(sentences)


def _listed(changes: Sequence[MetricChange]) -> str:
    parts = []
    for one in changes:
        relative, p_values = one.compared.relative, p_text(one.compared.test.p_value, one.p_adjusted)
        interval = interval_words(relative.low, relative.high, "share")
        name = one.title[0].lower() + one.title[1:]
        parts.append(f"{name} (change {signed(relative.value)}, {interval}; {p_values})")
    return "; ".join(parts)


def signed(change: float | None) -> str:
    """Return a relative change with its sign."""
    return f"{'+' if change is not None and change > 0 else ''}{number_text(change, 'share')}"


@made_by_this
def changes_table(report: ExperimentReport, source: str, evidence: Evidence, paper: str) -> Table:
    """Return the metrics of a compared experiment, a group each."""
    rows = [row for one in report.changes for row in change_rows(report, one, source, evidence)]
    known = {one.title: one.compared.relative for one in report.changes if one.compared.relative.value is not None}
    title = f"Changes with {report.treatment} against {report.control}"
    head = TableHead("experiment_changes", paper, title, tuple(_notes(report)))
    drawn = rows_in("share", known, "Relative change", source, evidence)
    return head.table(experiment_finding(report), rows, drawn=drawn)


def change_rows(report: ExperimentReport, change: MetricChange, source: str, evidence: Evidence) -> list[Row]:
    """Return one metric: the arms, the relative change, its p-values, and what the arms could have found."""
    kind, test = KINDS[change.metric], change.compared.test
    treated, control = change.compared.ratios
    tests = counted_text(sum(one.compared.test.p_value is not None for one in report.changes), "metric")
    adjusted = Estimate(change.p_adjusted, n=test.n, method=f"Holm over {tests}", reason=test.reason)
    figures: list[tuple[str, Figure, Unit]] = [
        (report.treatment, treated, kind.unit),
        (report.control, control, kind.unit),
        ("Change", change.compared.relative, "share"),
        ("p-value", test, "p"),
        ("p-value, adjusted", adjusted, "p"),
    ]
    if change.naive is not None:
        figures.append(("p-value, calls taken as independent", change.naive, "p"))
    if (held := change.always_valid) is not None:
        unit: Unit = "difference" if kind.unit == "share" else kind.unit
        figures.append(("Difference, held at all looks", held.difference, unit))
        figures.append(("p-value, held at all looks", held.test, "p"))
    if change.smallest is not None:
        method = f"normal, power {POWER:g}, level {LEVEL:g}, from the control's spread"
        smallest = Estimate(change.smallest, n=test.n, method=method)
        figures.append((f"Smallest decrease found with a chance of {number_text(POWER, 'share')}", smallest, "share"))
    return rows_of(figures, change.title, source, evidence)


def _notes(report: ExperimentReport) -> list[str]:
    notes = [
        "Change: the treatment's figure over the control's, less 1. Intervals are Fieller's, by the delta method over "
        "the units that were assigned; sums that a few sessions dominate are tested by permuting units.",
        "p-values hold for one look at an end fixed beforehand; who looks earlier goes by the rows held at all looks."
        if report.planned_units is not None
        else "p-values hold for one look, at an end that was fixed before the start; who looked earlier is wrong more "
        "often than they say.",
    ]
    missing = [
        f"{one.title}: {sum(one.unmeasured):,} of {sum(one.sessions) + sum(one.unmeasured):,}"
        for one in report.changes
        if sum(one.unmeasured)
    ]
    if missing:
        notes.append(f"Sessions in which a metric was not measured are left out of it. {'; '.join(missing)}.")
    return notes


@made_by_this
def arms_table(report: ExperimentReport, source: str, evidence: Evidence, paper: str) -> Table:
    """Return the sizes of the arms, and the test of their ratio."""
    rows: list[Row] = []
    for arm in report.arms:
        where = arm.name, source, evidence
        for quantity, count in (("Units", arm.units), ("Sessions", arm.sessions)):
            rows += rows_in("count", {quantity: count}, *where, n=count)
        rows += rows_in("share", {"Share of the units that it should have": arm.share}, *where)
    rows += rows_in("p", {"p-value": report.ratio}, "Sample ratio", source, evidence)
    sizes = ", ".join(f"{arm.name} {counted_text(arm.units, 'unit')}" for arm in report.arms)
    counts = f"({sizes}; p {number_text(report.ratio.p_value, 'p')})"
    finding = f"The arms fit their shares {counts}."
    if report.mismatched:
        finding = f"The arms do not fit their shares {counts}: find out why before reading any change."
    note = f"An alarm is raised below p {ALARM:g}: a lower level than usual, since many look and few mismatch."
    return Table("experiment_arms", paper, "Sizes of the arms", finding, tuple(rows), (note,))


@made_by_this
def plan_table(report: ExperimentReport, source: str, evidence: Evidence, paper: str) -> Table:
    """Return how many units an arm the next experiment needs, by metric and change."""
    method = f"normal test of the log ratio, power {POWER:g}, level {LEVEL:g}"
    rows: list[Row] = []
    most: list[tuple[int, str]] = []
    for one in report.changes:
        if one.variation is not None:
            needed = [ceil(units_an_arm(one.variation, change, POWER, LEVEL)) for change in PLANNED_CHANGES]
            most.append((needed[0], one.title.lower()))
            names = [f"Units an arm for a change of {signed(change)}" for change in PLANNED_CHANGES]
            own = {name: Estimate(units, method=method) for name, units in zip(names, needed, strict=True)}
            rows += rows_in("count", own, one.title, source, evidence)
    finding = "No metric has a spread to plan with."
    if most:
        units, title = max(most)
        finding = (
            f"An experiment that finds a change of {signed(PLANNED_CHANGES[0])} in each metric with a chance of "
            f"{number_text(POWER, 'share')} needs {units:,} units an arm: {title} varies most."
        )
    return Table("experiment_plan", paper, "Units that the next experiment needs", finding, tuple(rows), _PLANNED)
