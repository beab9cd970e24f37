"""What decides when the next request may be sent: events in, a time out; nothing here waits or reads a clock."""

from typing import Literal, Protocol

from msgspec import Struct

from misstep.harness.exchange import Failure, Outcome

LONGEST_WAIT = 600.0
"""A server that has room only after so many seconds is asked all the same: its refusal then says why the run stops."""


class Start(Struct, frozen=True):
    """A request as it was sent.

    - `number`, `tokens_before`: How many requests, and how many tokens of requests, were sent before it.
    - `tokens`: The expected tokens of question and answer.
    """

    number: int
    tokens_before: float
    at: float
    tokens: float


class End(Struct, frozen=True):
    """The end of a request: when it was, the outcome (`None` for one that was cut off), and the tokens it took."""

    at: float
    outcome: Outcome | None
    tokens: float


class StartLimit(Protocol):
    """A limit on when requests are sent."""

    def next_start(self, now: float, tokens: float) -> float:
        """Return the earliest time at which a request of so many tokens may be sent; infinite until another ends."""

    def started(self, start: Start) -> None:
        """A request was sent."""

    def ended(self, start: Start, end: End) -> None:
        """A request has its outcome."""


def is_refusal(outcome: Outcome | None) -> bool:
    """Whether the server asks for less: 429, 503, 529, or a time to wait; other failures of it say nothing of rates."""
    return isinstance(outcome, Failure) and (
        outcome.kind == "rate_limited"
        or outcome.retry_after is not None
        or (outcome.rates is not None and outcome.rates.overloaded)
    )


def is_end_of_window(outcome: Outcome | None) -> bool:
    """Return whether a server says that all of a window's requests are used up, whose next has as many."""
    rates = outcome.rates if outcome is not None else None
    return rates is not None and any(one.remaining < 1 and not one.refills for one in rates.allowances)


_MINUTE = 60.0
_BURST = 0.5
"""How many seconds of the rate may be sent at once, in seconds."""

_ROUNDING = 0.001
"""A millisecond for what sums of intervals lose."""


class PerMinute:
    """So many requests, or tokens, a minute: a token bucket on what is sent.

    The bucket holds half a second's worth and is filled evenly, as the generic cell rate algorithm does it (ITU-T
    I.371): in no minute are more requests sent than allowed. A request's tokens are estimated before it is sent, and
    corrected by the usage that the server reports; a minute may have those of one request too many.
    """

    def __init__(self, unit: Literal["requests", "tokens"], limit: float) -> None:
        self._tokens = unit == "tokens"
        # As much less as the bucket holds, so that a full bucket and a minute's filling are the limit.
        self._interval = (_MINUTE + _BURST + _ROUNDING) / limit
        self._due = 0.0

    def next_start(self, now: float, tokens: float) -> float:  # noqa: ARG002 (the next one waits for what this one takes)
        """Return the earliest time at which a request may be sent."""
        return max(now, self._due - _BURST)

    def started(self, start: Start) -> None:
        """A request was sent."""
        self._due = max(self._due, start.at) + self._interval * (start.tokens if self._tokens else 1)

    def ended(self, start: Start, end: End) -> None:
        """Correct the estimate of the tokens."""
        if self._tokens:
            self._due += self._interval * (end.tokens - start.tokens)
