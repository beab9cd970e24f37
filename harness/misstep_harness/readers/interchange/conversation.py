"""A conversation in the making: turns in the order they began, results with the turn whose call they answer."""

import math
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from misstep_harness.trajectory import Outcome, Role, Source, Step, Tokens, ToolCall, ToolResult, Trajectory


class Turn(Struct):
    """A step that still grows."""

    role: Role
    texts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    speaker: str | None = None
    timestamp: str | None = None
    seconds: float | None = None
    tokens: Tokens | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def add_result(self, result: ToolResult) -> None:
        """Add a result; of one that the recording does not hold nothing but what stands beside it is kept."""
        if not result.says_nothing:
            self.results.append(result)
        elif result.extra:
            self.extra.setdefault("without_answer", []).append({"call_id": result.call_id} | result.extra)

    def step(self) -> Step:
        """Return the turn as a step."""
        return Step(
            role=self.role,
            text="\n".join(self.texts),
            reasoning="\n".join(self.reasoning),
            calls=tuple(self.calls),
            results=tuple(self.results),
            speaker=self.speaker,
            timestamp=self.timestamp,
            seconds=self.seconds,
            tokens=self.tokens,
            extra=self.extra,
        )


class TurnList:
    """The turns so far."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []

    def steps(self) -> tuple[Step, ...]:
        """Return the turns as steps."""
        return tuple(turn.step() for turn in self.turns)

    def trajectory(self, identity: str, source: Source, *, task: str = "", **fields: Any) -> Trajectory:
        """Return the turns as a trajectory; its task is by default what the user says first."""
        steps = self.steps()
        return Trajectory(identity, source, task or first_words_of_user(steps), steps, **fields)


class Conversation(TurnList):
    """The turns so far, the last of the agent's, and which of them made which call."""

    def __init__(self) -> None:
        super().__init__()
        self.last_of_agent: Turn | None = None
        self._maker: dict[str, Turn] = {}

    def say(
        self, role: Role, texts: list[str], timestamp: str | None = None, extra: dict[str, Any] | None = None
    ) -> Turn:
        """Add a turn unless its text is empty."""
        own = [text for text in texts if text]
        return self.begin(Turn(role, own, timestamp=timestamp, extra={} if extra is None else extra))

    def begin(self, turn: Turn) -> Turn:
        """Add a turn."""
        self.turns.append(turn)
        if turn.role == "agent":
            self.last_of_agent = turn
        return turn

    def call(self, turn: Turn, call: ToolCall) -> None:
        """Add a call to a turn; one whose id is there is the same call written again, or another after its answer."""
        if call.id:
            maker = self._maker.get(call.id)
            if maker is not None and not is_used_again(maker, call):
                return
            self._maker[call.id] = turn
        turn.calls.append(call if call.id else replace(call, id=None))

    def maker(self, call_id: str | None) -> Turn | None:
        """Return the turn that made a call."""
        return None if call_id is None else self._maker.get(call_id)

    def result(self, result: ToolResult) -> Turn:
        """Add a result to the turn whose call it answers; else to the agent's last, else to one of the system."""
        result = result if result.call_id else replace(result, call_id=None)
        turn = self.maker(result.call_id) or self.last_of_agent
        if turn is None:
            started = bool(self.turns) and bool(self.turns[-1].results)
            turn = self.turns[-1] if started else self.begin(Turn("system"))
        turn.add_result(result)
        return turn


def is_used_again(maker: Turn, call: ToolCall) -> bool:
    """Return whether an id that a turn has used, and that was answered there, names another call now."""
    answered = any(result.call_id == call.id for result in maker.results)
    told = (call.name, call.arguments)
    return answered and all((one.name, one.arguments) != told for one in maker.calls if one.id == call.id)


def rewarded(reward: float | None) -> Outcome:
    """Return the outcome of a run by its reward, which is 1 of a solved task."""
    if reward is None or math.isnan(reward):
        return Outcome()
    return Outcome("passed" if reward == 1 else "failed", reward)


def cached_tokens(
    new: int | None,
    read: int | None,
    stored: int | None,
    completion: int | None,
    cost: float | None = None,
    stored_1h: int | None = None,
) -> Tokens:
    """Return the tokens of an answer whose prompt is what was new, read from the cache and written to it."""
    prompt = None if new is None else new + (read or 0) + (stored or 0)
    return Tokens(prompt, completion, read, cost, stored or None, stored_1h if stored else None)


def first_words_of_user(steps: tuple[Step, ...]) -> str:
    """Return what was asked first, the task of a format without a field for it."""
    return next((step.text for step in steps if step.role == "user" and step.text.strip()), "")
