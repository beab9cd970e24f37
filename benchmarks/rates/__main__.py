"""How much of what a server allows is answered, and how much is refused: `python -m benchmarks rates`.

    python -m benchmarks rates [--seeds 3001,3002,3003] [--phases 4] [--seconds 30] [--simulated]

Each client runs against a stub of its own whose limit steps up and down (`moving_limit.py`). The constants of
`--concurrency auto` were tuned on the seeds 1 to 12 and 2001 to 2010; those from 3001 on were not looked at before.
"""

import argparse
import asyncio
import sys
from itertools import product

import msgspec

from benchmarks.measuring import machine, python
from benchmarks.rates.moving_limit import MODES, Counted, schedule
from benchmarks.rates.simulation import simulate
from misstep.harness.clients.rates.adaptive_concurrency import AdaptiveConcurrency
from misstep.harness.clients.rates.told_limits import ToldLimits
from misstep.harness.clients.settings import InFlight

CLIENTS: tuple[InFlight, ...] = ("auto", 4, 16, 64)
LEAST_ANSWERED, MOST_REFUSED = 0.9, 0.01


async def _measured(client: InFlight, *limits: object) -> Counted:
    command = python("-m", "benchmarks.rates.client", client, *limits)
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return msgspec.json.decode(output, type=Counted)


async def _compared(*limits: object) -> list[Counted]:
    return await asyncio.gather(*(_measured(client, *limits) for client in CLIENTS))


def main() -> None:
    """Print a line for each limit, seed and client."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks rates")
    parser.add_argument("--seeds", default="3001,3002,3003", help="Seeds of the steps, with commas between them.")
    parser.add_argument("--phases", type=int, default=4, help="Number of limits after each other.")
    parser.add_argument("--seconds", type=float, default=30.0, help="Seconds of each limit.")
    parser.add_argument("--simulated", action="store_true", help="Run auto alone, in virtual time.")
    options = parser.parse_args()
    print(f"targets: at least {LEAST_ANSWERED:.0%} of what is allowed answered, at most {MOST_REFUSED:.0%} refused")
    if not options.simulated:
        print(machine(), flush=True)
    for mode, seed in product(MODES, map(int, options.seeds.split(","))):
        if options.simulated:
            limits = schedule(seed, options.phases, options.seconds)
            counts = [simulate([AdaptiveConcurrency(), ToldLimits()], mode, limits, seed)]
        else:
            counts = asyncio.run(_compared(mode, seed, options.phases, options.seconds))
        for client, counted in zip(CLIENTS, counts, strict=False):
            reached = counted.share >= LEAST_ANSWERED and counted.share_refused <= MOST_REFUSED
            print(
                f"{mode:14}{seed:6}  {client!s:>4}  {counted.share:7.1%} of {counted.allowed:,.0f} answered"
                f"  {counted.share_refused:6.2%} refused{'' if reached else '  (missed)'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
