"""A made-up model on loopback whose limit moves: `python -m benchmarks.rates.stub MODE SEED PHASES SECONDS`."""

import asyncio
import sys
import time

import msgspec

from benchmarks.rates.moving_limit import MODES, Counted, MovingLimit, Schedule, schedule
from benchmarks.stub_server import BODY, answer_of, serve, write

_REASONS = {200: "200 OK", 429: "429 Too Many Requests", 503: "503 Service Unavailable"}


class _Served:
    """What became of the requests that came in the server's time."""

    def __init__(self, limit: MovingLimit, limits: Schedule) -> None:
        self._limit, self._limits = limit, limits
        self._began: float | None = None
        self._answered = self._refused = 0

    def come(self, transport: asyncio.WriteTransport) -> None:
        now = time.monotonic()
        self._began = now if self._began is None else self._began
        admission = self._limit.come(now - self._began)
        is_answer = admission.status == 200
        self._refused += not is_answer and now - self._began < self._limits.until
        fields = "".join(f"{name}: {value}\r\n" for name, value in admission.fields.items())
        body = BODY if is_answer else b'{"error": {"message": "asked too fast"}}'
        answer = answer_of(_REASONS[admission.status], body, fields)
        asyncio.get_running_loop().call_later(admission.seconds, self._answer, transport, answer, is_answer)

    def _answer(self, transport: asyncio.WriteTransport, answer: bytes, is_answer: bool) -> None:
        self._limit.gone()
        in_time = self._began is not None and time.monotonic() - self._began < self._limits.until
        self._answered += in_time and is_answer
        write(transport, answer)

    def report(self) -> str:
        counted = Counted(self._answered, self._refused, self._limits.allowed(self._limits.until))
        return msgspec.json.encode(counted).decode()


if __name__ == "__main__":
    name, seed, phases, of_each = sys.argv[1:]
    limits = schedule(int(seed), int(phases), float(of_each))
    served = _Served(MovingLimit(next(mode for mode in MODES if mode == name), limits, int(seed)), limits)
    asyncio.run(serve(served.come, served.report))
