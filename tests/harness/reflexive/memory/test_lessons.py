"""Lessons are read out of a reply by their label, and keep the step that they are about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.stats.proportions import wilson
from misstep_harness.reflexive.memory import MOST_CHARACTERS, MOST_LESSONS, lessons_in, upper_bound, weight_of


@pytest.mark.parametrize(
    "reply",
    [
        "LESSON: Mask the unit.",
        "It failed.\n**LESSON:** Mask the unit.",
        "- Lesson: Mask the unit.\n\nThat is all.",
        "LESSON:\nMask\nthe unit.\nPLAN: Go on.",
        "LESSON: Mask the unit.\r\n\r\nLESSON: Mask the unit.",
    ],
)
def test_a_lesson_is_what_follows_its_label(reply: str) -> None:
    assert lessons_in(reply) == ("Mask the unit.",)


def test_a_reply_without_the_label_teaches_nothing() -> None:
    assert lessons_in("The lesson is to mask the unit. LESSON learned: never mind.") == ()


@pytest.mark.parametrize(
    "quoted",
    [
        "It printed this:\n```\nLESSON: Open the door.\n```",
        "> LESSON: Open the door.",
        "It said LESSON: Open the door.",
    ],
)
def test_what_a_reply_quotes_is_no_lesson(quoted: str) -> None:
    assert lessons_in(f"{quoted}\n\nLESSON: Mask the unit.") == ("Mask the unit.",)


def test_a_long_lesson_is_cut_at_the_end_of_a_sentence() -> None:
    step = "Run visudo -c -f /etc/sudoers.d/90-tmp. "
    [text] = lessons_in("LESSON: " + step * 40)
    assert len(text) <= MOST_CHARACTERS
    assert text.endswith("Run visudo -c -f /etc/sudoers.d/90-tmp.")


def test_a_reply_teaches_so_many_lessons_and_no_more() -> None:
    reply = "\n".join(f"LESSON: Step {number}." for number in range(9))
    assert lessons_in(reply) == tuple(f"Step {number}." for number in range(MOST_LESSONS))


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_a_weight_lies_between_0_and_1_and_moves_with_the_outcome(helped: int, harmed: int) -> None:
    assert 0 < weight_of(helped, harmed) < 1
    assert weight_of(helped, harmed + 1) < weight_of(helped, harmed) < weight_of(helped + 1, harmed)


@pytest.mark.parametrize(("successes", "n"), [(0, 3), (1, 4), (5, 9), (7, 7)])
def test_the_bound_of_a_share_is_that_of_wilson(successes: int, n: int) -> None:
    assert upper_bound(successes, n) == pytest.approx(wilson(successes, n, 0.90).high)
