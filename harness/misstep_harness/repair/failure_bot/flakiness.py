"""Tell whether a test fails, passes or is flaky, from reruns at one commit.

A test either has one outcome at a commit, or it is flaky: every run fails with one unknown probability. The posterior
is closed. (The idea of a probability in place of a verdict: "How do you test your tests?", Meta 2020.)
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

State = Literal["failing", "flaky", "passing", "undecided"]

_FLAKY = 0.16
"""How likely a test is flaky before any run: the share at Google (Micco 2016). The others fail or pass alike."""

_CONFIDENCE = 0.95
_MOST_RUNS = 20
_MOST_UNSEEN = 2
"""After how many runs that say nothing of a test no more are made."""


class Flakiness(Struct, frozen=True):
    """The state of a test, with the posterior of each; `unseen` runs said nothing of it: they neither pass nor fail."""

    state: State
    failing: float
    flaky: float
    passing: float
    runs: int
    failures: int
    unseen: int = 0


def estimate(failures: int, runs: int) -> Flakiness:
    """Return the posterior after so many failures in so many runs at one commit, any rate of a flaky test alike."""
    passes, steady = runs - failures, (1 - _FLAKY) / 2
    weights: dict[State, float] = {
        "failing": steady * (passes == 0),
        "flaky": _FLAKY * math.exp(math.lgamma(1 + failures) + math.lgamma(1 + passes) - math.lgamma(2 + runs)),
        "passing": steady * (failures == 0),
    }
    shares = {name: weight / sum(weights.values()) for name, weight in weights.items()}
    likely: Iterator[State] = (name for name, share in shares.items() if share >= _CONFIDENCE)
    state: State = next(likely, "undecided")
    return Flakiness(state, shares["failing"], shares["flaky"], shares["passing"], runs, failures)


def rerun(run: Callable[[Sequence[str]], Mapping[str, bool]], tests: Sequence[str]) -> dict[str, Flakiness]:
    """Run tests that failed once again, until the state of each is known or the runs are used up.

    `run` says of tests whether they failed; of one that it does not name it says nothing.
    """
    states = {test: estimate(1, 1) for test in tests}
    for _ in range(_MOST_RUNS - 1):
        undecided = {
            test: state
            for test, state in states.items()
            if (state.state == "undecided" or state.runs + state.unseen == 1) and state.unseen < _MOST_UNSEEN
        }
        has_failed = run(list(undecided)) if undecided else {}
        for test, state in undecided.items():
            if test in has_failed:
                again = estimate(state.failures + has_failed[test], state.runs + 1)
                states[test] = replace(again, unseen=state.unseen)
            else:
                states[test] = replace(state, unseen=state.unseen + 1)
    return states
