"""Which way recorded judges err: do they say the positive label more often than people, and on whom do they err more.

Errors that go both ways alike leave a count right and a judge no better; errors that go one way are a bias. The test
is over runs or workspaces, as errors in one of them go together.
"""

from collections.abc import Sequence

from msgspec import Struct, structs

from misstep.analysis.gold import BenchmarkItem
from misstep.analysis.measures.judging.bias import Bias, JudgeLabelUse, bias
from misstep.analysis.measures.judging.error_tables import slices_table
from misstep.analysis.measures.judging.judged import NO_JUDGES, JudgedItems, datasets_of, sample_of
from misstep.analysis.measures.judging.pairs.comparison import LEVEL
from misstep.analysis.measures.judging.rows import p_rows
from misstep.analysis.measures.judging.slices import sliced
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.multiplicity import holm
from misstep.analysis.tables import Row, Table, estimate_row, made_by_this, measured_on
from misstep.analysis.tables.wording import with_interval

DIFFERENCE = "Judge less people"
NO_FIELDS = "The data set says nothing of its items by which they could be told apart."


class _Direction(Struct, frozen=True):
    """A judge's use of the positive label, and the p-value of its difference adjusted for all judges shown."""

    judged: JudgedItems
    found: Bias
    positive: JudgeLabelUse
    p_adjusted: float | None

    @property
    def biased(self) -> bool:
        """Return whether it is shown to say the positive label more or less often than people."""
        return self.p_adjusted is not None and self.p_adjusted <= LEVEL


def directions(judged: Sequence[JudgedItems], seed: int = 0) -> list[_Direction]:
    """Return each judge's bias in the use of the positive label, Holm's adjustment over the judges."""
    found = [bias(sample_of(one), seed) for one in judged]
    adjusted = holm([one.homogeneity.p_value for one in found]).p_values
    return [
        _Direction(one, its, next(use for use in its.labels if use.label == one.positive), p)
        for one, its, p in zip(judged, found, adjusted, strict=True)
    ]


@made_by_this
def direction_table(judged: Sequence[JudgedItems], notes: Sequence[str] = (), seed: int = 0) -> Table:
    """Return how often each judge says the positive label, and people, with a test that the two are the same."""
    found = directions(judged, seed)
    return Table(
        name="recorded_direction",
        paper="judging",
        title="Which way recorded judges err",
        finding=_finding(found),
        rows=tuple(row for one in found for row in measured_on(one.judged.dataset, _rows(one))),
        notes=(
            "Over the items that were answered; the difference and its test are over runs or workspaces. Adjusted "
            f"after Holm for {len(found)} judges.",
            "Left open: of the items that people gave the positive label, and of the others, the share without an "
            "answer, with a test that they are the same.",
            *notes,
        ),
        datasets=datasets_of(judged),
    )


def _rows(one: _Direction) -> list[Row]:
    group, source, positive = one.judged.title, one.judged.source, one.judged.positive
    test = one.found.homogeneity
    rows = [
        estimate_row(f"Judge says “{positive}”", one.positive.judge, "share", group, source),
        estimate_row(f"People say “{positive}”", one.positive.gold, "share", group, source),
        estimate_row(DIFFERENCE, one.positive.difference, "difference", group, source),
        *p_rows(test.p_value, one.p_adjusted, test.test, group, source, test.reason),
    ]
    if one.found.unanswered.p_value is None:
        return rows
    left_open = [(f"Left open of “{use.label}”", use.unanswered) for use in one.found.labels]
    p = Estimate(one.found.unanswered.p_value, n=one.found.unanswered.n, method=one.found.unanswered.test)
    return [
        *rows,
        *(estimate_row(name, estimate, "share", group, source) for name, estimate in left_open),
        estimate_row("p, left open alike", p, "p", group, source),
    ]


def _finding(found: Sequence[_Direction]) -> str:
    known = [one for one in found if one.positive.difference.value is not None]
    if not known:
        return NO_JUDGES
    biased = [one for one in known if one.biased]
    if not biased:
        widest = max(known, key=_distance)
        return (
            f"None of {len(known)} recorded judges is shown to say the positive label more or less often than people; "
            f"furthest from it is {_told(widest)}."
        )
    return (
        f"{len(biased)} of {len(known)} recorded judges are shown to say the positive label more or less often than "
        f"people (Holm, {LEVEL:g}): {'; '.join(map(_told, biased))}."
    )


def _distance(one: _Direction) -> float:
    return abs(one.positive.difference.value or 0.0)


def _told(one: _Direction) -> str:
    return f"{one.judged.title}, “{one.judged.positive}” {with_interval(one.positive.difference, 'difference')}"


@made_by_this
def recorded_slices_table(
    judged: JudgedItems, items: Sequence[BenchmarkItem], notes: Sequence[str] = (), seed: int = 0
) -> Table:
    """On which kinds of item a recorded judge errs more, by what its data set says of the items."""
    name, title = f"recorded_slices_{judged.dataset}", f"On which items {judged.title} errs more"
    fields = sliced(sample_of(judged), items, None, seed)
    if not fields:
        return Table(name, "judging", title, NO_FIELDS, (), tuple(notes), (judged.dataset,))
    table = slices_table(fields, judged.source)
    return structs.replace(table, name=name, title=title, notes=(*table.notes, *notes), datasets=(judged.dataset,))
