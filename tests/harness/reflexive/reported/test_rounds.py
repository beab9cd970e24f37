"""Cases made up after reports: each reads, names its thread, and says between which rounds a stop is right."""

import re

import pytest

from misstep.harness.errors import InputError
from misstep.harness.reflexive.reported.rounds import LoopDecision, ReportedCase, Round, first_stop, reported_cases

CASES = reported_cases()

WRITTEN = """
name = "{name}"
source = "owner/repository#7"
reported = "A run."
expected = "{expected}"
why = "It is."
rounds = [{{ said = "one" }}, {{ said = "two" }}]
{more}
"""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_names_a_public_thread_and_says_why_its_verdict_is_right(case: ReportedCase) -> None:
    assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", case.source)
    assert len(case.reported.split()) > 25
    assert len(case.why.split()) > 8
    assert len(case.rounds) >= 5


@pytest.mark.parametrize("case", [case for case in CASES if case.first], ids=lambda case: case.name)
def test_the_room_for_a_right_stop_follows_from_the_kind_of_the_run_alone(case: ReportedCase) -> None:
    window = case.rounds[case.first - 1 : case.last]
    seen = {turn.content for turn in case.rounds[: case.first - 1]}
    news = all(turn.content not in seen for turn in window) and len({turn.content for turn in window}) > 1
    worked = any(turn.commits for turn in case.rounds[: case.first])
    done = worked and window[0].check == "passed"
    assert case.last - case.first == (1 if done else 4 if news else 2)


@pytest.mark.parametrize(
    ("name", "expected", "more", "message"),
    [
        ("other", "go on", "", "named 'other'"),
        ("case", "go on", "first = 1", "should go on"),
        ("case", "stop", "", "no room"),
        ("case", "stop", "first = 1\nlast = 2", "no room"),
        ("case", "stop", "first = 2\nlast = 1", "no room"),
        ("case", "go on", "colour = 1", "colour"),
    ],
)
def test_a_case_whose_parts_do_not_go_together_is_refused(tmp_path, name, expected, more, message) -> None:
    (tmp_path / "case.toml").write_text(WRITTEN.format(name=name, expected=expected, more=more))
    with pytest.raises(InputError, match=message):
        reported_cases(tmp_path)


def test_a_breaker_is_asked_after_each_round_and_the_first_stop_counts() -> None:
    asked: list[int] = []

    def at_three(rounds: tuple[Round, ...]) -> LoopDecision:
        asked.append(len(rounds))
        return LoopDecision(stop=len(rounds) >= 3, reason="three")

    rounds = tuple(Round(said=str(number)) for number in range(5))
    assert (first_stop(at_three, rounds), asked) == ((3, "three"), [1, 2, 3])
    assert first_stop(at_three, rounds[:2]) is None
