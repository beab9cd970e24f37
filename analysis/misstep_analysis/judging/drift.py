"""Whether a figure changed because the judge did, or because the system did.

Two runs of judging at different times: the old judge on the old items, the new judge on the new ones. Items whose
judged text is the same in both are anchors: on them, any change of the answer is the judge's. A figure is a share of
items that show something, such as a label or a right answer. Of all anchors that did not show it, a share `gained`
shows it to the new judge; of those that did, a share `lost` does not any more: the misclassification matrix from the
old judge to the new one. Applied to all old items it says what the new judge would have found among them:

    again  = old (1 - lost) + (1 - old) gained
    judge  = again - old          the same items, two judges
    system = new - again          the same judge, two systems
    total  = new - old = judge + system

This is the standardisation of Kitagawa (1955, J. Am. Stat. Assoc. 50:1168-1194) with the old answer as the stratum. It
supposes that within an old answer the anchors are like the other old items, which holds by design if they were drawn at
random among them; nothing is supposed of the new items. Anchors that are old items put into the new run are controls,
which are left out of `new`; those that are the same because the system did the same again count in both runs.

Shares of different items are independent, and intervals are combined from theirs (`stats.combined`), given how many
items are anchors. Items of one trajectory count as one cluster. Two runs on the same tasks agree more than independent
ones, so that the intervals of `total` and `system` are rather too wide there.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from math import ceil
from statistics import NormalDist

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.judging.rows import judging_table
from misstep_analysis.judging.units import BoolArray, JudgedUnits, units_of
from misstep_analysis.stats.combined import combined
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Fields, Table, made_by_this, rows_from, rows_in
from misstep_analysis.tables.wording import counted_text, number_text, with_interval

HALF_WIDTH = 0.05
"""How wide the interval of the judge's part may be to either side before more anchors are asked for."""

_CHANGES = 3
"""Changes that one sentence may claim: of the figure, by the judge, and by the system."""

NO_ANCHORS = "no item was judged in both runs with the same text"
ONE_ANSWER = "all anchors have the same old answer: nothing is known of the other"
NOTHING = "no item has an answer"


class JudgedText(Struct, frozen=True):
    """An item of a run: its text as a digest, whether it shows what is counted, and what it hangs together by."""

    text: str
    shows: bool
    cluster: str


class FigureDrift(Struct, frozen=True):
    """The change of a figure between two runs, and its parts.

    - `same`: Whether all items of both runs are anchors, so that the whole change is the judge's.

    - `old_on_anchors`: The old figure on the anchors alone; far from `old`, they are other items than the rest.
    - `without_judge`: The new figure less the judge's part.
    - `anchors_needed`: How many anchors give the judge's part to 5 points on either side.
    """

    old: Estimate
    new: Estimate
    total: Estimate
    judge: Estimate
    system: Estimate
    without_judge: Estimate
    same: bool
    anchors: int
    old_on_anchors: Estimate
    gained: Estimate
    lost: Estimate
    anchors_needed: int

    @property
    def enough(self) -> bool:
        """Return whether the judge's part is known to 5 points on either side."""
        low, high = self.judge.low, self.judge.high
        return low is not None and high is not None and high - low <= 2 * HALF_WIDTH


def drift(old: Sequence[JudgedText], new: Sequence[JudgedText], controls: Collection[str] = ()) -> FigureDrift:
    """Return the change of a figure from one run to another; `controls` are texts of old items put into the new run."""
    keys, later = _keys(old), dict(zip(_keys(new), (one.shows for one in new), strict=True))
    held = set(keys)
    before, again = _flags(one.shows for one in old), _flags(later.get(key, False) for key in keys)
    after, counted = _flags(later.values()), _flags(text not in controls for text, _ in later)
    anchor, added = _flags(key in later for key in keys), _flags(key not in held for key in later)
    # Anchors that are not controls are in both figures; all other old items are one sample.
    sample = anchor & _flags(text not in controls for text, _ in keys)
    first, second = _units(old), _units(new)
    anchors, in_new = int(anchor.sum()), int(counted.sum())
    reason = ONE_ANSWER if anchors else NO_ANCHORS
    lost, gained = first.share(~again, anchor & before, reason), first.share(again, anchor & ~before, reason)
    shares = [
        first.share(before, sample, NOTHING),
        first.share(before, ~sample, NOTHING),
        second.share(after, counted & added, NOTHING),
        lost,
        gained,
    ]
    weights = int(sample.sum()) / len(old), int(sample.sum()) / max(in_new, 1)
    whole = partial(combined, shares=shares, n=len(old) + in_new, reason=reason)
    figure = partial(_figures, weights)
    judge = structs.replace(whole(lambda at: figure(at)[2] - figure(at)[0]), n=anchors)
    return FigureDrift(
        first.share(before, np.ones_like(anchor), NOTHING),
        second.share(after, counted, NOTHING),
        whole(lambda at: figure(at)[1] - figure(at)[0]),
        judge,
        whole(lambda at: figure(at)[1] - figure(at)[2]),
        whole(lambda at: figure(at)[1] - (figure(at)[2] - figure(at)[0])),
        weights == (1, 1),
        anchors,
        first.share(before, anchor, NO_ANCHORS),
        gained,
        lost,
        anchors_needed(judge),
    )


