"""A compared experiment as sentences and tables: changes in the shape of Wink's table 5, and the sizes of the arms."""

from collections.abc import Sequence
from math import ceil

from msgspec import structs

from misstep.analysis.measures.experiments.comparison import LEVEL, POWER, ExperimentReport, MetricChange
from misstep.analysis.measures.experiments.sessions import KINDS
from misstep.analysis.stats.decisions.power import units_an_arm
from misstep.analysis.stats.decisions.sample_ratio import ALARM
from misstep.analysis.stats.significance import Significance
from misstep.analysis.tables import Evidence, Row, Table, Unit, estimate_row, made_by_this
from misstep.analysis.tables.wording import counted_text, interval_words, number_text, p_text

PLANNED_CHANGES = (-0.05, -0.1, -0.2)
"""For which relative changes the next experiment is planned."""


def experiment_tables(
    report: ExperimentReport, source: str, evidence: Evidence = "real", paper: str = "experiment"
) -> tuple[Table, Table, Table]:
    """Return the changes of the metrics, the sizes of the arms, and a plan of the next experiment."""
    given = report, source, evidence, paper
    return changes_table(*given), arms_table(*given), plan_table(*given)


def experiment_finding(report: ExperimentReport) -> str:
    """A mismatch of the arms first, then what changed, then where no difference was found, each with its interval."""
    told = []
    if report.mismatched:
        told.append(
            f"The arms are not as large as they should be (p {number_text(report.ratio.p_value, 'p')}): what differs "
            "between them need not be an effect of the treatment."
        )
    changed = [one for one in report.changes if one.changed]
    unchanged = [one for one in report.changes if not one.changed and one.compared.test.p_value is not None]
    untested = [one for one in report.changes if one.compared.test.p_value is None]
    if changed:
        told.append(f"With {report.treatment} against {report.control}: {_listed(changed)}.")
    if unchanged:
        after = " after adjustment" if len(report.changes) > 1 else ""
        told.append(f"No difference was found{after} in {_listed(unchanged)}.")
    told += [_naive_words(one.naive) for one in report.changes if one.naive is not None and _misleads(one, one.naive)]
    told += [f"{one.title} cannot be compared: {one.compared.test.reason}." for one in untested]
    return " ".join(told)


def _misleads(change: MetricChange, naive: Significance) -> bool:
    """Return whether a test that takes calls as independent finds what the test over units does not."""
    own = change.compared.test.p_value
    return naive.p_value is not None and own is not None and naive.p_value < LEVEL <= own


def _naive_words(naive: Significance) -> str:
    p_value = number_text(naive.p_value, "p")
    return f"A test that takes calls as independent would say p {p_value}: calls of one unit are alike."


def _listed(changes: Sequence[MetricChange]) -> str:
    return "; ".join(f"{one.title[0].lower()}{one.title[1:]} {_change_words(one)}" for one in changes)


def _change_words(change: MetricChange) -> str:
    relative = change.compared.relative
    interval = interval_words(relative.low, relative.high, "share")
    p_values = p_text(change.compared.test.p_value, change.p_adjusted)
    return f"(change {signed(relative.value)}, {interval}; {p_values})"


def signed(change: float | None) -> str:
    """Return a relative change with its sign."""
    return f"{'+' if change is not None and change > 0 else ''}{number_text(change, 'share')}"


@made_by_this
def changes_table(report: ExperimentReport, source: str, evidence: Evidence, paper: str) -> Table:
    """Return the metrics of a compared experiment, a group each."""
    return Table(
        name="experiment_changes",
        paper=paper,
        title=f"Changes with {report.treatment} against {report.control}",
        finding=experiment_finding(report),
        rows=tuple(row for one in report.changes for row in change_rows(report, one, source, evidence)),
        notes=tuple(_notes(report)),
        drawn=tuple(
            estimate_row(one.title, one.compared.relative, "share", "Relative change", source, evidence)
            for one in report.changes
            if one.compared.relative.value is not None
        ),
    )


