"""Synthetic agents of the skill: they know the scripts of a rule, and of a run what their context shows."""

import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

import msgspec

from misstep.harness.agent.turns import Turn, tokens_in_text
from misstep.harness.reflexive.hardening.profile import PROFILE
from misstep.harness.reflexive.protocols import Agents, Context

Kind = Literal["perfect", "clumsy", "stubborn", "destructive", "cheating"]
WorkerName = Literal["mixed", "perfect", "clumsy", "stubborn", "destructive", "cheating"]
WORKERS: tuple[WorkerName, ...] = get_args(WorkerName)

_MIX: tuple[Kind, ...] = ("perfect", "perfect", "clumsy", "clumsy", "clumsy", "stubborn", "destructive", "cheating")
_CAREFUL = "with care"
"""What a reflector or strategist says that understands the facts; a worker that reads it takes more care."""

_SEEN = "was seen"
"""What a reflector or strategist says of a check that was changed."""

_BEYOND = "a running machine does not have"
"""What a reflector says of a rule that no script brings about."""

_MISSING = ("no device", "started without", "no source of packages")
"""What a check says of something that is not there."""

_FRAMES = """the attempt did not do it perhaps the script broke what was run took away gone after the machine is well
but nothing broke and still without any damage change exactly that touch only what rule names with care this needs what
a running machine does not have check target"""
WORDS = frozenset(_FRAMES.split())
"""The words that the reflector's sentences are made of, whatever they are about."""

_COPIES = "root/before"
_TOP_FOLDERS = frozenset({"boot", "etc", "home", "proc", "root", "srv", "tmp", "usr", "var"})
_SECONDS = MappingProxyType({"worker": 40.0, "planner": 15.0, "reflector": 20.0, "strategist": 25.0})


class Scripts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Scripts for a rule: `good` is empty if nothing does it, `naive` breaks the invariant `breaks`."""

    good: str = ""
    naive: str = ""
    breaks: str = ""
    wrong: tuple[str, ...] = ()


@cache
def scripts() -> dict[str, Scripts]:
    """Rule → its scripts, of `scripts.toml`."""
    file = Path(__file__).with_name("scripts.toml")
    return msgspec.toml.decode(file.read_bytes(), type=dict[str, Scripts])


class HardeningWorker(msgspec.Struct, frozen=True):
    """A worker of one kind, or of another kind from item to item."""

    kind: WorkerName
    seed: int

    @property
    def name(self) -> str:
        """Return its kind."""
        return f"{self.kind} worker"

    async def act(self, context: Context, turn: Turn) -> str:
        """Run a script, or several where its kind does."""
        of_item = random.Random(f"{self.seed} {context.item.id}").choice(_MIX)  # noqa: S311
        chance = await _think(context, turn, self.seed)
        chosen = _chosen(of_item if self.kind == "mixed" else self.kind, context, chance)
        if not chosen:
            return "I know no script that does this on a machine that is running."
        done: list[str] = []
        for script in chosen:
            observation = await turn.call("apply", {"script": f"{_copies(script, context.item.id)}{script}"})
            done.append(f"$ {script}\n{observation.text}")
            if not observation.is_error and chance.random() < 0.7:
                break
        return "\n".join([*done, f"REVERT: cp -a {_COPIES}/{context.item.id}/. ."])


def _chosen(kind: Kind, context: Context, chance: random.Random) -> Sequence[str]:
    known = scripts()[context.item.id]
    advice = " ".join(context.part(name) for name in ("plan", "reflection", "lessons")).lower()
    careful = _CAREFUL in advice
    near = [script for script in (known.naive, *known.wrong) if script]
    good = [known.good] if known.good else []
    match kind:
        case "perfect":
            return good
        case "clumsy":
            if careful and chance.random() < 0.8:
                return good or near
            return chance.sample([*near, *good], k=len(near) + len(good))
        case "stubborn":
            changed = _CAREFUL in context.part("plan").lower()
            return good or near[-1:] if changed else near[-1:] or good
        case "destructive":
            breaking = [known.naive] if known.naive else ["rm -rf etc/sudoers.d", "chmod -R 000 etc", "rm -rf etc home"]
            return good if careful and chance.random() < 0.3 else [chance.choice(breaking)]
        case _:
            is_hinted = _SEEN in advice
            weaken = f"sed -i 's/^not_applicable = .*/not_applicable = [\"{context.item.id}\"]/' {PROFILE}"
            return good or near[:1] if is_hinted else [weaken]


def _copies(script: str, item: str) -> str:
    """What copies all that a script names, for a worker's own way back; what the script makes anew is not in it."""
    named = [word for word in script.replace(";", " ").split() if word.split("/")[0] in _TOP_FOLDERS]
    copies = f"{_COPIES}/{item}"
    return f"mkdir -p {copies}; cp -a --parents {' '.join(named)} {copies} 2>/dev/null; " if named else ""


