"""Figures from whole counts as tables; agreement has its own (`analysis.measures.agreement.tables`)."""

from collections.abc import Iterator

from misstep.analysis.measures.counted.report import (
    CountedJudge,
    CountedReport,
    CountedSystem,
    CountedTimes,
    TimeQuantile,
)
from misstep.analysis.measures.passing.tables import ALL, ANSWERED, chances
from misstep.analysis.measures.prevalence import ANY, Prevalence
from misstep.analysis.tables import Fields, Row, Table, made_by_this, rows_from, rows_in
from misstep.analysis.tables.wording import counted_text, interval_words, number_text, with_interval

_PAPER = "counts"

EACH_ITEM_ALONE = (
    "Counts do not say which items hang together: intervals take each item for itself, and are too short where several "
    "are of one run. `misstep report RUN` clusters them."
)

_JUDGE: Fields = (
    ("Accuracy of the answered", "accuracy", "share"),
    ("Accuracy, unanswered counted as wrong", "accuracy_all", "share"),
    ("Cohen's kappa of the answered", "cohen_kappa", "coefficient"),
    ("Cohen's kappa, unanswered as a label of their own", "cohen_kappa_all", "coefficient"),
    ("Right answers above wrong ones, by score (AUROC)", "ranking", "coefficient"),
)
_LABEL: Fields = (("Precision", "precision", "share"), ("Recall", "recall", "share"), ("F1", "f1", "coefficient"))
_RANKED: Fields = (("AUROC", "ranking", "coefficient"), ("Average precision", "average_precision", "coefficient"))


def counted_tables(report: CountedReport) -> Iterator[Table]:
    """Return the tables of everything that was counted, but for agreement."""
    if report.sessions is not None:
        yield counted_sessions_table(report.sessions, report.strata, "session")
    if report.sub_agents is not None:
        yield counted_sessions_table(report.sub_agents, {}, "run of a sub-agent")
    yield from map(counted_judge_table, report.judges)
    if report.systems:
        yield counted_passes_table(report.systems)
    if report.times:
        yield counted_times_table(report.times)


@made_by_this
def counted_sessions_table(total: Prevalence, strata: dict[str, dict[str, Prevalence]], noun: str) -> Table:
    """Return the share of sessions that show each category, of all and of each stratum."""
    groups = {"all": total} | {f"{by} {name}": one for by, each in strata.items() for name, one in each.items()}
    rows: list[Row] = []
    for group, one in groups.items():
        rows += rows_in("share", {each.category: each.share for each in one.categories}, group)
        rows += rows_in("share", {ANY: one.any_share}, group)
    finding = f"No {noun} was judged."
    if total.any_share.value is not None:
        finding = f"{with_interval(total.any_share, 'share')} of {counted_text(total.any_share.n or 0, noun)} show any."
    note = "Each n counts those that were judged for the category; one that was not does not count as “no”."
    name = "sessions" if noun == "session" else "sub_agents"
    return Table(name, _PAPER, f"Share of each category, by {noun}", finding, tuple(rows), (note,))


@made_by_this
def counted_judge_table(judge: CountedJudge) -> Table:
    """Accuracy, kappa, each label's precision, recall and F1, and how well scores rank."""
    fields = _JUDGE if judge.scored else _JUDGE[:-1]
    rows = rows_from(judge, fields, "All labels", "", judge.evidence)
    for label, one in judge.labels.items():
        rows += rows_from(one, _LABEL, label, "", judge.evidence)
        if ranked := judge.by_label.get(label):
            rows += rows_from(ranked, _RANKED, label, "", judge.evidence)
    name = judge.judge
    finding = f"{name} gives no answer on an item with a gold label."
    if judge.accuracy.value is not None:
        finding = f"{name} gives the gold label on {with_interval(judge.accuracy, 'share')} of the answered."
    return Table(f"judge_{name}", _PAPER, f"{name} against gold labels", finding, tuple(rows), tuple(_notes(judge)))


def _notes(judge: CountedJudge) -> Iterator[str]:
    each = {name: getattr(judge, name) for name in ("answered", "abstained", "unreadable", "refused", "failed")}
    counts = ", ".join(f"{count:,} {name}" for name, count in each.items() if count)
    without = f"; {judge.without_gold:,} without a gold label, which no score counts" if judge.without_gold else ""
    yield f"{counted_text(judge.n, 'item')}: {counts}{without}."
    if judge.scored:
        yield (
            f"Scores count by the nearest thousandth: {judge.scored:,} from 0 to 1, {judge.outside:,} outside, "
            f"{judge.unscored:,} answers without one."
        )
    yield EACH_ITEM_ALONE


@made_by_this
def counted_passes_table(systems: tuple[CountedSystem, ...]) -> Table:
    """pass@k, pass^k and flicker of each system."""
    rows: list[Row] = []
    for one in systems:
        complete = one.answered == one.n_attempts
        ways = [(one.at, one.flicker, "" if complete else ANSWERED)]
        for ats, flicker, source in ways if complete else [*ways, (one.at_all, one.flicker_all, ALL)]:
            shares = chances(ats) | {"Pass sometimes": flicker.share, "By chance": flicker.expected}
            rows += rows_in("share", shares, one.system, source, one.evidence)
    notes = [
        f"{one.system}: {counted_text(one.n_tasks, 'task')}, {counted_text(one.n_attempts, 'attempt')}, "
        f"{one.n_attempts - one.answered:,} of them without an outcome."
        for one in systems
    ]
    notes.append(
        "A task with fewer than k attempts has no pass@k. Tasks may differ between systems: none are compared."
    )
    best = max(systems, key=lambda one: one.at[0].pass_at_k.value or 0.0)
    chance = best.at[0]
    finding = "No task has enough attempts."
    if chance.pass_at_k.value is not None:
        finding = f"{best.system} has pass@{chance.k} {with_interval(chance.pass_at_k, 'share')}."
    return Table("passes", _PAPER, "pass@k and pass^k", finding, tuple(rows), tuple(notes))


@made_by_this
def counted_times_table(times: tuple[CountedTimes, ...]) -> Table:
    """Return the seconds between which quantiles of answers lie."""
    rows = [
        row
        for one in times
        for each in one.quantiles
        for row in rows_in("text", {f"{100 * each.share:g}th percentile": _between(each)}, one.judge, n=one.n)
    ]
    first = next((one for one in times if one.quantiles), None)
    finding = "No answer says how long it took."
    if first is not None:
        finding = f"The median answer of {first.judge} takes {_between(first.quantiles[0])}."
    unknown = sum(one.unknown for one in times)
    notes = ["Times are counted between fixed edges, twenty a decade; the 95% interval needs no form of distribution."]
    notes += [f"{counted_text(unknown, 'answer')} without a time."] if unknown else []
    return Table("times", _PAPER, "How long answers take", finding, tuple(rows), tuple(notes))


def _between(one: TimeQuantile) -> str:
    least = number_text(one.least, "seconds")
    edges = f"{least} or longer" if one.below is None else f"{least} to {number_text(one.below, 'seconds')}"
    return f"{edges} ({interval_words(one.interval_least, one.interval_below, 'seconds')})"
