"""Runs of judging at different times, each held against the first: what of a figure's change is the judge's."""

from collections.abc import Collection, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from misstep_analysis.judging.drift import FigureDrift, JudgedText, drift, drift_table
from misstep_analysis.judging.judged_runs import JudgedRun
from misstep_analysis.judging.sample import majority
from misstep_analysis.pages.page import Foot, figure_html, page
from misstep_analysis.plots import can_draw, curves
from misstep_analysis.tables import Row, Table, estimate_row, of_evidence
from misstep_analysis.tables.wording import counted_text
from misstep_harness.errors import UsageError
from misstep_harness.runs.judging.judge_changes import changes
from misstep_harness.runs.judging.judged_texts import ANCHOR, judged_texts
from misstep_harness.verdict import Verdict

_AS_MEASURED, _WITHOUT_JUDGE = "as measured", "without the judge's part"


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
                alone = counted_text(count, "text")
                sentences.append(
                    f"{alone} of {self.old} and {run} that only one of them answered: in no share of a label."
                )
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
    changed = {name: changes(first.manifest.settings, run.manifest.settings) for name, run in later}
    return Drifts(first, old, figures, changed, left_out)


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
