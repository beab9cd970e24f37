"""What memory does with lessons of known use, and how far agents drift apart without a fresh context: all generated."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from misstep.analysis.measures.reflexive.drift import StudiedDrift, drift
from misstep.analysis.measures.reflexive.lessons import Recall, StudiedUse, lesson_use
from misstep.harness.agent.clocks import VirtualClock
from misstep.harness.generate.lessons import GeneratedLesson, LessonSet, generate_lessons
from misstep.harness.records.loop_events import LoopEvent
from misstep.harness.reflexive.memory import Lesson, Memory, MemoryRules, memory_of
from misstep.harness.reflexive.memory.lessons import lesson_id
from misstep.harness.reflexive.settings import LoopSettings
from misstep.harness.runs.reflect.running import ReflectPlan, recorded_events, run_reflexive
from misstep.harness.runs.reflect.skills import SKILLS, SkillOptions

SETS, ROUNDS = 2, 3

SEED = 100
"""The seed of the first set: memory was written while sets of seeds below were looked at."""

BY_CHANCE = 0.2
"""The chance that an item is solved without its useful lesson, or with a harmful one beside it."""

COMMON = (2, 1, 0)
WITHOUT = ("", "harmful_lessons", "lesson_share", "memory")
SOURCE = f"seeds {SEED} to {SEED + SETS - 1}, each item {ROUNDS} times"

DRIFT_SEEDS = (0, 1)
PARTS_OF_ROOM = (1, 4, 8)
"""By what the usual room is divided: simulated agents say in a sentence what models say on a page."""

DRIFT_SOURCE = f"simulated skill, agents mixed, seeds {DRIFT_SEEDS[0]} to {DRIFT_SEEDS[-1]}"


def memory_study(common: Sequence[int] = COMMON, sets: int = SETS, rounds: int = ROUNDS) -> list[StudiedUse]:
    """Lessons of known use, learned and recalled under each configuration."""
    seeds = range(SEED, SEED + sets)
    return [
        StudiedUse(
            without,
            words,
            lesson_use(
                [one for seed in seeds for one in recalls(generate_lessons(seed, words), without, seed, rounds)]
            ),
        )
        for words in common
        for without in WITHOUT
    ]


def recalls(lessons: LessonSet, without: str, seed: int, rounds: int) -> list[Recall]:
    """Return what memory shows each time that an item comes."""
    random = Random(f"outcomes {seed}")  # noqa: S311 (made-up data)
    settings = LoopSettings(without=frozenset({without} - {""}))
    memory = memory_of((), [_stored(lesson) for lesson in lessons.earlier], MemoryRules.of(settings))
    known = list(lessons.earlier)
    turns = rounds * len(lessons.items)
    recalled: list[Recall] = []
    for turn, item in enumerate(rounds * lessons.items, 1):
        for lesson in lessons.learned[len(known) - len(lessons.earlier) : turn * len(lessons.learned) // turns]:
            known.append(lesson)
            memory = _learned(memory, lesson, lessons)
        shown = memory.recalled(item, settings.lessons_shown_tokens)
        recall = Recall(
            f"{seed} {item.id}",
            frozenset(_id(lesson) for lesson in known if lesson.helps == item.id),
            frozenset(_id(lesson) for lesson in known if item.id in lesson.harms),
            tuple(lesson.id for lesson in shown),
            len(memory.lessons),
        )
        recalled.append(recall)
        is_helped = bool(recall.useful & set(recall.shown)) and not recall.harmful & set(recall.shown)
        memory, _ = memory.after_outcome(recall.shown, item, helped=is_helped or random.random() < BY_CHANCE)
    return recalled


def _learned(memory: Memory, lesson: GeneratedLesson, lessons: LessonSet) -> Memory:
    item = next(item for item in lessons.items if item.category == lesson.category)
    return memory.learned(f"LESSON: {lesson.text}", item)[0]


def _stored(lesson: GeneratedLesson) -> Lesson:
    return Lesson(_id(lesson), lesson.category, lesson.text, run="earlier")


def _id(lesson: GeneratedLesson) -> str:
    return lesson_id(lesson.category, lesson.text)


def drift_study(parts: Sequence[int] = PARTS_OF_ROOM, seeds: Sequence[int] = DRIFT_SEEDS) -> list[StudiedDrift]:
    """How far agents' views of an attempt drift apart, with contexts made anew for each turn and with grown ones."""
    wanted = [(part, fresh) for part in parts for fresh in (True, False)]
    # A notebook's cells run in an event loop, and a run begins one of its own: hence the thread.
    with ThreadPoolExecutor(1) as apart:
        return [apart.submit(_drift, part, seeds, fresh=fresh).result() for part, fresh in wanted]


def _drift(part: int, seeds: Sequence[int], *, fresh: bool) -> StudiedDrift:
    usual = LoopSettings().context_tokens
    rooms = {role: tokens // part for role, tokens in usual.items()}
    settings = LoopSettings(context_tokens=rooms, without=frozenset() if fresh else frozenset({"fresh_context"}))
    logs: list[list[LoopEvent]] = []
    ends: list[str] = []
    for seed in seeds:
        skill = SKILLS.load("simulated")(SkillOptions(seed=seed))
        plan = ReflectPlan(skill, "mixed", skill.agents["mixed"](seed), settings, seed)
        with TemporaryDirectory() as folder:
            summary = run_reflexive(plan, Path(folder) / "run", VirtualClock())
            logs.append(list(recorded_events(Path(folder) / "run")))
        ends += [item.end for item in summary.items]
    return StudiedDrift(rooms["worker"], fresh, drift(*logs), ends.count("solved"), len(ends))