def _figures(weights: tuple[float, float], shares: Sequence[float]) -> tuple[float, float, float]:
    """Return the old figure, the new one, and what the new judge would have found among the old items."""
    (in_old, in_new), (in_both, others, added, lost, gained) = weights, shares
    old = in_old * in_both + (1 - in_old) * others
    new = in_new * (in_both * (1 - lost) + (1 - in_both) * gained) + (1 - in_new) * added
    return old, new, old * (1 - lost) + (1 - old) * gained


def anchors_needed(judge: Estimate) -> int:
    """Return how many anchors, drawn at random, give the judge's part to so much on either side.

    The present half-width shrinks with the root of the number of anchors. If it is not known, the number is enough for
    any judge: a share has at most the variance 1/4.
    """
    if judge.n and judge.low is not None and judge.high is not None:
        return ceil(judge.n * ((judge.high - judge.low) / 2 / HALF_WIDTH) ** 2)
    return ceil((NormalDist().inv_cdf(0.975) / HALF_WIDTH) ** 2 / 4)


def _units(run: Sequence[JudgedText]) -> JudgedUnits:
    names = [str(place) for place in range(len(run))]
    return units_of(names, dict(zip(names, (one.cluster for one in run), strict=True)))


def _flags(values: Iterable[bool]) -> BoolArray:
    return np.fromiter(values, dtype=np.bool_)


def _keys(run: Sequence[JudgedText]) -> list[tuple[str, int]]:
    """Return a key for each item: its text, and how many items before it have the same."""
    counts: Counter[str] = Counter()
    keys = []
    for one in run:
        keys.append((one.text, counts[one.text]))
        counts[one.text] += 1
    return keys


DRIFT_FIELDS: Fields = (
    ("Old figure", "old", "share"),
    ("New figure", "new", "share"),
    ("Change", "total", "difference"),
    ("The judge's part", "judge", "difference"),
    ("The system's part", "system", "difference"),
    ("New figure without the judge's part", "without_judge", "share"),
    ("Old figure on the anchors alone", "old_on_anchors", "share"),
    ("Anchors that show it to the new judge alone", "gained", "share"),
    ("Anchors that show it to the old judge alone", "lost", "share"),
)
_NOTES = (
    "The judge's part is the change of its answers on anchors, items whose judged text is the same in both runs,"
    " carried over to all old items by their old answer. The system's part is the rest: old and new items, both as the"
    " new judge sees them (Kitagawa 1955; intervals after Zou and Donner 2008).",
    "It supposes that anchors are like the other old items with the same old answer. `judge drift RUN --draw N` draws"
    " such anchors; items that the system happened to repeat may be easier ones. Beware if the old figure on the"
    " anchors alone is far from the old figure.",
)


@made_by_this
def drift_table(figure: str, old: str, changes: Mapping[str, FigureDrift], source: str) -> Table:
    """Return the change of a figure from the old run to each of the later ones, by name."""
    rows = []
    for name, one in changes.items():
        rows += rows_from(one, DRIFT_FIELDS, name, source)
        counts = {"Anchors": one.anchors, "Anchors for 5 points on either side": one.anchors_needed}
        rows += rows_in("count", counts, name, source)
    last = list(changes)[-1]
    finding = drift_finding(figure, (old, last), changes[last])
    return judging_table(f"drift_{figure.split()[0].lower()}", f"{figure}, from {old} on", finding, rows, _NOTES)


def _told_from_0(change: Estimate, claims: int) -> bool:
    """Return whether the interval leaves out 0, one of several claims being widened as a normal one (Bonferroni)."""
    if change.value is None or change.low is None or change.high is None:
        return False
    normal = NormalDist()
    wider = normal.inv_cdf(1 - 0.025 / claims) / normal.inv_cdf(0.975)
    end = change.low if change.value > 0 else change.high
    return abs(change.value) > wider * abs(change.value - end)


def drift_finding(figure: str, runs: tuple[str, str], one: FigureDrift) -> str:
    """Return how a figure changed between two runs, and how much of it is the judge's."""
    old, new = (number_text(figure_of.value, "share") for figure_of in (one.old, one.new))
    total, judge, system = (with_interval(part, "difference") for part in (one.total, one.judge, one.system))
    changes = 1 if one.same else _CHANGES
    verb = "changed by" if _told_from_0(one.total, changes) else "is not shown to have changed:"
    changed = f"{figure} {verb} {total}, from {old} in {runs[0]} to {new} in {runs[1]}"
    needed = counted_text(one.anchors_needed, "anchor")
    if one.same:
        texts = counted_text(one.anchors, "text")
        whose = "the whole" if _told_from_0(one.total, changes) else "any"
        return f"{changed}. Both runs judged the same {texts}: {whose} change is the judge's."
    if one.judge.value is None:
        why = f"How much of it is the judge's is not known: {one.judge.reason}"
        return f"{changed}. {why}. Keep {needed}, which `judge drift RUN --draw N` draws."
    parts = f"{judge} is the judge's part, by {counted_text(one.anchors, 'anchor')}, and {system} the system's"
    more = "" if one.enough else f" About {needed} give the judge's part to 5 points on either side."
    return f"{changed}: {parts}. {_which_changed(one)}{more}"


def _which_changed(one: FigureDrift) -> str:
    """Return which of the two parts is told from 0."""
    judge, system = (_told_from_0(part, _CHANGES) for part in (one.judge, one.system))
    if judge and system:
        return "Both the judge and the system changed."
    if judge:
        return "The judge changed; a change of the system is not shown."
    return "The system changed; a change of the judge is not shown." if system else "Neither part can be told from 0."
