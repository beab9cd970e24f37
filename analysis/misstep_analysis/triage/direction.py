"""Which way a judge of triage errs."""

import numpy as np
from msgspec import Struct

from misstep_analysis.judging.bias import bias
from misstep_analysis.judging.sample import JudgedSample
from misstep_analysis.judging.scores import LEFT_OPEN, NEVER_GOLD
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.two_proportions import difference_of_shares
from misstep_analysis.triage.cases import AGENT, TASK


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
