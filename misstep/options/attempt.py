"""Options of the commands that read attempts at tasks."""

from typing import Annotated

import typer

from misstep.harness.errors import UsageError

MOST_K = 1_000


def _reward(given: float | None) -> float | None:
    if given is not None and not 0 < given <= 1:
        raise UsageError(f"--threshold {given:g}", "Give a reward above 0, up to 1.")
    return given


K = Annotated[str, typer.Option("--k", metavar="K,K", help="Numbers of attempts that one may make.", show_default=True)]
Threshold = Annotated[
    float | None,
    typer.Option(
        metavar="REWARD",
        help="Smallest reward that counts as a pass (0 to 1), for files with rewards.",
        callback=_reward,
    ),
]


def numbers_of_attempts(given: str) -> list[int]:
    """Return the numbers that `--k` lists, each once, from the least."""
    parts = [part.strip() for part in given.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) <= 4 and 1 <= int(part) <= MOST_K for part in parts):
        raise UsageError(f"--k {given}", f"Give whole numbers from 1 to {MOST_K:,}, separated by commas.")
    return sorted({int(part) for part in parts})
