"""Instructions from a fix by a model: in words, or not at all."""

import asyncio
from pathlib import Path

import pytest

from misstep_harness.agent.protocols import ModelSettings
from misstep_harness.exchange import Failure, Outcome
from misstep_harness.repair.records import CaseInstructions
from misstep_harness.repair.runs.instructions import TRIES, back_translated, unfit
from tests.harness.agent.test_model_policy import Answers, reply
from tests.harness.repair.cases import GOLDEN, price_case

HIGH, DETAILED = reply("Make the total right."), reply("1. In total, add each price.")
CODE = reply("1. Write found += price in the loop.")


def _written(folder: Path, *outcomes: Outcome, golden: str = GOLDEN) -> tuple[CaseInstructions, Answers]:
    case = price_case(folder / "price")
    (case.folder / "golden.patch").write_text(golden)
    answers = Answers(*outcomes)
    return asyncio.run(back_translated(case, answers, ModelSettings())), answers


def test_a_case_gets_both_texts_from_its_fix_alone(tmp_path: Path) -> None:
    written, answers = _written(tmp_path, HIGH, DETAILED)
    assert written.texts == {"high_level": "Make the total right.", "detailed": "1. In total, add each price."}
    assert (written.file, written.refused, written.asked, written.cost_usd) == ("price.py", {}, 2, 1.0)
    assert GOLDEN in answers.requests[0].messages[-1].content
    assert "assert -3 == 3" not in answers.requests[0].messages[-1].content


def test_a_text_with_code_of_the_fix_is_asked_for_again_with_the_line_named(tmp_path: Path) -> None:
    written, answers = _written(tmp_path, HIGH, CODE, DETAILED)
    assert written.texts["detailed"] == "1. In total, add each price."
    assert "`found += price`" in answers.requests[2].messages[-1].content


def test_a_model_that_keeps_to_code_gives_no_text(tmp_path: Path) -> None:
    written, answers = _written(tmp_path, HIGH, *[CODE] * TRIES)
    assert list(written.texts) == ["high_level"]
    assert "`found += price`" in written.refused["detailed"]
    assert len(answers.requests) == 1 + TRIES


def test_no_answer_is_an_error_and_no_text(tmp_path: Path) -> None:
    written, _ = _written(tmp_path, HIGH, Failure("server", "it failed"))
    assert (list(written.texts), written.refused, written.error) == (["high_level"], {}, "it failed")


def test_a_fix_of_two_files_is_not_asked_about(tmp_path: Path) -> None:
    written, answers = _written(tmp_path, golden=GOLDEN + GOLDEN.replace("price.py", "label.py"))
    assert written.refused == dict.fromkeys(("high_level", "detailed"), "the fix changes 2 files")
    assert answers.requests == []


@pytest.mark.parametrize(
    ("text", "added", "wrong"),
    [
        ("If there are no prices, give nothing back.", "if not prices:", ""),
        ("Ask `if not prices` first.", "if not prices:", "if not prices:"),
        ("Write found+=price.", "found += price", "found += price"),
        ("Write found += prices.", "found += price", ""),
        ("return total", "return total", ""),
        ("Hand out chunked(names, n)[0].", "return chunked(names, n)[0]", "part of the line"),
        ("Hand out the first of chunked.", "return chunked(names, n)[0]", ""),
        ("```\nprice\n```", "", "code block"),
        ("", "", "empty"),
    ],
)
def test_code_is_a_line_of_the_fix_however_it_is_spaced(text: str, added: str, wrong: str) -> None:
    reason = unfit(text, [added])
    assert wrong in reason
    assert bool(reason) == bool(wrong)
