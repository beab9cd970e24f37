"""Tasks of Cline and Roo Code: a person's words among the program's, calls as blocks and as text, failures."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.readers.coding_agents import cline
from misstep_harness.readers.coding_agents.cline import InText, heading_of, split_calls
from misstep_harness.readers.files import sample_file
from misstep_harness.trajectory import Source, Tokens, Trajectory
from tests.families.recordings import recording_of

SOURCE = Source("cline", "tasks/1767607200000/api_conversation_history.json")


def read(*messages: dict[str, Any]) -> Trajectory:
    (task,) = cline.read(json.dumps(messages).encode(), SOURCE)
    return task


def user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


def agent(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def test_the_sample_is_a_task_called_after_its_folder() -> None:
    (task,) = cline.read(recording_of("cline"), SOURCE)
    assert (task.id, task.task, task.model) == ("1767607200000", "Rename the flag", "gpt-x")
    assert [(step.role, step.text) for step in task.steps] == [
        ("user", "Rename the flag"),
        ("agent", "I look."),
        ("agent", ""),
        ("user", "Only in cli.py"),
        ("agent", "Done."),
    ]
    assert task.steps[0].extra["injected"][0].startswith("<environment_details>")
    written, block = task.steps[1:3]
    assert written.tokens == Tokens(prompt=90, completion=7, cached=50, cost_usd=0.001)
    assert [(call.name, call.arguments) for call in written.calls] == [("execute_command", {"command": "ls x"})]
    assert [(result.text, result.exit_code) for result in written.results] == [("Exit code: 2\nno such file", 2)]
    assert (block.reasoning, block.calls[0].id, block.results[0].call_id) == ("Now rename.", "c1", "c1")


def test_results_that_are_written_go_to_the_calls_of_their_tools() -> None:
    call = "<read_file>\n<path>{}</path>\n</read_file>"
    task = read(
        user("<task>\nRead\n</task>"),
        agent(call.format("a.py") + call.format("b.py")),
        user("[read_file for 'a.py'] Result:\n\nx = 1", "[read_file for 'b.py'] Result:", "y = 2"),
    )
    step = task.steps[1]
    assert [(result.text, result.call_id) for result in step.results] == [
        ("x = 1", "written-1"),
        ("y = 2", "written-2"),
    ]
    assert [call.id for call in step.calls] == ["written-1", "written-2"]


@pytest.mark.parametrize(
    ("answer", "is_error"),
    [("The tool execution failed with the following error:\n<error>\nno file\n</error>", True), ("x = 1", None)],
)
def test_a_result_that_says_that_the_tool_failed_is_an_error(answer: str, is_error: bool | None) -> None:
    task = read(
        user("<task>\nx\n</task>"),
        agent("<read_file><path>a</path></read_file>"),
        user("[read_file for 'a'] Result:", answer),
    )
    assert task.steps[1].results[0].is_error is is_error


def test_the_exit_code_of_a_command_stands_in_a_line_of_its_result() -> None:
    text = "Command executed in terminal  within working directory '/app'. Exit code: 3\nOutput:\nExit code: 4"
    task = read(
        user("<task>\nx\n</task>"),
        agent("<execute_command><command>make</command></execute_command>"),
        user(f"[execute_command for 'make'] Result:\n{text}"),
    )
    assert task.steps[1].results[0].exit_code == 3


def test_a_file_that_holds_the_tags_of_a_persons_words_says_nothing_in_their_name() -> None:
    block = {"type": "tool_result", "tool_use_id": "c1", "content": "x\n<answer>\nNo\n</answer>"}
    task = read(
        user("<task>\nRead\n</task>"),
        agent("<read_file><path>a</path></read_file>"),
        user("[read_file for 'a'] Result:", "page\n<feedback>\nBad\n</feedback>"),
        {"role": "user", "content": [block]},
    )
    assert [step.role for step in task.steps] == ["user", "agent"]
    assert task.steps[1].results[0].text == "page\n<feedback>\nBad\n</feedback>"


def test_an_answer_to_a_question_is_the_persons_and_the_calls_result() -> None:
    task = read(
        user("<task>\nx\n</task>"),
        agent("<ask_followup_question><question>Which?</question></ask_followup_question>"),
        user("[ask_followup_question for 'Which?'] Result:", "<answer>\nThe first\n</answer>"),
    )
    assert [result.text for result in task.steps[1].results] == ["<answer>\nThe first\n</answer>"]
    assert [(step.role, step.text) for step in task.steps][2:] == [("user", "The first")]


def test_what_a_person_says_beside_a_result_is_a_step_of_theirs() -> None:
    task = read(
        user("<task>\nx\n</task>"),
        agent("<read_file><path>a</path></read_file>"),
        user("[read_file for 'a'] Result:", "x = 1", "<user_message>\nFaster\n</user_message>"),
    )
    assert [result.text for result in task.steps[1].results] == ["x = 1"]
    assert task.steps[2].text == "Faster"


def test_what_the_program_says_alone_is_a_step_of_the_system() -> None:
    task = read(user("<task>\nFix it\n</task>"), agent("Hm"), user("[ERROR] You did not use a tool"))
    assert [step.role for step in task.steps] == ["user", "agent", "system"]


def test_a_resumed_task_has_the_persons_new_words() -> None:
    task = read(user("[TASK RESUMPTION] It was interrupted.\n<user_message>\nGo on\n</user_message>"))
    assert (task.steps[0].role, task.steps[0].text) == ("user", "Go on")


def test_a_call_is_taken_out_of_its_text_and_the_content_of_a_file_may_hold_tags() -> None:
    content = "a <path> and </content> inside"
    text = f"I write.\n<write_to_file>\n<path>a</path>\n<content>\n{content}\n</content>\n</write_to_file>\nSo."
    words, calls = split_calls(text)
    assert words == "I write.\n\nSo."
    assert calls == [InText("write_to_file", {"path": "a", "content": content})]


def test_a_text_may_break_off_in_a_call_and_an_element_of_no_tool_is_text() -> None:
    assert split_calls("<thinking>x</thinking>") == ("<thinking>x</thinking>", [])
    assert split_calls("Go <read_file>\n<path>a</path>") == ("Go", [InText("read_file", {"path": "a"}, True)])


def test_a_heading_may_hold_a_command_of_several_lines() -> None:
    assert heading_of("[execute_command for 'a\nb'] Result:\nok") == ("execute_command", "ok")
    assert heading_of("[x] Result") is None


def test_what_the_screen_shows_is_not_read_as_a_second_task(tmp_path: Path) -> None:
    path = tmp_path / "ui_messages.json"
    path.write_text(json.dumps([{"ts": 1, "type": "say", "say": "task", "text": "Fix it"}]))
    assert "api_conversation_history.json" in str(cline.refuse(sample_file(path)))


MENTIONED = '\n\n<file_content path="a.py">\n<answer>\nDelete it\n</answer>\n</file_content>'


TASK = "<task>\nWhy does it hang?\n</task>"


@pytest.mark.parametrize(
    "texts",
    [
        (TASK + MENTIONED,),
        (TASK, "[read_file for 'a.py']\nFile: a.py\n<answer>\nDelete it\n</answer>"),
        (TASK, "<environment_details>\n# Terminals\n<answer>\nDelete it\n</answer>\n</environment_details>"),
        (TASK, '<command name="go">\nDelete it\n</command>'),
        (TASK, '<hook_context source="TaskStart">\nx\n</hook_context>'),
        ('<explicit_instructions type="w">\n<answer>x</answer>\n</explicit_instructions>\n' + TASK,),
    ],
)
def test_what_a_mention_a_command_or_a_hook_puts_in_is_not_the_users(texts: tuple[str, ...]) -> None:
    assert [(step.role, step.text) for step in read(user(*texts)).steps] == [("user", "Why does it hang?")]


def test_a_file_put_in_is_no_result_though_it_says_so() -> None:
    task = read(user("<task>\nx\n</task>", "[read_file for 'a.py']\nFile: a.py\nThe [table] Result: none"))
    assert task.steps[0].extra["injected"] == ["[read_file for 'a.py']\nFile: a.py\nThe [table] Result: none"]


@pytest.mark.parametrize(
    "answer",
    [
        '{"status":"denied","feedback":"Not there"}',
        "Command is still running.\n<user_message>No</user_message>\n<user_message>\nNot there\n</user_message>",
    ],
)
def test_what_a_person_says_in_a_result_is_theirs(answer: str) -> None:
    call = {"type": "tool_use", "id": "c1", "name": "execute_command", "input": {"command": "ls"}}
    task = read(
        user("<task>\nx\n</task>"),
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": answer}]},
    )
    assert [step.text for step in task.steps if step.role == "user"] == ["x", "Not there"]


def test_feedback_behind_a_written_result_is_the_persons() -> None:
    said = "The user provided the following feedback:\n<feedback>\nFaster\n</feedback>"
    task = read(
        user("<task>\nx\n</task>"),
        agent("<read_file><path>a</path></read_file>"),
        user("[read_file for 'a'] Result:\nx = 1", said, "Tool [read_file] was not executed"),
    )
    assert [result.text for result in task.steps[1].results] == ["x = 1"]
    assert task.steps[2].text == "Faster"


@pytest.mark.parametrize("mark", ["isSummary", "isTruncationMarker"])
def test_a_summary_is_the_systems(mark: str) -> None:
    task = read(user("<task>\nx\n</task>"), user("## Conversation Summary\n<answer>y</answer>") | {mark: True})
    assert [step.role for step in task.steps] == ["user", "system"]


def test_what_the_program_writes_in_the_models_stead_is_not_the_models() -> None:
    broken, none = read(
        agent("I look.\n\n[Response interrupted by user]"), agent("Failure: I did not provide a response.")
    ).steps
    assert (broken.role, broken.text, none.role) == ("agent", "I look.", "system")


def test_a_prompt_counts_what_was_cached() -> None:
    answer = agent("Hm") | {
        "modelInfo": {"providerId": "anthropic", "modelId": "m"},
        "metrics": {"tokens": {"prompt": 9, "completion": 2, "cached": 50}},
    }
    assert read(answer).steps[0].tokens == Tokens(59, 2, 50)
    unknown = answer | {"modelInfo": {"providerId": ["anthropic"]}, "metrics": {"tokens": {"prompt": 90, "cached": 50}}}
    assert read(unknown).steps[0].tokens == Tokens(90, None, 50), "a provider that is no text is none"
