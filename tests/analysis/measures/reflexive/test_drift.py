"""Agents drift apart as far as they are shown different texts under one name; useful lessons come to use."""

import pytest

from misstep.analysis.measures.reflexive.drift import drift
from misstep.analysis.measures.reflexive.lessons import Recall, lesson_use
from misstep.harness.records.loop_events import LoopEvent, PartShown, Resumed, Role, TurnEnded


def _turn(number: int, role: Role, attempt: int = 1, item: str = "a", **digests: str) -> LoopEvent:
    seen = tuple(PartShown(name, 5, digest, "whole" if digest else "left_out") for name, digest in digests.items())
    return LoopEvent(number, 0.0, TurnEnded(role, "someone", "", 1.0, seen=seen), item, attempt)


def test_a_part_that_was_cut_or_fell_out_for_one_of_them_differs() -> None:
    result = drift([_turn(0, "worker", task="t", plan="cut"), _turn(1, "reflector", task="", plan="p")])

    assert result.attempts[0].differing == ("task", "plan")
    assert result.share.value == 1.0


def test_other_parts_may_differ_and_other_attempts_are_not_compared() -> None:
    result = drift([_turn(0, "worker", check="c", task="t"), _turn(1, "reflector", 2, check="d", task="u")])

    assert result.attempts == ()
    assert result.share.reason == "no two agents were given the same part"


def test_the_interval_is_over_items_of_runs() -> None:
    first = [_turn(0, "worker", task="t"), _turn(1, "reflector", task="x")]
    second = [_turn(0, "worker", task="t", item="b"), _turn(1, "reflector", task="t", item="b")]

    result = drift(first, [*first, *second])

    assert result.share.value == pytest.approx(2 / 3)
    assert result.share.n == 3
    assert result.share.low is not None


def test_a_turn_that_a_kill_made_void_does_not_count() -> None:
    killed = [_turn(0, "worker", task="t"), _turn(1, "reflector", task="x")]
    again = [LoopEvent(2, 0.0, Resumed(-1)), _turn(3, "worker", task="t"), _turn(4, "reflector", task="t")]

    assert drift([*killed, *again]).share.value == 0.0


def _recall(item: str, *shown: str, useful: tuple[str, ...] = (), harmful: tuple[str, ...] = ()) -> Recall:
    return Recall(item, frozenset(useful), frozenset(harmful), shown, stored=9)


def test_useful_lessons_count_where_they_are_shown() -> None:
    use = lesson_use([_recall("a", "1", "2", useful=("1", "3")), _recall("b", "4", useful=("4",), harmful=("5",))])

    assert use.useful.value == 2 / 3
    assert use.precision.value == 2 / 3
    assert use.harmful.value == 0.0
    assert (use.n, use.shown, use.stored) == (2, 1.5, 9)
