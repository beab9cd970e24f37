"""Where raters of an annotation study disagree, which way, and who (AutoTriage, section 4.3).

A rater stands apart where one label leads among all raters and the rater gave another; that takes three raters.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.agreement import AgreementReport, agreement_report
from misstep_analysis.annotation.plan import (
    AnnotatedStudy,
    Consensus,
    Rating,
    coded_labels,
    consensus,
    disputed,
)
from misstep_analysis.labels import Labels
from misstep_analysis.sessions.prevalence import clustered_share, share
from misstep_analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.two_proportions import difference_of_shares, fisher_exact
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.raters.marginal_homogeneity import clustered_shares
from misstep_analysis.stats.raters.patterns import MISSING
from misstep_analysis.stats.resampling import bootstrapped
from misstep_analysis.stats.significance import Significance
from misstep_analysis.tables import Evidence, Fields, Row, Table, made_by_this, rows_from, rows_in
from misstep_analysis.tables.wording import counted_text, in_words, number_text, with_interval
from misstep_harness.annotation import CERTAINTIES, Certainty, Phase, RaterAnswer
from misstep_harness.fault_mappings import AGENT, TASK

_PAPER = "annotation"
_MOST_ITEMS = 200
_CANNOT_TELL = "cannot tell"
_WORDS = {"unanimous": "all alike", "majority": "most", "reconciled": "together", "tied": "tied", "open": "open"}

_AGREEMENT: Fields = (("Raw agreement", "agreement", "share"), ("Kappa", "kappa", "coefficient"))
_RATES: Fields = (
    ("Most say agent, somebody says task", "to_task", "share"),
    ("Most say task, somebody says agent", "to_agent", "share"),
    ("Difference", "difference", "difference"),
    ("p", "rates_test", "p"),
)
_SIGNS: Fields = (("Lean to task", "share", "share"), ("p", "sign_test", "p"))
_RATER: Fields = (
    ("Apart from the others' majority", "apart", "share"),
    ("Says task, less the others", "task_use", "difference"),
    ("Changed in reconciliation", "changed", "share"),
)
_PHASE: Fields = (("All raters alike", "unanimous", "share"), ("Fleiss' kappa", "fleiss_kappa", "coefficient"))

BOUNDARIES = "A case with three labels counts under each pair of them; who cannot tell counts under none."
LEANING = (
    "The first test asks whether an agent's failure is as likely to be called a task's fault as the other way "
    "round. The second asks whether as many cases lean either way, which depends on how many there are of both."
)
SECONDS = "The time for which the page of a case stood open and visible until its blind label was saved."


class Boundary(Struct, frozen=True):
    """Two labels between which raters differ: on how many cases, and on what share of those in dispute."""

    labels: tuple[str, str]
    n: int
    share: Estimate


class Lean(Struct, frozen=True):
    """Which way raters stand apart at the border of agent and task.

    - `to_task`, `to_agent`: The share of the cases on which most raters say agent that somebody calls task, and back.
    - `share`: How many of the cases with somebody apart lean to task; it depends on how many cases are on either side.
    """

    to_task: Estimate
    to_agent: Estimate
    difference: Estimate
    rates_test: Significance
    share: Estimate
    sign_test: Significance
    n_to_task: int
    n_to_agent: int


class RaterEffect(Struct, frozen=True):
    """One rater: how often apart from the others' majority, how much more often at task than the others, and changes.

    `changed` is the share of the rater's disputed cases on which reconciliation changed the label.
    """

    rater: str
    apart: Estimate
    task_use: Estimate
    changed: Estimate


class SubcategoryAgreement(Struct, frozen=True):
    """Agreement on the subcategory, on the cases whose label all raters agree on; `label` is empty for all of them."""

    label: str
    n: int
    agreement: float | None
    fleiss_kappa: Estimate


class PhaseAgreement(Struct, frozen=True):
    """Agreement within one phase: the share of its cases with one label from all raters, and Fleiss' kappa."""

    phase: Phase
    unanimous: Estimate
    fleiss_kappa: Estimate


class CertaintyApart(Struct, frozen=True):
    """How often a label of one certainty stands apart from the majority, over cases."""

    certainty: Certainty
    apart: Estimate


class Reconciled(Struct, frozen=True):
    """What reconciliation changed; `flows` has labels of raters by (before, after), `None` for who could not tell."""

    n: int
    settled: Estimate
    flows: dict[tuple[str | None, str | None], int]
    to_task: int
    to_agent: int
    sign_test: Significance
    majority_changed: int


