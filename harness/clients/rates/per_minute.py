"""So many requests, or tokens, a minute: a token bucket on what is sent.

The bucket holds half a second's worth and is filled evenly, as the generic cell rate algorithm does it (ITU-T I.371):
in no minute are more requests sent than allowed. A request's tokens are estimated before it is sent, and corrected by
the usage that the server reports; a minute may have those of one request too many.
"""

from typing import Literal

from misstep.harness.clients.rates.start_limit import End, Start

_MINUTE = 60.0
_BURST = 0.5
"""How many seconds of the rate may be sent at once, in seconds."""

_ROUNDING = 0.001
"""A millisecond for what sums of intervals lose."""


class PerMinute:
    """A limit on requests or tokens a minute."""

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
