"""What a report of judges shows without scripts: wrong answers, and apart from them questions without an answer."""

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.page import JudgedBy, wrong_answers
from misstep_analysis.judging.sample import majority
from misstep_analysis.pages.browser import LINES_SHOWN
from misstep_harness.verdict import Verdict

ITEMS = [f"item-{number:03}" for number in range(LINES_SHOWN + 50)]
GOLD = majority([GoldLabel(item, "ann", "yes") for item in ITEMS])


def test_wrong_answers_come_before_failed_calls_and_both_are_counted_by_themselves() -> None:
    failed = {item: Verdict(item, "judge", None, "failed", error="HTTP 500") for item in ITEMS[:-2]}
    wrong = {item: Verdict(item, "judge", "no", "answered") for item in ITEMS[-2:]}
    lines, title = wrong_answers(ITEMS, GOLD, [JudgedBy("judge", failed | wrong)])
    assert [line.item for line in lines[:3]] == [*ITEMS[-2:], ITEMS[0]]
    assert (lines[0].answer, lines[2].answer, lines[2].reasons) == ("no", "failed", "HTTP 500")
    assert len(lines) == LINES_SHOWN
    assert title == "2 wrong answers; 248 questions without an answer (248 failed); the first 200 of them"


def test_a_run_without_a_wrong_answer_says_so_and_lists_none() -> None:
    right = {item: Verdict(item, "judge", "yes", "answered") for item in ITEMS}
    assert wrong_answers(ITEMS, GOLD, [JudgedBy("judge", right)]) == ((), "No answer is wrong.")