class Disagreement(Struct, frozen=True):
    """A study's disagreements: `labels` are the blind ones of the independent phase."""

    labels: Labels
    report: AgreementReport
    n: int
    disputed: tuple[str, ...]
    boundaries: tuple[Boundary, ...]
    lean: Lean
    raters: tuple[RaterEffect, ...]
    raters_alike: Significance
    subcategories: tuple[SubcategoryAgreement, ...]
    phases: tuple[PhaseAgreement, ...]
    phases_difference: Estimate
    certainties: tuple[CertaintyApart, ...]
    seconds: dict[str, Estimate]
    reconciled: Reconciled
    consensus: tuple[Consensus, ...]


def annotation_tables(report: Disagreement, source: str) -> Iterator[Table]:
    """Return all tables of a study, for one rater those without agreement; `source` is what it was measured on."""
    of_raters = (
        rater_agreement_table,
        boundary_table,
        lean_table,
        rater_effects_table,
        subcategory_table,
        phases_table,
        time_table,
        reconciliation_table,
        consensus_table,
    )
    for table_of in of_raters if len(report.raters) > 1 else (time_table, consensus_table):
        if table_of is not time_table or any(one.value is not None for one in report.seconds.values()):
            yield table_of(report, source)


@made_by_this
def rater_agreement_table(report: Disagreement, source: str) -> Table:
    """Raw agreement and kappa of all raters and of each pair, on the blind labels of the independent phase."""
    rows, title = agreement_rows(report, source, "real"), "Agreement of the raters on blind labels"
    return Table("agreement", _PAPER, title, agreement_finding(report), rows)


def agreement_rows(report: Disagreement, source: str, evidence: Evidence) -> tuple[Row, ...]:
    """Return raw agreement and kappa as rows, under the names of the raters; `source` is what they are measured on."""
    names = ((" and ".join(one.raters) or "All raters", one) for one in rater_agreement(report.labels, report.report))
    return tuple(row for name, one in names for row in rows_from(one, _AGREEMENT, name, source, evidence))


def agreement_finding(report: Disagreement) -> str:
    """Return how far the raters agree, in one sentence."""
    kappa, raters = report.report.fleiss_kappa, counted_text(len(report.report.raters), "rater")
    if len(report.raters) == 1:
        return f"One rater labelled {counted_text(report.n, 'case')}."
    if kappa.value is None:
        return f"Fleiss' kappa is undefined: {kappa.reason or 'there are no labels'}."
    on = f"{raters}, {counted_text(report.n, 'case')}; {len(report.disputed):,} of them are in dispute"
    return f"Fleiss' kappa is {with_interval(kappa, 'coefficient')}: {on}."


@made_by_this
def boundary_table(report: Disagreement, source: str) -> Table:
    """Between which labels the raters differ."""
    shares = {" / ".join(one.labels): one.share for one in report.boundaries}
    rows = rows_in("share", shares, "Share of the cases in dispute", source)
    finding = "The raters differ on no case."
    if report.boundaries:
        first = report.boundaries[0]
        finding = (
            f"Most disputes are between {first.labels[0]} and {first.labels[1]}: {first.n} of "
            f"{len(report.disputed)} cases, {with_interval(first.share, 'share')}."
        )
    return Table("boundaries", _PAPER, "Where the raters differ", finding, tuple(rows), (BOUNDARIES,))


@made_by_this
def lean_table(report: Disagreement, source: str) -> Table:
    """Which way raters lean who stand apart at the border of agent and task, with tests that they lean neither way."""
    rows = rows_from(report.lean, _RATES, "Cases on which somebody stands apart", source)
    rows += rows_from(report.lean, _SIGNS, "Of the cases apart at this border", source)
    return Table("lean", _PAPER, "Which way the raters lean", lean_finding(report.lean), tuple(rows), (LEANING,))


def lean_finding(lean: Lean) -> str:
    """Return which way raters lean who stand apart, in one sentence."""
    if lean.share.value is None:
        return f"Which way the raters lean cannot be told: {lean.share.reason}."
    p_value = lean.sign_test.p_value
    shown = p_value is not None and p_value <= 0.05
    return (
        f"Of {counted_text(lean.n_to_task + lean.n_to_agent, 'case')} on which somebody stands apart at the border of "
        f"agent and task, {lean.n_to_task} lean to task, {with_interval(lean.share, 'share')}: "
        f"a lean {'is' if shown else 'is not'} shown (sign test, p {number_text(p_value, 'p')})."
    )


