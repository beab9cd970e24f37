"""Whether a test fails, passes or is flaky, from reruns at one commit and from a record of earlier outcomes.

A test either has one outcome at each commit, which seldom changes from one commit to the next, or it is flaky: every
run fails with one unknown probability, until a change breaks it for good. Both are Beta-Bernoulli models, so that
the posterior is closed. (The idea of a probability in place of a verdict: "How do you test your tests?", Meta 2020.)
"""

import csv
import math
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from itertools import groupby, pairwise
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.errors import InputError

State = Literal["failing", "flaky", "passing", "undecided"]

_MOST_UNSEEN = 2
"""After how many runs that say nothing of a test no more are made."""

COLUMNS = ("test", "commit", "outcome")


class Recorded(Struct, frozen=True):
    """One outcome of a test in the record, which is in the order of time."""

    test: str
    commit: str
    failed: bool


class FlakinessPrior(Struct, frozen=True):
    """What is held before any run.

    - `flaky`: How likely a test is flaky: 0.16 at Google (Micco 2016).
    - `failing`: How likely a test that is not flaky and has no record fails: it was brought here, and that is all.
    - `fails`, `passes`: The Beta prior of how often a flaky test fails.
    - `changes`, `stays`: The Beta prior of how often the outcome of a test that is not flaky differs from that at the
      commit before.
    """

    flaky: float = 0.16
    failing: float = 0.5
    fails: float = 1.0
    passes: float = 1.0
    changes: float = 1.0
    stays: float = 19.0


class Flakiness(Struct, frozen=True):
    """What a test is, with the posterior of each state; `rate` is how often it fails if it is flaky.

    `unseen` is how many runs said nothing of it: they are neither passes nor failures.
    """

    state: State
    failing: float
    flaky: float
    passing: float
    rate: float
    runs: int
    failures: int
    recorded: int = 0
    unseen: int = 0


def estimate(
    failures: int,
    runs: int,
    record: Sequence[Recorded] = (),
    *,
    prior: FlakinessPrior | None = None,
    confidence: float = 0.95,
) -> Flakiness:
    """Return the posterior after so many failures in so many runs at one commit, which follows those of the record."""
    prior = prior or FlakinessPrior()
    at_commits = [[one.failed for one in group] for _, group in groupby(record, key=lambda one: one.commit)]
    mixed = any(len(set(outcomes)) > 1 for outcomes in at_commits)
    states = [outcomes[0] for outcomes in at_commits]
    switches = sum(before != after for before, after in pairwise(states))
    same = max(0, len(states) - 1) - switches
    seen = sum(one.failed for one in record)
    fails, passes = prior.fails + seen, prior.passes + len(record) - seen
    change = (prior.changes + switches) / (prior.changes + prior.stays + switches + same)
    failing = prior.failing if not states else (1 - change if states[-1] else change)

    steady_log = math.log(1 - prior.flaky) + (
        -math.inf
        if mixed
        else _log_beta(prior.changes + switches, prior.stays + same) - _log_beta(prior.changes, prior.stays)
    )
    steady_log += math.log(0.5) if states else 0.0
    flaky_log = math.log(prior.flaky) + _log_beta(fails, passes) - _log_beta(prior.fails, prior.passes)
    most = max(steady_log, flaky_log)
    steady, flaky = math.exp(steady_log - most), math.exp(flaky_log - most)

    # A flaky test that a change has broken for good; how often its outcomes changed before says nothing of that.
    broken = flaky * prior.changes / (prior.changes + prior.stays) if states else 0.0
    again = math.exp(_log_beta(fails + failures, passes + runs - failures) - _log_beta(fails, passes))
    weights = (
        (steady * failing + broken) * (failures == runs),
        (flaky - broken) * again,
        steady * (1 - failing) * (failures == 0),
    )
    shares = [weight / sum(weights) for weight in weights]
    names: tuple[State, ...] = ("failing", "flaky", "passing")
    state: State = next((name for name, share in zip(names, shares, strict=True) if share >= confidence), "undecided")
    rate = (fails + failures) / (fails + passes + runs)
    return Flakiness(state, shares[0], shares[1], shares[2], rate, runs, failures, len(record))


def rerun(
    run: Callable[[Sequence[str]], Mapping[str, bool]],
    tests: Sequence[str],
    *,
    first: set[str],
    record: Iterable[Recorded] = (),
    prior: FlakinessPrior | None = None,
    confidence: float = 0.95,
    most_runs: int = 20,
) -> dict[str, Flakiness]:
    """Run tests again, once at least, until each is known to fail, to pass or to be flaky, or the runs are used up."""
    of: defaultdict[str, list[Recorded]] = defaultdict(list)
    for one in record:
        of[one.test].append(one)
    failures = {test: int(test in first) for test in tests}
    runs = dict.fromkeys(tests, 1)
    unseen = dict.fromkeys(tests, 0)

    def estimated(test: str) -> Flakiness:
        found = estimate(failures[test], runs[test], of[test], prior=prior, confidence=confidence)
        return replace(found, unseen=unseen[test])

    found = {test: estimated(test) for test in tests}
    for _ in range(most_runs - 1):
        open_ones = [test for test in tests if found[test].state == "undecided" or runs[test] + unseen[test] == 1]
        open_ones = [test for test in open_ones if unseen[test] < _MOST_UNSEEN]
        if not open_ones:
            break
        has_failed = run(open_ones)
        for test in open_ones:
            if test in has_failed:
                runs[test] += 1
                failures[test] += has_failed[test]
            else:
                unseen[test] += 1
            found[test] = estimated(test)
    return found


def read_record(file: Path) -> list[Recorded]:
    """Earlier outcomes, oldest first: a CSV, or an SQLite file with a table `outcomes`, of `test, commit, outcome`.

    Other columns are passed over; outcomes other than `passed` and `failed`, as of skipped tests, say nothing.
    """
    try:
        with file.open("rb") as stream:
            is_database = stream.read(16) == b"SQLite format 3\0"
        rows = _from_database(file) if is_database else _from_csv(file)
    except (OSError, UnicodeDecodeError, csv.Error, sqlite3.Error) as error:
        raise InputError(f"the record of outcomes cannot be read: {error}", file=file) from error
    return [Recorded(test, commit, said == "failed") for test, commit, said in rows if said in ("passed", "failed")]


def _from_csv(file: Path) -> list[tuple[str, str, str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream, restval="")
        missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise InputError(f"no column {missing[0]!r}", f"Its columns are {', '.join(COLUMNS)}.", file=file, line=1)
        return [(row["test"], row["commit"], row["outcome"]) for row in reader]


def _from_database(file: Path) -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as database:
        return list(database.execute('SELECT test, "commit", outcome FROM outcomes ORDER BY rowid'))


def _log_beta(one: float, other: float) -> float:
    return math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)
