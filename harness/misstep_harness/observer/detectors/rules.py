"""The rule classifiers as a detector: what they say of a run that goes on."""

from collections.abc import Iterator

from msgspec.structs import replace

from misstep_harness.classifiers import categories, classify_all
from misstep_harness.errors import MisstepError
from misstep_harness.intervention import Feedback, Misbehaviour
from misstep_harness.observer.detectors import Detector
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Step, Trajectory
from misstep_harness.verdict import Verdict

REPEATED = ("infinite_loop", "tool_call_failure")
"""Categories that a run may show several times, and whose rules need nothing of what lies before."""

_MOST = 10
"""Times that one run is searched for one category."""


class RuleFailed(MisstepError):
    """A rule could not judge a run."""


class RuleDetector(Detector):
    """The rules, on the whole run so far."""

    name = "rules"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        """Return what the rules find; no model is asked."""
        return feedback(trajectory)


def feedback(trajectory: Trajectory) -> Feedback:
    """Return what the rules find in a run so far, in the order of the categories and then of the steps."""
    verdicts = classify_all(trajectory, categories())
    misbehaviours = tuple(one for verdict in verdicts for one in _all_of(verdict, trajectory))
    broken = [verdict.error for verdict in verdicts if verdict.error]
    if broken and not misbehaviours:
        raise RuleFailed(broken[0])
    return Feedback(misbehaviours)


def _all_of(verdict: Verdict, trajectory: Trajectory) -> Iterator[Misbehaviour]:
    for _ in range(_MOST):
        if verdict.label != "yes":
            return
        yield Misbehaviour(verdict.judge, verdict.steps, verdict.rationale)
        if verdict.judge not in REPEATED or not verdict.steps:
            return
        trajectory = _behind(trajectory, verdict.steps[-1])
        verdict = classify_all(trajectory, (verdict.judge,))[0]


def _behind(trajectory: Trajectory, last: int) -> Trajectory:
    """Return the run without what the agent did up to a step; all steps keep their numbers."""
    steps = trajectory.steps
    earlier = (Step("system") if step.role == "agent" else step for step in steps[: last + 1])
    return replace(trajectory, steps=(*earlier, *steps[last + 1 :]))