@made_by_this
def rater_effects_table(report: Disagreement, source: str) -> Table:
    """Return each rater: how often apart, how much more often at task, and how often changed by reconciliation."""
    rows = [row for one in report.raters for row in rows_from(one, _RATER, one.rater, source)]
    rows += rows_in("p", {"p": report.raters_alike}, "All raters stand apart as often", source)
    leaning = [one for one in report.raters if (one.task_use.low or 0) > 0 or (one.task_use.high or 0) < 0]
    finding = "No rater is shown to say task more or less often than the others."
    if leaning:
        parts = (f"{one.rater} by {with_interval(one.task_use, 'difference')}" for one in leaning)
        finding = f"On the same cases, raters say task more or less often than the others: {', '.join(parts)}."
    return Table("raters", _PAPER, "Who differs", finding, tuple(rows))


@made_by_this
def subcategory_table(report: Disagreement, source: str) -> Table:
    """Agreement on the subcategory where all raters agree on the label."""
    rows: list[Row] = []
    for one in report.subcategories:
        where = one.label or "all labels", source
        rows += rows_in("share", {"Agreement": one.agreement}, *where, n=one.n)
        rows += rows_in("coefficient", {"Fleiss' kappa": one.fleiss_kappa}, *where)
    finding = "No case has one label and a subcategory from two raters."
    if report.subcategories:
        whole = report.subcategories[0]
        finding = (
            f"On {counted_text(whole.n, 'case')} whose label all agree on, {number_text(whole.agreement, 'share')} of "
            "paired subcategories agree"
        )
        kappa = whole.fleiss_kappa
        finding += "." if kappa.value is None else f"; Fleiss' kappa is {with_interval(kappa, 'coefficient')}."
    return Table("subcategories", _PAPER, "Subcategories within agreed labels", finding, tuple(rows))


@made_by_this
def phases_table(report: Disagreement, source: str) -> Table:
    """Agreement on the calibration set and after it, and how often labels of each certainty stand apart."""
    rows = [row for one in report.phases for row in rows_from(one, _PHASE, one.phase, source)]
    difference = report.phases_difference
    certainties: dict[str, Estimate] = {one.certainty: one.apart for one in report.certainties}
    rows += rows_in("difference", {"Independent less calibration": difference}, "all", source)
    rows += rows_in("share", certainties, "Labels apart from the majority, by certainty", source)
    finding = f"Calibration cannot be compared with what followed: {difference.reason}."
    if difference.value is not None:
        first, second = (number_text(one.unanimous.value, "share") for one in report.phases)
        finding = (
            f"All raters agree on {first} of the calibration set and on {second} of what they then label alone: a "
            f"difference of {with_interval(difference, 'difference')}."
        )
    return Table("phases", _PAPER, "Before and after calibration, and by certainty", finding, tuple(rows))


@made_by_this
def time_table(report: Disagreement, source: str) -> Table:
    """Return how long each rater took for a case."""
    rows = rows_in("seconds", report.seconds, "Median time for a case", source)
    known = sorted((one.value, rater) for rater, one in report.seconds.items() if one.value is not None)
    (least, first), (most, last) = known[0], known[-1]
    low, high = number_text(least, "seconds"), number_text(most, "seconds")
    runs = f"runs from {low} ({first}) to {high} ({last})" if len(known) > 1 else f"is {low} ({first})"
    finding = f"The median time for a case {runs}."
    return Table("seconds", _PAPER, "Time for a case", finding, tuple(rows), (SECONDS,))


@made_by_this
def reconciliation_table(report: Disagreement, source: str) -> Table:
    """Return what reconciliation changed, and which way."""
    again, where = report.reconciled, ("Cases decided again", source)
    flows = sorted(
        (-count, before or _CANNOT_TELL, after or _CANNOT_TELL) for (before, after), count in again.flows.items()
    )
    changes = {f"{before} → {after}": -count for count, before, after in flows}
    rows = [
        *rows_in("share", {"All raters then agree": again.settled}, *where),
        *rows_in("count", {"Another label leads": again.majority_changed}, *where, n=again.n),
        *rows_in("p", {"p, from agent to task as often as back": again.sign_test}, *where),
        *rows_in("count", changes, "Labels of raters", source),
    ]
    finding = "No case in dispute was decided again by all raters."
    if again.n:
        finding = (
            f"Of {counted_text(again.n, 'case')} decided again, all raters then agree on "
            f"{with_interval(again.settled, 'share')}; {again.to_task} labels change from agent to task and "
            f"{again.to_agent} from task to agent."
        )
    return Table("reconciliation", _PAPER, "What reconciliation changed", finding, tuple(rows))


