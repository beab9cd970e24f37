"""Agents for every skill: a model in every role, and companions of a skill's own worker that ask no model."""

import re
from collections.abc import Sequence
from typing import Any

from misstep_harness.agent.loop import AgentStopped
from misstep_harness.agent.model_policy import read_answer
from misstep_harness.agent.protocols import ModelSettings
from misstep_harness.agent.tools import Tool
from misstep_harness.agent.turns import Turn, tokens_in_text
from misstep_harness.exchange import Failure, FailureKind, Message, Reply, Request
from misstep_harness.judges.fencing import fence
from misstep_harness.prompting import fill, shipped_prompt
from misstep_harness.protocols import Ask
from misstep_harness.reflexive.protocols import Agent, Agents, Context

SECONDS = 5.0
"""How long a worker says that it thinks; on a virtual clock nothing else takes time."""

NO_MORE = "I know of no further change."

_MOST_OUTCOME = 300
_SAME = 3
_REFLECTION = re.compile(r"^reflection: (.*)$", re.MULTILINE)


class Companion:
    """Plans, reflects and decides by what its context says, without a model."""

    name = "companion"

    async def act(self, context: Context, turn: Turn) -> str:
        """Return what was done and found where it reflects, a verdict where one is asked for, else a plan."""
        await turn.think(SECONDS)
        if context.role == "reflector":
            outcome = " ".join(context.part("outcome").split())[:_MOST_OUTCOME]
            return f"{context.part('turn')} It did not mend the case: {outcome}"
        if context.role == "strategist":
            last = _REFLECTION.findall(context.part("history"))[-_SAME:]
            if NO_MORE in context.part("history"):
                return f"VERDICT: ESCALATE\nPLAN: {NO_MORE}"
            if len(last) == _SAME and len(set(last)) == 1:
                return f"VERDICT: ESCALATE\nPLAN: The same was tried {_SAME} times: {last[0]}"
            return "VERDICT: CONTINUE\nPLAN: Try the next change."
        return "Change the code that the failing tests lead to, and leave the tests as they are."


def agents_of(worker: Agent) -> Agents:
    """Return a worker with companions in the other roles."""
    companion = Companion()
    return Agents(companion, worker, companion, companion)


MOST_COMMANDS = 40
"""So many commands a worker is asked for in a turn without a budget; a model may never come to an end."""

GONE: frozenset[FailureKind] = frozenset({"circuit_open", "budget", "connection", "unauthorised", "quota"})
"""Failures that the next request would meet as well, after all retries of the client."""


class NobodyAnswers(BaseException):
    """No request is answered any more: it ends the run and no turn, as an attempt without a model says nothing."""


class ModelAgent:
    """Asks a model for what the role of its context is to say; a worker's commands are read from what it says."""

    def __init__(self, ask: Ask, settings: ModelSettings = ModelSettings()) -> None:  # noqa: B008 -- frozen
        self._ask, self._settings = ask, settings

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._settings.name or self._ask.model or "model"

    async def act(self, context: Context, turn: Turn) -> str:
        """Have a turn."""
        messages = opening(context, turn.tools, turn.limits.tool_calls)
        if context.role != "worker":
            return await self._last_answer(messages, context.attempt, turn)
        for _ in range(MOST_COMMANDS):
            reply = await self._reply(messages, context.attempt, turn)
            answer = reply.text or ""
            action = read_answer(answer)
            if action.error:
                wants_none = not action.name and action.command == answer
                return await _counted(answer if wants_none else f"{action.error}\n\n{answer}", reply, turn)
            await turn.write(_tokens(reply))
            observation = await turn.call(action.name, action.arguments)
            shown = fence(observation.text, context.item.id)
            messages += (Message("assistant", answer), Message("user", f"What the command showed:\n{shown}"))
        return await self._last_answer(messages, context.attempt, turn)

    async def _last_answer(self, messages: tuple[Message, ...], attempt: int, turn: Turn) -> str:
        reply = await self._reply(messages, attempt, turn)
        return await _counted(reply.text or "", reply, turn)

    async def _reply(self, messages: tuple[Message, ...], attempt: int, turn: Turn) -> Reply:
        settings = self._settings
        request = Request(
            self._ask.model,
            messages,
            settings.temperature,
            settings.max_tokens,
            settings.seed,
            sample=attempt,  # what is asked again after a failure is not answered from the cache
        )
        outcome = await self._ask(request)
        if isinstance(outcome, Failure):
            if outcome.kind in GONE:
                raise NobodyAnswers(outcome.sentence)
            raise AgentStopped(f"the model gave no answer: {outcome.sentence}")
        read = sum(tokens_in_text(message.content) for message in messages)
        turn.pay(read if outcome.input_tokens is None else outcome.input_tokens, outcome.cost_usd or 0.0)
        if outcome.text is None:
            raise AgentStopped(f"the model gave no answer: {outcome.refusal or 'its reply is empty'}")
        return outcome


async def _counted(text: str, reply: Reply, turn: Turn) -> str:
    """Return what the agent says at last; the turn counts its text itself, and here what the model wrote besides."""
    await turn.write(max(_tokens(reply) - tokens_in_text(text), 0))
    return text


def _tokens(reply: Reply) -> int:
    return tokens_in_text(reply.text or "") if reply.output_tokens is None else reply.output_tokens


def opening(context: Context, tools: Sequence[Tool[Any]], most: int | None = 1) -> tuple[Message, ...]:
    """Return what a model is asked at first: its role, its commands and how many it has, and each part, fenced."""
    several = context.role == "worker" and most is not None and most > 1
    prompt = shipped_prompt(f"reflexive/{context.role}{'_of_several' if several else ''}")
    commands = "\n".join(f"{tool.usage}\n    {tool.purpose}" for tool in tools)
    parts = "\n\n".join(f"{part.name}:\n{fence(part.text, context.item.id)}" for part in context.parts)
    values = {"commands": commands, "parts": parts, "most": str(most)}
    return (Message("system", fill(prompt.system, values)), Message("user", fill(prompt.user, values)))


def model_agents(ask: Ask, settings: ModelSettings) -> Agents:
    """Return one model in every role, which sees no more than the context of each turn."""
    agent = ModelAgent(ask, settings)
    return Agents(agent, agent, agent, agent)
