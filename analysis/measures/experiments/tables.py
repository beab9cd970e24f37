"""A compared experiment as sentences and tables: changes in the shape of Wink's table 5, and the sizes of the arms."""

from collections.abc import Sequence
from math import ceil

from misstep.analysis.measures.experiments.comparison import LEVEL, POWER, ExperimentReport, MetricChange
from misstep.analysis.measures.experiments.sessions import KINDS
from misstep.analysis.stats.decisions.power import units_an_arm
from misstep.analysis.stats.decisions.sequential import ALARM
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.significance import Significance
from misstep.analysis.tables import Evidence, Figure, Row, Table, TableHead, Unit, made_by_this, rows_in, rows_of
from misstep.analysis.tables.wording import counted_text, interval_words, number_text, p_text

PLANNED_CHANGES = (-0.05, -0.1, -0.2)
"""For which relative changes the next experiment is planned."""

_PLANNED = (
    "Planned before the next experiment, from the spread of this one's control: the power of this experiment "
    "for the change that it found would say nothing that its p-value does not.",
    "Units like these, with as many sessions each; one metric tested at the level, unadjusted.",
)


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
    sentences += [
        _naive_words(one.naive) for one in report.changes if one.naive is not None and _misleads(one, one.naive)
    ]
    sentences += [f"{one.title} cannot be compared: {one.compared.test.reason}." for one in untested]
    return " ".join(sentences)


def _misleads(change: MetricChange, naive: Significance) -> bool:
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
    adjusted = Estimate(change.p_adjusted, n=test.n, method=f"Holm over {_tests(report)}", reason=test.reason)
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
    rows: list[Row] = []
    for arm in report.arms:
        where = arm.name, source, evidence
        for quantity, count in (("Units", arm.units), ("Sessions", arm.sessions)):
            rows += rows_in("count", {quantity: count}, *where, n=count)
        rows += rows_in("share", {"Share of the units that it should have": arm.share}, *where)
    rows += rows_in("p", {"p-value": report.ratio}, "Sample ratio", source, evidence)
    sizes = ", ".join(f"{arm.name} {counted_text(arm.units, 'unit')}" for arm in report.arms)
    told = f"({sizes}; p {number_text(report.ratio.p_value, 'p')})"
    finding = f"The arms fit their shares {told}."
    if report.mismatched:
        finding = f"The arms do not fit their shares {told}: find out why before reading any change."
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
