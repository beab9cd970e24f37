"""One run of the loop with a small language model in every role, recorded with its replies and run again by them."""

import tempfile
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from misstep.analysis.measures.reflexive.scores import LoopScores
from misstep.analysis.papers.small_model import NAME
from misstep.harness.agent.clocks import RealClock
from misstep.harness.agent.policies.model import ModelSettings
from misstep.harness.clients import ClientSettings
from misstep.harness.errors import MisstepError, SandboxMissing
from misstep.harness.places import data_folder
from misstep.harness.reflexive.settings import ItemLimits, LoopSettings
from misstep.harness.runs.reflect.chosen_agents import agents_of_model
from misstep.harness.runs.reflect.running import ReflectPlan, run_reflexive
from misstep.harness.runs.reflect.skills import SkillOptions, made_skill
from misstep.studies.recorded.again import apart
from misstep.studies.recorded.small_model import REPLIES
from misstep.studies.reflexive.runs import open_recording, open_reflexive_run

MODEL, ITEMS = "qwen2.5-coder-1.5b-instruct-q4_k_m", 4
LIMITS = ItemLimits(seconds=900.0, attempts=3)


def recorded_scores() -> LoopScores:
    """Return the figures of the recorded run, with the model's name in place of `model`."""
    (scores,) = open_recording(place()).runs
    return replace(scores, agents=NAME)


def run_again() -> str:
    """Run the loop by the recorded replies, and say whether it came out as recorded; an error if it did not."""
    try:
        again = _again(place() / REPLIES)
    except SandboxMissing as missing:
        return f"Not run again: {missing}"
    recorded = recorded_scores()
    if replace(again, agents=NAME, seconds=recorded.seconds, wasted=recorded.wasted) != recorded:
        raise MisstepError(
            "the loop differs from its recording", f"Record it anew: {open_recording(place()).about.command}"
        )
    return f"{again.attempts} attempts as recorded."


def _again(replies: Path) -> LoopScores:
    chosen = agents_of_model(
        ModelSettings(MODEL, 0.0, max_tokens=1_024, seed=0), ClientSettings(client="replay", replay=replies)
    )
    work = made_skill("hardening", SkillOptions(ITEMS))
    plan = ReflectPlan(work, chosen.name, chosen.agents, LoopSettings(item=LIMITS))
    with tempfile.TemporaryDirectory(prefix="misstep-") as place:
        apart(partial(run_reflexive, plan, Path(place, "run"), RealClock(), requests=chosen.requests))
        return open_reflexive_run(Path(place, "run")).scores


def place() -> Path:
    """Return the folder of the recording."""
    return data_folder() / "recordings" / "reflexive" / "small_model"
