"""Run the reflexive loop on a skill as one resumable run: every event is on disk before the loop goes on."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.agent.clocks import Clock, VirtualClock
from misstep_harness.errors import InputError, SkillFailed, UsageError
from misstep_harness.escaping import one_line
from misstep_harness.journal.inputs import FileState, file_state, inputs_of_files
from misstep_harness.journal.records import (
    MANIFEST,
    Manifest,
    Records,
    encode_lines,
    new_manifest,
    now,
    read_manifest,
    read_records,
    replace_file,
    toml_text,
)
from misstep_harness.journal.run_folder import RunInProgress, reopen_if_damaged, standing
from misstep_harness.progress import Progress
from misstep_harness.reflexive.guarded import ADVICE, answer_of
from misstep_harness.reflexive.log import Log
from misstep_harness.reflexive.loop import run_loop
from misstep_harness.reflexive.memory import Lesson, MemoryRules, memory_of
from misstep_harness.reflexive.model_agents import NobodyAnswers
from misstep_harness.reflexive.protocols import Agents, Skill
from misstep_harness.reflexive.records import LOOP_RECORDS, ItemEnded, LoopEvent, WorkItem, events_that_hold
from misstep_harness.reflexive.settings import LoopSettings
from misstep_harness.runs.model_requests import ConcurrentRequests

COMMAND = "reflect run"
SNAPSHOTS = "snapshots"
CHANGES = "changes.diff"
"""In a run's folder: what all solved items changed, of a skill that works on files of the user's."""

EARLIER_LESSONS = Records(Lesson, "earlier_lessons.jsonl", "lesson")
"""In a run's folder: the lessons that it began with, so that it can be moved without the runs that they are from."""


class ReflectPlan(Struct, frozen=True):
    """What is to be run; the lessons of the runs in `lessons_from` are known from the start."""

    skill: Skill
    agents_name: str
    agents: Agents
    settings: LoopSettings = LoopSettings()
    seed: int = 0
    items: tuple[str, ...] | None = None
    lessons_from: tuple[Path, ...] = ()


class ItemSummary(Struct, frozen=True):
    """How work on an item ended."""

    id: str
    end: str
    attempts: int
    seconds: float
    reason: str = ""


class ReflectSummary(Struct, frozen=True):
    """How a run ended: each item with its end, and why it stopped early, if it did."""

    items: tuple[ItemSummary, ...]
    stopped: str = ""


class _Entry(Struct, frozen=True):
    """The journal's entry for one event."""

    number: int


def run_reflexive(
    plan: ReflectPlan,
    out: Path,
    clock: Clock,
    *,
    client: dict[str, Any] | None = None,
    requests: ConcurrentRequests | None = None,
    arguments: Sequence[str] = (),
) -> ReflectSummary:
    """Run the loop to its end, or go on with the run in `out`."""
    stopped = ""
    items = _items(plan)
    manifest = _manifest(plan, clock, client or {}, arguments)
    answer_of("settings", lambda: toml_text(manifest))
    reopen_if_damaged(out, manifest)
    earlier = standing(out, manifest, LOOP_RECORDS)
    if earlier is None or not earlier.finished:
        lessons = [lesson for folder in plan.lessons_from for lesson in lessons_of(folder)]
        with RunInProgress(out, manifest, LOOP_RECORDS, _Entry, _entry_of, goes_on=True) as run:
            if not run.finished:
                if plan.lessons_from:
                    replace_file(out / EARLIER_LESSONS.file, encode_lines(lessons))
                try:
                    asyncio.run(_run(plan, items, lessons, run, clock, requests))
                    run.finish(now())
                except NobodyAnswers as error:
                    stopped = str(error)
    if stopped and requests is not None and not requests.over_cost_limit:
        requests.check()
    return replace(summary_of(recorded_events(out)), stopped=stopped)


def _entry_of(event: LoopEvent, _noted: _Entry | None) -> _Entry:
    return _Entry(event.number)


def recorded_events(run: Path) -> Iterator[LoopEvent]:
    """Return the events of a run in their order; raises `InputError` without such a run."""
    return read_records(run, LOOP_RECORDS, unfinished=True)


def summary_of(events: Iterator[LoopEvent]) -> ReflectSummary:
    """How each item ended, in the order in which they did; an item whose success was lost counts with its last end."""
    ends = {one.item: one.happened for one in events_that_hold(events) if isinstance(one.happened, ItemEnded)}
    summaries = (
        ItemSummary(item, end.ending.end, end.attempts, end.seconds, end.ending.reason) for item, end in ends.items()
    )
    return ReflectSummary(tuple(summaries))


