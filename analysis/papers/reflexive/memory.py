"""Memory and contexts: the printed witness, and the lessons that a list and memory show."""

from collections.abc import Sequence

from misstep.analysis.measures.reflexive.drift import SHARED, StudiedDrift
from misstep.analysis.measures.reflexive.lessons import StudiedUse
from misstep.analysis.published import load_paper, published_row
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.tables import Figure, Row, Table, TableHead, Unit, made_by_this, rows_in, rows_of
from misstep.analysis.tables.wording import counted_text, with_interval

_SLUG = "reflexive"
_MEMORY, _WHOLE = "memory", ""
_WITNESS = {
    "runs.run1.lessons_stored": "Lessons stored",
    "runs.run1.lessons_surfaced_in_prompt": "Lessons shown at once",
}
_CALLED = {
    _WHOLE: "all mechanisms",
    "harmful_lessons": "harmful lessons stay",
    "lesson_share": "no share for earlier runs",
    _MEMORY: "a list, shown from its end",
}


_MEMORY_TABLE = TableHead(
    "memory",
    _SLUG,
    "Lessons that are of use, and those that are shown",
    (
        "Lessons and items are of made-up words, so that only the words that they share on purpose lead from one "
        "to the other; how many real lessons share with real items is not known from this.",
        "A lesson without a word in common with its item is found by its category alone, and comes behind those "
        "that have one. There memory shows no more useful lessons than a list and more harmful ones, which do have "
        "words in common with the item: that needs another measure of likeness.",
        "Harmful lessons have two words in common with each item of their category. Their weight falls with each "
        "item that fails, so that taking them out as well changes little here.",
        "Intervals are clustered by item; an item comes several times.",
    ),
    generator="misstep.harness.generate.lessons.generate_lessons",
)


@made_by_this
def memory_table(uses: Sequence[StudiedUse], source: str) -> Table:
    """Return the share of useful and harmful lessons shown when their item comes, beside the printed witness."""
    paper = load_paper(_SLUG)
    most = max(one.common for one in uses)
    whole, as_list = (
        next(one.use for one in uses if (one.without, one.common) == (without, most)) for without in (_WHOLE, _MEMORY)
    )
    by_category = next((one.use for one in uses if (one.without, one.common) == (_WHOLE, 0)), None)
    without_word = (
        f" Without a word in common memory shows {with_interval(by_category.useful, 'share')}." if by_category else ""
    )
    rows = [published_row(paper[key], name, group="As printed") for key, name in _WITNESS.items()]
    rows += [row for one in uses for row in _use_rows(one, source)]
    return _MEMORY_TABLE.table(
        (
            f"Of the useful lessons, memory shows {with_interval(whole.useful, 'share')} when their item comes, where "
            f"each has {counted_text(most, 'word')} in common with it; a list of {as_list.stored} lessons, read "
            f"from its end, shows {with_interval(as_list.useful, 'share')}.{without_word}"
        ),
        rows,
    )


def _use_rows(one: StudiedUse, source: str) -> list[Row]:
    group = f"{_CALLED[one.without]}, {counted_text(one.common, 'word')} in common"
    use = one.use
    figures: tuple[tuple[str, Figure, Unit], ...] = (
        ("Useful lessons shown", use.useful, "share"),
        ("Harmful lessons shown", use.harmful, "share"),
        ("Shown lessons that are useful", use.precision, "share"),
        ("Lessons shown at once", use.shown, "number"),
        ("Lessons stored", use.stored, "count"),
    )
    return rows_of(figures, group, source, "generated", n=use.n)


_DRIFT = TableHead(
    "drift",
    _SLUG,
    "What agents of one attempt see differently",
    generator="misstep.harness.reflexive.simulated.skill.SimulatedSkill",
)


@made_by_this
def drift_table(drifts: Sequence[StudiedDrift], source: str) -> Table:
    """Return how far agents' views of one attempt drift apart, with contexts made anew for each turn and grown ones."""
    least = min(one.room for one in drifts)
    fresh, grown = (
        next(one for one in drifts if one.room == least and one.fresh is is_fresh) for is_fresh in (True, False)
    )
    return _DRIFT.table(
        (
            f"In a room of {least:,} tokens, agents of one attempt see "
            f"{with_interval(grown.drift.share, 'share')} of the parts that they share differently where their context "
            f"grows, and {with_interval(fresh.drift.share, 'share')} where it is made anew for each turn; "
            f"{grown.solved} and {fresh.solved} of {fresh.items} items are solved."
        ),
        (row for one in drifts for row in _drift_rows(one, source)),
        (
            f"Compared are the parts {', '.join(SHARED[:-1])} and {SHARED[-1]} wherever two agents of an attempt were "
            "given them; a part differs where it was cut, or fell out, for one of them.",
            "Simulated agents say in a sentence what models say on a page: with the usual room hardly anything falls "
            "out in a run of theirs, and the room is made smaller instead.",
            "Intervals of the drift are clustered by item; those of solved items take items for independent.",
        ),
    )


def _drift_rows(one: StudiedDrift, source: str) -> list[Row]:
    group = f"{one.room:,} tokens for a worker, {'made anew' if one.fresh else 'grown'}"
    parts = {"Parts seen differently": one.drift.share} | {
        f"{name.capitalize()} seen differently": share
        for name, share in one.drift.parts.items()
        if share.value is not None
    }
    parts["Items solved"] = wilson(one.solved, one.items)
    return rows_in("share", parts, group, source, "generated")
