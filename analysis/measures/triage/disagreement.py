"""Where raters of an annotation study disagree, which way, and who (AutoTriage, section 4.3).

All of it is measured on the blind labels of the independent phase: those of the calibration set were given before the
raters had talked, and are compared with them. What reconciliation changed is over all cases that it was about.

A rater stands apart on a case where one label leads among all raters and the rater gave another; that takes three
raters. With two raters a disagreement has no direction by itself, and what tells them apart is how often each uses a
label.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct, structs

from misstep.analysis.labels import Labels
from misstep.analysis.measures.agreement import AgreementReport, agreement_report
from misstep.analysis.measures.agreement.raters import LabelUse
from misstep.analysis.measures.triage.annotated import (
    AnnotatedStudy,
    Consensus,
    Rating,
    coded_labels,
    consensus,
    disputed,
)
from misstep.analysis.measures.triage.cases import AGENT, TASK
from misstep.analysis.stats.clusters.clustered_bounds import korn_graubard
from misstep.analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.printed.two_proportions import difference_of_shares, fisher_exact
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.stats.raters.equal_shares import clustered_shares
from misstep.analysis.stats.resampling import bootstrapped
from misstep.analysis.stats.significance import Significance
from misstep.harness.records.annotation import CERTAINTIES, Certainty, Phase, RaterAnswer

NO_MAJORITY = "no label leads on any such case, for which three raters are needed"
NO_DISPUTE = "no case is in dispute"


class Boundary(Struct, frozen=True):
    """Two labels between which raters differ: on how many cases, and on what share of those in dispute."""

    labels: tuple[str, str]
    n: int
    share: Estimate


class Lean(Struct, frozen=True):
    """Which way raters stand apart at the border of agent and task.

    - `to_task`, `to_agent`: The share of the cases on which most raters say agent that somebody calls task, and the
      other way round.
    - `difference`, `rates_test`: The first less the second, and a test that they are the same.
    - `share`: Of the cases on which somebody stands apart at this border: how many lean to task. It depends on how many
      cases there are on either side.
    - `sign_test`: That a case leans either way alike.
    - `n_to_task`, `n_to_agent`: The cases behind them.
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
    """What reconciliation changed.

    - `n`: The cases in dispute that all raters decided again.
    - `settled`: The share of them on which all raters then agree.
    - `flows`: (blind label, label after) → how many labels of raters changed so; `None` is a rater who could not tell.
    - `to_task`, `to_agent`: The labels of raters that changed from agent to task, and the other way.
    - `sign_test`: That cases change either way alike, a case counting once.
    - `majority_changed`: The cases whose leading label is another one now.
    """

    n: int
    settled: Estimate
    flows: dict[tuple[str | None, str | None], int]
    to_task: int
    to_agent: int
    sign_test: Significance
    majority_changed: int


class Disagreement(Struct, frozen=True):
    """All that is said of a study's disagreements.

    `labels` are the blind labels of the independent phase, of `n` cases, and `report` is the agreement on them;
    `disputed` are those cases on which not all agree, `seconds` has each rater's median time for one of them, and
    `consensus` is that of all cases.
    """

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
    leading = {item: label for item in alone.items if (label := _leading(alone, labels, item)) is not None}
    phases = tuple(_phase(study, blind, phase, resamples, seed) for phase in ("calibration", "independent"))
    return Disagreement(
        coded,
        report,
        len(coded.items),
        in_dispute,
        _boundaries(split),
        _lean(alone, labels, leading),
        tuple(_rater(study, report, rater, all_disputed) for rater in study.raters),
        _raters_alike(alone, labels, leading),
        tuple(_subcategories(alone, blind, resamples, seed)),
        phases,
        difference_of_shares(phases[1].unanimous, phases[0].unanimous),
        tuple(_certainty(alone, blind, leading, one) for one in CERTAINTIES),
        {rater: _median_seconds(alone, blind, rater, resamples, seed) for rater in study.raters},
        _reconciled(study, all_disputed),
        consensus(study),
    )