def lessons_of(run: Path) -> tuple[Lesson, ...]:
    """Return the lessons that a run leaves to later ones, those that it had itself included."""
    manifest = read_manifest(run)
    settings = {} if manifest is None else manifest.settings
    earlier = _earlier_lessons(run, settings.get("lessons_from", []))
    stored = settings.get("dials", {}).get("lessons_stored", LoopSettings().lessons_stored)
    rules = MemoryRules.of(LoopSettings(lessons_stored=stored, without=frozenset(settings.get("without", []))))
    return memory_of(events_that_hold(recorded_events(run)), earlier, rules).for_later(run.resolve().name)


def _earlier_lessons(run: Path, names: Sequence[str]) -> list[Lesson]:
    """Return the lessons that a run began with; those of a run of 0.1 are in the folders that it names."""
    if (run / EARLIER_LESSONS.file).exists():
        return list(read_records(run, EARLIER_LESSONS))
    beside = run.resolve().parent
    lessons: list[Lesson] = []
    for name in names:
        places = (beside / name, beside / Path(name).name)
        place = next((one for one in places if (one / MANIFEST).is_file()), None)
        if place is None:
            message = f"it began with the lessons of the run {name}, which is not there"
            raise InputError(message, f"Copy that run to {places[1]}.", file=run)
        lessons += lessons_of(place)
    return lessons


async def _run(
    plan: ReflectPlan,
    items: Sequence[WorkItem],
    lessons: Sequence[Lesson],
    run: RunInProgress[LoopEvent, _Entry],
    clock: Clock,
    requests: ConcurrentRequests | None,
) -> None:
    log = Log(clock, lambda event: run.append([event], _Entry(event.number)), list(recorded_events(run.folder)))
    try:
        ended = sum(state.ending is not None for state in log.state.items.values())
        with Progress("items", len(items), ended) as progress, ExitStack() as stack:
            place = run.folder / SNAPSHOTS
            target = answer_of("open", lambda: stack.enter_context(plan.skill.open(place, clock)))
            await run_loop(
                plan.skill,
                target,
                plan.agents,
                plan.settings,
                clock,
                log,
                lessons,
                plan.seed,
                agents_name=plan.agents_name,
                items=items,
                item_ended=progress.advance,
            )
            answer_of("open", stack.close)
    finally:
        if requests is not None:
            await requests.close()


def _state_wherever_it_lies(run: Path) -> FileState:
    file = LOOP_RECORDS.file
    return replace(file_state(run / file), file=f"{run.resolve().name}/{file}")


def _items(plan: ReflectPlan) -> tuple[WorkItem, ...]:
    every = answer_of("items", lambda: tuple(plan.skill.items))
    if not every:
        raise UsageError(f"the skill {plan.skill.name} has no items", "Give it one at least.")
    for item in every:
        _check_item(plan.skill.name, item)
    twice = [name for name, times in Counter(item.id for item in every).items() if times > 1]
    if twice:
        raise UsageError(f"the skill {plan.skill.name} has two items {twice[0]!r}", "Give each item an id of its own.")
    if plan.items is None:
        return every
    known = {item.id: item for item in every}
    for name in plan.items:
        if name not in known:
            raise UsageError(f"the skill {plan.skill.name} has no item {name!r}", f"Known: {', '.join(known)}.")
    return tuple(item for name, item in known.items() if name in plan.items)


def _check_item(skill: str, item: object) -> None:
    try:
        checked = msgspec.json.decode(msgspec.json.encode(item), type=WorkItem)
    except (msgspec.MsgspecError, TypeError, ValueError) as error:
        message = f"the skill {skill} has an item that is not a WorkItem: {one_line(str(error))}"
        raise SkillFailed(message, ADVICE) from error
    if not checked.id.strip() or not checked.id.isprintable():
        message = f"the skill {skill} has an item with the id {checked.id!r}"
        raise SkillFailed(message, "Give each item an id of its own that people can read.")


def _manifest(plan: ReflectPlan, clock: Clock, client: dict[str, Any], arguments: Sequence[str]) -> Manifest:
    work = answer_of("settings", lambda: msgspec.convert(msgspec.to_builtins(plan.skill.settings()), dict[str, Any]))
    dials = msgspec.to_builtins(plan.settings)
    evidence = {"evidence": work.pop("evidence")} if "evidence" in work else {}
    return new_manifest(
        COMMAND,
        {
            "skill": plan.skill.name,
            "agents": plan.agents_name,
            "seed": plan.seed,
            "items": None if plan.items is None else list(plan.items),
            "without": sorted(dials.pop("without")),
            "lessons_from": [run.resolve().name for run in plan.lessons_from],
            "virtual_time": isinstance(clock, VirtualClock),
            "dials": dials,
            "work": work,
            **evidence,
            **client,
        },
        inputs_of_files(map(_state_wherever_it_lies, plan.lessons_from)),
        arguments,
        shown=getattr(plan.skill, "shown", ()),
    )
