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
    """A round for each call and its result, each with words of its own."""
    return [
        Round(said=f"sentence {number} {do[::-1]}", calls=(RoundCall(do, result, error),))
        for number, (do, result) in enumerate(calls)
    ]


def saying(*texts: str) -> list[Round]:
    return [Round(said=text) for text in texts]


def test_no_change_is_three_rounds_with_a_clean_tree_even_where_each_made_a_commit() -> None:
    committed = [Round(said=str(number), commits=(str(number),), content=str(number)) for number in range(4)]
    assert stops_at("no_file_change", committed) == 3
    dirty = Round(said="", uncommitted=("a",))
    assert stops_at("no_file_change", [*committed[:2], dirty, *committed[:2]]) is None


def test_the_word_error_counts_in_five_rounds_whatever_it_is_about() -> None:
    assert stops_at("error_word", saying(*['"is_error": false'] * 6)) == 5
    assert stops_at("error_word", saying(*["No errors."] * 4, "All well.", *["ERROR"] * 4)) is None


def test_output_declines_where_less_than_three_tenths_are_left() -> None:
    assert stops_at("output_decline", saying("x" * 100, "x" * 30)) is None
    assert stops_at("output_decline", saying("x" * 100, "x" * 29)) == 2


def test_words_of_completion_count_in_two_rounds_in_a_row_also_where_they_are_denied() -> None:
    assert stops_at("completion_words", saying("Not done.", "Step 2 is finished.")) == 2
    assert stops_at("completion_words", saying("Done.", "Going on.", "Done.")) is None


def test_output_is_compared_with_the_five_rounds_before() -> None:
    other = ["one", "quite another", "12345", "?", "zzz zzz"]
    assert stops_at("similar_output", saying("the very same text", *other[:4], "the very same text")) == 6
    assert stops_at("similar_output", saying("the very same text", *other, "the very same text")) is None


def test_an_event_that_is_announced_three_times_in_a_row_stops_the_loop_and_none_does_not() -> None:
    announced = [Round(said=str(number), announced="task.complete") for number in range(3)]
    assert stops_at("repeated_event", announced) == 3
    assert stops_at("repeated_event", saying("a", "b", "c", "d")) is None


@pytest.mark.parametrize("most", [3, 5])
def test_identical_calls_count_whatever_comes_back(most: int) -> None:
    polls = calling(*[("read_output 4", f"{number}%") for number in range(6)])
    assert stops_at(f"identical_calls_{most}", polls) == most
    assert stops_at(f"identical_calls_{most}", calling(*[(f"read {number}", "") for number in range(6)])) is None


def test_the_stuck_patterns_look_at_results_too() -> None:
    assert stops_at("stuck_pattern", calling(*[("status", "running")] * 5)) == 4
    assert stops_at("stuck_pattern", calling(*[("status", f"{number}%") for number in range(6)])) is None
    assert stops_at("stuck_pattern", calling(*[("read log", f"failure {n}") for n in range(4)], error=True)) == 3
    assert stops_at("stuck_pattern", saying(*["I am thinking."] * 4)) == 3
    assert stops_at("stuck_pattern", calling(*[("a", "1"), ("b", "2")] * 4)) == 6
    assert stops_at("stuck_pattern", calling(*[("a", str(n)) if n % 2 else ("b", "2") for n in range(8)])) is None


def test_a_message_is_no_monologue_where_calls_stand_between() -> None:
    working = [Round(said="Next.", calls=(RoundCall(f"edit {number}", "ok"),)) for number in range(4)]
    assert stops_at("stuck_pattern", working) is None


def test_the_same_error_counts_whatever_was_asked_and_another_one_starts_anew() -> None:
    missing = [(f"get {number}", "404") for number in range(4)]
    assert stops_at("same_error", calling(*missing, error=True)) == 3
    assert stops_at("same_error", calling(*missing[:2], ("get 9", "403"), *missing[:2], error=True)) is None
    assert stops_at("same_error", calling(*missing)) is None


def test_equal_results_count_six_times_for_one_tool() -> None:
    assert stops_at("unchanged_results", calling(*[(f"lookup {number}", "[]") for number in range(7)])) == 6
    assert stops_at("unchanged_results", calling(*[(f"tool{number % 2} x", "[]") for number in range(9)])) is None


def test_mistakes_count_whichever_they_are_and_a_success_starts_anew() -> None:
    failing = calling(("a", "1"), ("b", "2"), ("c", "3"), error=True)
    assert stops_at("mistakes_in_a_row", failing) == 3
    assert stops_at("mistakes_in_a_row", [*failing[:2], *calling(("d", "ok")), *failing[:2]]) is None


def test_ten_rounds_are_the_most() -> None:
    assert stops_at("most_rounds", saying(*map(str, range(12)))) == 10


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
