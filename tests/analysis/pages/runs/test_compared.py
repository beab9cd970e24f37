"""The page of two runs: the first sentence says where they part, and every step stands beside its counterpart."""

from msgspec import structs

from misstep.analysis.pages.foot import Foot
from misstep.analysis.pages.runs.compared import ComparedRun, compared_page
from misstep.harness.trajectory import Outcome, Source, Step, Tokens, ToolCall, ToolResult, Trajectory
from misstep.harness.verdict import Verdict
from tests.analysis.pages.html_rules import Page, check_page
from tests.misstep.made_up_runs import HOSTILE

LOOK = Step("agent", "I look.", calls=(ToolCall("bash", {"command": "ls"}),), results=(ToolResult("a.py"),))
TEST = Step("agent", calls=(ToolCall("bash", {"command": "pytest tests/test_a.py -x"}),), tokens=Tokens(100, 5))
EDIT = Step("agent", calls=(ToolCall("edit", {"path": "a.py"}),), seconds=2.0)
DONE = Step("agent", "It is mended.")


def _run(id_: str, *steps: Step, task: str = "Mend it.") -> Trajectory:
    return Trajectory(id_, Source("made up"), task, steps, Outcome("failed"))


def _page(a: Trajectory, b: Trajectory, result: tuple[int, ...] = ()) -> Page:
    answer = Verdict(b.id, "infinite_loop", "yes" if result else "no", steps=result, rationale="It repeats itself.")
    runs = (ComparedRun(a, (structs.replace(answer, label="no", steps=()),), f"misstep view {a.id}"),)
    html = compared_page(*runs, ComparedRun(b, (answer,), "misstep view b"), Foot("misstep view --compare a b"))
    page = check_page(html)
    page.text = " ".join(page.text.split())
    return page


def test_the_first_sentence_says_where_the_runs_part_and_what_each_does_there() -> None:
    page = _page(_run("a", LOOK, TEST, EDIT, DONE), _run("b", LOOK, EDIT, DONE))
    assert "Both runs do the same in their first step; then A alone, at step 1, calls “bash pytest tests" in page.text
    assert (
        "Of 4 steps of A and 3 steps of B, 3 are the same and 0 changed; 1 is only in A and 0 only in B." in page.text
    )
    assert "#line-1" in page.addresses
    assert {"a-0", "a-1", "a-2", "a-3", "b-0", "b-1", "b-2"} <= set(page.ids)


def test_where_both_do_something_else_both_are_named() -> None:
    page = _page(_run("a", LOOK, TEST), _run("b", LOOK, EDIT))
    assert "then at step 1 A calls “bash pytest tests/test_a.py -x”, and B calls “edit a.py”." in page.text


def test_runs_that_do_the_same_are_said_to_and_another_result_is_told() -> None:
    other = structs.replace(LOOK, results=(ToolResult("b.py"),))
    text = _page(_run("a", DONE, LOOK), _run("b", DONE, other)).text
    assert "Both runs do the same in all of their 2 steps. At step 1 the same call got another result." in text
    assert "same another result" in text


def test_where_words_part_before_the_calls_do_both_are_told() -> None:
    say, told = Step("user", "Please look."), Step("user", "Look around!")
    text = _page(_run("a", say, LOOK, TEST), _run("b", told, LOOK, EDIT)).text
    assert "at step 0 the user of A says “Please look.”, and the user of B says “Look around!”." in text
    assert "In calls they part first: at step 2 A calls “bash pytest tests/test_a.py -x”, and B calls “edit" in text
    assert "They make the same calls." in _page(_run("a", say, LOOK), _run("b", told, LOOK)).text


def test_what_each_run_comes_to_stands_side_by_side_with_its_difference() -> None:
    text = _page(_run("a", LOOK, TEST), _run("b", LOOK, TEST, EDIT), result=(2,)).text
    assert "Outcome failed failed" in text
    assert "Misbehaviour found none infinite loop" in text
    assert "Steps 2 3 +1" in text
    assert "Tokens 105 105 same" in text
    assert "Time not recorded 2 s" in text
    assert "infinite loop It repeats itself." in text


def test_runs_of_different_tasks_are_shown_and_the_page_says_so() -> None:
    text = _page(_run("a", LOOK), _run("b", LOOK, task="Paint it.")).text
    assert "The runs have different tasks. A: “Mend it.”. B: “Paint it.”." in text
    message = _page(_run("a", Step("user", "Go."), task=""), _run("b", LOOK, task="")).text
    assert "The runs may have different tasks: they begin with other words. A: “Go.”. B: not recorded." in message
    assert "different tasks" not in _page(_run("a", LOOK), _run("b", LOOK)).text


def test_no_text_of_a_run_becomes_more_than_text_on_a_page_of_two() -> None:
    hostile = Step("agent", HOSTILE, calls=(ToolCall(HOSTILE, {HOSTILE: HOSTILE}),), results=(ToolResult(HOSTILE),))
    page = _page(_run(HOSTILE, hostile, task=HOSTILE), _run("b", LOOK))
    assert (page.tags.count("img"), page.tags.count("script")) == (0, 2)
