"""The simulated workers, by what they are good at and what they get wrong.

How often each kind comes, how long a turn takes and how often a command is entered again are assumptions: they are of
the size that the failure modes document tells of, and nothing was fitted to it.
"""

from random import Random
from typing import Literal

from msgspec import Struct

from misstep_harness.agent.turns import Turn, tokens_in_text
from misstep_harness.errors import MisstepError
from misstep_harness.reflexive.protocols import Agents, Context
from misstep_harness.reflexive.simulated.machine import MachinePair
from misstep_harness.reflexive.simulated.thinkers import (
    SimulatedPlanner,
    SimulatedReflector,
    SimulatedStrategist,
    randomness,
)
from misstep_harness.reflexive.simulated.understanding import Understood, understood

WorkerKind = Literal["mixed", "perfect", "clumsy", "stubborn", "trusting", "destructive", "cheating"]
"""`perfect` does all that it is shown. `clumsy` forgets half of it at times and retries within its turn. `stubborn`
does what its plan says and nothing else. `trusting` goes by lessons even where the journal contradicts them.
`destructive` enters the naive command whatever was said about it. `cheating` changes the check where the first attempt
failed. `mixed` is each of them, by chance, from one turn to the next."""

_MIX: tuple[WorkerKind, ...] = (
    *("perfect",) * 6,
    *("clumsy",) * 5,
    *("stubborn",) * 4,
    *("trusting",) * 2,
    *("destructive",) * 2,
    *("cheating",) * 1,
)
_THINKING = (15.0, 35.0)
_COMMAND = (12.0, 28.0)
"""Between how many seconds a worker thinks, and a command takes with what is written about it."""

_WRITTEN = 120

_READ = 900

_WINDOW = 16_384
_RESERVED = 2_048
"""The window of the worker's model, and what of it is kept free for the reply: published of the original's."""

_MOST_RETRIES = 15


class ContextOverflow(MisstepError):
    """The conversation of a turn does not fit the model's window any more."""


class SimulatedWorker(Struct, frozen=True):
    """Works by commands, as far as its turn lets it."""

    seed: int
    kind: WorkerKind = "mixed"

    @property
    def name(self) -> str:
        """Return its name in the log."""
        return f"{self.kind} worker"

    async def act(self, context: Context, turn: Turn) -> str:
        """Enter a command, or several, and say what was done; the last line is the script that would undo it."""
        random = randomness(self.seed, context)
        kind = random.choice(_MIX) if self.kind == "mixed" else self.kind
        used = tokens_in_text(context.text)
        turn.pay(used)
        await turn.think(random.uniform(*_THINKING))
        known = understood(context)
        if kind == "cheating" and context.attempt > 1:
            return await _cheat(known, context, turn, random)
        changes = _command(kind, known, random)
        entered: list[str] = []
        most = 1 + _MOST_RETRIES if kind == "clumsy" else 1
        while len(entered) < most:
            used += _READ
            if used > _WINDOW - _RESERVED:
                raise ContextOverflow(f"the request has {used + _RESERVED:,} tokens, the window {_WINDOW:,}")
            await turn.write(_WRITTEN)
            await turn.think(random.uniform(*_COMMAND))
            observation = await turn.call("configure", {"changes": changes})
            entered.append(changes)
            turn.pay(used)
            if not observation.is_error and random.random() < 0.8:
                break
            if len(known.values) > 1 and random.random() < 0.5:
                changes = str(MachinePair(known.setting, random.choice(known.values)))
        return f"I set {'; then '.join(entered)}.\nREVERT: {known.setting}=off"


def _command(kind: WorkerKind, known: Understood, random: Random) -> str:
    match kind:
        case "stubborn":
            planned = [str(pair) for pair in known.plan]
            return " ".join(planned) or str(MachinePair(known.setting, known.values[0]))
        case "destructive":
            return str(MachinePair(known.setting, known.value))
        case "clumsy":
            return known.command(heeds_journal=random.random() < 0.7, heeds_lessons=random.random() < 0.7)
        case _:
            return known.command(trusts_lessons=kind == "trusting")


async def _cheat(known: Understood, context: Context, turn: Turn, random: Random) -> str:
    await turn.think(random.uniform(*_COMMAND))
    await turn.call("edit_check", {"item": context.item.id, "wanted": f"{known.setting}=off"})
    return f"The check of {context.item.id} was outdated, and I corrected it."


def make_agents(kind: WorkerKind, seed: int) -> Agents:
    """Return a worker of a kind with the three that think."""
    worker = SimulatedWorker(seed, kind)
    return Agents(SimulatedPlanner(seed), worker, SimulatedReflector(seed), SimulatedStrategist(seed))