@made_by_this
def consensus_table(report: Disagreement, source: str) -> Table:
    """Return how the cases came to their labels, and those that have none."""
    total, how = len(report.consensus), [one.how for one in report.consensus]
    counts = {words: how.count(name) for name, words in _WORDS.items() if name in how}
    without = [one for one in report.consensus if one.label is None]
    open_ones = {one.item: " / ".join(one.candidates) or "missing labels" for one in without[:_MOST_ITEMS]}
    rows = rows_in("count", counts, "Cases", source, n=total)
    rows += rows_in("text", open_ones, "Cases without a label", source)
    finding = f"{total - len(without):,} of {counted_text(total, 'case')} have a label."
    if tied := how.count("tied"):
        finding += f" {counted_text(tied, 'case')} {'is' if tied == 1 else 'are'} tied."
    return Table("consensus", _PAPER, "The consensus", finding, tuple(rows))


@made_by_this
def disputes_table(study: AnnotatedStudy, source: str) -> Table:
    """Return the cases in dispute with every rater's blind answer and note, and what each said in reconciliation."""
    blind, after, items = study.blind(), study.reconciled(), disputed(study)
    cells = {
        f"{item}, {rater}{words}": said_text(answers[item, rater])
        for item in items[:_MOST_ITEMS]
        for answers, words in ((blind, ""), (after, ", together"))
        for rater in study.raters
        if (item, rater) in answers
    }
    notes = (f"The first {_MOST_ITEMS} cases; history.csv of the export has all.",) if len(items) > _MOST_ITEMS else ()
    finding = f"{counted_text(len(items), 'case')} {'is' if len(items) == 1 else 'are'} in dispute."
    rows = tuple(rows_in("text", cells, "", source))
    return Table("disputes", _PAPER, "Cases in dispute", finding, rows, notes)


def said_text(one: RaterAnswer) -> str:
    """Return an answer in one line: label, subcategory, certainty, and the note."""
    sure = f"{one.certainty} certainty" if one.certainty else ""
    text = ", ".join(filter(None, (one.label or _CANNOT_TELL, in_words(one.subcategory), sure)))
    return f"{text}: {one.note}" if one.note else text


NO_MAJORITY = "no label leads on any such case, for which three raters are needed"
NO_DISPUTE = "no case is in dispute"


def disagreement(study: AnnotatedStudy, resamples: int = 10_000, seed: int = 0) -> Disagreement:
    """Return where the raters of a study disagree."""
    blind = study.blind()
    talked = {item for (item, _), one in blind.items() if one.phase == "calibration"}
    alone = structs.replace(study, items=tuple(item for item in study.items if item not in talked))
    labels = {rating: one.label for rating, one in blind.items() if one.label is not None and rating[0] not in talked}
    coded = coded_labels(labels, alone.items, alone.raters, alone.labels)
    report = agreement_report(coded, resamples=resamples, seed=seed)
    all_disputed, in_dispute = disputed(study), disputed(alone)
    split = {item: [blind[item, rater].label for rater in study.raters] for item in in_dispute}
    answers = {
        item: {rater: labels[item, rater] for rater in study.raters if (item, rater) in labels} for item in alone.items
    }
    leading = {item: label for item, own in answers.items() if (label := _leading(own)) is not None}
    calibration, independent = (
        _phase(study, blind, phase, resamples, seed) for phase in ("calibration", "independent")
    )
    met = Counter(pair for labels in split.values() for pair in combinations(sorted({one for one in labels if one}), 2))
    ordered = sorted(met.items(), key=lambda one: (-one[1], one[0]))
    of_agent, of_task = ([item for item, label in leading.items() if label == side] for side in (AGENT, TASK))
    to_task = sum(TASK in answers[item].values() for item in of_agent)
    to_agent = sum(AGENT in answers[item].values() for item in of_task)
    shares = share(to_task, len(of_agent), NO_MAJORITY), share(to_agent, len(of_task), NO_MAJORITY)
    rates = Significance(None, None, len(leading), "Fisher's exact test", NO_MAJORITY)
    if of_agent and of_task:
        exact = fisher_exact(to_task, len(of_agent), to_agent, len(of_task))
        rates = structs.replace(exact, test="Fisher's exact test")
    nobody = "nobody stands apart at the border of agent and task" if leading else NO_MAJORITY
    either, sign_test = share(to_task, to_task + to_agent, nobody), _sign_test(to_task, to_agent, nobody)
    return Disagreement(
        labels=coded,
        report=report,
        n=len(coded.items),
        disputed=in_dispute,
        boundaries=tuple(Boundary(pair, count, share(count, len(split), NO_DISPUTE)) for pair, count in ordered),
        lean=Lean(*shares, difference_of_shares(*shares), rates, either, sign_test, to_task, to_agent),
        raters=tuple(_rater(study, report, rater, all_disputed) for rater in study.raters),
        raters_alike=_raters_alike(study.raters, answers, leading),
        subcategories=tuple(_subcategories(alone, blind, resamples, seed)),
        phases=(calibration, independent),
        phases_difference=difference_of_shares(independent.unanimous, calibration.unanimous),
        certainties=tuple(_certainty(alone, blind, leading, one) for one in CERTAINTIES),
        seconds={rater: _median_seconds(alone, blind, rater, resamples, seed) for rater in study.raters},
        reconciled=_reconciled(study, all_disputed),
        consensus=consensus(study),
    )