def change_rows(report: ExperimentReport, change: MetricChange, source: str, evidence: Evidence) -> list[Row]:
    """Return one metric: the arms, the relative change, its p-values, and what the arms could have found."""
    kind, compared = KINDS[change.metric], change.compared
    treated, control = compared.ratios

    def row(quantity: str, unit: Unit, value: float | None, reason: str = "", method: str = "") -> Row:
        return Row(
            quantity,
            value,
            n=compared.test.n,
            evidence=evidence,
            source=source,
            reason=reason,
            unit=unit,
            method=method,
            group=change.title,
        )

    rows = [
        estimate_row(report.treatment, treated, kind.unit, change.title, source, evidence),
        estimate_row(report.control, control, kind.unit, change.title, source, evidence),
        estimate_row("Change", compared.relative, "share", change.title, source, evidence),
        _p_row(row("p-value", "p", None), compared.test),
        row("p-value, adjusted", "p", change.p_adjusted, compared.test.reason, f"Holm over {_tests(report)}"),
    ]
    if change.naive is not None:
        rows.append(_p_row(row("p-value, calls taken as independent", "p", None), change.naive))
    if change.always_valid is not None:
        unit: Unit = "difference" if kind.unit == "share" else kind.unit
        held = change.always_valid
        rows.append(
            estimate_row("Difference, held at all looks", held.difference, unit, change.title, source, evidence)
        )
        rows.append(_p_row(row("p-value, held at all looks", "p", None), held.test))
    if change.smallest is not None:
        method = f"normal, power {POWER:g}, level {LEVEL:g}, from the control's spread"
        rows.append(
            row(
                f"Smallest decrease found with a chance of {number_text(POWER, 'share')}",
                "share",
                change.smallest,
                method=method,
            )
        )
    return rows


def _p_row(row: Row, test: Significance) -> Row:
    return structs.replace(row, value=test.p_value, n=test.n, reason=test.reason, method=test.test)


def _tests(report: ExperimentReport) -> str:
    return counted_text(sum(one.compared.test.p_value is not None for one in report.changes), "metric")


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
    rows = []
    for arm in report.arms:
        for quantity, value in (("Units", arm.units), ("Sessions", arm.sessions)):
            rows.append(Row(quantity, value, n=value, evidence=evidence, source=source, unit="count", group=arm.name))
        rows.append(
            Row(
                "Share of the units that it should have",
                arm.share,
                evidence=evidence,
                source=source,
                unit="share",
                group=arm.name,
            )
        )
    test = report.ratio
    rows.append(
        Row(
            "p-value",
            test.p_value,
            n=test.n,
            evidence=evidence,
            source=source,
            unit="p",
            method=test.test,
            reason=test.reason,
            group="Sample ratio",
        )
    )
    sizes = ", ".join(f"{arm.name} {counted_text(arm.units, 'unit')}" for arm in report.arms)
    p_value = number_text(test.p_value, "p")
    said = (
        f"The arms do not fit their shares ({sizes}; p {p_value}): find out why before reading any change."
        if report.mismatched
        else f"The arms fit their shares ({sizes}; p {p_value})."
    )
    return Table(
        name="experiment_arms",
        paper=paper,
        title="Sizes of the arms",
        finding=said,
        rows=tuple(rows),
        notes=(f"An alarm is raised below p {ALARM:g}: a lower level than usual, since many look and few mismatch.",),
    )


@made_by_this
def plan_table(report: ExperimentReport, source: str, evidence: Evidence, paper: str) -> Table:
    """Return how many units an arm the next experiment needs, by metric and change."""
    method = f"normal test of the log ratio, power {POWER:g}, level {LEVEL:g}"
    needed = {
        (one.title, change): ceil(units_an_arm(one.variation, change, POWER, LEVEL))
        for one in report.changes
        if one.variation is not None
        for change in PLANNED_CHANGES
    }
    rows = [
        Row(
            f"Units an arm for a change of {signed(change)}",
            units,
            evidence=evidence,
            source=source,
            unit="count",
            method=method,
            group=title,
        )
        for (title, change), units in needed.items()
    ]
    most = max(
        ((units, title) for (title, change), units in needed.items() if change == PLANNED_CHANGES[0]), default=None
    )
    said = (
        "No metric has a spread to plan with."
        if most is None
        else f"An experiment that finds a change of {signed(PLANNED_CHANGES[0])} in each metric with a chance of "
        f"{number_text(POWER, 'share')} needs {most[0]:,} units an arm: {most[1].lower()} varies most."
    )
    return Table(
        name="experiment_plan",
        paper=paper,
        title="Units that the next experiment needs",
        finding=said,
        rows=tuple(rows),
        notes=(
            "Planned before the next experiment, from the spread of this one's control: the power of this experiment "
            "for the change that it found would say nothing that its p-value does not.",
            "Units like these, with as many sessions each; one metric tested at the level, unadjusted.",
        ),
    )
