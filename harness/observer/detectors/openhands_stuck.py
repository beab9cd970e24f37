"""Detect a stuck agent as OpenHands does, written from its documentation, for comparison with the rules.

Sources: docs.openhands.dev/sdk/guides/agent-stuck-detector and issue 762 of its repository. It looks behind the
user's last message:

1. the same action gives the same observation, 4 times and more;
2. the same action ends in an error, 3 times and more;
3. the agent sends 3 messages and more with nothing between them (a monologue);
4. two pairs of action and observation alternate, 6 pairs and more.

Errors of the context window leave no trace in most formats and are left out. An error is here an answer that is
recorded as one, or an exit code other than 0, which the documentation does not say.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence

from msgspec import Struct

from misstep.harness.classifiers.calls.history import Act, History
from misstep.harness.protocols import Ask
from misstep.harness.records.intervention import Feedback, Misbehaviour
from misstep.harness.trajectory import Trajectory
from misstep.harness.values import as_json

CATEGORY = "infinite_loop"
"""The detector has one answer, that the agent is stuck; Wink's category for that."""

SAME_OBSERVATIONS = 4
SAME_ERRORS = 3
MESSAGES = 3
ALTERNATING = 6


class _Event(Struct, frozen=True):
    step: int
    action: Hashable = None
    observation: str | None = None
    is_error: bool = False


class OpenHandsStuck:
    """The detector as an observer asks it."""

    name = "openhands_stuck"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002 (no model is asked)
        """Return whether the run is stuck at its last step, and by which pattern."""
        events = _events_since_user(trajectory)
        for pattern in (_same_observation, _same_error, _monologue, _alternating):
            shown = pattern(events)
            if shown:
                steps, rationale = shown
                return Feedback((Misbehaviour(CATEGORY, tuple(dict.fromkeys(steps)), rationale),))
        return Feedback()


_Shown = tuple[list[int], str] | None


def _events_since_user(trajectory: Trajectory) -> list[_Event]:
    acts: defaultdict[int, list[Act]] = defaultdict(list)
    for act in History(trajectory).acts:
        acts[act.step].append(act)
    steps = trajectory.steps
    last = max((number for number, step in enumerate(steps) if step.role == "user"), default=-1)
    events: list[_Event] = []
    for number in range(last + 1, len(steps)):
        if number in acts:
            events += map(_event, acts[number])
        elif steps[number].role == "agent":
            events.append(_Event(number))
    return events


def _event(act: Act) -> _Event:
    call, result = act.call, act.result
    action = (call.name, call.arguments if isinstance(call.arguments, str) else as_json(call.arguments))
    if result is None:
        return _Event(act.step, action)
    return _Event(act.step, action, result.text, bool(result.is_error) or bool(result.exit_code))


def _same_observation(events: Sequence[_Event]) -> _Shown:
    last = events[-SAME_OBSERVATIONS:]
    pairs = {(event.action, event.observation) for event in last}
    if len(last) < SAME_OBSERVATIONS or len(pairs) > 1 or last[0].action is None or last[0].observation is None:
        return None
    return _steps(last), f"The same action gave the same observation {SAME_OBSERVATIONS} times."


def _same_error(events: Sequence[_Event]) -> _Shown:
    last = events[-SAME_ERRORS:]
    same = len({event.action for event in last}) == 1
    if len(last) < SAME_ERRORS or not same or not all(event.is_error for event in last):
        return None
    return _steps(last), f"The same action ended in an error {SAME_ERRORS} times."


def _monologue(events: Sequence[_Event]) -> _Shown:
    last = events[-MESSAGES:]
    if len(last) < MESSAGES or any(event.action is not None for event in last):
        return None
    return _steps(last), f"The agent sent {MESSAGES} messages with nothing between them."


def _alternating(events: Sequence[_Event]) -> _Shown:
    last = events[-ALTERNATING:]
    pairs = [(event.action, event.observation) for event in last]
    there = all(action is not None and observation is not None for action, observation in pairs)
    turns = len(set(pairs[::2])) == len(set(pairs[1::2])) == 1 and len(set(pairs)) == 2
    if len(last) < ALTERNATING or not there or not turns:
        return None
    return _steps(last), f"Two actions with their observations alternated {ALTERNATING} times."


def _steps(events: Sequence[_Event]) -> list[int]:
    return [event.step for event in events]
