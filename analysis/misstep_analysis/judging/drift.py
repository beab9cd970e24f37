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

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import ceil
from pathlib import Path
from statistics import NormalDist
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct, structs

from misstep_analysis.gold import item_ids
from misstep_analysis.judging.judged_runs import JudgedRun, open_run
from misstep_analysis.judging.sample import majority
from misstep_analysis.judging.units import BoolArray, JudgedUnits, judging_table, units_of
from misstep_analysis.pages.page import Foot, figure_html, page
from misstep_analysis.plots.drawing import can_draw
from misstep_analysis.plots.points import curves
from misstep_analysis.stats.combined import combined
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Fields, Row, Table, estimate_row, made_by_this, of_evidence, rows_from, rows_in
from misstep_analysis.tables.wording import counted_text, number_text, with_interval
from misstep_harness.benchmarks import benchmark_named
from misstep_harness.benchmarks.judged_texts import ANCHOR, anchor_lines, judged_texts
from misstep_harness.errors import UsageError
from misstep_harness.journal.records import MANIFEST
from misstep_harness.verdict import Verdict

_NOT_THE_JUDGE = ("benchmark", "sample", "sample_seed")
_DIGEST = "judge_digest"
_WORDS = {_DIGEST: "file of the judge"}
_MOST_SHOWN = 60


