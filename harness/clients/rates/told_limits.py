"""What the server says is left of its limits, heeded before anything is refused."""

import math

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.clients.rates.start_limit import LONGEST_WAIT, End, Start
from misstep.harness.exchange import Allowance

_MINUTE = 60.0
"""The time in which a limit comes back whose server does not say when: those of models are limits a minute."""

_LATEST_COUNT = 1.0
"""How many seconds after a request came its server may have counted it; it may have waited with the answer since."""


_ROUNDED = 1.0
"""By how much the seconds until a reset may be rounded up."""


class _State(Struct, frozen=True):
    """What one answer said of a limit.

    - `number`, `tokens`: How many requests, and tokens, had been sent with the request that it answers.
    - `whole_at`, `window`: For a limit on windows: when all is back, and how long a window seems to be.
    - `a_second`: For a limit that refills: how much comes back in a second.
    """

    number: int
    tokens: float
    at: float
    allowance: Allowance
    whole_at: float = math.inf
    window: float = 0.0
    a_second: float = 0.0


class ToldLimits:
    """The latest that the server said of each of its limits."""

    def __init__(self) -> None:
        self._states: dict[str, _State] = {}
        self._sent, self._sent_tokens = 0, 0.0

    def next_start(self, now: float, tokens: float) -> float:
        """Return the earliest time at which every limit has room."""
        earliest = max((self._room_at(state, now, tokens) for state in self._states.values()), default=now)
        return earliest if earliest - now <= LONGEST_WAIT else now

    def _room_at(self, state: _State, now: float, tokens: float) -> float:
        allowance, limit = state.allowance, state.allowance.limit
        if allowance.unit == "requests":
            sent, needed = float(self._sent - state.number), 1.0
        else:
            sent, needed = self._sent_tokens - state.tokens, tokens
        needed = min(needed, limit) if limit else needed
        left = allowance.remaining - sent
        if not allowance.refills:
            return now if left >= needed or now >= state.whole_at else state.whole_at
        back = state.a_second * (now - state.at)
        left = min(left + back, limit) if limit else left + back
        return now if left >= needed else now + (needed - left) / state.a_second

    def started(self, start: Start) -> None:
        """A request was sent; where it is the first of a new window, all of its limit is taken to be back."""
        for name, state in self._states.items():
            if start.at >= state.whole_at:
                whole = replace(state.allowance, remaining=state.allowance.limit or math.inf)
                self._states[name] = _State(
                    start.number, start.tokens_before, start.at, whole, start.at + state.window, state.window
                )
        self._sent = start.number + 1
        self._sent_tokens = start.tokens_before + start.tokens

    def ended(self, start: Start, end: End) -> None:
        """An answer may say what is left."""
        rates = end.outcome.rates if end.outcome is not None else None
        for allowance in rates.allowances if rates is not None else ():
            known = self._states.get(allowance.name)
            if known is not None and known.number > start.number + 1:
                continue  # a later request was answered earlier
            state = _state_of(start, end.at, allowance, known)
            if state is None:
                self._states.pop(allowance.name, None)
            else:
                self._states[allowance.name] = state


def _state_of(start: Start, now: float, allowance: Allowance, known: _State | None) -> _State | None:
    limit_now = _State(start.number + 1, start.tokens_before + start.tokens, start.at, allowance)
    seconds, limit = allowance.seconds, allowance.limit
    if not allowance.refills:
        if seconds is None:
            return None
        whole_at = min(now, start.at + _LATEST_COUNT) + seconds
        if known is None:
            return replace(limit_now, whole_at=whole_at, window=seconds)
        if known.at < known.whole_at < whole_at <= known.whole_at + _ROUNDED and now < known.whole_at:
            whole_at = known.whole_at  # the same window: its end was closer when the number was rounded up less
        return replace(limit_now, whole_at=whole_at, window=max(known.window, seconds))
    missing = (limit or 0.0) - allowance.remaining
    if limit and seconds and missing > 0:
        return replace(limit_now, a_second=missing / seconds)
    return replace(limit_now, a_second=limit / _MINUTE) if limit else None
