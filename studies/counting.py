"""Whole counts of people's files and runs, and counts of other machines, put together."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path

from msgspec import Struct

from misstep.analysis.labels import Reading, read_ratings
from misstep.analysis.labels.counting import rating_patterns
from misstep.analysis.labels.source import read_source
from misstep.analysis.measures.judging.reference import majority
from misstep.analysis.measures.passing.attempts import Attempts
from misstep.analysis.measures.passing.reading import has_attempts
from misstep.analysis.measures.session_rates import Grouping, group_of
from misstep.harness.errors import InputError, UsageError
from misstep.harness.journal.classified import Labels
from misstep.harness.journal.labelled_sessions import labelled_sessions
from misstep.harness.journal.records import ATTEMPT_RECORDS, VERDICTS
from misstep.harness.places import path_text
from misstep.harness.records.whole_counts import (
    AskedItems,
    CountedParts,
    Counts,
    GoldAnswer,
    Part,
    ScoreBin,
    TaskAttempts,
    TimeBin,
    category_sets,
    decoded_parts,
    score_bin,
    summed,
    time_bin,
)
from misstep.harness.runs.standing_runs import manifest_of
from misstep.studies.judged_runs import JUDGED, open_run
from misstep.studies.passing import open_attempts
from misstep.studies.repair_runs import REPAIRED

_OPENS = b'{"parts":'
"""How a file of counts begins, and no other file that is read here."""


class Counting(Struct, frozen=True):
    """How files and runs are counted.

    - `reading`: Which columns of a file of labels hold what.
    - `name`: What stands before the name of each part, where machines have files of the same name.
    - `stratum`: What tells the sessions of `classify` apart.
    - `system`: The system of a file of attempts in which no column says it.
    - `threshold`: The least reward that passes.
    - `benchmark`: The benchmark of a judge's run, where it has moved.
    """

    reading: Reading = Reading()
    name: str = ""
    stratum: Grouping | None = None
    system: str = "attempts"
    threshold: float | None = None
    benchmark: str = ""


def counted_parts(paths: Sequence[Path], how: Counting) -> CountedParts:
    """What files, runs and files of counts hold, a part each."""
    together = CountedParts({})
    for path in paths:
        together = together.merge(_parts_of(path, how))
    return together


def _parts_of(path: Path, how: Counting) -> CountedParts:
    if path.is_dir():
        records, counts = _run(path, how)
        return _one(path, how, _digest(records), counts)
    try:
        written = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot open: {error.strerror}", "Check the path.", file=path) from error
    if written.lstrip().startswith(_OPENS):
        return decoded_parts(written, path_text(path))
    return _one(path, how, hashlib.sha256(written).hexdigest(), _file(path, how))


def _one(path: Path, how: Counting, digest: str, counts: Counts) -> CountedParts:
    name = f"{how.name}/{path_text(path)}" if how.name else path_text(path)
    return CountedParts({name: Part(digest, counts)})


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _file(path: Path, how: Counting) -> Counts:
    source = read_source(path, how.reading.item)
    if not source.tool and has_attempts(source.sheet):
        return _attempts(open_attempts([path], how.threshold, how.system))
    ratings, _ = read_ratings(path, how.reading)
    patterns = chain.from_iterable(rating_patterns(question, one) for question, one in ratings.items())
    return summed([Counts(ratings=tuple(patterns))])


def _run(path: Path, how: Counting) -> tuple[Path, Counts]:
    """The file with the records of a finished run, and what it holds."""
    manifest = manifest_of(path, "Name files, or folders of runs.")
    if manifest.command not in _RUNS:
        known = ", ".join(f"`misstep {command}`" for command in _RUNS)
        raise UsageError(
            f"{path} is a run of `misstep {manifest.command}`", f"What can be counted are runs of {known}."
        )
    if not manifest.finished:
        raise UsageError(f"the run {path} is not finished", "Finish it first: a part is counted once.")
    file, count = _RUNS[manifest.command]
    return path / file, count(path, how)


def _sessions(run: Path, how: Counting) -> Counts:
    sessions: defaultdict[str, Counter[Labels]] = defaultdict(Counter)
    sub_agents: Counter[Labels] = Counter()
    categories: tuple[str, ...] = ()
    for one in labelled_sessions(run):
        categories = tuple(verdict.judge for verdict in one.verdicts)
        if one.session.parent is not None:
            sub_agents[one.labels] += 1
        else:
            sessions[group_of(one.session, how.stratum) if how.stratum else ""][one.labels] += 1
    by = how.stratum or ""
    each = (category_sets(categories, patterns, by, stratum) for stratum, patterns in sessions.items())
    return summed([Counts(sessions=tuple(chain.from_iterable(each)), sub_agents=category_sets(categories, sub_agents))])


def _answers(run: Path, how: Counting) -> Counts:
    opened = open_run(run, how.benchmark)
    judge, labels = opened.judge, tuple(opened.question.labels)
    evidence = opened.question.evidence
    gold = majority(opened.gold).label_of
    answers = Counter((gold.get(one.item), one.label, one.status) for one in opened.verdicts)
    scores = Counter(
        (gold[one.item], one.label, score_bin(one.score))
        for one in opened.verdicts
        if one.label is not None and one.item in gold
    )
    times = Counter(time_bin(one.seconds) for one in opened.verdicts)
    asked = len(opened.verdicts)
    return summed(
        [
            Counts(
                asked=(AskedItems(judge, labels, evidence, asked),) if asked else (),
                answers=tuple(GoldAnswer(judge, *key, n) for key, n in answers.items()),
                scores=tuple(ScoreBin(judge, *key, n) for key, n in scores.items()),
                times=tuple(TimeBin(judge, place, n) for place, n in times.items()),
            )
        ]
    )


def _tasks(run: Path, how: Counting) -> Counts:
    return _attempts(open_attempts([run], how.threshold))


def _attempts(attempts: Attempts) -> Counts:
    rows = (
        TaskAttempts(one.name, one.evidence, counts.passed, counts.failed, counts.unanswered, 1)
        for one in attempts.systems
        for counts in one.tasks.values()
    )
    return summed([Counts(tasks=tuple(rows))])


_RUNS: Mapping[str, tuple[str, Callable[[Path, Counting], Counts]]] = {
    "classify": (VERDICTS, _sessions),
    JUDGED: (VERDICTS, _answers),
    REPAIRED: (ATTEMPT_RECORDS.file, _tasks),
}
"""Command of a run → the file of its records, and how they are counted."""
