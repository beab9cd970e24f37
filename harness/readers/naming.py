"""What a trajectory is called that its recorder gave no name: after its file, and its line in a file of many."""

from pathlib import PurePath

from misstep.harness.trajectory import Source

_ENDINGS = (".gz", ".json", ".jsonl", ".ndjson", ".parquet", ".traj", ".trajectory")


def name_of(source: Source, *usual: str) -> str:
    """Return the file's name without its endings, and `-line` in JSON Lines: `run.traj.json.gz` gives `run`."""
    path = PurePath(source.file)
    name = path.name
    while (shorter := next((name.removesuffix(end) for end in _ENDINGS if name.endswith(end)), name)) not in (name, ""):
        name = shorter
    name = (path.parent.name if name in usual else "") or name or "trajectory"
    return name if source.line is None else f"{name}-{source.line}"
