"""The page of a case: long things are cut and said to be, keys fit, and nothing is shown that was not given to it."""

from misstep_analysis.annotation.page import (
    Asked,
    Material,
    MaterialPart,
    Meaning,
    TextFile,
    case_page,
    step_line,
)
from misstep_analysis.pages.page import Foot
from misstep_harness.annotation import RaterAnswer
from misstep_harness.trajectory import Step, ToolCall, ToolResult
from tests.analysis.pages.html_rules import Page, check_page

LABELS = tuple(Meaning(f"label {number}", f"Label {number}") for number in range(9))


def _page(material: Material, **asked: object) -> Page:
    settings = {
        "rater": "ann",
        "phase": "independent",
        "place": 1,
        "of": 3,
        "done": 0,
        "links": (),
        "address": "/a/case/0",
        "token": "t",
        "revision": 0,
    }
    text = case_page(material, Asked(**(settings | asked)), Foot("misstep annotate"))  # type: ignore[arg-type]
    return check_page(text)


def _material(**more: object) -> Material:
    return Material(**({"id": "one", "question": "Which?", "labels": LABELS} | more))  # type: ignore[arg-type]


def test_a_case_without_anything_is_still_a_page() -> None:
    assert "How the run ended is not recorded. Which?" in _page(_material()).text


def test_a_long_file_is_cut_and_many_files_are_counted() -> None:
    files = (TextFile("big.log", "x" * 50_000), TextFile("empty", note="The file is empty."))
    page = _page(_material(parts=(MaterialPart("logs", "Logs", files, left_out=7),)))
    assert "30,000 characters are not shown here" in page.text
    assert "7 more files are not shown here." in page.text
    assert "The file is empty." in page.text


def test_a_phase_that_is_over_takes_no_answer() -> None:
    own = RaterAnswer("one", "ann", "independent", "label 2", note="so it is")
    page = _page(_material(), own=own, open=False)
    assert "This phase is over" in page.text
    assert "button" not in page.tags


def test_other_answers_are_shown_as_they_were_given_with_their_changes() -> None:
    others = (
        RaterAnswer("one", "ben", "independent", "label 1", note="<b>bold</b>"),
        RaterAnswer("one", "ben", "reconciliation", None, revision=2),
    )
    text = _page(_material(), others=others).text
    assert "<b>bold</b>" in text
    assert "together, change 2" in text
    assert "cannot tell" in text


def test_a_step_is_one_line_of_what_was_called_or_said() -> None:
    call = ToolCall("bash", {"command": "ls\n-l"})
    assert step_line(Step("agent", text="I look.", calls=(call,))) == "bash: ls -l"
    assert step_line(Step("agent", text="I am\ndone.")) == "I am done."
    assert step_line(Step("agent", results=(ToolResult("out"),))) == "out"
    assert step_line(Step("agent", calls=(ToolCall("bash", "not json"),))) == "bash: not json"
    assert len(step_line(Step("agent", text="word " * 100))) <= 111
