"""One client against a stub whose limit moves: `python -m benchmarks.rates.client auto|N MODE SEED PHASES SECONDS`."""

import asyncio
import sys
import time
from contextlib import aclosing
from itertools import count

from benchmarks.stub_server import Stub, stub
from misstep.harness.clients import ClientSettings, open_client
from misstep.harness.clients.concurrency import run_concurrently
from misstep.harness.clients.rates.adaptive_concurrency import MOST
from misstep.harness.clients.settings import InFlight
from misstep.harness.exchange import Message, Request


async def ask(server: Stub, client: InFlight, seconds: float) -> None:
    """Ask for so many seconds."""
    questions = (
        Request("stub-model", (Message("user", f"Is {number} even?"),), temperature=0, max_tokens=100)
        for number in count(1)
    )
    # A run whose requests keep failing would stop: here it goes on, and what is refused is counted.
    opened = open_client(ClientSettings(base_url=server.address, in_flight=client, failures_to_stop=1_000_000))
    until = time.monotonic() + seconds
    most = MOST if client == "auto" else client
    async with aclosing(run_concurrently(opened.ask, questions, most, lambda: time.monotonic() > until)) as coming:
        async for _ in coming:
            if time.monotonic() > until:
                break
    await opened.close()


if __name__ == "__main__":
    in_flight, *limits = sys.argv[1:]
    with stub(*limits, module="benchmarks.rates.stub") as limited:
        until_end = int(limits[2]) * float(limits[3])
        asyncio.run(ask(limited, "auto" if in_flight == "auto" else int(in_flight), until_end))
        print(limited.report())
