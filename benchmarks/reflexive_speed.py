"""How long 1,000 virtual item-hours of the reflexive loop take on one core: `python -m benchmarks reflexive_speed`.

The simulated skill with its usual workers, one run after the other with another seed each, every event on disk as it
happens, until the time that was worked on items comes to 1,000 hours. Once more with the log in memory alone, which
says what the log costs, and by a profile of a part, which says what takes the rest.
"""

import asyncio
import cProfile
import pstats
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections import Counter
from itertools import count
from pathlib import Path

from msgspec import Struct

from benchmarks.measuring import machine
from misstep.harness.agent.clocks import VirtualClock
from misstep.harness.records.loop_events import ItemEnded, LoopEvent
from misstep.harness.reflexive.log import Log
from misstep.harness.reflexive.loop import run_loop
from misstep.harness.reflexive.settings import LoopSettings, mechanisms_named
from misstep.harness.reflexive.simulated.skill import SimulatedSkill
from misstep.harness.runs.reflect.running import ReflectPlan, recorded_events, run_reflexive

HOURS = 1_000.0
BOUND_SECONDS = 120.0
ITEMS = 40


class Worked(Struct):
    """What runs came to: their number, hours of work on items, events, and the processor seconds that they took."""

    runs: int = 0
    hours: float = 0.0
    events: int = 0
    seconds: float = 0.0


def on_disk(seed: int, settings: LoopSettings) -> list[LoopEvent]:
    """Return the events of a run whose log is a file."""
    skill = SimulatedSkill(ITEMS, seed)
    with tempfile.TemporaryDirectory() as folder:
        plan = ReflectPlan(skill, "mixed", skill.agents["mixed"](seed), settings, seed)
        run_reflexive(plan, Path(folder) / "run", VirtualClock())
        return list(recorded_events(Path(folder) / "run"))


def in_memory(seed: int, settings: LoopSettings) -> list[LoopEvent]:
    """Return the events of a run whose log is nowhere else."""
    skill, clock = SimulatedSkill(ITEMS, seed), VirtualClock()
    log = Log(clock)
    with tempfile.TemporaryDirectory() as folder, skill.open(Path(folder), clock) as target:
        asyncio.run(run_loop(skill, target, skill.agents["mixed"](seed), settings, clock, log, seed=seed))
    return log.events


def worked(form: str, hours: float, settings: LoopSettings) -> Worked:
    """Runs of this form until so many hours were worked."""
    done = Worked()
    for seed in count():
        started = time.process_time()
        events = (on_disk if form == "on disk" else in_memory)(seed, settings)
        done.seconds += time.process_time() - started
        done.runs += 1
        done.events += len(events)
        done.hours += sum(event.happened.seconds for event in events if isinstance(event.happened, ItemEnded)) / 3600
        if done.hours >= hours:
            return done
    raise AssertionError


def shares(hours: float, settings: LoopSettings) -> list[str]:
    """Return the modules in which most of the time is spent, by a profile of runs in memory."""
    profile = cProfile.Profile()
    profile.runcall(worked, "in memory", hours, settings)
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
    asked = parser.parse_args()
    settings = LoopSettings(without=mechanisms_named(asked.without))
    print(machine())
    for form in ("on disk", "in memory"):
        done = worked(form, asked.hours, settings)
        bound = BOUND_SECONDS * asked.hours / HOURS
        print(
            f"log {form}: {done.hours:,.0f} item-hours in {done.runs} runs and {done.events:,} events took "
            f"{done.seconds:.1f} s of one core, {1e6 * done.seconds / done.events:.0f} µs an event; "
            f"bound {bound:g} s: {'met' if done.seconds <= bound else 'missed'}"
        )
    sys.stdout.write("own time by module: " + "; ".join(shares(asked.hours / 50, settings)) + "\n")


if __name__ == "__main__":
    main()
