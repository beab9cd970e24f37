"""The scores of repair attempts as one JSON document, for scripts.

{"n": 28, "solve_rate": {"value": 0.61, …}, "patch_generation_rate": {…}, "error_rate": {…},
 "iterations": {"mean": {…}, "median": {…}}, "cases": [{"id": "gcd", "solved": true, "patched": true, …}], …}
"""

from typing import Any

import msgspec

from misstep.analysis.measures.repair.scores import RepairScores
from misstep.harness.records.repair_attempt import FLAKY, NOT_AFFIRMED


def repair_document(scores: RepairScores) -> dict[str, Any]:
    """Return what scripts may rely on, a case an attempt, and more.

    In `cases` `solved` is `null` where a case does not hold, its oracle is flaky or its patch was not scored;
    `error` is `null` where there was none. With several attempts a case has several entries, told apart by `sample`.
    """
    arm = scores.arm
    last = {attempt.id: attempt for attempt in arm.attempts}
    cases = [
        {
            "id": attempt.case,
            "sample": attempt.sample,
            "solved": None if attempt.ended in (NOT_AFFIRMED, FLAKY) else attempt.solved,
            "patched": attempt.patched,
            "error": attempt.error or None,
            "ended": attempt.ended,
            "iterations": attempt.iterations,
            "seconds": attempt.seconds,
        }
        for attempt in sorted(last.values(), key=lambda attempt: (attempt.case, attempt.sample, attempt.id))
    ]
    found: dict[str, Any] = msgspec.to_builtins(
        {
            "n": scores.n,
            "attempts": scores.attempts,
            "not_affirmed": scores.not_affirmed,
            "flaky": scores.flaky,
            "unscored": scores.unscored,
            "policy": arm.policy,
            "setting": arm.setting,
            "format": arm.format,
            "benchmark": arm.benchmark,
            "solve_rate": scores.solve_rate,
            "solve_rate_scored": scores.solve_rate_scored,
            "sr_at": {str(k): rate for k, rate in scores.solve_rate_at.items()},
            "patch_generation_rate": scores.patch_generation_rate,
            "error_rate": scores.error_rate,
            "cut_off_rate": scores.cut_off_rate,
            "iterations": scores.iterations,
            **{name: spent.total for name, spent in scores.spent.items()},
            "signals": scores.signals,
            "second_tests": scores.second_tests,
            "cases": cases,
        }
    )
    return found
