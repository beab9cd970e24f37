"""Which way a judge of triage errs, and whether its figures hang on single families of tasks."""

from collections.abc import Mapping

import numpy as np
from msgspec import Struct

from misstep.analysis.measures.judging.bias import bias
from misstep.analysis.measures.judging.sample import JudgedSample
from misstep.analysis.measures.judging.scores import LEFT_OPEN, NEVER_GOLD
from misstep.analysis.measures.judging.units import cluster_names
from misstep.analysis.measures.triage.cases import AGENT, TASK
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.printed.two_proportions import difference_of_shares
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.stats.raters.coefficients import cohen
from misstep.analysis.stats.raters.patterns import distinct_rows


class Direction(Struct, frozen=True):
    """How often a judge errs either way between agent and task, by gold label; tests are over families if known."""

    agent_to_task: Estimate
    task_to_agent: Estimate
    difference: Estimate
    unanswered: dict[str, Estimate]
    n_agent_to_task: int = 0
    n_task_to_agent: int = 0
    p_value: float | None = None
    test: str = ""
    reason: str = "no such error"


def direction(sample: JudgedSample, seed: int = 0) -> Direction:
    """Return which way the errors of one run go between agent and task."""
    to_task, to_agent = _error_share(sample, AGENT, TASK), _error_share(sample, TASK, AGENT)
    errors = bias(sample, seed)
    unanswered = {use.label: use.unanswered for use in errors.labels if use.label in (AGENT, TASK)}
    shares = to_task, to_agent, difference_of_shares(to_task, to_agent), unanswered
    flow = next((one for one in errors.flows if {one.first, one.second} == {AGENT, TASK}), None)
    if flow is None:
        return Direction(*shares)
    forth, back = (flow.forth, flow.back) if flow.first == AGENT else (flow.back, flow.forth)
    return Direction(*shares, forth, back, flow.p_value, flow.test, flow.reason)


def _error_share(sample: JudgedSample, gold: str, answer: str) -> Estimate:
    places = sample.codes.places
    of_gold = sample.gold == places[gold]
    reason = LEFT_OPEN if np.any(of_gold) else NEVER_GOLD
    return sample.units.share(sample.answers == places[answer], of_gold & sample.answered, reason)


class _Family(Struct, frozen=True):
    """One family: the share of its cases judged right, unanswered as wrong, and kappa over all cases but these."""

    name: str
    right: Estimate
    kappa_without: float | None


class Families(Struct, frozen=True):
    """Kappa over all cases, unanswered as a label of their own, and what is left of it without each family."""

    kappa: float | None
    families: tuple[_Family, ...]

    @property
    def ends(self) -> tuple[_Family, _Family] | None:
        """Return the families without which kappa is lowest, and highest; `None` without a kappa."""
        known = [(one.kappa_without, place) for place, one in enumerate(self.families) if one.kappa_without is not None]
        return (self.families[min(known)[1]], self.families[max(known, key=lambda one: one[0])[1]]) if known else None


def left_out(sample: JudgedSample, clusters: Mapping[str, str]) -> Families:
    """Kappa with each family left out; no family where cases are of none, or of one."""
    known = sample.known
    of_verdicts = cluster_names((one.item for one in sample.verdicts), clusters)
    names, of_item = np.unique(np.array(of_verdicts, dtype=str)[known], return_inverse=True)
    if not sample.units.clustered or len(names) < 2:
        return Families(None, ())
    gold, answers = sample.gold[known], sample.answers[known]
    pairs = distinct_rows(np.column_stack([gold, answers]))
    counts = np.zeros((len(names), len(pairs.items)))
    np.add.at(counts, (of_item, pairs.of_item), 1)
    everything = counts.sum(axis=0, keepdims=True)
    first, second = pairs.rows.T
    kappas = cohen(np.vstack([everything, everything - counts]), first, second, len(sample.labels) + 2)
    whole, *without = (None if np.isnan(kappa) else float(kappa) for kappa in kappas)
    hits, sizes = np.bincount(of_item, gold == answers), np.bincount(of_item)
    families = [
        _Family(str(name), wilson(int(right), int(n)), kappa)
        for name, right, n, kappa in zip(names, hits, sizes, without, strict=True)
    ]
    return Families(whole, tuple(sorted(families, key=lambda one: one.right.value or 0.0)))
