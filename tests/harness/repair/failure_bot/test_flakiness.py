"""A test is failing, passing or flaky with a probability, in no more runs than that takes."""

from collections.abc import Sequence

import pytest

from misstep_harness.repair.failure_bot import rules
from misstep_harness.repair.failure_bot.rules import estimate, rerun


def always_failing(tests: Sequence[str]) -> dict[str, bool]:
    return dict.fromkeys(tests, True)


def test_the_posterior_is_that_of_the_written_formula() -> None:
    # 0.84 · 1/2 against 0.16 · B(1 + 3, 1) = 0.16 / 4
    assert estimate(3, 3).failing == pytest.approx(0.42 / (0.42 + 0.04))
    assert estimate(0, 3).passing == pytest.approx(0.42 / (0.42 + 0.04))
    assert (estimate(1, 2).state, estimate(1, 2).flaky) == ("flaky", 1)
    assert estimate(0, 0).failing == estimate(0, 0).passing == pytest.approx(0.42)


@pytest.mark.parametrize(
    ("outcomes", "most", "result"),
    [
        ("FFFFFFFFF", 20, ("failing", 7, 7, 0)),
        ("FPF", 20, ("flaky", 3, 2, 0)),  # runs end with the first contradiction
        ("FFFFFFFFF", 3, ("undecided", 3, 3, 0)),
        ("---", 20, ("undecided", 1, 1, 2)),  # a run that does not show a test is neither a pass nor a failure
    ],
)
def test_a_test_is_run_again_until_it_is_decided(monkeypatch, outcomes, most, result) -> None:
    monkeypatch.setattr(rules, "_MOST_RUNS", most)
    runs = iter(outcomes)
    test = rerun(lambda _: {} if (one := next(runs)) == "-" else {"t": one == "F"}, ["t"])["t"]
    assert (test.state, test.runs, test.failures, test.unseen) == result


def test_no_test_is_failing_by_one_run_whatever_is_held_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "_FLAKY", 0.001)
    assert estimate(1, 1).state == "failing"
    assert rerun(always_failing, ["t"])["t"].runs == 2


def test_only_tests_that_are_not_decided_are_run_again() -> None:
    asked: list[list[str]] = []

    def run(tests: Sequence[str]) -> dict[str, bool]:
        asked.append(list(tests))
        return {test: test == "broken" for test in tests}

    rerun(run, ["broken", "flaky"])
    assert asked[0] == ["broken", "flaky"]
    assert all(tests == ["broken"] for tests in asked[1:])
