"""Where raters of an annotation study disagree, which way, and who (AutoTriage, section 4.3).

A rater stands apart where one label leads among all raters and the rater gave another; that takes three raters.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.agreement import AgreementReport, agreement_report
from misstep_analysis.annotation.annotated import (
    AnnotatedStudy,
    Consensus,
    Rating,
    coded_labels,
    consensus,
    disputed,
)
from misstep_analysis.labels import Labels
from misstep_analysis.sessions.shares import clustered_share, share
from misstep_analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.two_proportions import difference_of_shares, fisher_exact
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.raters.marginal_homogeneity import clustered_shares
from misstep_analysis.stats.raters.patterns import MISSING
from misstep_analysis.stats.resampling import bootstrapped
from misstep_analysis.stats.significance import Significance
from misstep_analysis.triage.cases import AGENT, TASK
from misstep_harness.annotation import CERTAINTIES, Certainty, Phase, RaterAnswer

NO_MAJORITY = "no label leads on any such case, for which three raters are needed"
NO_DISPUTE = "no case is in dispute"


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
