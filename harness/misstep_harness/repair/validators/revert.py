"""Measure how closely a patch undoes the change that broke the test, and so loses what the change was for.

The score is the F1 of lines: how many of the patch's undo a line of the change, and how many of the change's are
undone. A line that it added is undone where the patch removes it, one that it removed where the patch adds it.
"""

from collections import Counter

from misstep_harness.repair.records import REVERT, Signal

ALIKE = 0.9
"""From here on a patch is called a revert: nearly every line of one is a line of the other."""


def check(patch: str, blamed: str) -> Signal:
    """Return how closely `patch` undoes `blamed`, both unified diffs; passed where it is not a revert."""
    done = changed_lines(patch)
    undoing = Counter({("-" if sign == "+" else "+", text): n for (sign, text), n in changed_lines(blamed).items()})
    if not done or not undoing:
        return Signal(REVERT, None, "there is no change to compare with")
    score = 2 * (done & undoing).total() / (done.total() + undoing.total())
    lost, fine = "look whether what the blamed change was for is lost", "is not a revert of the blamed change"
    return Signal(REVERT, score < ALIKE, fine if score < ALIKE else lost, score)


def changed_lines(diff: str) -> "Counter[tuple[str, str]]":
    """Count the added and removed lines of a unified diff with their signs, without blank ones and outer space."""
    counts: Counter[tuple[str, str]] = Counter()
    in_hunk = False
    for line in diff.split("\n"):
        if line.startswith(("diff --git ", "Index: ")) or (line.startswith("--- ") and not in_hunk):
            in_hunk = False
        elif line.startswith("@@"):
            in_hunk = True
        elif in_hunk and line[:1] in "+-" and line[1:].strip():
            counts[line[0], line[1:].strip()] += 1
    return counts
