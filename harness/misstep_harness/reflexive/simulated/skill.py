"""The skill `simulated`: generated items on a machine in memory, and agents that ask no model.

Workers differ in what they are good at and what they get wrong. How often each kind comes, how long a turn takes and
how often a command is entered again are assumptions: they are of the size that the failure modes document tells of,
and nothing was fitted to it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property, partial
from pathlib import Path
from random import Random
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from misstep_harness.agent.clocks import Clock
from misstep_harness.agent.turns import Turn, tokens_in_text
from misstep_harness.errors import MisstepError
from misstep_harness.reflexive.protocols import Agents, Context, HealthProbe, MakeAgents, Target
from misstep_harness.reflexive.records import WorkItem
from misstep_harness.reflexive.simulated.target import (
    HEALTH_PROBES,
    MIX,
    Kind,
    MachinePair,
    SimulatedTarget,
    World,
    draw_world,
    read_pairs,
)

_NAME = re.compile("[a-z0-9-]++")
_PAIR = r"(?<![a-z0-9-])([a-z0-9-]++=[a-z0-9]++)"
_RANGE = re.compile(r"(?:out of range|Tried without success): ((?:[a-z0-9-]++=[a-z0-9]++[ .,]*+)++)")
_SHUT = re.compile(rf"the way in was shut by {_PAIR} while {_PAIR} did not hold")
_BEFORE = re.compile(r"Before ([a-z0-9-]++)[^,]{0,20}, have ((?:[a-z0-9-]++=[a-z0-9]++[ .]*+)++)")
_TRIED = re.compile(r"changes='([^'\n]*+)'(?:: |\nThe attempt failed: )check failed")
_DOWN = re.compile(rf"service \S++ is down and needs {_PAIR}")
_LOCKED = re.compile(r"(?<!\S)(\S++) is burnt in and takes no value while the machine runs")
_SEALED = re.compile(r"(?<!\S)(\S++) is under the seal")
_WAITS = re.compile(r"(?<!\S)(\S++) takes no value until item (\S++) is done")
_KEPT = re.compile(rf"{_PAIR} keeps it there")
_TASK = re.compile(r"Bring (\S++) to (one of: )?([^.;]*+)")
_NEXT_START = " from the next start"


class Understood(Struct, frozen=True):
    """What an agent knows of its item.

    - `values`, `beside`: The values that the task names, in its order, and what it names in addition.
    - `refused`: The pairs that are known not to help.
    - `first`, `advised`: What has to hold before: by the journal, and by lessons of items of the same category.
    - `after`: What a service needs once the value is set.
    - `waits`: The item that has to be solved before.
    """

    setting: str
    values: tuple[str, ...]
    beside: tuple[MachinePair, ...]
    plan: tuple[MachinePair, ...]
    refused: frozenset[MachinePair]
    first: tuple[MachinePair, ...]
    advised: tuple[MachinePair, ...]
    after: tuple[MachinePair, ...]
    locked: bool
    sealed: bool
    waits: str

    @property
    def value(self) -> str:
        """The next value after those that are refused; if there is none, one that was passed over, or the first."""
        refused = [MachinePair(self.setting, value) in self.refused for value in self.values]
        last = max((place for place, is_refused in enumerate(refused) if is_refused), default=-1)
        later = [*range(last + 1, len(refused)), *range(last + 1)]
        return self.values[next((place for place in later if not refused[place]), 0)]

    def command(self, *, heeds_journal: bool = True, heeds_lessons: bool = True, trusts_lessons: bool = False) -> str:
        """Return the pairs to set, in order."""
        planned = [pair for pair in self.plan if pair.setting == self.setting and pair not in self.refused]
        goal = planned[0] if planned else MachinePair(self.setting, self.value)
        before = {pair.setting: pair for pair in self.advised} if heeds_lessons else {}
        if heeds_journal:
            before |= {pair.setting: pair for pair in self.first}
        if trusts_lessons:
            before |= {pair.setting: pair for pair in self.advised}
        if planned:
            place = self.plan.index(goal)
            before = {pair.setting: pair for pair in self.plan[:place]} | before
        after = [pair for pair in (*self.beside, *(self.after if heeds_journal else ())) if pair.setting not in before]
        return " ".join(str(pair) for pair in (*before.values(), goal, *after))


def understood(context: Context) -> Understood:
    """What an agent knows of its item from its context alone; of an item whose text it is not shown it knows the id."""
    own = context.item.id
    task = _TASK.search(context.part("task"))
    setting = task[1] if task else own
    values = task[3].replace(_NEXT_START, "").split() if task else ["on"]
    lessons = context.part("lessons")
    rest = "\n".join(part.text for part in context.parts if part.name not in ("task", "lessons"))
    category = setting.rpartition("-")[0]
    shut = [first for by, first in _SHUT.findall(rest) if by.startswith(f"{setting}=")]
    shut += [pairs for name, pairs in _BEFORE.findall(rest) if name == setting]
    taught = [pairs for name, pairs in _BEFORE.findall(lessons) if name == category]
    refused = [*_RANGE.findall(rest), *_TRIED.findall(rest)]
    waits = [other for name, other in _WAITS.findall(rest) if name == setting]
    return Understood(
        setting=setting,
        values=tuple(values) or ("on",),
        beside=_unlike(_KEPT.findall(context.part("task"))),
        plan=tuple(read_pairs(context.part("plan"))),
        refused=frozenset(read_pairs(" ".join(refused))),
        first=_unlike(shut),
        advised=_unlike(reversed(taught)),  # the first lesson is the best one
        after=_unlike(_DOWN.findall(rest)),
        locked=setting in _LOCKED.findall(rest),
        sealed=setting in _SEALED.findall(rest),
        waits=waits[-1] if waits else "",
    )


def journal_lines(text: str, setting: str) -> list[str]:
    """Return the sentences of the journal in a text that are about a setting or about a service, each once."""
    matches = [match[0] for form in (_LOCKED, _SEALED, _WAITS, _SHUT, _DOWN) for match in form.finditer(text)]
    return list(dict.fromkeys(line for line in matches if setting in _NAME.findall(line) or line.startswith("service")))


def complains(context: Context) -> bool:
    """Return whether the journal has anything to say about the last attempt, as far as it is shown."""
    return re.search(r"^journal: \S", context.part("facts"), re.MULTILINE) is not None


def only(context: Context, *names: str) -> Context:
    """Return a context with some of its parts."""
    return Context(
        context.role, context.item, context.attempt, tuple(part for part in context.parts if part.name in names)
    )


def _unlike(texts: Iterable[str]) -> tuple[MachinePair, ...]:
    """Return the pairs in texts without repeats; of two about one setting the later counts."""
    return tuple({pair.setting: pair for text in texts for pair in read_pairs(text)}.values())


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
_WORKER_THINKING = (15.0, 35.0)
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
        await turn.think(random.uniform(*_WORKER_THINKING))
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


class SimulatedSkill:
    """Items and a machine that are drawn from a seed."""

    name = "simulated"
    vital_signs: Sequence[HealthProbe] = HEALTH_PROBES

    def __init__(self, n: int = len(MIX), seed: int = 0, kinds: Sequence[Kind] = MIX) -> None:
        self._n, self._seed, self._kinds = n, seed, tuple(kinds)
        self.words = template_words()
        self.agents: Mapping[str, MakeAgents] = {kind: partial(make_agents, kind) for kind in get_args(WorkerKind)}

    @cached_property
    def world(self) -> World:
        """Return what was drawn."""
        return draw_world(self._n, self._seed, self._kinds)

    @property
    def items(self) -> Sequence[WorkItem]:
        """Return the work items."""
        return self.world.items

    def settings(self) -> dict[str, Any]:
        """Return how many items of which kinds, and their seed."""
        return {"items": self._n, "items_seed": self._seed, "kinds": list(self._kinds)}

    @contextmanager
    def open(self, kept: Path, clock: Clock) -> Iterator[Target]:  # noqa: ARG002
        """Return the machine as it was drawn."""
        yield SimulatedTarget(self.world, kept)
