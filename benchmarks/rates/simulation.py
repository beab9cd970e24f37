"""A run in virtual time: hours of a client against a server whose limit moves, in a second."""

import heapq
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count

from benchmarks.rates.moving_limit import Admission, Counted, Mode, MovingLimit, Schedule
from misstep.harness.clients.parse_response import retry_after
from misstep.harness.clients.rates.header_fields import allowances
from misstep.harness.clients.rates.start_limit import End, Start, StartLimit
from misstep.harness.exchange import Failure, Outcome, Rates, Reply

_WAY_SECONDS = 0.002


def simulate(limits: Sequence[StartLimit], mode: Mode, schedule: Schedule, seed: int) -> Counted:
    """Send requests without end, as soon as the limits of the client allow it, for as long as the limit moves."""
    server = MovingLimit(mode, schedule, seed)
    ends: list[tuple[float, int, Start, Outcome]] = []
    order = count()
    now, sent, answered, refused = 0.0, 0, 0, 0
    while True:
        earliest = max(limit.next_start(now, 0.0) for limit in limits)
        if earliest <= now:
            admission = server.come(now)
            start = Start(sent, 0.0, now, 0.0)
            sent += 1
            for limit in limits:
                limit.started(start)
            end = now + admission.seconds + _WAY_SECONDS
            heapq.heappush(ends, (end, next(order), start, _outcome(admission)))
            continue
        due = ends[0][0] if ends else math.inf
        now = min(earliest, due)
        if now > schedule.until:
            return Counted(answered, refused, schedule.allowed(schedule.until))
        if due <= now:
            _, _, start, outcome = heapq.heappop(ends)
            server.gone()
            answered += isinstance(outcome, Reply)
            refused += isinstance(outcome, Failure)
            for limit in limits:
                limit.ended(start, End(now, outcome, 0.0))


def _outcome(admission: Admission) -> Outcome:
    fields = {name.lower(): value for name, value in admission.fields.items()}
    limits = allowances(fields, datetime.now(UTC))
    rates = Rates(admission.status == 503, limits)
    if admission.status == 200:
        return Reply("yes", None, "stop", "stub-model", 1, 1, admission.seconds, None, rates=rates)
    return Failure(
        "rate_limited" if admission.status == 429 else "server", "refused", retry_after=retry_after(fields), rates=rates
    )
