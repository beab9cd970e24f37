"""Live sessions that never ran."""

from collections.abc import Sequence

import numpy as np
from msgspec import structs

from misstep_harness.intervention import Intervention, Invocation, Misbehaviour, ObservedRun
from misstep_harness.live_session import Episode, LiveArm, LiveSession

CATEGORIES = ("infinite_loop", "tool_call_failure", "did_not_follow_instructions", "unrequested_changes")


def word(category: str, detected: int, delivered: int | None = None) -> Intervention:
    """A word about one category, heard where it was delivered."""
    withheld = "" if delivered is not None else "shadow"
    return Intervention((Misbehaviour(category),), detected, delivered, withheld=withheld)


def session(
    item: str,
    arm: LiveArm = "guide",
    episodes: Sequence[Episode] = (),
    words: Sequence[Intervention] = (),
    n_steps: int = 30,
    unit: str = "",
) -> LiveSession:
    """A session whose detector answers two steps after it was asked."""
    asked = {one.detected_at: one for one in words}
    invocations = tuple(
        Invocation(step, misbehaviours=asked[step].misbehaviours if step in asked else (), answered_at=step + 2)
        for step in sorted({*range(5, n_steps, 5), *asked})
    )
    observed = ObservedRun(item, arm, "rules", 5, n_steps + 2, invocations, tuple(words)) if arm != "control" else None
    return LiveSession(
        item, arm, unit or item, "1", 0, n_steps, n_steps, 3, 4_000, 500, 90.0, 0, True, "exit",
        episodes=tuple(episodes), observed=observed,
    )  # fmt: skip


def experiment(n: int, seed: int = 0, heeding: float = 0.9) -> list[LiveSession]:
    """One problem a session, seen after four steps; guidance that is heeded ends it, else it ends by itself or not."""
    rng, counted = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    results = []
    for number in range(n):
        arm: LiveArm = ("control", "shadow", "guide")[number % 3]  # type: ignore[assignment]
        category, onset = CATEGORIES[number // 3 % 4], 6 + number % 5
        lasts = None if rng.random() < 0.5 else int(rng.integers(1, 31))
        ends = 31 if lasts is None else min(31, onset + lasts)
        ended = "session" if ends == 31 else "itself"
        seen = onset + 4
        words: list[Intervention] = []
        if ends > seen + 2 and arm != "control":
            words = [word(category, seen, seen + 2 if arm == "guide" else None)]
            if arm == "guide" and rng.random() < heeding:
                ends, ended = seen + 2, "guidance"
        episode = Episode(category, onset, ends, ended, lasts)  # type: ignore[arg-type]
        ran = session(f"s{number}", arm, [episode], words, unit=f"u{number // 6}-{arm}")
        results.append(
            structs.replace(
                ran,
                failed_calls=int(counted.integers(0, 6)),
                input_tokens=int(counted.lognormal(9, 0.5)),
                seconds=float(counted.lognormal(5, 0.5)),
                engineer_interventions=int(counted.poisson(1)),
            )
        )
    return results