def _report(
    study: AnnotatedStudy, labels: Mapping[Rating, str], categories: Sequence[str], resamples: int, seed: int
) -> AgreementReport:
    return agreement_report(coded_labels(labels, study.items, study.raters, categories), resamples=resamples, seed=seed)


def _share(x: int, n: int, reason: str) -> Estimate:
    return wilson(x, n) if n else Estimate(None, n=0, reason=reason)


def _given(study: AnnotatedStudy, labels: Mapping[Rating, str], item: str) -> dict[str, str]:
    return {rater: labels[item, rater] for rater in study.raters if (item, rater) in labels}


def _leading(study: AnnotatedStudy, labels: Mapping[Rating, str], item: str) -> str | None:
    """Return the label of more than half of an item's raters, of three or more."""
    given = _given(study, labels, item)
    label, count = max(Counter(given.values()).items(), key=lambda pair: pair[1], default=("", 0))
    return label if len(given) > 2 and 2 * count > len(given) else None


def _boundaries(split: Mapping[str, Sequence[str | None]]) -> tuple[Boundary, ...]:
    """Pairs of labels that meet on a case, the most frequent first; who cannot tell is at no border."""
    met = Counter(pair for labels in split.values() for pair in combinations(sorted({one for one in labels if one}), 2))
    return tuple(
        Boundary(pair, count, _share(count, len(split), NO_DISPUTE)) for pair, count in sorted(met.items(), key=_first)
    )


def _first(pair: tuple[tuple[str, str], int]) -> tuple[int, tuple[str, str]]:
    return -pair[1], pair[0]


def _lean(study: AnnotatedStudy, labels: Mapping[Rating, str], leading: Mapping[str, str]) -> Lean:
    of = {side: [item for item, label in leading.items() if label == side] for side in (AGENT, TASK)}
    to_task = sum(TASK in _given(study, labels, item).values() for item in of[AGENT])
    to_agent = sum(AGENT in _given(study, labels, item).values() for item in of[TASK])
    shares = _share(to_task, len(of[AGENT]), NO_MAJORITY), _share(to_agent, len(of[TASK]), NO_MAJORITY)
    rates = Significance(None, None, len(leading), "Fisher's exact test", NO_MAJORITY)
    if of[AGENT] and of[TASK]:
        found = fisher_exact(to_task, len(of[AGENT]), to_agent, len(of[TASK]))
        rates = structs.replace(found, test="Fisher's exact test")
    either = to_task + to_agent
    nobody = "nobody stands apart at the border of agent and task" if leading else NO_MAJORITY
    return Lean(
        *shares,
        difference_of_shares(*shares),
        rates,
        _share(to_task, either, nobody),
        _sign_test(to_task, to_agent, nobody),
        to_task,
        to_agent,
    )


def _sign_test(one_way: int, other_way: int, reason: str) -> Significance:
    """Return the mid-p sign test, which is McNemar's on the counts alone."""
    if not one_way + other_way:
        return Significance(None, None, 0, "sign test, mid-p", reason)
    return structs.replace(mcnemar_mid_p(PairedTable(0, one_way, other_way, 0)), test="sign test, mid-p")


def _rater(study: AnnotatedStudy, report: AgreementReport, rater: str, in_dispute: Iterable[str]) -> RaterEffect:
    blind, after = study.blind(), study.reconciled()
    again = [item for item in in_dispute if (item, rater) in after]
    changed = sum(after[item, rater].label != blind[item, rater].label for item in again)
    one = next(found for found in report.by_rater if found.rater == rater)
    apart = one.with_majority
    if apart.value is not None and apart.n:
        apart = wilson(apart.n - round(apart.value * apart.n), apart.n)
    nobody = Estimate(None, n=0, reason=f"nobody gave the label {TASK}")
    use: LabelUse | None = next((use for use in one.labels if use.category == TASK), None)
    return RaterEffect(
        rater,
        apart,
        nobody if use is None else use.difference,
        _share(changed, len(again), "the rater decided no case again"),
    )


