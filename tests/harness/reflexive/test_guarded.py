"""Whatever a skill's own code raises, gives back or waits for is an answer, or one error that names the method."""

import asyncio
import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.agent.clocks import Clock, VirtualClock
from misstep_harness.errors import CannotWrite, SkillFailed, TimeSpent
from misstep_harness.reflexive.guarded import GuardedTarget, check_members
from misstep_harness.reflexive.log import Log
from misstep_harness.reflexive.loop import run_loop
from misstep_harness.reflexive.protocols import Agents, Target
from misstep_harness.reflexive.records import (
    Checked,
    Diagnosed,
    Failed,
    Halted,
    ItemEnded,
    ItemLimits,
    LoopSettings,
    WorkItem,
)
from tests.harness.reflexive.notebook import (
    SIGNS,
    Faults,
    Notebook,
    NotebookSkill,
    ends,
    happened,
    items,
    looped,
    saying,
    team,
    writing,
)

ITEM = items("a")[0]
ASKED: dict[str, Callable[[Target], Any]] = {
    "keep": lambda target: target.keep("progress"),
    "kept": lambda target: target.kept("progress"),
    "restore": lambda target: target.restore("progress"),
    "digest": lambda target: target.digest(),
    "protected": lambda target: target.protected(),
    "tools": lambda target: target.tools("worker"),
    "check": lambda target: asyncio.run(target.check(ITEM)),  # type: ignore[arg-type]
    "ready": lambda target: target.ready(ITEM),
    "prepare": lambda target: asyncio.run(target.prepare(ITEM)),  # type: ignore[arg-type]
    "read": lambda target: asyncio.run(target.read(SIGNS[0])),  # type: ignore[arg-type]
    "read_outside": lambda target: target.read_outside(SIGNS[0]),
    "reachable": lambda target: asyncio.run(target.reachable()),  # type: ignore[arg-type]
    "revert_by_script": lambda target: asyncio.run(target.revert_by_script("")),  # type: ignore[arg-type]
}
AWAITED = ("check", "prepare", "read", "reachable", "revert_by_script")


def guarded(folder: Path, method: str, does: Callable[..., Any], seconds: float | None = None) -> GuardedTarget:
    clock = VirtualClock()
    target = Notebook(folder, clock, Faults())
    setattr(target, method, does)
    return GuardedTarget(target, clock, seconds)


@pytest.mark.parametrize("method", ASKED)
@pytest.mark.parametrize(
    "error", [ValueError("no\nidea"), SystemExit(0), GeneratorExit(), asyncio.CancelledError(), OSError("odd")]
)
def test_what_no_method_may_raise_is_one_error_that_names_the_method(method, error, tmp_path) -> None:
    def sync(*_: Any) -> Any:
        raise error

    async def awaited(*_: Any) -> Any:
        raise error

    for does in (sync, awaited) if method in AWAITED else (sync,):
        with pytest.raises(SkillFailed, match=rf"the skill's `{method}` raised {type(error).__name__}") as result:
            ASKED[method](guarded(tmp_path, method, does))
        assert "\n" not in result.value.line()


@pytest.mark.parametrize("method", ["keep", "digest", "protected", "tools", "check", "ready", "read", "reachable"])
@pytest.mark.parametrize("answer", [None, b"bytes", 3, object(), ["passed"]])
def test_a_wrong_type_is_an_error_that_names_the_method(method: str, answer: object, tmp_path: Path) -> None:
    async def awaited(*_: Any) -> Any:
        return answer

    with pytest.raises(SkillFailed, match=f"`{method}`"):
        ASKED[method](guarded(tmp_path, method, awaited if method in AWAITED else lambda *_: answer))


@pytest.mark.parametrize("method", AWAITED)
def test_what_waits_for_ever_is_cut_off_and_the_time_counts(method: str, tmp_path: Path) -> None:
    async def waits(*_: Any) -> Any:
        await asyncio.Event().wait()

    target = guarded(tmp_path, method, waits, 0.01)
    with pytest.raises(TimeSpent):
        ASKED[method](target)
    assert target._clock.now() == 0.01


