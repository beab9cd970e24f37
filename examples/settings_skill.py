"""A skill of the reflexive loop: the settings of a service in one text, which a worker can break.

    misstep reflect run examples.settings_skill:settings --out run

A line that cannot be read takes the service down, and with it the only way in: the loop reads the vital signs from
outside and restores the text. `misstep help reflect-skill` says what each name is for.
"""

# ruff: noqa: D102 -- the protocols say what each method is for

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from misstep import (
    Agents,
    ChannelBroken,
    Check,
    Clock,
    Context,
    MisstepError,
    Observation,
    Reading,
    SkillOptions,
    Tool,
    Turn,
    VitalSign,
    WorkItem,
)

LINE = re.compile(r"[a-z]+ = \w+")
WANTED = {"timeout": "30", "retries": "3", "logging": "on"}


class Service:
    """The target: a text with a setting a line; the service runs while all of it can be read."""

    def __init__(self, folder: Path) -> None:
        self.text = "timeout = 5\n"
        self._folder = folder

    def keep(self, name: str) -> str:
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / name).write_text(self.text)
        return self.digest()

    def kept(self, name: str) -> str | None:
        file = self._folder / name
        return _digest(file.read_text()) if file.exists() else None

    def restore(self, name: str) -> None:
        if self.kept(name) is None:
            raise MisstepError(f"unknown snapshot {name}")
        self.text = (self._folder / name).read_text()

    def digest(self) -> str:
        return _digest(self.text)

    def protected(self) -> str:
        return ""  # the checks are in this file, out of reach of a worker

    def tools(self, role: str) -> Sequence[Tool[Any]]:
        return [Tool("add_line", "Add a line.", {"line": "the line"}, _add_line)] if role == "worker" else []

    @property
    def place(self) -> "Service":
        return self

    def _runs(self) -> bool:
        return all(LINE.fullmatch(line) for line in self.text.splitlines())

    async def check(self, item: WorkItem) -> Check:
        passes = f"{item.id} = {WANTED[item.id]}" in self.text.splitlines()
        return Check(self._runs(), "passed" if passes else "failed", self.text)

    def ready(self, item: WorkItem) -> bool:  # noqa: ARG002
        return True

    async def prepare(self, item: WorkItem) -> None:
        pass

    async def read(self, sign: VitalSign) -> Reading:
        if not self._runs():
            raise ChannelBroken("the service is down")
        return self.read_outside(sign)

    def read_outside(self, sign: VitalSign) -> Reading:  # noqa: ARG002
        wrong = [line for line in self.text.splitlines() if not LINE.fullmatch(line)]
        return Reading(f"cannot be read: {wrong[0]}" if wrong else "all lines can be read", not wrong)

    async def reachable(self) -> bool:
        return self._runs()

    async def revert_by_script(self, script: str) -> None:
        raise ChannelBroken(f"this service runs no scripts: {script}")


async def _add_line(arguments: Mapping[str, str], service: Service) -> Observation:
    service.text += arguments["line"] + "\n"
    return Observation("Added.")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Hasty:
    """Forgets the sign of equality until a reflection tells it, and says in the other roles what it sees."""

    name = "hasty"

    async def act(self, context: Context, turn: Turn) -> str:
        await turn.think(30)
        if context.role == "worker":
            sign = " = " if context.part("reflection") else " "
            await turn.call("add_line", {"line": f"{context.item.id}{sign}{WANTED[context.item.id]}"})
            return "I added the line."
        return context.part("facts") or "Add the line."


class SettingsSkill:
    """Three settings, the last of which needs the first."""

    name = "settings"
    items = (
        WorkItem("timeout", "network", "Set timeout to 30."),
        WorkItem("retries", "network", "Set retries to 3."),
        WorkItem("logging", "logs", "Set logging to on.", after=("timeout",)),
    )
    vital_signs = (VitalSign("lines", "probe", "settings_can_be_read"),)
    words = frozenset({"line", "setting"})
    agents = {"hasty": lambda seed: Agents(Hasty(), Hasty(), Hasty(), Hasty())}  # noqa: ARG005, RUF012

    def settings(self) -> dict[str, Any]:
        return {"wanted": WANTED}

    @contextmanager
    def open(self, kept: Path, clock: Clock) -> Iterator[Service]:  # noqa: ARG002
        yield Service(kept)


def settings(options: SkillOptions) -> SettingsSkill:  # noqa: ARG001
    """The skill; it has no use for options."""
    return SettingsSkill()
