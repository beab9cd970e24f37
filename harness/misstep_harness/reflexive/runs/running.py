"""Run the reflexive loop on a skill as one resumable run: every event is on disk before the loop goes on.

An ablation runs the loop with each mechanism left out in turn, over seeds, as one resumable piece of work:

    ABLATION/whole/seed-0/                    a run as `reflect run` makes it
    ABLATION/without_snapshots/seed-0/
    ABLATION/earlier/seed-0/                  the run whose lessons all others with that seed begin with

All runs of a seed have the same items and draws, so that configurations are compared in pairs. Time is virtual.
"""

import asyncio
import multiprocessing
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.agent.clocks import Clock, VirtualClock
from misstep_harness.agent.protocols import ModelSettings
from misstep_harness.clients import ClientSettings
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
from misstep_harness.journal.run_folder import PROGRESS, RunInProgress, locked, make_folder, reopen_if_damaged, standing
from misstep_harness.progress import Progress
from misstep_harness.reflexive.guarded import ADVICE, answer_of, check_members
from misstep_harness.reflexive.log import Log
from misstep_harness.reflexive.loop import run_loop
from misstep_harness.reflexive.memory import Lesson, MemoryRules, memory_of
from misstep_harness.reflexive.model_agents import NobodyAnswers, model_agents
from misstep_harness.reflexive.protocols import Agent, Agents, Skill
from misstep_harness.reflexive.records import (
    ALL,
    EARLIER,
    LOOP_RECORDS,
    MECHANISMS,
    ItemEnded,
    LoopEvent,
    LoopSettings,
    TurnEnded,
    WorkItem,
    events_that_hold,
)
from misstep_harness.reflexive.runs.skills import SkillOptions, made_skill
from misstep_harness.runs.model_requests import ConcurrentRequests, ItemAsk
from misstep_harness.runs.spread import MOST_WORKERS, Spread, available, in_order

MODEL = "model"


class ChosenAgents(Struct, frozen=True):
    """Agents, their name, and for those of a model their way to it and what the manifest says of it."""

    name: str
    agents: Agents
    requests: ConcurrentRequests | None = None
    client: dict[str, Any] = {}


def agents_of_skill(skill: Skill, name: str, seed: int) -> ChosenAgents:
    """Agents that a skill brings; without a name its first."""
    chosen = name or next(iter(skill.agents), "")
    if not chosen:
        advice = "Name a model with --model, or for the skill `command` give its items lines under `try`."
        raise UsageError(f"the skill {skill.name} has no agents of its own here", advice)
    if chosen not in skill.agents:
        known = ", ".join([*skill.agents, MODEL])
        raise UsageError(f"the skill {skill.name} has no agents {chosen!r}", f"Known: {known}.")
    agents = answer_of(f"agents[{chosen!r}]", lambda: skill.agents[chosen](seed))
    if not isinstance(agents, Agents):
        raise SkillFailed(f"the agents {chosen!r} of the skill {skill.name} are not Agents, but {agents!r:.80}", ADVICE)
    for role in agents.__struct_fields__:
        check_members(f"the {role} of the agents {chosen!r}", getattr(agents, role), Agent)
    return ChosenAgents(chosen, agents)


def agents_of_model(model: ModelSettings, client: ClientSettings) -> ChosenAgents:
    """Return one model in every role."""
    requests = ConcurrentRequests(client, 1)
    agents = model_agents(ItemAsk(requests, "", model.name), model)
    recorded = {
        "model": model.name,
        "base_url": client.base_url or "",
        "temperature": model.temperature,
        "max_tokens": model.max_tokens,
    }
    return ChosenAgents(MODEL, agents, requests, recorded)


def spent_usd(run: Path) -> float:
    """Return what the turns of a run have cost, also those that a kill made void; 0 without a run."""
    if not (run / LOOP_RECORDS.file).exists():
        return 0.0
    turns = (
        event.happened
        for event in read_records(run, LOOP_RECORDS, unfinished=True)
        if isinstance(event.happened, TurnEnded)
    )
    return sum(turn.usd for turn in turns)


