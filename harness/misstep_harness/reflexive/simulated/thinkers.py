"""The simulated planner, reflector and strategist: they only think, and only from what they are shown."""

import re
from functools import cache
from pathlib import Path
from random import Random

import msgspec
from msgspec import Struct

from misstep_harness.agent.turns import Turn, tokens_in_text
from misstep_harness.reflexive.protocols import Context
from misstep_harness.reflexive.simulated.machine import MachinePair, read_pairs
from misstep_harness.reflexive.simulated.understanding import Understood, complains, journal_lines, only, understood

_THINKING = (8.0, 16.0)

_DEVIATIONS = ("plain", "plain", "plain", "bold", "next_line", "prose", "denied")
"""The forms of a verdict; a denied one says first what is not meant, which nobody should have to guess at."""


class _Wordings(Struct, frozen=True):
    """The texts of `wordings.toml`, which says what each of them is for."""

    frames: list[str]
    quotes: list[str]
    tried: str
    before: str
    lesson: str
    causes: dict[str, list[str]]
    reasons: dict[str, str]


@cache
def wordings() -> _Wordings:
    """Return the texts that simulated agents choose from."""
    return msgspec.toml.decode(Path(__file__).with_name("wordings.toml").read_bytes(), type=_Wordings)


def template_words() -> frozenset[str]:
    """Return the words of the frames and of the words round a quotation: all reflections have them in common."""
    known = wordings()
    texts = [*known.frames, *known.quotes, known.tried, known.before]
    return frozenset(re.findall("[a-z]+", re.sub(r"\{[a-z]+\}", " ", " ".join(texts).lower())))


def randomness(seed: int, context: Context) -> Random:
    """Return what a turn's chances are drawn from: the same turn draws the same again."""
    return Random(f"{seed}/{context.item.id}/{context.attempt}/{context.role}")  # noqa: S311 (no secret)


async def _ponder(seed: int, context: Context, turn: Turn) -> Random:
    random = randomness(seed, context)
    turn.pay(tokens_in_text(context.text))
    await turn.think(random.uniform(*_THINKING))
    return random


class SimulatedPlanner(Struct, frozen=True):
    """Plans the command that the task and the lessons suggest."""

    seed: int
    name: str = "simulated planner"

    async def act(self, context: Context, turn: Turn) -> str:
        """Name the command to begin with; where the task leaves a choice, only how to go about it."""
        await _ponder(self.seed, context, turn)
        known = understood(context)
        several = len(known.values) > 1
        return f"Go through the values of {known.setting}, each once." if several else f"Set {known.command()}"


class SimulatedReflector(Struct, frozen=True):
    """Says why an attempt failed, in other words each time."""

    seed: int
    name: str = "simulated reflector"

    async def act(self, context: Context, turn: Turn) -> str:
        """Name the cause that the facts show, quote the journal, and list what was tried."""
        random = await _ponder(self.seed, context, turn)
        known, now = understood(context), understood(only(context, "task", "facts"))
        cause = random.choice(wordings().causes[_cause(now)]).format(
            setting=known.setting,
            other=now.waits,
            first=" and ".join(map(str, now.first)),
            after=" and ".join(map(str, now.after)),
        )
        sentence = random.choice(wordings().frames).format(cause=cause)
        sentences = [sentence[0].upper() + sentence[1:]]
        lines = journal_lines(context.part("facts"), known.setting)
        sentences += [random.choice(wordings().quotes).format(line=line) for line in lines]
        pairs = sorted(known.refused | (_tried(context, known) if _cause(now) == "unspecific" else frozenset()))
        if pairs:
            sentences.append(wordings().tried.format(pairs=" ".join(map(str, pairs))))
        if not now.first:
            return " ".join(sentences)
        before = {pair.setting: pair for pair in (*_done_before(context, known.setting), *now.first)}
        needed = " ".join(map(str, before.values()))
        category = known.setting.rpartition("-")[0]
        sentences.append(wordings().before.format(setting=known.setting, pairs=needed))
        return " ".join(sentences) + f"\nLESSON: {wordings().lesson.format(category=category, pairs=needed)}"


class SimulatedStrategist(Struct, frozen=True):
    """Decides how work on an item goes on."""

    seed: int
    name: str = "simulated strategist"

    async def act(self, context: Context, turn: Turn) -> str:
        """Escalate, wait, or change the plan, by what the history shows."""
        random = await _ponder(self.seed, context, turn)
        known = understood(context)
        form = random.choice(_DEVIATIONS)
        gap = "evaluator_gap" in context.part("trigger") and not complains(context)
        if known.locked or known.sealed or gap:
            reason = "locked" if known.locked else "sealed" if known.sealed else "gap"
            return _verdict("ESCALATE", wordings().reasons[reason].format(setting=known.setting), form)
        if known.waits:
            return _verdict("SKIP_UNTIL", f"Come back to {known.setting} then.", form, known.waits)
        without_plan = only(context, *(part.name for part in context.parts if part.name != "plan"))
        plan = f"Set {understood(without_plan).command()}"
        return _verdict("CONTINUE" if plan in context.part("plan").splitlines() else "PIVOT", plan, form)


def _cause(now: Understood) -> str:
    names = ("locked", "sealed", "waits", "shut", "down", "range")
    shown = (now.locked, now.sealed, now.waits, now.first, now.after, now.refused)
    return next((name for name, holds in zip(names, shown, strict=True) if holds), "unspecific")


def _tried(context: Context, known: Understood) -> frozenset[MachinePair]:
    """Return what the worker says that it set: where nothing shows why it failed, it counts as of no use."""
    return frozenset(pair for pair in read_pairs(context.part("turn")) if pair.setting == known.setting)


def _done_before(context: Context, setting: str) -> list[MachinePair]:
    """What the worker, or else the plan, set before the setting: it was not what was missing, and is needed again."""
    source = context.part("turn") if f"{setting}=" in context.part("turn") else context.part("plan")
    pairs = read_pairs(source.partition("REVERT:")[0])
    place = next((number for number, pair in enumerate(pairs) if pair.setting == setting), 0)
    return pairs[:place]


def _verdict(verdict: str, plan: str, form: str, until: str = "") -> str:
    label = {
        "bold": f"VERDICT: **{verdict}**",
        "next_line": f"VERDICT:\n{verdict}",
        "prose": f"I have read the history of this item.\n\n**VERDICT: {verdict}**\n",
        "denied": "VERDICT: NOT ESCALATE" if verdict in ("CONTINUE", "PIVOT") else f"VERDICT: {verdict}",
    }.get(form, f"VERDICT: {verdict}")
    return "\n".join([label, *([f"UNTIL: {until}"] if until else []), f"PLAN: {plan}"])
