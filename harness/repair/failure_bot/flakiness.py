"""Tell whether a test fails, passes or is flaky, from reruns at one commit and from a record of earlier outcomes.

A test either has one outcome at each commit, which seldom changes from one commit to the next, or it is flaky: every
run fails with one unknown probability, until a change breaks it for good. Both are Beta-Bernoulli models, so that
the posterior is closed. (The idea of a probability in place of a verdict: "How do you test your tests?", Meta 2020.)
"""

import csv
import math
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby, pairwise
from operator import mul
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.errors import InputError

State = Literal["failing", "flaky", "passing", "undecided"]

_FLAKY = 0.16
"""How likely a test is flaky before any run: the share at Google (Micco 2016)."""

_FAILING = 0.5
"""How likely a test that is not flaky and has no record fails: it was brought here, and that is all."""

_RATES = ((0.5, 1.0, 1.0), (0.5, 1.0, 99.0))
"""The prior of how often a flaky test fails, as shares of Beta laws: at any rate alike, or in about 1 of 100 runs.

Many flaky tests failed in a few of 10,000 reruns only (FlakeFlagger, Alshammari et al. 2021), and 1.5% of Google's runs
are flaky, of 16% of its tests (Micco 2016). No source says how many are of which kind: the shares are equal.
"""

_BROUGHT = ((1.0, 1.0, 1.0),)
"""The same for a test without a record: it was brought here since it failed, as the second kind seldom does."""

_CHANGES, _STAYS = 1.0, 19.0
"""The Beta prior of how often the outcome of a test that is not flaky differs from that at the commit before."""

_CONFIDENCE = 0.95
_MOST_RUNS = 20
_MOST_UNSEEN = 2
"""After how many runs that say nothing of a test no more are made."""

COLUMNS = ("test", "commit", "outcome")


class Recorded(Struct, frozen=True):
    """One outcome of a test in the record, which is in the order of time."""

    test: str
    commit: str
    failed: bool


class Flakiness(Struct, frozen=True):
    """The state of a test, with the posterior of each; `unseen` runs said nothing of it: they neither pass nor fail."""

    state: State
    failing: float
    flaky: float
    passing: float
    rate: float
    runs: int
    failures: int
    recorded: int = 0
    unseen: int = 0


def estimate(failures: int, runs: int, record: Sequence[Recorded] = ()) -> Flakiness:
    """Return the posterior after so many failures in so many runs at one commit, which follows those of the record."""
    at_commits = [[one.failed for one in group] for _, group in groupby(record, key=lambda one: one.commit)]
    states = [outcomes[0] for outcomes in at_commits]
    switches = sum(before != after for before, after in pairwise(states))
    same = max(0, len(states) - 1) - switches
    n_failed = sum(one.failed for one in record)
    change = (_CHANGES + switches) / (_CHANGES + _STAYS + switches + same)
    failing = _FAILING if not states else (1 - change if states[-1] else change)

    # The marginal likelihood of the record under each model. One that is not flaky cannot have both outcomes at one
    # commit; the first of its outcomes was as likely as the other, each further one is a switch or none.
    steady_log = math.log(1 - _FLAKY) + (math.log(0.5) if states else 0.0)
    steady_log += _log_beta(_CHANGES + switches, _STAYS + same) - _log_beta(_CHANGES, _STAYS)
    if any(len(set(outcomes)) > 1 for outcomes in at_commits):
        steady_log = -math.inf
    rates = _RATES if record else _BROUGHT
    before, _ = _flaky_runs(rates, n_failed, len(record))
    after, rate = _flaky_runs(rates, n_failed + failures, len(record) + runs)
    flaky_log = math.log(_FLAKY) + before
    most = max(steady_log, flaky_log)
    steady, flaky = math.exp(steady_log - most), math.exp(flaky_log - most)

    # A flaky test that a change has broken for good; how often its outcomes changed before says nothing of that.
    broken = flaky * _CHANGES / (_CHANGES + _STAYS) if states else 0.0
    again = math.exp(after - before)
    weights: dict[State, float] = {
        "failing": (steady * failing + broken) * (failures == runs),
        "flaky": (flaky - broken) * again,
        "passing": steady * (1 - failing) * (failures == 0),
    }
    shares = {name: weight / sum(weights.values()) for name, weight in weights.items()}
    failed, unsteady, passed = shares.values()
    likely: Iterator[State] = (name for name, share in shares.items() if share >= _CONFIDENCE)
    return Flakiness(next(likely, "undecided"), failed, unsteady, passed, rate, runs, failures, len(record))


def rerun(
    run: Callable[[Sequence[str]], Mapping[str, bool]], tests: Sequence[str], record: Iterable[Recorded] = ()
) -> dict[str, Flakiness]:
    """Run tests that failed once again, until the state of each is known or the runs are used up.

    `run` says of tests whether they failed; of one that it does not name it says nothing.
    """
    of: defaultdict[str, list[Recorded]] = defaultdict(list)
    for one in record:
        of[one.test].append(one)
    states = {test: estimate(1, 1, of[test]) for test in tests}
    for _ in range(_MOST_RUNS - 1):
        undecided = {
            test: state
            for test, state in states.items()
            if (state.state == "undecided" or state.runs + state.unseen == 1) and state.unseen < _MOST_UNSEEN
        }
        has_failed = run(list(undecided)) if undecided else {}
        for test, state in undecided.items():
            if test in has_failed:
                again = estimate(state.failures + has_failed[test], state.runs + 1, of[test])
                states[test] = replace(again, unseen=state.unseen)
            else:
                states[test] = replace(state, unseen=state.unseen + 1)
    return states


def read_record(file: Path) -> list[Recorded]:
    """Read earlier outcomes, oldest first: a CSV or an SQLite table `outcomes` of `test`, `commit` and `outcome`."""
    try:
        with file.open("rb") as stream:
            is_database = stream.read(16) == b"SQLite format 3\0"
        if is_database:
            with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as database:
                rows = list(database.execute('SELECT test, "commit", outcome FROM outcomes ORDER BY rowid'))
        else:
            rows = _from_csv(file)
    except (OSError, UnicodeDecodeError, csv.Error, sqlite3.Error) as error:
        raise InputError(f"the record of outcomes cannot be read: {error}", file=file) from error
    return [
        Recorded(test, commit, outcome == "failed") for test, commit, outcome in rows if outcome in ("passed", "failed")
    ]


def _from_csv(file: Path) -> list[tuple[str, str, str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream, restval="")
        missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise InputError(f"no column {missing[0]!r}", f"Its columns are {', '.join(COLUMNS)}.", file=file, line=1)
        return [(row["test"], row["commit"], row["outcome"]) for row in reader]


def _flaky_runs(laws: Sequence[tuple[float, float, float]], failures: int, runs: int) -> tuple[float, float]:
    """Return the log of how likely such outcomes of a flaky test are, in one order, and how often it then fails."""
    logs = [
        math.log(share) + _log_beta(fails + failures, passes + runs - failures) - _log_beta(fails, passes)
        for share, fails, passes in laws
    ]
    rates = [(fails + failures) / (fails + passes + runs) for _, fails, passes in laws]
    masses = [math.exp(log - max(logs)) for log in logs]
    return max(logs) + math.log(sum(masses)), sum(map(mul, masses, rates)) / sum(masses)


def _log_beta(one: float, other: float) -> float:
    return math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)
