"""The 15 commands of table I."""

import asyncio

import pytest

from misstep_harness.agent.actions import Action, EditFeedback, Observation, read_command
from misstep_harness.agent.environment import Environment
from misstep_harness.agent.loop import run_agent
from misstep_harness.agent.protocols import PatchRequest, Task
from misstep_harness.agent.tools import TOOLS, carry_out, tool_named
from misstep_harness.errors import EditRefused
from misstep_harness.protocols import Ask
from misstep_harness.workspace.suite.report import FailedTest, SuiteReport
from tests.harness.agent.folders import FilesInMemory, NoModel, environment
from tests.harness.agent.test_loop import Scripted

FILES = {
    "src/price.py": "class Price:\n    def total(self):\n        return self.net\n\n\ndef load():\n    return 1\n",
    "src/long.py": "".join(f"line_{number} = {number}\n" for number in range(1, 1001)),
    "tests/test_price.py": "def test_total():\n    assert Price().total() == 2\n",
    "empty.txt": "",
}

FAILED = SuiteReport(passed=False, ran=1, exit_code=1, failed=(FailedTest("t::test_total", "assert 1 == 2", "trace"),))


def _do(command: str, *replies: str, **more: object) -> Observation:
    return _carried_out(read_command(command), environment(FILES, *replies, **more))  # type: ignore[arg-type]


def _carried_out(action: Action, place: Environment) -> Observation:
    return asyncio.run(carry_out(action, place, [*map(tool_named, TOOLS)]))


def test_there_are_the_15_commands_of_the_paper_with_its_arguments() -> None:
    expected = """exit summary; get_diff_details diff_number; get_task_details task_num; read_directory directory_path;
        read_file file_path; find_file file_name; go_to_line file_path line; search_code code_str;
        search_code_in_file code_str file_path; search_class class_name; search_method method_name;
        search_method_in_file method_name file_path; search_method_in_class method_name class_name; run_tests;
        edit file_path instructions"""
    commands = [[tool_named(name).name, *tool_named(name).parameters] for name in TOOLS]
    assert sorted(commands) == sorted(command.split() for command in expected.split(";"))


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("read_directory directory_path='.'", "empty.txt\nsrc/\ntests/"),
        ("read_directory directory_path='./src/'", "long.py\nprice.py"),
        ("read_file file_path='tests/test_price.py'", "1 def test_total():\n2     assert Price().total() == 2"),
        ("read_file file_path='empty.txt'", "empty.txt is empty."),
        ("find_file file_name='price.py'", "src/price.py\ntests/test_price.py"),
        ("find_file file_name='test_*.py'", "tests/test_price.py"),
        ("search_code code_str='self.net'", "src/price.py:3: return self.net"),
        ("search_code_in_file code_str='Price' file_path='tests/test_price.py'", "test_price.py:2: assert"),
        ("search_class class_name='Price'", "src/price.py:1-3: class Price\n1 class Price:"),
        ("search_method method_name='load'", "src/price.py:6-7: method load\n6 def load():"),
        ("search_method_in_file method_name='total' file_path='src/price.py'", "method Price.total"),
        ("search_method_in_class method_name='total' class_name='Price'", "src/price.py:2-3: method Price.total"),
        ("get_task_details task_num='#7'", "Mend the price.\nIt is wrong."),
    ],
)
def test_a_command_shows_what_it_is_for(command: str, shown: str) -> None:
    seen = _do(command)
    assert not seen.is_error
    assert seen.text.startswith(shown) or shown in seen.text


def test_the_50_lines_around_a_line_are_shown() -> None:
    lines = _do("go_to_line file_path='src/long.py' line='500'").text.splitlines()
    assert len(lines) == 50
    assert "500 line_500 = 500" in lines
    assert len(_do("go_to_line file_path='src/long.py' line=1").text.splitlines()) == 50
    assert _do("go_to_line file_path='src/long.py' line=1000").text.splitlines()[-1] == "1000 line_1000 = 1000"


def test_long_output_comes_in_pages_that_name_the_next() -> None:
    first = _do("read_file file_path='src/long.py'").text
    assert "page 1 of 3" in first
    following = first.splitlines()[-1].removeprefix("[page 1 of 3; the next one: ").removesuffix("]")
    assert " 401 line_401" in _do(following).text
    assert "no page 4" in _do("read_file file_path='src/long.py' page=4").text


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("read_file file_path='price.py'", "Did you mean: src/price.py"),
        ("read_file file_path='../../etc/passwd'", "There is no file"),
        ("read_file path='src/price.py'", "lacks file_path and has no argument path. Usage: read_file file_path="),
        ("reed_file file_path='src/price.py'", "Did you mean read_file"),
        ("read_file 'src/price.py'", "not a keyword argument"),
        ("read_file file_path='src/price.py' page=two", "not a whole number"),
        ("read_directory directory_path='scr'", "Did you mean: src"),
        ("read_directory directory_path='src/price.py'", "is a file"),
        ("find_file file_name='prise.py'", "Did you mean"),
        ("go_to_line file_path='src/price.py' line=99", "has 7 lines, and no line '99'"),
        ("search_code code_str='no such thing'", "is nowhere"),
        ("search_class class_name='Prices'", "Did you mean: Price"),
        ("search_method_in_class method_name='total' class_name='Cost'", "no class 'Cost'"),
        ("search_method_in_class method_name='sum' class_name='Price'", "no method 'sum' in the class Price"),
        ("get_diff_details diff_number=12", "No diff is known"),
        ("run_tests", "cannot be run"),
        ("edit file_path='src/price.py' instructions=' '", "instructions is empty"),
        ("edit file_path='src/cost.py' instructions='mend it'", "no file"),
    ],
)
def test_what_goes_wrong_is_an_error_that_says_what_to_do(command: str, text: str) -> None:
    seen = _do(command)
    assert seen.is_error
    assert text in seen.text


