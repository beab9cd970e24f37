"""mini-swe-agent runs of all versions: what was run, what came of it, what the scaffold complained about."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.protocols import Sample
from misstep_harness.readers.coding_agents.mini_swe_agent import bash_blocks, read, refuse
from misstep_harness.trajectory import Outcome, Source, Tokens, ToolCall, ToolResult, Trajectory
from tests.families.recordings import recording_of

SOURCE = Source("mini_swe_agent", "runs/gate.traj.json")
OPENING = [{"role": "system", "content": "You mend code."}, {"role": "user", "content": "Mend the gate."}]


def said(text: str, command: str | None = None) -> dict[str, Any]:
    block = "" if command is None else f"\n\n```bash\n{command}\n```"
    return {"role": "assistant", "content": text + block}


def heard(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def output(text: str, code: int = 0) -> dict[str, Any]:
    return heard(f"<returncode>{code}</returncode>\n<output>\n{text}</output>")


def run(*messages: dict[str, Any], **info: Any) -> Trajectory:
    """A run of version 1 that goes on with these messages."""
    value: Any = [*OPENING, *messages]
    if info:
        value = {"trajectory_format": "mini-swe-agent-1", "info": info, "messages": value}
    (trajectory,) = read(json.dumps(value).encode(), SOURCE)
    return trajectory


def test_the_bash_block_is_the_call_and_what_the_user_says_next_its_result() -> None:
    step = run(said("A look.", "ls src"), output("gate.py\n", 2)).steps[2]
    assert step.role == "agent"
    assert step.text.startswith("A look.")
    assert step.calls == (ToolCall("bash", {"command": "ls src"}),)
    assert step.results == (ToolResult("gate.py\n", exit_code=2),)


def test_an_output_in_another_template_is_kept_whole_with_its_exit_code() -> None:
    text = "<returncode>0</returncode>\n<output_head>\nmany lines"
    assert run(said("", "ls"), heard(text)).steps[2].results == (ToolResult(text, exit_code=0),)


def test_of_several_blocks_none_was_run_and_the_complaint_is_an_error() -> None:
    trajectory = run(
        said("```bash\nls\n```", "pwd"), heard("Give exactly one action."), said("Sorry.", "ls"), output("")
    )
    broken, mended = trajectory.steps[2:]
    assert broken.calls == ()
    assert broken.results == (ToolResult("Give exactly one action.", True),)
    assert [result.is_error for result in mended.results] == [None]


def test_a_command_that_timed_out_is_an_error_without_an_exit_code() -> None:
    trajectory = run(said("", "sleep 99"), heard("The last command timed out."), said("", "ls"), output(""))
    assert trajectory.steps[2].results == (ToolResult("The last command timed out.", True),)


def test_the_submission_is_the_result_of_the_last_call_and_says_nothing_of_success() -> None:
    for info in ({}, {"exit_status": "Submitted"}):
        trajectory = run(said("", "submit"), heard("diff --git"), **info)
        assert trajectory.steps[-1].results == (ToolResult("diff --git"),)
        assert trajectory.outcome == Outcome()


def test_what_ends_a_run_that_was_not_submitted_is_said_by_the_system() -> None:
    trajectory = run(said("", "ls"), output(""), heard("LimitsExceeded"), exit_status="LimitsExceeded")
    assert (trajectory.steps[-1].role, trajectory.steps[-1].text) == ("system", "LimitsExceeded")
    assert trajectory.extra["info"] == {"exit_status": "LimitsExceeded"}


def test_what_a_person_says_between_is_a_step_of_the_user() -> None:
    trajectory = run(said("", "ls"), output(""), heard("Use the other gate."), said("", "ls"), output(""))
    assert [step.role for step in trajectory.steps] == ["system", "user", "agent", "user", "agent"]


def test_version_1_1_gives_calls_tokens_and_times_and_steps_that_only_a_complaint_or_the_exit_records() -> None:
    (trajectory,) = read(recording_of("mini_swe_agent"), SOURCE)
    assert (trajectory.id, trajectory.model, trajectory.agent) == ("acme__gate-7", "m-large", "mini-swe-agent")
    acting = trajectory.steps[2]
    assert acting.calls == (ToolCall("bash", {"command": "ls"}, "c1"),)
    assert acting.tokens == Tokens(300, 9, 50, 0.001)
    assert acting.reasoning == "What is there?"
    assert acting.timestamp == "2026-02-02T02:40:00.500000+00:00"
    assert acting.results[0].text == "gate.py\n"
    assert acting.results[0].exit_code == 0
    unrecorded = trajectory.steps[3]
    assert (unrecorded.role, unrecorded.text) == ("agent", "I will think.")
    assert unrecorded.results[0].text == "Format error: give exactly one action."
    assert unrecorded.results[0].is_error is True
    agents = sum(step.role == "agent" for step in trajectory.steps)
    assert agents == trajectory.extra["info"]["model_stats"]["api_calls"]
    assert trajectory.steps[-1].calls == (ToolCall("bash", {"command": "submit"}),)
    assert trajectory.steps[-1].results[0].text == "diff --git a/gate.py b/gate.py"
    assert trajectory.steps[-1].results[0].is_error is None


def test_items_of_the_responses_interface_are_messages_too() -> None:
    items = [
        {"type": "message", "content": [{"type": "output_text", "text": "A look."}]},
        {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": '{"command": "ls"}'},
    ]
    answer = {"type": "function_call_output", "call_id": "c1", "output": "gate.py", "extra": {"returncode": 1}}
    step = run({"object": "response", "output": items}, answer, exit_status="Submitted").steps[2]
    assert step.text == "A look."
    assert step.calls == (ToolCall("bash", {"command": "ls"}, "c1"),)
    assert step.results == (ToolResult("gate.py", exit_code=1, call_id="c1", extra={"extra": {"returncode": 1}}),)


CHAT = [{"role": "user", "content": "Hello."}]


@pytest.mark.parametrize(
    ("first", "recognised"),
    [
        ({"trajectory_format": "mini-swe-agent-1", "messages": []}, True),
        ({"info": {"exit_status": "Submitted"}, "messages": CHAT}, True),
        ([*CHAT, {"role": "user", "content": "<returncode>0</returncode>"}], True),
        ([*CHAT, {"role": "assistant", "content": "```mswea_bash_command\nls\n```"}], True),
        (CHAT, False),
        ({"messages": CHAT}, False),
        ({"messages": CHAT, "info": {"shop": 4}}, False),
        ({"trajectory_format": "mini-swe-agent-1"}, False),
        (None, False),
    ],
)
def test_it_is_recognised_by_its_own_marks_alone(first: Any, recognised: bool) -> None:
    assert (refuse(Sample(Path("x"), "document", first, "")) is None) is recognised


SCAFFOLD = re.compile(r"```(?:bash|mswea_bash_command)\s*\n(.*?)\n```", re.DOTALL)


@given(st.lists(st.sampled_from(["```bash", "```mswea_bash_command\n", "```", "\n", " ", "\n```", "x", "bash"])))
def test_blocks_are_those_that_the_scaffold_itself_finds(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert list(bash_blocks(text)) == SCAFFOLD.findall(text)


def complaint(**extra: Any) -> dict[str, Any]:
    return heard("Tool call error.") | {"extra": {"interrupt_type": "FormatError"} | extra}


BAD_CALL = {"id": "c1", "type": "function", "function": {"name": "edit", "arguments": '{"path": '}}


@pytest.mark.parametrize(
    "response",
    [
        {"choices": [{"message": {"role": "assistant", "content": "Now.", "tool_calls": [BAD_CALL]}}]},
        {
            "output": [
                {"type": "message", "content": [{"type": "output_text", "text": "Now."}]},
                {"type": "function_call", "call_id": "c1", "name": "edit", "arguments": '{"path": '},
            ]
        },
    ],
)
def test_a_rejected_answer_has_the_calls_that_it_tried_even_when_it_is_the_first(response: dict[str, Any]) -> None:
    step = run(complaint(response=response)).steps[2]
    assert (step.role, step.text) == ("agent", "Now.")
    assert [(call.name, call.id, call.parse_error is None) for call in step.calls] == [("edit", "c1", False)]
    assert [(result.call_id, result.is_error) for result in step.results] == [("c1", True)]


@pytest.mark.parametrize(
    ("text", "role", "words"),
    [
        ("Command not executed. The user rejected your command with the following message: No.", "user", "No."),
        ("Interrupted by user: Stop.", "user", "Stop."),
        ("The user added a new task: Paint it.", "user", "Paint it."),
        ("Commands not executed. Switching to human mode", "system", "Commands not executed. Switching to human mode"),
    ],
)
def test_a_person_who_interrupts_is_the_user_and_their_words_no_answer(text: str, role: str, words: str) -> None:
    acting, step = run(said("", "rm a"), heard(text), said("", "ls"), output("")).steps[2:4]
    assert acting.results == ()
    assert (step.role, step.text) == (role, words)


def test_a_command_that_a_person_typed_is_their_call_with_its_answer() -> None:
    typed = heard("User command: \n```bash\nls\n```") | {"extra": {"actions": [{"command": "ls"}]}}
    agents, person = run(said("", "pwd"), output("/src"), typed, output("a.py")).steps[2:]
    assert [result.text for result in agents.results] == ["/src"]
    assert (person.role, person.text, person.calls) == ("user", "", (ToolCall("bash", {"command": "ls"}),))
    assert [result.text for result in person.results] == ["a.py"]


def test_a_call_that_was_not_executed_has_not_failed() -> None:
    extra = {"returncode": -1, "exception_info": "action was not executed"}
    text = "<exception>action was not executed</exception>\n<returncode>-1</returncode>\n<output>\n</output>"
    (result,) = run(said("", "submit"), {"role": "tool", "content": text, "extra": extra}).steps[2].results
    assert (result.is_error, result.exit_code) == (None, None)


def test_the_output_in_a_json_observation_is_plain_text() -> None:
    observed = heard('{"returncode": 1, "output": "a\\nb"}') | {"extra": {"returncode": 1}}
    (result,) = run(said("", "ls"), observed).steps[2].results
    assert (result.text, result.exit_code) == ("a\nb", 1)


def test_the_responses_interface_gives_thoughts_and_tokens() -> None:
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "What is there?"}], "content": None}
    usage = {"input_tokens": 90, "output_tokens": 7, "input_tokens_details": {"cached_tokens": 50}}
    step = run({"object": "response", "output": [thought], "usage": usage}, exit_status="Submitted").steps[2]
    assert (step.text, step.reasoning, step.tokens) == ("", "What is there?", Tokens(90, 7, 50))
