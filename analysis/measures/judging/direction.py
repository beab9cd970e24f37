"""Which way recorded judges err: do they say the positive label more often than people."""

from collections.abc import Sequence

from msgspec import Struct

from misstep.analysis.measures.judging.bias import Bias, JudgeLabelUse, bias
from misstep.analysis.measures.judging.judged import NO_JUDGES, JudgedItems, datasets_of, sample_of
from misstep.analysis.measures.judging.pairs.comparison import LEVEL
from misstep.analysis.measures.judging.rows import judging_table, p_rows
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.significance import holm
from misstep.analysis.tables import Row, Table, estimate_row, made_by_this, measured_on
from misstep.analysis.tables.wording import with_interval

DIFFERENCE = "Judge less people"


class _Direction(Struct, frozen=True):
    """A judge's use of the positive label, and the p-value of its difference adjusted for all judges shown."""

    judged: JudgedItems
    bias: Bias
    positive: JudgeLabelUse
    p_adjusted: float | None

    def __str__(self) -> str:
        difference = with_interval(self.positive.difference, "difference")
        return f"{self.judged.title}, “{self.judged.positive}” {difference}"


def directions(judged: Sequence[JudgedItems], seed: int = 0) -> list[_Direction]:
    """Return each judge's bias in the use of the positive label, Holm's adjustment over the judges."""
    each = [bias(sample_of(one), seed) for one in judged]
    adjusted = holm([one.homogeneity.p_value for one in each]).p_values
    return [
        _Direction(one, its, next(use for use in its.labels if use.label == one.positive), p)
        for one, its, p in zip(judged, each, adjusted, strict=True)
    ]


@made_by_this
def direction_table(judged: Sequence[JudgedItems], notes: Sequence[str] = (), seed: int = 0) -> Table:
    """Return how often each judge says the positive label, and people, with a test that the two are the same."""
    each = directions(judged, seed)
    return judging_table(
        "recorded_direction",
        "Which way recorded judges err",
        _finding(each),
        (row for one in each for row in measured_on(one.judged.dataset, _rows(one))),
        (
            "Over the items that were answered; the difference and its test are over runs or workspaces. Adjusted "
            f"after Holm for {len(each)} judges.",
            "Left open: of the items that people gave the positive label, and of the others, the share without an "
            "answer, with a test that they are the same.",
            *notes,
        ),
        datasets_of(judged),
    )


def _rows(one: _Direction) -> list[Row]:
    group, source, positive, use = one.judged.title, one.judged.source, one.judged.positive, one.positive
    test, unanswered = one.bias.homogeneity, one.bias.unanswered
    rows = [
        estimate_row(f"Judge says “{positive}”", use.judge, "share", group, source),
        estimate_row(f"People say “{positive}”", use.gold, "share", group, source),
        estimate_row(DIFFERENCE, use.difference, "difference", group, source),
        *p_rows(test.p_value, one.p_adjusted, test.test, group, source, test.reason),
    ]
    if unanswered.p_value is not None:
        left_open = {f"Left open of “{label.label}”": label.unanswered for label in one.bias.labels}
        p = Estimate(unanswered.p_value, n=unanswered.n, method=unanswered.test)
        rows += [estimate_row(name, share, "share", group, source) for name, share in left_open.items()]
        rows.append(estimate_row("p, left open alike", p, "p", group, source))
    return rows


def _finding(each: Sequence[_Direction]) -> str:
    known = [one for one in each if one.positive.difference.value is not None]
    if not known:
        return NO_JUDGES
    biased = [one for one in known if one.p_adjusted is not None and one.p_adjusted <= LEVEL]
    if not biased:
        widest = max(known, key=lambda one: abs(one.positive.difference.value or 0.0))
        return (
            f"None of {len(known)} recorded judges is shown to say the positive label more or less often than people; "
            f"furthest from it is {widest}."
        )
    return (
        f"{len(biased)} of {len(known)} recorded judges are shown to say the positive label more or less often than "
        f"people (Holm, {LEVEL:g}): {'; '.join(map(str, biased))}."
    )
