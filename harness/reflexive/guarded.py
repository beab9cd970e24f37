"""A skill as the loop holds it: whatever its code raises, gives back or waits for is an answer, or one error.

Skills come from anywhere. What one raises that no method may raise, an answer of another type than `protocols` names,
and a method that takes longer than an item may, are `SkillFailed` or `TimeSpent`, and with them the loop deals as with
any target that fails. A device that takes no more is `CannotWrite`, which ends the run until there is room again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec

from misstep.harness.agent.clocks import Clock, within
from misstep.harness.agent.tools import Tool
from misstep.harness.errors import CannotWrite, MisstepError, SkillFailed, is_full
from misstep.harness.escaping import without_surrogates
from misstep.harness.records.loop_events import Role, SnapshotName
from misstep.harness.records.work_item import WorkItem
from misstep.harness.reflexive.protocols import Check, Reading, Target, VitalSign
from misstep.harness.registry import raised

T = TypeVar("T")

ADVICE = "`misstep help reflect-skill` says what each method gives."
_MEND = "Correct the skill and run the same command again: it keeps what is written already."


def answer_of(method: str, call: Callable[[], T]) -> T:
    """Return what a method of a skill gives."""
    try:
        return call()
    except MisstepError:
        raise
    except (Exception, SystemExit, GeneratorExit, asyncio.CancelledError) as error:
        raise _failed(method, error) from error


def members_of(protocol: type) -> tuple[str, ...]:
    """Return the names that what keeps to a protocol has."""
    return tuple(name for name in vars(protocol) if not name.startswith("_"))


def check_members(what: str, thing: object, protocol: type) -> None:
    """Refuse a thing that lacks a name of its protocol; raises `SkillFailed`, which lists what is missing."""
    missing = [name for name in members_of(protocol) if not answer_of(name, partial(hasattr, thing, name))]
    if missing:
        raise SkillFailed(f"{what} has no {', '.join(missing)}", ADVICE)


class GuardedTarget:
    """The target of a skill.

    - `target`: The skill's own.
    - `clock`: The run's clock.
    - `seconds`: How long a method may take that is awaited; `None` for no limit.
    """

    def __init__(self, target: Target, clock: Clock, seconds: float | None) -> None:
        check_members("the skill's target", target, Target)
        self._target = target
        self._clock = clock
        self._seconds = seconds

    def keep(self, name: SnapshotName) -> str:
        """Keep the state as it is under a name."""
        return _text("keep", lambda: self._target.keep(name))

    def kept(self, name: SnapshotName) -> str | None:
        """Return the digest of a kept snapshot."""
        found = answer_of("kept", lambda: self._target.kept(name))
        return None if found is None else _text("kept", lambda: found)

    def restore(self, name: SnapshotName) -> None:
        """Make the state what it was."""
        answer_of("restore", lambda: self._target.restore(name))

    def digest(self) -> str:
        """Return the digest of the content as it is now."""
        return _text("digest", self._target.digest)

    def protected(self) -> str:
        """Return the digest of what the checks consist of."""
        return _text("protected", self._target.protected)

    def tools(self, role: Role) -> Sequence[Tool[Any]]:
        """Return the commands of a role."""
        found = answer_of("tools", lambda: tuple(self._target.tools(role)))
        for tool in found:
            if not isinstance(tool, Tool):
                raise _other_type("tools", f"a command is a Tool, not {type(tool).__name__}")
        return found

    @property
    def place(self) -> Any:
        """Return the place that the commands act on."""
        return answer_of("place", lambda: self._target.place)

    async def check(self, item: WorkItem) -> Check:
        """Check an item."""
        return _typed("check", await self._awaited("check", lambda: self._target.check(item)), Check)

    def ready(self, item: WorkItem) -> bool:
        """Say whether the check of a deferred item can be made by now."""
        return _typed("ready", answer_of("ready", lambda: self._target.ready(item)), bool)

    async def prepare(self, item: WorkItem) -> None:
        """Bring about what a deferred check waits for."""
        await self._awaited("prepare", lambda: self._target.prepare(item))

    async def read(self, sign: VitalSign) -> Reading:
        """Read a vital sign through the target's own access."""
        return _typed("read", await self._awaited("read", lambda: self._target.read(sign)), Reading)

    def read_outside(self, sign: VitalSign) -> Reading:
        """Read a vital sign from the host's side."""
        return _typed("read_outside", answer_of("read_outside", lambda: self._target.read_outside(sign)), Reading)

    async def reachable(self) -> bool:
        """Say whether the target's own access works."""
        return _typed("reachable", await self._awaited("reachable", self._target.reachable), bool)

    async def revert_by_script(self, script: str) -> None:
        """Run a worker's own revert script."""
        await self._awaited("revert_by_script", lambda: self._target.revert_by_script(script))

    async def _awaited(self, method: str, call: Callable[[], Awaitable[T]]) -> T:
        work = answer_of(method, call)
        try:
            return await (work if self._seconds is None else within(self._clock, self._seconds, work))
        except MisstepError:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # the run is stopped
                raise
            raise _failed(method, error) from error
        except (Exception, SystemExit, GeneratorExit) as error:
            raise _failed(method, error) from error


def _text(method: str, call: Callable[[], str]) -> str:
    return without_surrogates(_typed(method, answer_of(method, call), str))


def _typed(method: str, answer: object, kind: type[T]) -> T:
    """Return an answer, if it is of its type throughout: the log has to be read again."""
    try:
        return msgspec.convert(msgspec.to_builtins(answer, builtin_types=(bytes, bytearray, memoryview)), kind)
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as error:
        raise _other_type(method, str(error)) from None


def _other_type(method: str, found: str) -> SkillFailed:
    return SkillFailed(
        f"the skill's `{method}` gave something else than it has to: {without_surrogates(found)}", ADVICE
    )


def _failed(method: str, error: BaseException) -> MisstepError:
    if isinstance(error, OSError) and is_full(error):
        return CannotWrite(error.filename or f"what the skill's `{method}` writes", error.strerror or str(error))
    return SkillFailed(f"the skill's `{method}` raised {without_surrogates(raised(error))}", _MEND)
