"""One client against a stub whose limit moves.

    python -m benchmarks.rates.client auto|N MODE SEED PHASES SECONDS

prints, as JSON, what the stub counted.
"""

import asyncio
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing

from misstep.harness.clients import ClientSettings, open_client
from misstep.harness.clients.concurrency import run_concurrently
from misstep.harness.clients.rates.adaptive_concurrency import MOST
from misstep.harness.clients.settings import InFlight
from misstep.harness.exchange import Message, Request


def _requests() -> Iterator[Request]:
    """Questions without end."""
    number = 0
    while True:
        number += 1
        yield Request("stub-model", (Message("user", f"Is {number} even?"),), temperature=0, max_tokens=100)


async def measured(client: InFlight, limits: Sequence[str], seconds: float) -> bytes:
    """Ask for so many seconds; returns what the stub counted."""
    command = [sys.executable, "-m", "benchmarks.rates.stub", *limits]
    pipe = asyncio.subprocess.PIPE
    stub = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    if stub.stdout is None or stub.stdin is None:
        sys.exit("the stub has no pipes")
    address = (await stub.stdout.readline()).decode().strip()
    # A run whose requests keep failing would stop: here it goes on, and what is refused is counted.
    opened = open_client(ClientSettings(base_url=address, in_flight=client, failures_to_stop=1_000_000))
    until = time.monotonic() + seconds
    most = MOST if client == "auto" else client
    async with aclosing(run_concurrently(opened.ask, _requests(), most, lambda: time.monotonic() > until)) as coming:
        async for _ in coming:
            if time.monotonic() > until:
                break
    await opened.close()
    stub.stdin.close()
    counted = await stub.stdout.read()
    await stub.wait()
    return counted


if __name__ == "__main__":
    limits = sys.argv[2:]
    in_flight: InFlight = "auto" if sys.argv[1] == "auto" else int(sys.argv[1])
    print(asyncio.run(measured(in_flight, limits, int(limits[2]) * float(limits[3]))).decode())
