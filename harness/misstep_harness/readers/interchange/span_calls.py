"""What an agent's spans have told so far: which turn made which call, and which calls a tool's span may carry out."""

from collections import deque

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.readers.interchange.content import as_text
from misstep_harness.readers.interchange.conversation import Turn, is_used_again
from misstep_harness.trajectory import ToolCall


class SpanContext(Struct):
    """The conversation of one agent: what its models were given and asked for."""

    outermost: bool
    speaker: str | None
    inputs: list[tuple[str, str]] = []
    seen: set[tuple[str, str]] = set()
    unechoed: int = 0
    turn: Turn | None = None
    makers: dict[str, Turn] = {}
    asked: dict[str, deque[tuple[Turn, int]]] = {}

    def add_calls(self, turn: Turn, calls: list[ToolCall], *, made_now: bool = False) -> None:
        """Add calls to a turn, each once; what a prompt repeats tells at most the arguments of one that lacks them."""
        for call in calls:
            maker = self.makers.get(call.id or "")
            if not (made_now or call.id) and _asked(call) in self.asked:
                continue
            if maker is None or (made_now and is_used_again(maker, call)):
                self.asked.setdefault(_asked(call), deque()).append((turn, len(turn.calls)))
                turn.calls.append(call)
                self.makers |= {call.id: turn} if call.id else {}
            elif call.recorded:
                self._fill(maker.calls, call)

    def carried_out(self, told: ToolCall, wanted: str | None) -> tuple[Turn | None, int | None]:
        """Return the call that a tool's span carries out: by id, by name and arguments, or by name in the last turn."""
        turn = self.makers.get(wanted or "")
        waiting = self.asked.get(_asked(told)) if turn is None and told.recorded else None
        while waiting:
            maker, place = waiting.popleft()
            call = maker.calls[place]
            if (wanted is None or call.id is None) and _is_open(maker, call):
                return maker, place
        turn = turn or self.turn
        return turn, None if turn is None else call_of(turn, told.name, wanted)

    def _fill(self, calls: list[ToolCall], told: ToolCall) -> None:
        """Give a call whose arguments were not recorded those that another span has of it."""
        for place, call in enumerate(calls):
            if call.id == told.id and not call.recorded:
                calls[place] = replace(call, arguments=told.arguments, parse_error=told.parse_error, recorded=True)


def call_of(turn: Turn, name: str, wanted: str | None) -> int | None:
    """Return the place of the call with an id, or of the first of a name that is still open."""
    for place, call in enumerate(turn.calls):
        by_id = wanted is not None and call.id == wanted and "span_id" not in call.extra
        if by_id or (wanted is None and call.name == name and _is_open(turn, call)):
            return place
    return None


def _is_open(turn: Turn, call: ToolCall) -> bool:
    return "span_id" not in call.extra and all(result.call_id != call.id for result in turn.results)


def _asked(call: ToolCall) -> str:
    return f"{call.name} {as_text(call.arguments)}"
