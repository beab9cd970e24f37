"""A small skill for tests: lines in a notebook that a worker writes, with a health that a worker may break.

An item `a` is solved when the notebook has `a=done`. `broken=yes` makes the target unreachable, `sick=yes` unhealthy.
Agents are scripts: what they do follows from the item, the attempt and what they see.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from misstep_harness.agent.actions import Observation
from misstep_harness.agent.clocks import Clock, VirtualClock
from misstep_harness.agent.tools import Tool
from misstep_harness.agent.turns import Turn
from misstep_harness.errors import MisstepError
from misstep_harness.reflexive.log import Log
from misstep_harness.reflexive.loop import run_loop
from misstep_harness.reflexive.protocols import Agents, ChannelBroken, Check, Context, HealthProbe, MakeAgents, Reading
from misstep_harness.reflexive.records import (
    Ending,
    Happening,
    ItemEnded,
    LoopEvent,
    LoopSettings,
    Role,
    SnapshotName,
    WorkItem,
)

Lines = dict[str, str]
Act = Callable[[Context, Turn], Awaitable[str]]


class Faults(Struct):
    """What goes wrong with the target itself, and how often yet."""

    restore_fails: set[SnapshotName] = field(default_factory=set)
    restore_spoils: set[SnapshotName] = field(default_factory=set)
    outside_fails: bool = False
    check_raises: bool = False
    seconds_a_check: float = 0.0


class Notebook:
    """The target: lines in memory, with snapshots as files in a folder."""

    def __init__(self, kept: Path, clock: Clock, faults: Faults) -> None:
        self.lines: Lines = {"motd": "welcome", "rules": "as they are"}
        self.restarted = False
        self._folder = kept
        self._clock = clock
        self._faults = faults

    def keep(self, name: SnapshotName) -> str:
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / f"{name}.json"
        part = file.with_suffix(".part")
        part.write_bytes(msgspec.json.encode(self.lines))
        part.replace(file)
        return self.digest()

    def kept(self, name: SnapshotName) -> str | None:
        file = self._folder / f"{name}.json"
        return _digest(msgspec.json.decode(file.read_bytes(), type=Lines)) if file.exists() else None

    def restore(self, name: SnapshotName) -> None:
        if name in self._faults.restore_fails:
            raise MisstepError(f"the disk with {name} is gone")
        self.lines = msgspec.json.decode((self._folder / f"{name}.json").read_bytes(), type=Lines)
        if name in self._faults.restore_spoils:
            self.lines["left over"] = name

    def digest(self) -> str:
        return _digest(self.lines)

    def protected(self) -> str:
        return self.lines.get("rules", "")

    def tools(self, role: Role) -> Sequence[Tool[Any]]:
        return (WRITE,) if role == "worker" else ()

    @property
    def place(self) -> "Notebook":
        return self

    async def check(self, item: WorkItem) -> Check:
        await self._clock.sleep(self._faults.seconds_a_check)
        if self._faults.check_raises:
            raise ValueError("the scanner crashed")
        healthy = "broken" not in self.lines and "sick" not in self.lines
        done = self.lines.get(item.id) == "done" or self.protected() == "nothing is checked"
        text = f"{'HEALTHY' if healthy else 'UNHEALTHY'} {item.id}: {'PASS' if done else 'FAIL'}"
        return Check(healthy, "passed" if done else "failed", text)

    def ready(self, item: WorkItem) -> bool:  # noqa: ARG002
        return self.restarted

    async def prepare(self, item: WorkItem) -> None:
        await self._clock.sleep(190.0)
        self.restarted = True
        if self.lines.get(item.id) == "wrong":
            self.lines["sick"] = "yes"

    async def read(self, sign: HealthProbe) -> Reading:
        if "broken" in self.lines:
            raise ChannelBroken("a password is required")
        return self._reading(sign)

    def read_outside(self, sign: HealthProbe) -> Reading:
        if self._faults.outside_fails:
            raise ChannelBroken("connection lost")
        return self._reading(sign)

    def _reading(self, sign: HealthProbe) -> Reading:
        if sign.kind == "probe":
            return Reading("asked", "broken" not in self.lines)
        return Reading(" ".join(f"{name}={value}" for name, value in sorted(self.lines.items())))

    async def reachable(self) -> bool:
        return "broken" not in self.lines

    async def revert_by_script(self, script: str) -> None:
        if "broken" in self.lines:
            raise ChannelBroken("a password is required")
        if script.startswith("remove "):
            self.lines.pop(script.removeprefix("remove "), None)


async def _write(arguments: Mapping[str, str], notebook: Notebook) -> Observation:
    notebook.lines[arguments["name"]] = arguments["value"]
    return Observation("written")


WRITE: Tool[Any] = Tool("write", "Write a line.", {"name": "its name", "value": "its text"}, _write)
SIGNS = (HealthProbe("access", "probe", "reachable"), HealthProbe("lines", "configuration"))


def _digest(lines: Lines) -> str:
    return sha256(msgspec.json.encode(sorted(lines.items()))).hexdigest()


class NotebookSkill:
    """The skill of these items on a fresh notebook."""

    name = "notebook"
    vital_signs = SIGNS
    words = frozenset({"line"})
    agents: Mapping[str, MakeAgents] = {}

    def __init__(self, items: Sequence[WorkItem], faults: Faults | None = None) -> None:
        self.items = tuple(items)
        self.faults = faults or Faults()
        self.opened: list[Notebook] = []

    def settings(self) -> dict[str, Any]:
        return {"items": [item.id for item in self.items]}

    @contextmanager
    def open(self, kept: Path, clock: Clock) -> Iterator[Notebook]:
        self.opened.append(Notebook(kept, clock, self.faults))
        yield self.opened[-1]


class Scripted:
    """An agent that does what a function says."""

    def __init__(self, name: str, act: Act) -> None:
        self.name = name
        self._act = act

    async def act(self, context: Context, turn: Turn) -> str:
        return await self._act(context, turn)


def saying(text: str, seconds: float = 10.0) -> Scripted:
    async def act(context: Context, turn: Turn) -> str:  # noqa: ARG001
        await turn.think(seconds)
        return text

    return Scripted("talker", act)


def writing(*values: str, seconds: float = 30.0) -> Scripted:
    """A worker whose attempts write one value each, the last one again and again.

    A value `done` stands for the item's line, `name=value` for another, and an empty one for doing nothing.
    """

    async def act(context: Context, turn: Turn) -> str:
        await turn.think(seconds)
        value = values[min(context.attempt, len(values)) - 1]
        name, _, text = value.rpartition("=")
        if value:
            await turn.call("write", {"name": name or context.item.id, "value": text})
        return f"I wrote {value}.\nREVERT: remove {name or context.item.id}"

    return Scripted("writer", act)


def team(worker: Scripted, reflector: Scripted | None = None, strategist: Scripted | None = None) -> Agents:
    return Agents(
        saying("Write the line."),
        worker,
        reflector or saying("The line is missing."),
        strategist or saying("VERDICT: CONTINUE\nPLAN: Write it."),
    )


def items(*names: str) -> tuple[WorkItem, ...]:
    return tuple(WorkItem(name, "lines", f"Write {name}=done.") for name in names)


def looped(skill: NotebookSkill, agents: Agents, folder: Path, settings: LoopSettings | None = None) -> list[LoopEvent]:
    clock = VirtualClock()
    log = Log(clock)
    with skill.open(folder, clock) as target:
        asyncio.run(run_loop(skill, target, agents, settings or LoopSettings(), clock, log))
    return log.events


def happened(events: Sequence[LoopEvent], kind: type[Happening] | Any, item: str = "") -> list[Any]:
    return [each.happened for each in events if isinstance(each.happened, kind) and item in ("", each.item)]


def ends(events: Sequence[LoopEvent]) -> dict[str, Ending]:
    return {each.item: each.happened.ending for each in events if isinstance(each.happened, ItemEnded)}
