"""Figures from whole counts as tables; agreement has its own (`analysis.measures.agreement.tables`)."""

from collections.abc import Iterator

from misstep.analysis.measures.counted.judges import CountedJudge
from misstep.analysis.measures.counted.report import CountedReport
from misstep.analysis.measures.counted.systems import CountedSystem
from misstep.analysis.measures.counted.times import CountedTimes, TimeQuantile
from misstep.analysis.measures.prevalence import ANY, Prevalence
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Row, Table, Unit, estimate_row, made_by_this
from misstep.analysis.tables.wording import counted_text, interval_words, number_text, with_interval

_PAPER = "counts"

EACH_ITEM_ALONE = (
    "Counts do not say which items hang together: intervals take each item for itself, and are too short where several "
    "are of one run. `misstep report RUN` clusters them."
)


def counted_tables(found: CountedReport) -> Iterator[Table]:
    """Return the tables of everything that was counted, but for agreement."""
    if found.sessions is not None:
        yield counted_sessions_table(found.sessions, found.strata, "session")
    if found.sub_agents is not None:
        yield counted_sessions_table(found.sub_agents, {}, "run of a sub-agent")
    for judge in found.judges:
        yield counted_judge_table(judge)
    if found.systems:
        yield counted_passes_table(found.systems)
    if found.times:
        yield counted_times_table(found.times)


@made_by_this
def counted_sessions_table(total: Prevalence, strata: dict[str, dict[str, Prevalence]], noun: str) -> Table:
    """Return the share of sessions that show each category, of all and of each stratum."""
    groups = {"all": total} | {f"{by} {name}": one for by, each in strata.items() for name, one in each.items()}
    rows = [
        estimate_row(category, share, "share", group)
        for group, one in groups.items()
        for category, share in (*((each.category, each.share) for each in one.categories), (ANY, one.any_share))
    ]
    finding = f"No {noun} was judged."
    if total.any_share.value is not None:
        finding = f"{with_interval(total.any_share, 'share')} of {counted_text(total.any_share.n or 0, noun)} show any."
    note = "Each n counts those that were judged for the category; one that was not is no “no”."
    name = "sessions" if noun == "session" else "sub_agents"
    return Table(name, _PAPER, f"Share of each category, by {noun}", finding, tuple(rows), (note,))


@made_by_this
def counted_judge_table(judge: CountedJudge) -> Table:
    """Accuracy, kappa, each label's precision, recall and F1, and how well scores rank."""
    rows = tuple(
        estimate_row(name, estimate, unit, group, evidence=judge.evidence)
        for group, name, estimate, unit in _figures(judge)
    )
    finding = f"{judge.judge} gives no answer on an item with a gold label."
    if judge.accuracy.value is not None:
        finding = f"{judge.judge} gives the gold label on {with_interval(judge.accuracy, 'share')} of the answered."
    return Table(
        f"judge_{judge.judge}", _PAPER, f"{judge.judge} against gold labels", finding, rows, tuple(_notes(judge))
    )


def _figures(judge: CountedJudge) -> Iterator[tuple[str, str, Estimate, Unit]]:
    """Group, name, figure and unit of each row."""
    everything = "All labels"
    yield everything, "Accuracy of the answered", judge.accuracy, "share"
    yield everything, "Accuracy, unanswered counted as wrong", judge.accuracy_all, "share"
    yield everything, "Cohen's kappa of the answered", judge.cohen_kappa, "coefficient"
    yield everything, "Cohen's kappa, unanswered as a label of their own", judge.cohen_kappa_all, "coefficient"
    if judge.scored:
        yield everything, "Right answers above wrong ones, by score (AUROC)", judge.ranking, "coefficient"
    for label, one in judge.labels.items():
        yield label, "Precision", one.precision, "share"
        yield label, "Recall", one.recall, "share"
        yield label, "F1", one.f1, "coefficient"
        if label in judge.by_label:
            yield label, "AUROC", judge.by_label[label].ranking, "coefficient"
            yield label, "Average precision", judge.by_label[label].average_precision, "coefficient"


def _notes(judge: CountedJudge) -> Iterator[str]:
    each = {name: getattr(judge, name) for name in ("answered", "abstained", "unreadable", "refused", "failed")}
    said = ", ".join(f"{count:,} {name}" for name, count in each.items() if count)
    without = f"; {judge.without_gold:,} without a gold label, which no score counts" if judge.without_gold else ""
    yield f"{counted_text(judge.n, 'item')}: {said}{without}."
    if judge.scored:
        yield (
            f"Scores count by the nearest thousandth: {judge.scored:,} from 0 to 1, {judge.outside:,} outside, "
            f"{judge.unscored:,} answers without one."
        )
    yield EACH_ITEM_ALONE


@made_by_this
def counted_passes_table(systems: tuple[CountedSystem, ...]) -> Table:
    """pass@k, pass^k and flicker of each system."""
    rows = [row for one in systems for row in _pass_rows(one)]
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


def _pass_rows(one: CountedSystem) -> Iterator[Row]:
    ways = [(one.at, one.flicker, "")]
    if one.answered < one.n_attempts:
        ways = [(one.at, one.flicker, "with an outcome"), (one.at_all, one.flicker_all, "without one as failed")]
    for ats, flicker, source in ways:
        shares: dict[str, Estimate] = {}
        for at in ats:
            shares[f"pass@{at.k}"] = at.pass_at_k
            if at.k > 1:
                shares[f"pass^{at.k}"] = at.pass_hat_k
        shares |= {"Pass sometimes": flicker.share, "By chance": flicker.expected}
        for name, share in shares.items():
            yield estimate_row(name, share, "share", one.system, source, one.evidence)


@made_by_this
def counted_times_table(times: tuple[CountedTimes, ...]) -> Table:
    """Return the seconds between which quantiles of answers lie."""
    rows = tuple(
        Row(f"{100 * each.share:g}th percentile", _between(each), n=one.n, unit="text", group=one.judge)
        for one in times
        for each in one.quantiles
    )
    known = [one for one in times if one.quantiles]
    finding = "No answer says how long it took."
    if known:
        finding = f"The median answer of {known[0].judge} takes {_between(known[0].quantiles[0])}."
    unknown = sum(one.unknown for one in times)
    notes = ["Times are counted between fixed edges, twenty a decade; the 95% interval needs no form of distribution."]
    if unknown:
        notes.append(f"{counted_text(unknown, 'answer')} without a time.")
    return Table("times", _PAPER, "How long answers take", finding, rows, tuple(notes))


def _between(one: TimeQuantile) -> str:
    """Return the edges and the interval in words."""
    least = number_text(one.least, "seconds")
    edges = f"{least} or longer" if one.below is None else f"{least} to {number_text(one.below, 'seconds')}"
    return f"{edges} ({interval_words(one.interval_least, one.interval_below, 'seconds')})"
