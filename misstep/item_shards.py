"""What the commands that run over items share where each of several machines does a part of the run."""

from collections.abc import Mapping
from pathlib import Path

from harness.errors import UsageError
from harness.escaping import plain
from harness.progress import say
from harness.runs.shards.layout import Shard
from misstep.options import json_text


def number_of_shards(shard: Shard | None) -> int:
    """The number of parts that share what the whole run may spend."""
    return 1 if shard is None else shard.count


def refuse_of_the_whole(shard: Shard | None, given: Mapping[str, object]) -> None:
    """Refuse options that are about the whole run.

    Parameters
    ----------
    shard
        The part that is done; `None` for the whole run.
    given
        Option → its value; nothing where it was not given.

    Raises
    ------
    UsageError
        One was given with a shard; names it.
    """
    named = next((option for option, value in given.items() if value), None)
    if shard is not None and named is not None:
        raise UsageError(
            f"{named} is about the whole run, and --shard {shard} does a part of it",
            f"Give {named} after `misstep merge`, with the same command without --shard.",
        )


def say_shard(shard: Shard, out: Path, n: int, one: str, *, json: bool) -> None:
    """Say that a shard is done, and what comes next."""
    from analysis.tables.wording import counted_text

    place = str(out / shard.folder)
    if json:
        print(json_text({"shard": shard.number, "shards": shard.count, "n": n, "folder": place}))
    else:
        print(f"Shard {shard} is done: {counted_text(n, one)}, in {plain(place)}.")
    say(f"misstep: when all shards are done, join them: misstep merge {plain(str(out))}")
