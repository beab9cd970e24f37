"""Each breaker acts at its documented threshold, and not one round before."""

from collections.abc import Sequence
from importlib.util import find_spec

import pytest

from misstep.harness.reflexive.reported.breakers import BREAKERS
from misstep.harness.reflexive.reported.rounds import Round, RoundCall, first_stop

NAMED = {breaker.name: breaker for breaker in BREAKERS}


def stops_at(name: str, rounds: Sequence[Round]) -> int | None:
    stop = first_stop(NAMED[name].decide, rounds)
    return None if stop is None else stop[0]


def calling(*calls: tuple[str, str], error: bool = False) -> list[Round]:
    return [
        Round(said=f"sentence {number} {do[::-1]}", calls=(RoundCall(do, result, error),))
        for number, (do, result) in enumerate(calls)
    ]


def saying(*texts: str) -> list[Round]:
    return [Round(said=text) for text in texts]


COMMITTED = [Round(said=str(number), commits=(str(number),), content=str(number)) for number in range(4)]
MISSING = [(f"get {number}", "404") for number in range(4)]
FAILING = calling(("a", "1"), ("b", "2"), ("c", "3"), error=True)
OTHER = ["one", "quite another", "12345", "?", "zzz zzz"]
SAME = "the very same text"
WORKING = [Round(said="Next.", calls=(RoundCall(f"edit {number}", "ok"),)) for number in range(4)]
POLLS = calling(*[("read_output 4", f"{number}%") for number in range(6)])

STOPS: list[tuple[str, list[Round], int | None]] = [
    ("no_file_change", COMMITTED, 3),  # even where each made a commit
    ("no_file_change", [*COMMITTED[:2], Round(said="", uncommitted=("a",)), *COMMITTED[:2]], None),
    ("error_word", saying(*['"is_error": false'] * 6), 5),  # whatever it is about
    ("error_word", saying(*["No errors."] * 4, "All well.", *["ERROR"] * 4), None),
    ("output_decline", saying("x" * 100, "x" * 30), None),
    ("output_decline", saying("x" * 100, "x" * 29), 2),
    ("completion_words", saying("Not done.", "Step 2 is finished."), 2),  # also where they are denied
    ("completion_words", saying("Done.", "Going on.", "Done."), None),
    ("similar_output", saying(SAME, *OTHER[:4], SAME), 6),
    ("similar_output", saying(SAME, *OTHER, SAME), None),
    ("repeated_event", [Round(said=str(number), announced="task.complete") for number in range(3)], 3),
    ("repeated_event", saying("a", "b", "c", "d"), None),
    ("identical_calls_3", POLLS, 3),  # whatever comes back
    ("identical_calls_5", POLLS, 5),
    ("identical_calls_3", calling(*[(f"read {number}", "") for number in range(6)]), None),
    ("stuck_pattern", calling(*[("status", "running")] * 5), 4),
    ("stuck_pattern", calling(*[("status", f"{number}%") for number in range(6)]), None),
    ("stuck_pattern", calling(*[("read log", f"failure {n}") for n in range(4)], error=True), 3),
    ("stuck_pattern", saying(*["I am thinking."] * 4), 3),
    ("stuck_pattern", WORKING, None),  # messages with calls between them are not a monologue
    ("stuck_pattern", calling(*[("a", "1"), ("b", "2")] * 4), 6),
    ("stuck_pattern", calling(*[("a", str(n)) if n % 2 else ("b", "2") for n in range(8)]), None),
    ("same_error", calling(*MISSING, error=True), 3),  # whatever was asked
    ("same_error", calling(*MISSING[:2], ("get 9", "403"), *MISSING[:2], error=True), None),
    ("same_error", calling(*MISSING), None),
    ("unchanged_results", calling(*[(f"lookup {number}", "[]") for number in range(7)]), 6),
    ("unchanged_results", calling(*[(f"tool{number % 2} x", "[]") for number in range(9)]), None),
    ("mistakes_in_a_row", FAILING, 3),  # whichever they are
    ("mistakes_in_a_row", [*FAILING[:2], *calling(("d", "ok")), *FAILING[:2]], None),
    ("most_rounds", saying(*map(str, range(12))), 10),
]


@pytest.mark.parametrize(("name", "rounds", "round_"), STOPS, ids=lambda one: one if isinstance(one, str) else None)
def test_a_breaker_acts_at_its_threshold_and_not_before(name: str, rounds: list[Round], round_: int | None) -> None:
    assert stops_at(name, rounds) == round_


def test_plateaus_are_told_over_three_rounds() -> None:
    same = "The disk partition cannot be resized at run time."
    assert stops_at("plateau_exact", saying(same, same, same)) == 3
    assert stops_at("plateau_keywords", saying(same, "At run time no disk partition is resized.", same)) == 3
    assert stops_at("plateau_exact", saying(same, "At run time no disk partition is resized.", same)) is None
    assert stops_at("plateau_cosine", saying(same, same, same)) == 3


def test_every_breaker_says_what_it_does_and_where_that_is_documented_and_gives_a_reason() -> None:
    rounds = saying(*["error: done"] * 12)
    for breaker in BREAKERS:
        assert breaker.says
        assert "/" in breaker.source
        if breaker.name == "plateau_embeddings" and find_spec("wordllama") is None:
            continue
        stop = first_stop(breaker.decide, rounds)
        assert stop is None or stop[1]
    assert len(NAMED) == len(BREAKERS)
