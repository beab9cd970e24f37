"""The patch judge against the oracle, as table IV has it: how often it knows a patch that the tests refuse."""

from collections.abc import Iterable

from misstep.analysis.measures.repair.attempts import counted
from misstep.analysis.stats.diagnostic import Confusion
from misstep.harness.records.repair_attempt import PATCH_JUDGE, RepairAttempt


def judge_against_oracle(attempts: Iterable[RepairAttempt], validator: str = PATCH_JUDGE) -> Confusion:
    """Return how often a validator calls a patch unacceptable, by whether the oracle's tests refuse it.

    Unacceptable is the positive class: `tp` are patches that solve nothing and are called so. Attempts without a patch,
    without a score or without an answer do not count. That the tests pass is less than what people call acceptable.
    """
    cells = {(False, False): 0, (False, True): 0, (True, False): 0, (True, True): 0}
    for attempt in counted(attempts):
        said = next((signal.passed for signal in attempt.signals if signal.validator == validator), None)
        if attempt.patched and attempt.solved is not None and said is not None:
            cells[attempt.solved, said] += 1
    return Confusion(tp=cells[False, False], fp=cells[True, False], fn=cells[False, True], tn=cells[True, True])
