"""Measure 1,000 virtual item-hours of the reflexive loop on one core: `python -m benchmarks reflexive_speed`.

Runs of the simulated skill follow each other, each with the next seed. The log is on disk, then in memory alone, which
says what the log costs; a profile of a part says what takes the rest.
"""

import asyncio
import cProfile
import pstats
import tempfile
import time
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path

from benchmarks.measuring import verdict
from misstep.harness.agent.clocks import VirtualClock
from misstep.harness.records.loop_events import ItemEnded, LoopEvent
from misstep.harness.reflexive.log import Log
from misstep.harness.reflexive.loop import run_loop
from misstep.harness.reflexive.settings import LoopSettings, mechanisms_named
from misstep.harness.reflexive.simulated.skill import SimulatedSkill
from misstep.harness.runs.reflect.running import ReflectPlan, recorded_events, run_reflexive

HOURS, BOUND_SECONDS, ITEMS = 1_000.0, 120.0, 40


def _on_disk(seed: int, settings: LoopSettings) -> list[LoopEvent]:
    skill = SimulatedSkill(ITEMS, seed)
    with tempfile.TemporaryDirectory() as folder:
        plan = ReflectPlan(skill, "mixed", skill.agents["mixed"](seed), settings, seed)
        run_reflexive(plan, Path(folder) / "run", VirtualClock())
        return list(recorded_events(Path(folder) / "run"))


def _in_memory(seed: int, settings: LoopSettings) -> list[LoopEvent]:
    skill, clock = SimulatedSkill(ITEMS, seed), VirtualClock()
    log = Log(clock)
    with tempfile.TemporaryDirectory() as folder, skill.open(Path(folder), clock) as target:
        asyncio.run(run_loop(skill, target, skill.agents["mixed"](seed), settings, clock, log, seed=seed))
    return log.events


FORMS = {"on disk": _on_disk, "in memory": _in_memory}


def _worked(form: str, hours: float, settings: LoopSettings) -> tuple[int, int, float, float]:
    """Return runs, events, hours that were worked on items, and the processor seconds that they took."""
    runs, events, worked, started = 0, 0, 0.0, time.process_time()
    while worked < hours:
        log = FORMS[form](runs, settings)
        runs, events = runs + 1, events + len(log)
        worked += sum(event.happened.seconds for event in log if isinstance(event.happened, ItemEnded)) / 3600
    return runs, events, worked, time.process_time() - started


def _shares(hours: float, settings: LoopSettings) -> list[str]:
    """Return the modules in which most of the time is spent, by a profile of runs in memory."""
    profile = cProfile.Profile()
    profile.runcall(_worked, "in memory", hours, settings)
    root = str(Path(__file__).parents[1])
    spent: Counter[str] = Counter()
    for (file, _, _), (_, _, own, _, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        name = file.removeprefix(f"{root}/") if file.startswith(root) else "Python and its libraries"
        spent[name] += own
    total = sum(spent.values())
    return [f"{seconds / total:4.0%} {name}" for name, seconds in spent.most_common(8)]


def main() -> None:
    """Print what the hours take."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=HOURS)
    parser.add_argument("--without", nargs="*", default=[])
    options = parser.parse_args()
    settings = LoopSettings(without=mechanisms_named(options.without))
    for form in FORMS:
        runs, events, hours, total = _worked(form, options.hours, settings)
        print(
            f"log {form}: {hours:,.0f} item-hours in {runs} runs and {events:,} events took {total:.1f} s of one core "
            f"{verdict(total, BOUND_SECONDS * options.hours / HOURS)}, {1e6 * total / events:.0f} µs an event"
        )
    print("own time by module: " + "; ".join(_shares(options.hours / 50, settings)))
