"""The orders in which several judges put systems, as sentences and tables."""

from collections.abc import Iterator, Sequence

from misstep.analysis.measures.judging.pairs.ranking import JudgeOrder, OrderPair, RankedSystem, RankStability
from misstep.analysis.tables import Row, Table, estimate_row, made_by_this
from misstep.analysis.tables.wording import counted_text, number_text, with_interval

_PAPER = "judging"


def ranking_finding(found: RankStability) -> str:
    """Return whether one system is first with all judges, and how far the two that agree least are apart."""
    opening = _first_places([judge for judge in found.judges if judge.winners])
    opening += "".join(f"; {judge.judge} answered no item" for judge in found.judges if not judge.winners)
    known = [pair for pair in found.pairs if pair.tau.value is not None]
    if not known:
        return f"{opening}; Kendall's tau-b is not defined for any two judges."
    least = min(known, key=lambda pair: pair.tau.value or 0.0)
    of_these = "the two" if len(found.pairs) == 1 else f"{least.a} and {least.b}, which agree least,"
    return f"{opening}; Kendall's tau-b of {of_these} is {with_interval(least.tau, 'coefficient')}."


def _first_places(judges: Sequence[JudgeOrder]) -> str:
    """Who is first with the judges that answered."""
    common = (
        [system for system in judges[0].winners if all(system in judge.winners for judge in judges)] if judges else []
    )
    if not common:
        each = "; ".join(f"{' and '.join(judge.winners)} with {judge.judge}" for judge in judges)
        return f"The winner depends on the judge: {each}" if judges else "No system is first"
    with_whom = judges[0].judge if len(judges) == 1 else f"all {counted_text(len(judges), 'judge')}"
    tied = [judge for judge in judges if len(judge.winners) > len(common)]
    return f"{' and '.join(common)} {'is' if len(common) == 1 else 'are'} first with {with_whom}" + "".join(
        f"; {judge.judge} puts {counted_text(len(judge.winners), 'system')} first" for judge in tied
    )


@made_by_this
def ranking_table(found: RankStability, source: str) -> Table:
    """Kendall's tau-b between the judges' orders, and how often the winner changes with the judge."""
    left_out = counted_text(found.without_system, "item")
    return Table(
        name="rank_stability",
        paper=_PAPER,
        title="Do several judges put the systems in one order?",
        finding=ranking_finding(found),
        rows=tuple(row for pair in found.pairs for row in _pair_rows(pair, source)),
        notes=(
            f"A system's figure is the share of its items that the judge calls “{found.good}”, over the "
            f"{counted_text(found.n, 'item')} that all judges were asked about. Tau-b is 1 where two orders are the "
            "same and -1 where one is the other turned round.",
            "The winner changes in a resample if no system is first with both judges; the share of resamples is "
            "given. “Unanswered not good” counts an item without an answer as no good work. Judges that agree may all "
            "be wrong: people's labels play no part here.",
            "An interval is of chance in the items alone: the systems and the judges are as given. With few systems "
            "tau-b has few values.",
            *([f"{left_out} left out: nothing says whose work it is."] if found.without_system else []),
        ),
    )


def _pair_rows(pair: OrderPair, source: str) -> Iterator[Row]:
    group = f"{pair.a} / {pair.b}"
    yield estimate_row("Kendall's tau-b", pair.tau, "coefficient", group, source)
    yield estimate_row("Tau-b, unanswered not good", pair.tau_all, "coefficient", group, source)
    yield Row("Same winner", "yes" if pair.same_winner else "no", source=source, unit="text", group=group)
    yield estimate_row("Winner changes", pair.winner_changes, "share", group, source)


@made_by_this
def orders_table(found: RankStability, source: str) -> Table:
    """The systems in each judge's order, with the share of their items that it calls good work; as `ranking_table`."""
    return Table(
        name="judge_orders",
        paper=_PAPER,
        title="Each judge's order of the systems",
        finding=" ".join(_held(judge) for judge in found.judges),
        rows=tuple(
            estimate_row(f"{_place(judge, one)}. {one.system}", one.share, "share", judge.judge, source)
            for judge in found.judges
            for one in judge.systems
        ),
        notes=tuple(_unanswered(judge) for judge in found.judges if any(one.answered < one.n for one in judge.systems)),
    )


def _place(judge: JudgeOrder, one: RankedSystem) -> int:
    """Return the place of a system, which equal ones share; those without an answer come last."""
    share = -1.0 if one.share.value is None else one.share.value
    return 1 + sum(other.share.value is not None and other.share.value > share for other in judge.systems)


def _held(judge: JudgeOrder) -> str:
    if not judge.winners:
        return f"{judge.judge} answered no item and has no order."
    if judge.winner_holds.value is None:
        return f"With {judge.judge} {counted_text(len(judge.winners), 'system')} share the first place."
    share = number_text(judge.winner_holds.value, "share")
    return f"With {judge.judge} {judge.winners[0]} is first alone in {share} of resamples."


def _unanswered(judge: JudgeOrder) -> str:
    counts = ", ".join(
        f"{one.n - one.answered:,} of {one.n:,} of {one.system}" for one in judge.systems if one.answered < one.n
    )
    return f"{judge.judge} gave no answer on {counts}; shares are of the answered."