def judge_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Part of a judge → how it was and how it is, for the parts that differ.

    The digest of its file covers prompt and examples, so that it is named where nothing else differs.
    """
    was, is_now = dict(_parts(before)), dict(_parts(after))
    parts = [part for part in {**was, **is_now} if was.get(part) != is_now.get(part)]
    parts = [part for part in parts if part != _DIGEST] or parts
    return {_WORDS.get(part, part): (_shown(was.get(part)), _shown(is_now.get(part))) for part in parts}


def _parts(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if name in _NOT_THE_JUDGE or value is None:
            continue
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", one) for inner, one in value.items() if one is not None)
        else:
            yield name, value


def _shown(value: object) -> str:
    text = "nothing" if value is None or value == "" else str(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


class Anchors(Struct, frozen=True):
    """Anchors as lines of an `items.jsonl`, and how many there are of each label."""

    lines: bytes
    sentence: str


def drawn_anchors(source: str, n: int, seed: int, data: Path | None = None) -> Anchors:
    """Return anchors drawn from the answered items of a run, or from all items of a benchmark."""
    if (Path(source) / MANIFEST).is_file():
        run = open_run(Path(source), data=data)
        folder = run.benchmark
        label_of = {one.item: one.label for one in run.verdicts if one.label is not None}
    else:
        folder = benchmark_named(source, data)
        label_of = dict.fromkeys(sorted(item_ids(folder)), "")
    if n > len(label_of):
        raise UsageError(f"{n:,} anchors are asked for, of {counted_text(len(label_of), 'item')}", "Ask for fewer.")
    chosen = stratified(label_of, n, seed)
    counts = [f"{len(items):,} “{label}”" for label, items in chosen.items() if label]
    of = f"{counted_text(n, 'anchor')} of {counted_text(len(label_of), 'item')}"
    lines = anchor_lines(folder, label_of, {item for items in chosen.values() for item in items})
    return Anchors(lines, of + (f": {', '.join(counts)}" if counts else ""))


def stratified(label_of: dict[str, str], n: int, seed: int) -> dict[str, list[str]]:
    """Label → items drawn at random, so many of each that they are in proportion, and at least one if `n` allows it.

    Largest remainders (Hamilton's method) decide which label gets one more.
    """
    items: dict[str, list[str]] = defaultdict(list)
    for item, label in sorted(label_of.items()):
        items[label].append(item)
    exact = {label: n * len(of) / len(label_of) for label, of in items.items()}
    quota = {label: max(int(share), min(1, n // len(items))) for label, share in exact.items()}
    while sum(quota.values()) > n:
        most = max(quota, key=lambda label: quota[label] - exact[label] if quota[label] > 1 else -n)
        quota[most] -= 1
    for label in sorted(exact, key=lambda label: quota[label] - exact[label])[: n - sum(quota.values())]:
        quota[label] += 1
    rng = np.random.default_rng(seed)
    return {label: sorted(rng.choice(of, quota[label], replace=False).tolist()) for label, of in items.items()}


_AS_MEASURED, _WITHOUT_JUDGE = "as measured", "without the judge's part"


def anchors_needed(judge: Estimate) -> int:
    """Return how many anchors, drawn at random, give the judge's part to so much on either side.

    The present half-width shrinks with the root of the number of anchors. If it is not known, the number is enough for
    any judge: a share has at most the variance 1/4.
    """
    if judge.n and judge.low is not None and judge.high is not None:
        return ceil(judge.n * ((judge.high - judge.low) / 2 / HALF_WIDTH) ** 2)
    return ceil((NormalDist().inv_cdf(0.975) / HALF_WIDTH) ** 2 / 4)


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


class Drifts(Struct, frozen=True):
    """The change of each figure from the first run to each later one, and what is on record of the judge's changes.

    - `figures`: Name of a figure → later run → its change.
    - `changed`: Later run → part of the judge → how it was and how it is.
    - `left_out`: Later run → how many texts only one of two judges answered; no share of a label has them.
    """

    first: JudgedRun
    old: str
    figures: dict[str, dict[str, FigureDrift]]
    changed: dict[str, dict[str, tuple[str, str]]]
    left_out: dict[str, int]

    def document(self) -> dict[str, Any]:
        """Return all figures as one document."""
        figures = {
            name: [{"run": run, **msgspec.to_builtins(one)} for run, one in by_run.items()]
            for name, by_run in self.figures.items()
        }
        about = {"changed": self.changed, "left_out": self.left_out, "evidence": self.first.question.evidence}
        return {"old": self.old, "figures": figures, **about}

    def tables(self) -> list[Table]:
        """Return a table for each figure."""
        question = self.first.question
        return [
            of_evidence(drift_table(name, self.old, by_run, question.name), question.evidence)
            for name, by_run in self.figures.items()
        ]

    def remarks(self) -> list[str]:
        """Return what is on record of how the judge changed, in a sentence for each later run."""
        sentences = []
        for run, parts in self.changed.items():
            changes = "; ".join(f"{part}: {was}, then {now}" for part, (was, now) in parts.items())
            if count := self.left_out[run]:
                were = "text was" if count == 1 else "texts were"
                sentences.append(f"{count:,} {were} answered in only one of {self.old} and {run}, and left out.")
            sentences.append(f"From {self.old} to {run}: {changes or 'nothing on record of the judge differs'}.")
        return sentences

    def html(self, command: str) -> str:
        """Return the page: the finding, each figure over the runs, the tables."""
        tables = self.tables()
        drawings = [
            figure_html(
                curves(*_points(self.old, by_run), f"{name} over the runs", in_words=True),
                "Bands are 95% intervals. Where the lines part, the judge changed.",
            )
            for name, by_run in (self.figures.items() if can_draw() else ())
        ]
        foot = Foot(command, inputs=(f"{self.first.question.name}, judged in {len(self.changed) + 1} runs",))
        return page(
            "Did the judge change, or the system?", tables[0].finding, tables, drawings, self.remarks(), foot=foot
        )


def drifts(runs: Mapping[str, JudgedRun], label: str, controls: Collection[str] = ()) -> Drifts:
    """Return the drift of each later run from the first, in the share of a label and, with gold labels, in accuracy."""
    (old, first), *later = runs.items()
    labels = set(first.question.labels)
    texts = {name: judged_texts(run.benchmark, {one.item for one in run.verdicts}) for name, run in runs.items()}
    if controls and not any(set(texts[name].values()) & {*controls} for name, _ in later):
        advice = "Name the file that was judged, or draw anchors again with this version of Misstep."
        raise UsageError("no later run judged any of the anchors of --anchors", advice)
    gold = {texts[old].get(item, ""): one for item, one in majority(first.gold).label_of.items()}
    figures: dict[str, dict[str, FigureDrift]] = {}
    left_out: dict[str, int] = {}
    for name, run in later:
        if set(run.question.labels) != labels:
            which = f"{first.folder} asks for {', '.join(labels)}, {run.folder} for {', '.join(run.question.labels)}"
            raise UsageError(f"the runs are asked different questions: {which}", "Name runs with the same labels.")
        marked = {texts[name][item.id] for item in run.items if ANCHOR in item.extra and item.id in texts[name]}
        anchors, pair = marked | {*controls}, ((first, texts[old]), (run, texts[name]))
        answered = [{of[one.item] for one in each.verdicts if one.label is not None} for each, of in pair]
        # A text that one of two judges alone answered changed neither: what is left compares the same items.
        alone = (answered[0] ^ answered[1]) & set(texts[old].values()) & set(texts[name].values())
        left_out[name] = len(alone)
        shares = [_of_label(each, of, label, alone) for each, of in pair]
        rights = [_of_gold(each, of, gold) for each, of in pair]
        named = {f"Share of “{label}”": shares} | ({"Accuracy": rights} if run.gold else {})
        for figure, (before, after) in named.items():
            if before and after:
                figures.setdefault(figure, {})[name] = drift(before, after, anchors)
    if not figures:
        raise UsageError("a run has no answers to compare", "Name runs with verdicts.")
    changed = {name: judge_changes(first.manifest.settings, run.manifest.settings) for name, run in later}
    return Drifts(first, old, figures, changed, left_out)


class JudgedText(Struct, frozen=True):
    """An item of a run: its text as a digest, whether it shows what is counted, and what it hangs together by."""

    text: str
    shows: bool
    cluster: str


def _of_label(run: JudgedRun, texts: Mapping[str, str], label: str, left_out: Collection[str]) -> list[JudgedText]:
    """Return whether each answer is a label; what has no answer is left out."""
    clusters = run.clusters
    answered = (one for one in run.verdicts if one.label is not None and texts[one.item] not in left_out)
    return [_text(one, texts, clusters, shows=one.label == label) for one in answered]


def _of_gold(run: JudgedRun, texts: Mapping[str, str], of_text: Mapping[str, str]) -> list[JudgedText]:
    """Return whether each answer is the item's gold label, or that of its text in the first run; no answer is wrong."""
    own, clusters = majority(run.gold).label_of, run.clusters
    labelled = ((one, own.get(one.item) or of_text.get(texts[one.item])) for one in run.verdicts)
    return [_text(one, texts, clusters, shows=one.label == gold) for one, gold in labelled if gold is not None]


def _text(verdict: Verdict, texts: Mapping[str, str], clusters: Mapping[str, str], *, shows: bool) -> JudgedText:
    return JudgedText(texts[verdict.item], shows, clusters.get(verdict.item, f"item {verdict.item}"))


def _points(old: str, by_run: Mapping[str, FigureDrift]) -> tuple[list[Row], dict[str, float]]:
    """Return the figure of each run as measured and without the judge's part, and the place of each run."""
    begin = next(iter(by_run.values())).old
    measured = {old: begin, **{name: one.new for name, one in by_run.items()}}
    without = {old: begin, **{name: one.without_judge for name, one in by_run.items()}}
    rows = [
        estimate_row(name, one, "share", group)
        for group, series in ((_AS_MEASURED, measured), (_WITHOUT_JUDGE, without))
        for name, one in series.items()
    ]
    return rows, {name: float(place) for place, name in enumerate(measured)}


HALF_WIDTH = 0.05
"""How wide the interval of the judge's part may be to either side before more anchors are asked for."""

_CHANGES = 3
"""Changes that one sentence may claim: of the figure, by the judge, and by the system."""

NO_ANCHORS = "no item was judged in both runs with the same text"
ONE_ANSWER = "all anchors have the same old answer: nothing is known of the other"
NOTHING = "no item has an answer"


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
