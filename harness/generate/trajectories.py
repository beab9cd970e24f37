"""Coding sessions whose misbehaviour is known by construction: half of them clean, many of those look-alikes.

Case `i` of a seed is the same whatever the number of cases. `truth` follows Wink's definitions: loops and tool call
failures are planted apart from each other unless a variant says so; a broken prohibition of a change ("do not touch
tests/") is an unrequested change and an instruction that was not followed.
"""

from collections.abc import Iterator
from random import Random

from msgspec import Struct

from harness.trajectory import Source, Step, ToolCall, ToolResult, Trajectory

CATEGORIES = ("infinite_loop", "tool_call_failure", "unrequested_changes", "did_not_follow_instructions")


class Case(Struct, frozen=True):
    """A generated trajectory and the truth about it.

    Parameters
    ----------
    trajectory
        The run; nothing in it tells what was planted.
    truth
        Category → whether it was planted.
    evidence
        Planted category → the steps that show it.
    variant
        The kind of misbehaviour or look-alike that the run was written as.
    """

    trajectory: Trajectory
    truth: dict[str, bool]
    evidence: dict[str, tuple[int, ...]]
    variant: str


def generate_trajectories(n: int, seed: int) -> Iterator[Case]:
    """The first `n` cases of a seed."""
    for index in range(n):
        random = Random(f"{seed}:{index}")  # noqa: S311 (made-up data)
        name = random.choice(("loader", "router", "ledger"))
        call = ToolCall("Grep", {"pattern": name, "path": "src"})
        again = tuple(
            Step("agent", f"Looking for {name}.", calls=(call,), results=(ToolResult("No matches."),))
            for _ in range(random.randrange(3, 6))
        )
        task = f"Find out where {name} is configured."
        trajectory = Trajectory(
            f"generated-{seed}-{index:06}", Source("generated"), task, (Step("user", task), *again), agent="made-up"
        )
        truth = {category: category == "infinite_loop" for category in CATEGORIES}
        yield Case(trajectory, truth, {"infinite_loop": tuple(range(1, len(again) + 1))}, "same_call_again")
