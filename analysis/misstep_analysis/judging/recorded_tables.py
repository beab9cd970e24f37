"""Recorded judges beside each other and beside no judge at all."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from msgspec import Struct, structs

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.comparison import (
    LEVEL,
    PairedJudges,
    compare_judges,
    comparison_table,
    pair_rows,
)
from misstep_analysis.judging.judged import NO_JUDGES, JudgedItems, datasets_of
from misstep_analysis.judging.sample import majority
from misstep_analysis.stats.significance import holm
from misstep_analysis.tables import Row, Table, estimate_row, made_by_this, measured_on
from misstep_analysis.tables.wording import with_interval
from misstep_harness.verdict import Verdict


def constant_judge(judged: JudgedItems) -> JudgedItems | None:
    """A judge that gives the items' most frequent gold label to each of them; `None` where none has a gold label."""
    label_of = majority(judged.gold).label_of
    counts = Counter(label_of[verdict.item] for verdict in judged.verdicts if verdict.item in label_of)
    if not counts:
        return None
    label = max(counts, key=lambda one: counts[one])
    name = f"always “{label}”"
    verdicts = tuple(Verdict(verdict.item, name, label) for verdict in judged.verdicts)
    return structs.replace(judged, judge=name, on="", verdicts=verdicts)


class Match(Struct, frozen=True):
    """Two judges compared on the same items, and whether the second is a judge at all."""

    first: JudgedItems
    second: JudgedItems
    pair: PairedJudges
    between_judges: bool


def compared(judged: Sequence[JudgedItems], seed: int = 0) -> tuple[Match, ...]:
    """Return every two judges asked about the same items, and each against the most frequent label; Holm over all."""
    matches = []
    for first, second, between_judges in _opponents(judged):
        runs = {first.title: first.verdicts, second.title: second.verdicts}
        pairs = compare_judges(runs, first.gold, clusters=first.clusters, seed=seed)
        if not between_judges:
            pairs = tuple(_for_a_chosen_label(pair, first.gold) for pair in pairs)
        matches += [Match(first, second, pair, between_judges) for pair in pairs]
    adjusted = holm([match.pair.p_value for match in matches]).p_values
    return tuple(
        structs.replace(match, pair=structs.replace(match.pair, p_adjusted=p))
        for match, p in zip(matches, adjusted, strict=True)
    )


def _for_a_chosen_label(pair: PairedJudges, gold: Sequence[GoldLabel]) -> PairedJudges:
    """Return a judge against one label, with the advantage taken off that the label was chosen from these items."""
    if pair.p_value is None or (pair.difference or 0.0) >= 0:
        return pair
    labels = len({one.label for one in gold})
    return structs.replace(pair, p_value=min(1.0, labels * pair.p_value))


def _opponents(judged: Sequence[JudgedItems]) -> Iterator[tuple[JudgedItems, JudgedItems, bool]]:
    for first, second in combinations(judged, 2):
        items, others = ({verdict.item for verdict in one.verdicts} for one in (first, second))
        if first.dataset == second.dataset and items & others:
            yield first, second, True
    for one in judged:
        constant = constant_judge(one)
        if constant is not None:
            yield one, constant, False


@made_by_this
def pairs_table(matches: Sequence[Match], notes: Sequence[str] = ()) -> Table:
    """Recorded judges in pairs on the same items, and each against always giving the most frequent label."""
    table = comparison_table([match.pair for match in matches], "recorded judges")
    alone = len(matches) == 1
    return structs.replace(
        table,
        name="recorded_pairs",
        title="Recorded judges in pairs on the same items, and against the most frequent label",
        finding=_pairs_finding(matches),
        rows=tuple(
            row
            for match in matches
            for row in measured_on(match.first.dataset, pair_rows(match.pair, match.first.source, alone=alone))
        ),
        notes=(
            *table.notes,
            "Items of one trace or workspace go either way together in the test: their number is what counts.",
            "The most frequent label is people's on the very items compared: where it is ahead, the p-value is "
            "multiplied by the number of labels that it was chosen from.",
            *notes,
        ),
        datasets=datasets_of(match.first for match in matches if not match.between_judges),
    )


def differences(matches: Sequence[Match]) -> list[Row]:
    """The differences of the table of pairs for a forest plot, under the judge and its opponent, by what was judged."""
    rows = []
    for match in matches:
        first, second = match.first, match.second
        against = second.judge if second.on == first.on else second.title
        group = f"{first.judge} against {against}"
        rows.append(estimate_row(first.on or first.judge, match.pair.estimate, "difference", group, first.source))
    return rows


def _pairs_finding(matches: Sequence[Match]) -> str:
    if not matches:
        return NO_JUDGES
    against = [match.pair for match in matches if not match.between_judges]
    better, worse = (sum(pair.apart and sign * (pair.difference or 0) > 0 for pair in against) for sign in (1, -1))
    counts = [(worse, "less often"), (better, "more often")]
    (first, how), (then, otherwise) = counts if worse else reversed(counts)
    sentence = (
        f"Of {len(against)} recorded judges, {first} give the gold label {how} than always saying the most frequent "
        f"one would, and {then} {otherwise}, unanswered items counted as wrong (Holm, {LEVEL:g})"
    )
    between = [match.pair for match in matches if match.between_judges and match.pair.difference is not None]
    if not between:
        return f"{sentence}."
    widest = max(between, key=lambda pair: abs(pair.difference or 0))
    ahead, behind, first_leads = widest.leader()
    over_all, answered = (
        with_interval(each if first_leads else each.negated(), "difference")
        for each in (widest.estimate, widest.where_answered)
    )
    return f"{sentence}; {ahead} is {over_all} ahead of {behind}, and {answered} where both answered."
