"""What the commands that run over items share where each of several machines does a part of the run."""

from pathlib import Path

from misstep.harness.escaping import plain
from misstep.harness.runs.shards.layout import Shard, next_step
from misstep.options.common import json_text


def say_shard(shard: Shard, out: Path, n: int, one: str, *, json: bool) -> None:
    """Print that a shard is done, and what comes next."""
    from misstep.analysis.tables.wording import counted_text

    place = str(out / shard.folder)
    if json:
        print(json_text({"shard": shard.number, "shards": shard.count, "n": n, "folder": place}))
    else:
        print(f"shard {shard} is done: {counted_text(n, one)}, in {plain(place)}\n{plain(next_step(shard, str(out)))}")
