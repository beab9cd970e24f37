"""The agents of a run by name: those that a skill brings, or a model in every role."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from misstep_harness.agent.model_policy import ModelSettings
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import SkillFailed, UsageError
from misstep_harness.journal.records import read_records
from misstep_harness.reflexive.guarded import ADVICE, answer_of, check_members
from misstep_harness.reflexive.model_agents import model_agents
from misstep_harness.reflexive.protocols import Agent, Agents, Skill
from misstep_harness.reflexive.records import LOOP_RECORDS, TurnEnded
from misstep_harness.runs.model_requests import ConcurrentRequests, ItemAsk

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