def _report(
    study: AnnotatedStudy, labels: Mapping[Rating, str], categories: Sequence[str], resamples: int, seed: int
) -> AgreementReport:
    return agreement_report(coded_labels(labels, study.items, study.raters, categories), resamples=resamples, seed=seed)


def _leading(labels: Mapping[str, str]) -> str | None:
    label, count = max(Counter(labels.values()).items(), key=lambda pair: pair[1], default=("", 0))
    return label if len(labels) > 2 and 2 * count > len(labels) else None


def _sign_test(one_way: int, other_way: int, reason: str) -> Significance:
    if not one_way + other_way:
        return Significance(None, None, 0, "sign test, mid-p", reason)
    return structs.replace(mcnemar_mid_p(PairedTable(0, one_way, other_way, 0)), test="sign test, mid-p")


def _rater(study: AnnotatedStudy, report: AgreementReport, rater: str, in_dispute: Iterable[str]) -> RaterEffect:
    blind, after = study.blind(), study.reconciled()
    again = [item for item in in_dispute if (item, rater) in after]
    changed = sum(after[item, rater].label != blind[item, rater].label for item in again)
    one = next(each for each in report.by_rater if each.rater == rater)
    apart = one.with_majority
    if apart.value is not None and apart.n:
        apart = wilson(apart.n - round(apart.value * apart.n), apart.n)
    nobody = Estimate(None, n=0, reason=f"nobody gave the label {TASK}")
    task_use = next((use.difference for use in one.labels if use.category == TASK), nobody)
    return RaterEffect(rater, apart, task_use, share(changed, len(again), "the rater decided no case again"))


def _raters_alike(
    raters: Sequence[str], labels: Mapping[str, Mapping[str, str]], leading: Mapping[str, str]
) -> Significance:
    rows = [
        (raters.index(rater), int(own != label), number)
        for number, (item, label) in enumerate(leading.items())
        for rater, own in labels[item].items()
    ]
    if not rows:
        return Significance(None, None, 0, "score test over cases", NO_MAJORITY)
    return clustered_shares(*np.array(rows, dtype=np.int64).T)


def _subcategories(
    study: AnnotatedStudy, blind: Mapping[Rating, RaterAnswer], resamples: int, seed: int
) -> Iterable[SubcategoryAgreement]:
    agreed: dict[str, list[str]] = {}
    for item in study.items:
        labels = {blind[item, rater].label if (item, rater) in blind else None for rater in study.raters}
        if len(labels) == 1 and (label := labels.pop()) is not None:
            agreed.setdefault(label, []).append(item)
    groups = {"": [item for items in agreed.values() for item in items]}
    groups |= {label: agreed[label] for label in study.labels if label in agreed}
    for label, items in groups.items():
        ratings = ((item, rater) for item in items for rater in study.raters)
        finer = {rating: name for rating in ratings if (name := blind[rating].subcategory)}
        if finer:
            report = _report(study, finer, (), resamples, seed)
            n = report.krippendorff_alpha.n or 0
            yield SubcategoryAgreement(label, n, report.percent_agreement, report.fleiss_kappa)


