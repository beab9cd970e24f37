"""Which cases a benchmark has: kinds of cases in stated numbers, each on a family that can show it, in drawn order."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from msgspec import Struct

from misstep_harness.triage.generate.family import Family
from misstep_harness.triage.generate.plans import LONGEST, SHORTEST

PAIRS: Mapping[str, int] = {
    "dispute": 22,
    "spoiled_input": 6,
    "environment": 4,
    "flaky": 6,
    "cut": 4,
    "endless": 3,
    "hungry": 3,
}
"""Two cases each from runs that are nearly the same: one is the fault of the task, one that of the agent."""

ALONE: Mapping[str, int] = {
    "memory_taken": 4,
    "disk_full": 3,
    "wrong_folder": 3,
    "wrong_report": 3,
    "wrong_exit_code": 3,
    "old_snapshot": 3,
    "tests_not_fetched": 3,
    "service_down": 3,
    "sound_pass": 8,
    "weak_tests": 4,
    "special_casing": 3,
    "tampered_runner": 3,
    "leaked_solution": 3,
    "leaked_tests": 2,
    "contradiction": 2,
    "ignored_exit_code": 1,
    "left_over_result": 1,
}
"""One case each: infrastructure failures, and runs that passed."""

DEFAULT_N = 2 * sum(PAIRS.values()) + sum(ALONE.values())
"""The cases in which every kind has its number: 148, of which 121 failed."""


class Unit(Struct, frozen=True):
    """One case, or two from nearly the same run; `turn` counts the units of its kind that the family has had before."""

    kind: str
    family: str
    turn: int
    ids: tuple[str, ...]
    seed: str
    length: int


def units(n: int, seed: int, families: Mapping[str, Family]) -> Iterator[Unit]:
    """Return the units of a benchmark of `n` cases; the same numbers give the same ones."""
    random = Random(f"triage/{seed}")  # noqa: S311 (no secret)
    ids = _ids(random)
    used: Counter[str] = Counter()
    turns: Counter[tuple[str, str]] = Counter()
    left = n
    while left > 0:
        kinds = {**PAIRS, **ALONE}
        block = [kind for kind, count in kinds.items() for _ in range(count)]
        random.shuffle(block)
        for kind in block:
            size = min(left, 2 if kind in PAIRS else 1)
            if not size:
                return
            able = [name for name, family in families.items() if shows(family, kind)]
            if not able:
                continue
            fewest = min(used[name] + 3 * turns[kind, name] for name in able)
            name = random.choice([name for name in able if used[name] + 3 * turns[kind, name] == fewest])
            own = tuple(next(ids) for _ in range(size))
            length = random.randint(SHORTEST, LONGEST)
            yield Unit(kind, name, turns[kind, name], own, f"{seed}/{own[0]}", length)
            used[name] += size
            turns[kind, name] += 1
            left -= size


def _ids(random: Random) -> Iterator[str]:
    seen: set[str] = set()
    while True:
        number = f"{random.getrandbits(32):08x}"
        if number not in seen:
            seen.add(number)
            yield f"run-{number}"


def shows(family: Family, kind: str) -> bool:
    """Return whether a family has what a kind of case needs."""
    needs = {
        "spoiled_input": bool(family.inputs),
        "environment": bool(family.inputs) or bool(broken_environments(family)),
        "flaky": bool(family.result),
        "service_down": family.service_needed,
        "disk_full": "python" in family.test_command,
        "special_casing": bool(special(family)),
        "weak_tests": bool(accepted(family)),
        "contradiction": bool(contradictions(family)),
    }
    if kind in ("dispute", "cut", "endless", "hungry"):
        return bool(disputes(family))
    return needs.get(kind, True)


def disputes(family: Family) -> Sequence[tuple[str, str]]:
    """Defective task and agent whose right result it rejects; agents that are wrong in the sound task first."""
    pairs = [
        (name, agent)
        for name, task in family.tasks.items()
        if task.defect in ("ambiguous_spec", "brittle_tests")
        for agent in task.right
    ]
    both = [(name, agent) for name, agent in pairs if family.agent(agent).fault]
    return both or pairs


def accepted(family: Family) -> Sequence[tuple[str, str]]:
    """Task with weak tests, and a wrong agent that they accept."""
    return [
        (name, agent) for name, task in family.tasks.items() if task.defect == "weak_tests" for agent in task.accepts
    ]


def contradictions(family: Family) -> Sequence[str]:
    """Tasks whose tests contradict their instruction."""
    return [name for name, task in family.tasks.items() if task.contradicts]


def broken_environments(family: Family) -> Sequence[str]:
    """Tasks whose environment is broken."""
    return [name for name, task in family.tasks.items() if task.defect == "environment_fail"]


def special(family: Family) -> Sequence[str]:
    """Agents whose results fit the inputs of the tests alone."""
    return [name for name, agent in family.agents.items() if agent.hidden and not agent.fault]


def faulty(family: Family) -> Sequence[str]:
    """Agents with a wrong result; stable ones."""
    return [name for name, agent in family.agents.items() if agent.fault and not agent.unstable]


def unstable(family: Family) -> Sequence[str]:
    """Agents whose wrong result depends on chance."""
    return [name for name, agent in family.agents.items() if agent.unstable]


def right(family: Family) -> Sequence[str]:
    """Agents with another right result."""
    return [name for name, agent in family.agents.items() if not agent.fault and not agent.hidden]