def _raters_alike(study: AnnotatedStudy, labels: Mapping[Rating, str], leading: Mapping[str, str]) -> Significance:
    """Return a test that all raters stand apart as often, over cases."""
    rows = [
        (place, int(labels[item, rater] != label), number)
        for number, (item, label) in enumerate(leading.items())
        for place, rater in enumerate(study.raters)
        if (item, rater) in labels
    ]
    if not rows:
        return Significance(None, None, 0, "score test over cases", NO_MAJORITY)
    who, apart, of_item = np.array(rows, dtype=np.int64).T
    return clustered_shares(who, apart, of_item)


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
        finer = {
            (item, rater): blind[item, rater].subcategory
            for item in items
            for rater in study.raters
            if blind[item, rater].subcategory
        }
        if not finer:
            continue
        report = _report(study, finer, (), resamples, seed)
        rated = report.krippendorff_alpha.n or 0
        yield SubcategoryAgreement(label, rated, report.percent_agreement, report.fleiss_kappa)


def _phase(
    study: AnnotatedStudy, blind: Mapping[Rating, RaterAnswer], phase: Phase, resamples: int, seed: int
) -> PhaseAgreement:
    answers = {rating: one for rating, one in blind.items() if one.phase == phase}
    whole = [item for item in study.items if all((item, rater) in answers for rater in study.raters)]
    none = f"no case of the phase {phase} has labels of all raters"
    if not whole:
        return PhaseAgreement(phase, Estimate(None, n=0, reason=none), Estimate(None, n=0, reason=none))
    split = set(disputed(structs.replace(study, items=tuple(whole))))
    labels = {rating: one.label for rating, one in answers.items() if one.label is not None and rating[0] in whole}
    unanimous = _share(len(whole) - len(split), len(whole), none)
    if not labels:
        return PhaseAgreement(phase, unanimous, Estimate(None, n=0, reason=none))
    return PhaseAgreement(phase, unanimous, _report(study, labels, study.labels, resamples, seed).fleiss_kappa)


def _certainty(
    study: AnnotatedStudy, blind: Mapping[Rating, RaterAnswer], leading: Mapping[str, str], certainty: Certainty
) -> CertaintyApart:
    clusters = []
    for item, label in leading.items():
        given = [blind[item, rater] for rater in study.raters if (item, rater) in blind]
        sure = [one.label != label for one in given if one.label is not None and one.certainty == certainty]
        clusters.append((sum(sure), len(sure)))
    if not sum(n for _, n in clusters):
        reason = f"no label of {certainty} certainty is on a case with a majority"
        return CertaintyApart(certainty, Estimate(None, n=0, reason=reason))
    return CertaintyApart(certainty, korn_graubard(clusters))


def _median_seconds(
    study: AnnotatedStudy, blind: Mapping[Rating, RaterAnswer], rater: str, resamples: int, seed: int
) -> Estimate:
    """Return a rater's median time for a case, with its bootstrap interval where resampling is asked for."""
    given = (blind[item, rater].seconds for item in study.items if (item, rater) in blind)
    times = np.array([seconds for seconds in given if seconds is not None], dtype=np.float64)
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
        net = sum((change == (AGENT, TASK)) - (change == (TASK, AGENT)) for change in changes)
        towards.update([TASK] if net > 0 else [AGENT] if net < 0 else [])
        before, now = ([label for label in labels if label] for labels in zip(*changes, strict=True))
        majority_changed += _mode(before) != _mode(now)
        settled += len({label for _, label in changes}) == 1 and changes[0][1] is not None
    return Reconciled(
        len(again),
        _share(settled, len(again), "no case was decided again by all raters"),
        dict(flows),
        flows[AGENT, TASK],
        flows[TASK, AGENT],
        _sign_test(towards[TASK], towards[AGENT], "no case changed between agent and task"),
        majority_changed,
    )


def _mode(labels: Sequence[str]) -> str | None:
    """Return the label that leads alone."""
    counts = Counter(labels).most_common(2)
    return counts[0][0] if counts and (len(counts) == 1 or counts[0][1] > counts[1][1]) else None