def test_a_device_without_room_is_no_broken_target(tmp_path: Path) -> None:
    def full(*_: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device", "object")

    with pytest.raises(CannotWrite, match="object: cannot write: No space left"):
        ASKED["restore"](guarded(tmp_path, "restore", full))


def test_what_lacks_names_is_told_which() -> None:
    with pytest.raises(SkillFailed, match=r"the skill's target has no keep, kept, .*reflect-skill"):
        check_members("the skill's target", object(), Target)


class Changed(NotebookSkill):
    """A notebook whose methods are others."""

    def __init__(self, work: tuple[WorkItem, ...], **methods: Callable[..., Any]) -> None:
        super().__init__(work)
        self._methods = methods

    @contextmanager
    def open(self, kept: Path, clock: Clock) -> Iterator[Notebook]:
        with super().open(kept, clock) as target:
            for name, does in self._methods.items():
                setattr(target, name, lambda *given, does=does: does(target, *given))
            yield target


def test_a_check_that_never_ends_costs_its_item_alone(tmp_path: Path) -> None:
    async def check(target: Notebook, item: WorkItem) -> Any:
        if item.id == "a":
            await asyncio.Event().wait()
        return await Notebook.check(target, item)

    skill = Changed(items("a", "b"), check=check)
    settings = LoopSettings(item=ItemLimits(seconds=0.1))
    quick = saying("Write it.", 0.0)
    events = looped(skill, Agents(quick, writing("done", seconds=0.01), quick, quick), tmp_path, settings)
    assert {name: end.reason for name, end in ends(events).items()} == {"a": "time_budget", "b": "check_passed"}
    assert "cut off after 0.1 seconds" in happened(events, Checked, "a")[0].text


def test_a_way_in_that_hangs_is_given_up_at_its_first_sign_and_read_from_outside(tmp_path: Path) -> None:
    asked = []

    async def read(target: Notebook, sign: Any) -> Any:  # noqa: ARG001
        asked.append(sign.name)
        await asyncio.Event().wait()

    settings = LoopSettings(item=ItemLimits(seconds=0.1))
    quick = saying("Write it.", 0.0)
    events = looped(
        Changed(items("a"), read=read), Agents(quick, writing("half", seconds=0.0), quick, quick), tmp_path, settings
    )
    result = happened(events, Diagnosed)[0]
    wanted = ("out_of_band", "access: it was cut off after 0.1 seconds", {"access", "lines"})
    assert (result.channel, result.why, set(result.facts)) == wanted
    assert asked == ["access"]


def test_a_worker_that_breaks_what_the_digest_is_of_is_reverted(tmp_path: Path) -> None:
    def digest(target: Notebook) -> str:
        if "other" in target.lines:
            raise ValueError("what is that?")
        return Notebook.digest(target)

    events = looped(Changed(items("a"), digest=digest), team(writing("other=yes", "done")), tmp_path)
    assert [(one.kind, one.change) for one in happened(events, Failed)] == [("check_failed", "")]
    assert ends(events)["a"].end == "solved"


def test_a_full_device_during_a_restoration_ends_no_item_and_the_run_goes_on_when_there_is_room(tmp_path: Path) -> None:
    full = [True]

    def restore(target: Notebook, name: Any) -> None:
        if full:
            raise OSError(errno.ENOSPC, "No space left on device", str(name))
        Notebook.restore(target, name)

    skill, clock = Changed(items("a"), restore=restore), VirtualClock()
    log, agents = Log(clock), team(writing("half", "done"))
    with skill.open(tmp_path, clock) as target:
        with pytest.raises(CannotWrite):
            asyncio.run(run_loop(skill, target, agents, LoopSettings(), clock, log))
        assert not happened(log.events, Halted)
        assert not happened(log.events, ItemEnded)
        full.clear()
        asyncio.run(run_loop(skill, target, agents, LoopSettings(), clock, Log(clock, log.events.append, log.events)))
    assert ends(log.events)["a"].end == "solved"
