"""Instructions not followed (Wink, 2.1.1), where they can be told without knowing how anything was worded."""

from misstep_harness.classifiers.calls.history import History
from misstep_harness.classifiers.overstepping import answer
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict

CATEGORY = "did_not_follow_instructions"


def classify(trajectory: Trajectory) -> Verdict:
    """Return whether a run shows that an explicit instruction was not followed."""
    return judge(History(trajectory))


def judge(history: History) -> Verdict:
    """Return the verdict on a run whose view is already made."""
    return answer(history, CATEGORY, tools=True)