def test_a_diff_is_shown_by_its_number() -> None:
    assert _do("get_diff_details diff_number='12'", diffs={"12": "Round prices"}).text == "Round prices"
    bare = _do(
        "get_diff_details diff_number='12'", diffs={"12": "--- a/price.py\n+++ b/price.py\n@@ -1 +1 @@\n-a\n+b\n"}
    )
    assert bare.text.startswith("Title: none is known; it changes price.py\n\n--- a/price.py\n")


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("get_diff_details diff_number='6112d3dd37c0ffee'", "Round prices"),
        ("get_diff_details diff_number='6112d3'", "Round prices"),
        ("get_diff_details diff_number='61'", "There is no diff '61'"),
        ("get_diff_details diff_number='#3'", "Sell pears"),
        ("get_diff_details diff_number='4'", "There is no diff '4'"),
    ],
)
def test_a_longer_or_shorter_form_of_a_number_names_the_same_diff_or_task(command: str, shown: str) -> None:
    assert shown in _do(command, diffs={"6112d3dd37": "Round prices", "task-3": "Sell pears"}).text


def test_the_tests_give_the_papers_sentence_or_the_failure() -> None:
    assert _do("run_tests", reports=[SuiteReport(passed=True, ran=1)]).text == "All tests passed"
    assert "assert 1 == 2" in _do("run_tests", reports=[FAILED]).text


def test_an_edit_changes_the_file_and_its_index_and_gives_the_feedback_of_the_setting() -> None:
    act = Action("edit", {"file_path": "src/price.py", "instructions": "rename"})
    place = environment(FILES, "class Price => class Cost", reports=[FAILED], found="ruff detected errors")
    assert place.index.find("class", "Price")
    seen = _carried_out(act, place)
    assert "ruff detected errors" in seen.text
    assert "assert 1 == 2" in seen.text
    assert (place.files.read("src/price.py")).startswith(b"class Cost")
    assert place.index.find("class", "Cost")
    assert not place.index.find("class", "Price")
    assert [(edit.path, edit.rules, edit.refused) for edit in place.edits] == [("src/price.py", ("exact",), "")]


@pytest.mark.parametrize(
    ("reports", "result", "heard", "feedback"),
    [
        ([SuiteReport(passed=True, ran=1)], None, True, EditFeedback(tests_passed=True)),
        ([SuiteReport(passed=True, ran=1)], "", True, EditFeedback(tests_passed=True)),
        (
            [SuiteReport(passed=True, ran=1)],
            "ruff detected errors",
            False,
            EditFeedback(complaint=True, tests_passed=True),
        ),
        ([FAILED], "", False, EditFeedback(tests_passed=False)),
        (None, "", False, EditFeedback()),
    ],
)
def test_the_judge_is_heard_of_an_edit_that_passes_the_checks_and_feedback_is_typed(reports, result, heard, feedback):
    act = Action("edit", {"file_path": "src/price.py", "instructions": "rename"})
    place = environment(FILES, "self.net => self.gross", reports=reports, found=result, judged="I would land it.")
    seen = _carried_out(act, place)
    assert (("I would land it." in seen.text), seen.feedback) == (heard, feedback)
    assert seen.text.startswith(result or "The edit was successful: src/price.py changed.")


class _Refuses:
    """A patching sub-agent that finds no way to write the change."""

    async def patch(self, request: PatchRequest, ask: Ask) -> str:  # noqa: ARG002
        raise EditRefused("no_newline_at_end", "the format cannot say how the file ends", path=request.path)


def test_a_patcher_that_refuses_is_a_failed_command_and_the_run_goes_on() -> None:
    place = environment(FILES, patcher=_Refuses())
    policy = Scripted("edit file_path='src/price.py' instructions='x'", "exit summary='no'")
    run = asyncio.run(run_agent(Task("7", "Mend it."), policy, place, NoModel()))
    answer = run.steps[2].results[0]
    assert answer.is_error
    assert "cannot say how the file ends. Nothing has changed." in answer.text
    assert run.extra["ended"] == "exit"
    assert [(edit.reply, bool(edit.refused)) for edit in place.edits] == [("", True)]


def test_a_refused_edit_changes_nothing_and_says_why() -> None:
    place = environment(FILES, "class Prize => class Cost")
    act = Action("edit", {"file_path": "src/price.py", "instructions": "rename"})
    seen = _carried_out(act, place)
    assert seen.is_error
    assert "'class Prize' is not in the file" in seen.text
    assert isinstance(place.files, FilesInMemory)
    assert place.files.data == {path: text.encode() for path, text in FILES.items()}
    assert place.edits[0].refused
    assert seen.feedback == EditFeedback(applied=False)
