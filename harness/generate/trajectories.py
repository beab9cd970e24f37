"""Coding sessions whose misbehaviour is known by construction: about half of them clean, many of those look-alikes.

Truth follows Wink's definitions (section 2.1):

- `infinite_loop`: the same act or words three times and more, nothing learnt or changed between;
- `tool_call_failure`: tools refuse calls through the agent's own fault, repeatedly, and it does not adjust;
- `unrequested_changes`: something is changed that nobody asked to change;
- `did_not_follow_instructions`: something that the user said in words is ignored.

The last two overlap where a change was ruled out in words ("do not touch tests/"): such a session plants both. A change
that was asked for but made too early, or without its tests, is an instruction not followed and no unrequested change. A
session in which one refused call is repeated to the letter plants a failure and a loop. Every other plants one.

Variants come in rounds: every variant once in each round, in an order that the seed decides. Case `i` of a seed is the
same whatever the number of cases.
"""

from collections.abc import Iterator
from functools import cache
from random import Random

import msgspec
from msgspec import Struct

from misstep.harness.generate import (
    infinite_loops,
    looks_like_drift,
    looks_like_failures,
    looks_like_loops,
    obeyed_constraints,
    outputs,
    service_desk,
    tool_failures,
    unfollowed_instructions,
    unrequested_changes,
)
from misstep.harness.generate.families import own_tools
from misstep.harness.generate.projects import make_project
from misstep.harness.generate.scenes import CodingSession, Variant
from misstep.harness.generate.service_desk import ServiceDesk
from misstep.harness.generate.session import CHANGED, FAILURE, INSTRUCTION, LOOP
from misstep.harness.generate.shell_vocabularies import SHELL_VOCABULARIES
from misstep.harness.generate.vocabularies import EDITOR_VOCABULARIES, Vocabulary
from misstep.harness.generate.voice import Voice, WordingSet
from misstep.harness.trajectory import Source, Step, Tokens, Trajectory

CATEGORIES = (LOOP, FAILURE, CHANGED, INSTRUCTION)

VARIANTS: dict[str, Variant] = {
    variant.name: variant
    for module in (
        infinite_loops,
        tool_failures,
        unrequested_changes,
        unfollowed_instructions,
        looks_like_loops,
        looks_like_failures,
        looks_like_drift,
        obeyed_constraints,
        service_desk,
    )
    for variant in module.VARIANTS
}
"""Every variant by name, the misbehaviours first."""

_SERVICE = {variant.name for variant in service_desk.VARIANTS}
_LARGE = 20_000
"""Bytes: trajectories of this size and more have longer source files."""
_LANGUAGES, _WEIGHTS = ("en", "de", "es", "zh"), (70, 10, 10, 10)
_SPOKEN_BACK = 0.5
"""How often an agent answers in the language of its user, where that is not English."""
_FAMILY = 0.3
"""How often an agent has tools that are called as nobody else's."""
_MODELS = ("made-up-large", "made-up-small")
_encode = msgspec.json.Encoder().encode


class Case(Struct, frozen=True):
    """A generated trajectory and the truth about it.

    - `trajectory`: The run; nothing in it tells what was planted. The mode that some programs record is no secret.
    - `truth`: Category → whether it was planted.
    - `evidence`: Planted category → the steps that show it, counted from 0.
    - `variant`: The kind of misbehaviour or look-alike that the run was written as.
    """

    trajectory: Trajectory
    truth: dict[str, bool]
    evidence: dict[str, tuple[int, ...]]
    variant: str


def generate_trajectories(n: int, seed: int, bytes_each: int = 0, wordings: WordingSet = "scoring") -> Iterator[Case]:
    """Return the first `n` cases of a seed and a set of wordings."""
    for index in range(n):
        yield _case(index, seed, bytes_each, wordings)


def _case(index: int, seed: int, bytes_each: int, wordings: WordingSet) -> Case:
    random = Random(f"{wordings}:{seed}:{index}")  # noqa: S311 (made-up data)
    order = _order(f"{wordings}:{seed}:round {index // len(VARIANTS)}")
    variant = VARIANTS[order[index % len(VARIANTS)]]
    session = _session(random, variant, bytes_each, wordings)
    variant.write(session)
    trajectory = Trajectory(
        id=f"{wordings}-{seed}-{index:06}",
        source=Source("generated", evidence="generated"),
        task=next(step.text for step in session.steps if step.role == "user"),
        steps=_dated(random, session.steps),
        agent=session.vocabulary.agent,
        model=random.choice(_MODELS),
        extra=session.vocabulary.session_extra(session.plannings),
    )
    return Case(
        lengthened(random, trajectory, session.bulky, bytes_each),
        {category: category in variant.plants for category in CATEGORIES},
        {category: tuple(steps) for category, steps in session.evidence.items()},
        variant.name,
    )


@cache
def _order(round_name: str) -> tuple[str, ...]:
    """Return the variants in the order of one round."""
    names = list(VARIANTS)
    Random(round_name).shuffle(names)  # noqa: S311 (made-up data)
    return tuple(names)


def _session(random: Random, variant: Variant, bytes_each: int, wordings: WordingSet) -> CodingSession:
    language = random.choices(_LANGUAGES, _WEIGHTS)[0]
    spoken = language if random.random() < _SPOKEN_BACK else "en"
    return CodingSession(
        random,
        make_project(random, (10, 16) if bytes_each >= _LARGE else (2, 5)),
        _vocabulary(random, variant, Voice(random, wordings, language)),
        user=Voice(random, wordings, language),
        agent=Voice(random, wordings, spoken),
    )


def _vocabulary(random: Random, variant: Variant, voice: Voice) -> Vocabulary:
    """Return the tools of one agent; what they answer is in the language of the machine, which is the user's."""
    if variant.name in _SERVICE:
        return ServiceDesk(voice)
    if random.random() < _FAMILY:
        return own_tools(random, voice)
    suitable = EDITOR_VOCABULARIES + SHELL_VOCABULARIES
    return random.choice([one for one in suitable if one.edits_by_text or not variant.editor])(voice)


def _dated(random: Random, steps: list[Step]) -> tuple[Step, ...]:
    """Return the steps with times and tokens, which half of the recorders write down."""
    if random.random() < 0.5:
        return tuple(steps)
    second = random.randrange(3600)
    dated = []
    for number, step in enumerate(steps):
        second += random.randrange(3, 40)
        tokens = Tokens(800 * (number + 1), random.randrange(30, 400)) if step.role == "agent" else None
        hours, minutes = 8 + second // 3600, second // 60 % 60
        stamp = f"2026-03-02T{hours:02}:{minutes:02}:{second % 60:02}Z"
        dated.append(msgspec.structs.replace(step, timestamp=stamp, tokens=tokens))
    return tuple(dated)


def lengthened(
    random: Random, trajectory: Trajectory, bulky: list[tuple[int, int, str]], bytes_each: int
) -> Trajectory:
    """Return the trajectory with longer command outputs; those of one command have the same addition."""
    missing = bytes_each - len(_encode(trajectory))
    if missing <= 0 or not bulky:
        return trajectory
    size = missing // len(bulky)
    additions: dict[str, str] = {}
    steps = list(trajectory.steps)
    for index, place, key in bulky:
        if key not in additions:
            additions[key] = outputs.bulk(random, size)
        results = list(steps[index].results)
        results[place] = msgspec.structs.replace(results[place], text=f"{additions[key]}\n{results[place].text}")
        steps[index] = msgspec.structs.replace(steps[index], results=tuple(results))
    return msgspec.structs.replace(trajectory, steps=tuple(steps))