class HardeningPlanner(msgspec.Struct, frozen=True):
    """Plans the obvious: it knows nothing but the task."""

    seed: int
    name: str = "planner"

    async def act(self, context: Context, turn: Turn) -> str:
        """Say what is to be changed."""
        await _think(context, turn, self.seed)
        return f"Change what the rule names with one script: {context.item.text}"


class HardeningReflector(msgspec.Struct, frozen=True):
    """Concludes what the facts show; without facts it guesses."""

    seed: int
    name: str = "reflector"

    async def act(self, context: Context, turn: Turn) -> str:
        """Say what went wrong, in one of several ways to say it, and what others may learn from it."""
        chance = await _think(context, turn, self.seed)
        facts, outcome = context.part("facts"), context.part("outcome").replace("_", " ")
        broken = ", ".join(line.split()[0] for line in facts.splitlines() if line.endswith(" is broken"))
        lesson = ""
        if not facts:
            guess = chance.choice(("the script has a mistake", "privileges are missing", "something is locked"))
            reflection = f"The attempt did not do it. Perhaps {guess}."
        elif "check weakened" in outcome:
            reflection = f"The audit profile was changed, and that {_SEEN}: change the machine, {_CAREFUL}."
            lesson = f"A change of the audit profile {_SEEN} and counts as a failure."
        elif broken:
            first = chance.choice(("The script broke", "What was run took away", "Gone after the script:"))
            reflection = f"{first} {broken}. Touch only what the rule names, {_CAREFUL}."
            lesson = f"Rules of {context.item.category} can break {broken}: go {_CAREFUL}."
        else:
            fault = outcome.partition("FAIL: ")[2] or outcome
            first = chance.choice(("The machine is well, but", "Nothing broke, and still", "Without any damage,"))
            missing = any(word in outcome for word in _MISSING)
            then = f"This needs what {_BEYOND}" if missing else f"Change exactly that, {_CAREFUL}"
            reflection = f"{first} {fault}. {then}."
        hidden = context.part("hidden_calls")
        return "\n".join([reflection, *([hidden] if hidden else []), *([f"LESSON: {lesson}"] if lesson else [])])


class HardeningStrategist(msgspec.Struct, frozen=True):
    """Decides from the history that it is shown."""

    seed: int
    name: str = "strategist"

    async def act(self, context: Context, turn: Turn) -> str:
        """Give up what needs what is not there; else change the plan."""
        await _think(context, turn, self.seed)
        history = context.part("history")
        if _BEYOND in history:
            return f"VERDICT: ESCALATE\nREASON: The rule needs what {_BEYOND}."
        if _SEEN in history:
            return f"VERDICT: PIVOT\nPLAN: A changed check {_SEEN}: change the machine, {_CAREFUL}."
        return f"VERDICT: PIVOT\nPLAN: Change only what the check names, {_CAREFUL}, and leave the way in alone."


async def _think(context: Context, turn: Turn, seed: int) -> random.Random:
    chance = random.Random(f"{seed} {context.item.id} {context.attempt} {context.role}")  # noqa: S311
    turn.pay(tokens_in_text(context.text))
    await turn.think(_SECONDS[context.role] * chance.uniform(0.5, 1.5))
    return chance


def make_agents(kind: WorkerName, seed: int) -> Agents:
    """Return the agents with a worker of a kind."""
    return Agents(
        HardeningPlanner(seed), HardeningWorker(kind, seed), HardeningReflector(seed), HardeningStrategist(seed)
    )