def _phase(
    study: AnnotatedStudy, blind: Mapping[Rating, RaterAnswer], phase: Phase, resamples: int, seed: int
) -> PhaseAgreement:
    answers = {rating: one for rating, one in blind.items() if one.phase == phase}
    whole = tuple(item for item in study.items if all((item, rater) in answers for rater in study.raters))
    none = f"no case of the phase {phase} has labels of all raters"
    split = disputed(structs.replace(study, items=whole))
    labels = {rating: one.label for rating, one in answers.items() if one.label is not None and rating[0] in whole}
    kappa = Estimate(None, n=0, reason=none)
    if labels:
        kappa = _report(study, labels, study.labels, resamples, seed).fleiss_kappa
    return PhaseAgreement(phase, share(len(whole) - len(split), len(whole), none), kappa)


def _certainty(
    study: AnnotatedStudy, blind: Mapping[Rating, RaterAnswer], leading: Mapping[str, str], certainty: Certainty
) -> CertaintyApart:
    clusters = []
    for item, label in leading.items():
        answers = [blind[item, rater] for rater in study.raters if (item, rater) in blind]
        sure = [one.label != label for one in answers if one.label is not None and one.certainty == certainty]
        clusters.append((sum(sure), len(sure)))
    reason = f"no label of {certainty} certainty is on a case with a majority"
    return CertaintyApart(certainty, clustered_share(clusters, reason))


def _median_seconds(
    study: AnnotatedStudy, blind: Mapping[Rating, RaterAnswer], rater: str, resamples: int, seed: int
) -> Estimate:
    known = (blind[item, rater].seconds for item in study.items if (item, rater) in blind)
    times = np.array([seconds for seconds in known if seconds is not None], dtype=np.float64)
    if not len(times):
        return Estimate(None, n=0, reason="no time was recorded")
    if not resamples:
        return Estimate(float(np.median(times)), n=len(times), reason="no interval without resampling")
    drawn = np.random.default_rng(seed).choice(times, size=(resamples, len(times)))
    return bootstrapped(float(np.median(times)), np.median(drawn, axis=1), len(times))


def _reconciled(study: AnnotatedStudy, in_dispute: Sequence[str]) -> Reconciled:
    blind, after = study.blind(), study.reconciled()
    again = [item for item in in_dispute if all((item, rater) in after for rater in study.raters)]
    flows: Counter[tuple[str | None, str | None]] = Counter()
    towards: Counter[str] = Counter()
    majority_changed = settled = 0
    for item in again:
        changes = [(blind[item, rater].label, after[item, rater].label) for rater in study.raters]
        flows.update(change for change in changes if change[0] != change[1])
        net = changes.count((AGENT, TASK)) - changes.count((TASK, AGENT))
        towards.update([TASK] if net > 0 else [AGENT] if net < 0 else [])
        before, now = ([label for label in labels if label] for labels in zip(*changes, strict=True))
        majority_changed += _mode(before) != _mode(now)
        settled += len({label for _, label in changes}) == 1 and changes[0][1] is not None
    return Reconciled(
        len(again),
        share(settled, len(again), "no case was decided again by all raters"),
        dict(flows),
        flows[AGENT, TASK],
        flows[TASK, AGENT],
        _sign_test(towards[TASK], towards[AGENT], "no case changed between agent and task"),
        majority_changed,
    )


def _mode(labels: Sequence[str]) -> str | None:
    counts = Counter(labels).most_common(2)
    return counts[0][0] if counts and (len(counts) == 1 or counts[0][1] > counts[1][1]) else None


class RaterAgreement(Struct, frozen=True):
    """Raw agreement and kappa of two raters, Cohen's; or of all of them, Fleiss', with the share of agreeing pairs."""

    raters: tuple[str, ...]
    agreement: Estimate
    kappa: Estimate


def rater_agreement(labels: Labels, report: AgreementReport) -> tuple[RaterAgreement, ...]:
    """Return all raters first, then each pair, as AutoTriage's table 2."""
    clusters = [_agreeing_pairs(codes) for codes in labels.codes]
    together = clustered_share(clusters, "no item has labels of two raters")
    pairs = (
        RaterAgreement(
            pair.raters,
            share(round((pair.agreement or 0.0) * pair.n), pair.n, "the two raters share no item"),
            pair.cohen_kappa_interval,
        )
        for pair in report.pairs
    )
    return RaterAgreement((), together, report.fleiss_kappa), *pairs


def _agreeing_pairs(codes: Sequence[int]) -> tuple[int, int]:
    counts = Counter(code for code in codes if code != MISSING)
    return sum(count * (count - 1) // 2 for count in counts.values()), counts.total() * (counts.total() - 1) // 2
