"""Find infinite loops (Wink, 2.1.2): the same thing done three or more times while nothing changes.

Not loops: reading other parts of a file, asking until an answer changes, running tests again after an edit, trying
again until it works, doing one thing to many files, the same call twice in one turn, the user's asking again.
"""

from misstep_harness.classifiers.calls.history import History
from misstep_harness.classifiers.calls.oscillation import oscillation
from misstep_harness.classifiers.calls.repeated_calls import repeated_calls
from misstep_harness.classifiers.calls.repeated_text import repeated_text
from misstep_harness.classifiers.verdicts import absent, nothing_to_judge, shown_by_rule
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict

CATEGORY = "infinite_loop"


def classify(trajectory: Trajectory) -> Verdict:
    """Return whether a run shows an infinite loop."""
    return judge(History(trajectory))


def judge(history: History) -> Verdict:
    """Return the verdict on a run whose view is already made."""
    if not history.agent_steps:
        return nothing_to_judge(history, CATEGORY)
    shown = repeated_calls(history) or oscillation(history) or repeated_text(history)
    if shown is None:
        return absent(
            history, CATEGORY, "No call, error or text comes back three times with nothing changed in between."
        )
    return shown_by_rule(history, CATEGORY, shown)
