"""A skill as the loop holds it: whatever its code raises, gives back or waits for is an answer, or one error."""

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec

from misstep_harness.agent.clocks import Clock, within
from misstep_harness.agent.tools import Tool
from misstep_harness.errors import CannotWrite, MisstepError, SkillFailed, is_full
from misstep_harness.escaping import without_surrogates
from misstep_harness.reflexive.protocols import Check, Reading, Target
from misstep_harness.reflexive.records import Role
from misstep_harness.registry import raised

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


_ANSWERS: Mapping[str, Any] = {
    "keep": str,
    "kept": str | None,
    "restore": None,
    "digest": str,
    "protected": str,
    "check": Check,
    "ready": bool,
    "prepare": None,
    "read": Reading,
    "read_outside": Reading,
    "reachable": bool,
    "revert_by_script": None,
}
"""Method → the type of its answer; `None` for an answer that nobody looks at."""

_AWAITED = frozenset(name for name in _ANSWERS if inspect.iscoroutinefunction(getattr(Target, name)))


class GuardedTarget:
    """The target of a skill, with all methods of a `Target`; awaited ones may take `seconds`, `None` for no limit."""

    def __init__(self, target: Target, clock: Clock, seconds: float | None) -> None:
        check_members("the skill's target", target, Target)
        self._target, self._clock, self._seconds = target, clock, seconds

    def __getattr__(self, name: str) -> Any:
        if name == "place":
            return answer_of(name, lambda: self._target.place)
        if name not in _ANSWERS:
            raise AttributeError(name)
        return partial(self._awaited if name in _AWAITED else self._answer, name)

    def tools(self, role: Role) -> Sequence[Tool[Any]]:
        """Return the commands of a role."""
        tools = answer_of("tools", lambda: tuple(self._target.tools(role)))
        for tool in tools:
            if not isinstance(tool, Tool):
                raise _other_type("tools", f"a command is a Tool, not {type(tool).__name__}")
        return tools

    def _answer(self, method: str, *arguments: Any) -> Any:
        return _typed(method, answer_of(method, lambda: getattr(self._target, method)(*arguments)))

    async def _awaited(self, method: str, *arguments: Any) -> Any:
        work = answer_of(method, lambda: getattr(self._target, method)(*arguments))
        try:
            answer = await (work if self._seconds is None else within(self._clock, self._seconds, work))
        except MisstepError:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # the run is stopped
                raise
            raise _failed(method, error) from error
        except (Exception, SystemExit, GeneratorExit) as error:
            raise _failed(method, error) from error
        return _typed(method, answer)


def _typed(method: str, answer: object) -> Any:
    """Return an answer, if it is of its type throughout: the log has to be read again."""
    if (kind := _ANSWERS[method]) is None:
        return None
    try:
        plain = msgspec.to_builtins(answer, builtin_types=(bytes, bytearray, memoryview))
        answer = msgspec.convert(plain, kind)
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as error:
        raise _other_type(method, str(error)) from None
    return without_surrogates(answer) if isinstance(answer, str) else answer


def _other_type(method: str, error: str) -> SkillFailed:
    return SkillFailed(
        f"the skill's `{method}` gave something else than it has to: {without_surrogates(error)}", ADVICE
    )


def _failed(method: str, error: BaseException) -> MisstepError:
    if isinstance(error, OSError) and is_full(error):
        return CannotWrite(error.filename or f"what the skill's `{method}` writes", error.strerror or str(error))
    return SkillFailed(f"the skill's `{method}` raised {without_surrogates(raised(error))}", _MEND)
