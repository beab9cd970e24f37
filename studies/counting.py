"""Whole counts of people's files and runs, and counts of other machines, put together."""

import hashlib
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from misstep.analysis.labels import read_ratings
from misstep.analysis.labels.coding import rating_patterns
from misstep.analysis.labels.source import read_source
from misstep.analysis.measures.passing.attempts import has_attempts
from misstep.harness.errors import UsageError, opening
from misstep.harness.places import path_text
from misstep.harness.records.whole_counts import CountedPart, CountedParts, Counts, decoded_parts, summed
from misstep.studies.kinds import kind_in, kinds_with
from misstep.studies.kinds.kind import Choice, Counting
from misstep.studies.passing import counted_attempts, open_attempts

_OPENS = b'{"parts":'
"""How a file of counts begins, and no other file that is read here."""


def counted_parts(paths: Sequence[Path], how: Counting) -> CountedParts:
    """Return the contents of files, runs and files of counts, a part each."""
    together = CountedParts({})
    for path in paths:
        together = together.merge(_parts_of(path, how))
    return together


def _parts_of(path: Path, how: Counting) -> CountedParts:
    if path.is_dir():
        return _one(path, how, *_run(path, how))
    with opening(path, "Check the path."):
        content = path.read_bytes()
    if content.lstrip().startswith(_OPENS):
        return decoded_parts(content, path_text(path))
    return _one(path, how, hashlib.sha256(content).hexdigest(), _file(path, how))


def _one(path: Path, how: Counting, digest: str, counts: Counts) -> CountedParts:
    name = f"{how.name}/{path_text(path)}" if how.name else path_text(path)
    return CountedParts({name: CountedPart(digest, counts)})


def _file(path: Path, how: Counting) -> Counts:
    source = read_source(path, how.reading.item)
    if not source.tool and has_attempts(source.sheet):
        return counted_attempts(open_attempts([path], how.threshold, how.system))
    ratings, _ = read_ratings(path, how.reading)
    patterns = chain.from_iterable(rating_patterns(question, one) for question, one in ratings.items())
    return summed([Counts(ratings=tuple(patterns))])


def _run(path: Path, how: Counting) -> tuple[str, Counts]:
    """Return the digest of the records of a finished run, and what they come to."""
    kind, run = kind_in(path, "Name files, or folders of runs.")
    if not kind.has("counts"):
        known = ", ".join(f"`misstep {command}`" for command in kinds_with("counts"))
        message = f"{path} is a run of `misstep {run.manifest.command}`"
        raise UsageError(message, f"What can be counted are runs of {known}.")
    if not run.manifest.finished:
        raise UsageError(f"the run {path} is not finished", "Finish it first: a part is counted once.")
    counts = kind.counts(kind.open(run, Choice(how.benchmark)), how)
    with (path / kind.records.file).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest(), counts