WHOLE = "whole"
_WITHOUT = "without_"
_EARLIER_SEEDS = 1_000_000
"""What is added to a seed for the run before: other items, other chances."""


class AblationPlan(Struct, frozen=True):
    """What is to be compared: each configuration runs once with each of the seeds, which are the seeds of the skill."""

    seeds: tuple[int, ...]
    skill: str = "simulated"
    options: SkillOptions = SkillOptions()
    agents: str = "mixed"
    mechanisms: tuple[str, ...] = tuple(MECHANISMS)
    settings: LoopSettings = LoopSettings()


class AblationRun(Struct, frozen=True):
    """One run of an ablation: its configuration, what that leaves out, its seed and its folder."""

    configuration: str
    without: frozenset[str]
    seed: int
    folder: Path


def configurations(mechanisms: Sequence[str]) -> dict[str, frozenset[str]]:
    """Configuration → what it leaves out: nothing, each mechanism, all of them."""
    single = {f"{_WITHOUT}{name}": frozenset({name}) for name in mechanisms}
    return {WHOLE: frozenset(), **single, f"{_WITHOUT}{ALL}": frozenset(MECHANISMS)}


def runs_of(plan: AblationPlan, out: Path) -> list[AblationRun]:
    """Return the runs of an ablation by configuration, without the run whose lessons they begin with."""
    unknown = [name for name in plan.mechanisms if name not in MECHANISMS]
    if unknown:
        raise UsageError(f"unknown mechanism {unknown[0]!r}", f"Known: {', '.join(MECHANISMS)}.")
    return [
        AblationRun(name, without, seed, out / name / f"seed-{seed}")
        for name, without in configurations(plan.mechanisms).items()
        for seed in plan.seeds
    ]


def run_ablation(
    plan: AblationPlan, out: Path, *, processes: int | None = None, arguments: Sequence[str] = ()
) -> list[AblationRun]:
    """Run all that is missing in `out`, a seed in each process."""
    runs = runs_of(plan, out)
    skill = made_skill(plan.skill, plan.options)
    if plan.agents not in skill.agents:
        raise UsageError(f"the skill {plan.skill} has no agents {plan.agents!r}", f"Known: {', '.join(skill.agents)}.")
    pieces = ((plan, seed, out, tuple(arguments)) for seed in plan.seeds)
    make_folder(out)
    with locked(out / PROGRESS), Progress("seeds", len(plan.seeds)) as progress:
        try:
            for _ in in_order(
                _run_seed,
                pieces,
                Spread(processes or min(available(), MOST_WORKERS, len(plan.seeds))),
                lambda piece: f"seed {piece[1]}",
            ):
                progress.advance()
        finally:
            (out / PROGRESS).unlink(missing_ok=True)
    return runs


def _run_seed(piece: tuple[AblationPlan, int, Path, tuple[str, ...]]) -> None:
    """Make all runs with a seed; in a process of its own it leaves the terminal to its parent."""
    plan, seed, out, arguments = piece
    if multiprocessing.parent_process() is not None:
        os.environ["TERM"] = "dumb"
    before = AblationRun(EARLIER, frozenset(), seed + _EARLIER_SEEDS, out / EARLIER / f"seed-{seed}")
    _run_one(plan, before, (), arguments)
    for run in runs_of(replace(plan, seeds=(seed,)), out):
        _run_one(plan, run, (before.folder,), arguments)


def _run_one(plan: AblationPlan, run: AblationRun, lessons_from: tuple[Path, ...], arguments: tuple[str, ...]) -> None:
    skill = made_skill(plan.skill, replace(plan.options, seed=run.seed))
    run_reflexive(
        ReflectPlan(
            skill=skill,
            agents_name=plan.agents,
            agents=skill.agents[plan.agents](run.seed),
            settings=replace(plan.settings, without=plan.settings.without | run.without),
            seed=run.seed,
            lessons_from=lessons_from,
        ),
        run.folder,
        VirtualClock(),
        arguments=arguments,
    )


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
