"""Protocols of policies and patchers; any object with these members qualifies."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

from misstep_harness.agent.actions import Action, Observation
from misstep_harness.exchange import Function, Message, Request
from misstep_harness.intervention import ObservedRun
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Step

Resource = Literal[
    "tool_calls", "seconds", "sleeping_seconds", "sub_agents", "output_tokens", "attempts", "tokens", "usd"
]
"""The resources that a turn, or work on an item, may run out of."""


class TurnLimits(Struct, frozen=True):
    """The limits of one turn; `None` is no limit."""

    tool_calls: int | None = 1
    seconds: float | None = 300.0
    sleeping_seconds: float | None = 0.0
    sub_agents: int | None = 0
    output_tokens: int | None = 4_096


Form = Literal["text", "functions"]


class ModelSettings(Struct, frozen=True):
    """How a model is asked: its name, temperature, the longest answer, the seed, the form of its commands."""

    name: str = ""
    temperature: float | None = None
    max_tokens: int | None = 2_048
    seed: int | None = None
    form: Form = "text"
    most_characters: int = 200_000
    sample: int = 0

    def request(self, model: str, messages: tuple[Message, ...], functions: tuple[Function, ...] = ()) -> Request:
        """Return the request for an answer of a model to some messages."""
        rest = (self.temperature, self.max_tokens, self.seed)
        return Request(model, messages, *rest, sample=self.sample, functions=functions)


class Task(Struct, frozen=True):
    """What an agent is asked to do: its id, and the failure as the agent may see it."""

    id: str
    text: str


class PatchRequest(Struct, frozen=True):
    """What a patching sub-agent is given: one file, what to change in it, and a summary of the run so far."""

    path: str
    content: str
    instructions: str
    history: str = ""


class Policy(Protocol):
    """What decides the next command; one policy serves one run and may keep what it has learnt in it."""

    name: str

    async def act(self, task: Task, steps: Sequence[Step], ask: Ask) -> Action:
        """Return the next thought and command; `steps` are the run so far, with what each command observed."""


@runtime_checkable
class Observing(Protocol):
    """A policy that learns what each command gave before it decides on the next."""

    def observed(self, observation: Observation) -> None:
        """Take in what the last command gave."""


class Patcher(Protocol):
    """The sub-agent that writes an edit. It has no tools: it sees what the request holds and nothing else."""

    async def patch(self, request: PatchRequest, ask: Ask) -> str:
        """Return a reply in the edit format of the run; the prose around it is let be."""


class Watcher(Protocol):
    """What looks on while an agent works and may say something to it."""

    def after_action(self, steps: Sequence[Step]) -> Step | None:
        """Return what the agent is told before its next command, if anything; it returns at once and raises nothing."""

    async def end(self, steps: Sequence[Step]) -> None:
        """The run is over: what still works on it is stopped."""


class RunWatcher(Watcher, Protocol):
    """A watcher of one run that keeps a record of it."""

    def observed(self, steps: Sequence[Step]) -> ObservedRun:
        """Return the record of the run."""


class WatcherSettings(Protocol):
    """How runs are watched while they go on: what makes the watcher of each."""

    @property
    def model(self) -> str:
        """Return the model that watchers ask; empty where they ask none."""

    def settings(self) -> dict[str, Any]:
        """Return all values that can change a record, in types of TOML."""

    def observer(self, item: str, task: str, ask: Ask) -> AbstractAsyncContextManager[RunWatcher]:
        """Return the watcher of one run, which works inside `async with`."""
