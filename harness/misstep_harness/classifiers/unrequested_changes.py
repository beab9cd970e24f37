"""Unrequested changes (Wink, 2.1.1), where they can be told without knowing how anything was worded."""

from misstep_harness.classifiers.calls.history import History
from misstep_harness.classifiers.overstepping import answer
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict

CATEGORY = "unrequested_changes"


def classify(trajectory: Trajectory) -> Verdict:
    """Return whether a run shows changes that were ruled out."""
    return judge(History(trajectory))


def judge(history: History) -> Verdict:
    """Return the verdict on a run whose view is already made."""
    return answer(history, CATEGORY, tools=False)
