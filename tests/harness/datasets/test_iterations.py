"""Runs recorded as text: each iteration becomes a step, each action its calls; what does not parse is kept raw."""

from pathlib import Path

import pytest

from misstep_harness.datasets.iterations import (
    Iteration,
    expression_calls,
    literal_calls,
    one_line_iterations,
    results,
    steps_of,
    two_line_iterations,
)
from misstep_harness.errors import InputError
from misstep_harness.trajectory import ToolCall, ToolResult

FILE = Path("runs.txt")


def test_two_lines_an_iteration() -> None:
    text = (
        'Thought at Iteration 0: First.\n\nStill first.\nAction at Iteration 0: search("a")\n\n'
        "Thought at Iteration 1: Second.\nAction at Iteration 1: \n"
    )
    assert two_line_iterations(text, FILE) == [
        Iteration("First.\n\nStill first.", 'search("a")'),
        Iteration("Second.", ""),
    ]


@pytest.mark.parametrize("heading", ["Iteration", "Thought and Action at iteration"])
def test_one_line_an_iteration_under_either_heading(heading: str) -> None:
    text = (
        f"{heading} 0: Thought=One\n---\nmore; Action={{'name': 'ls'}}\n---\n{heading} 1: Thought=Two; Action={{}}\n---"
    )
    assert one_line_iterations(text, FILE) == [Iteration("One\n---\nmore", "{'name': 'ls'}"), Iteration("Two", "{}")]


def test_a_result_ends_where_the_next_action_is_repeated() -> None:
    text = (
        "Result at iteration 0: first\nline; Next action: not at a line's start\n; Next action: {'name': 'x'}\n---\n"
        "Result at iteration 1: second\n; Action at iteration2 : {'name': 'y'}\n---\n"
        "Result at iteration 2: third\n---\n"
    )
    assert results(text, FILE) == ["first\nline; Next action: not at a line's start", "second", "third"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the text has no iteration"),
        ("Iteration 1: Thought=a; Action={}", "iteration 1 was found, and 0 was expected"),
        ("Iteration 0: Thought=a", "iteration 0 has no action"),
    ],
)
def test_iterations_out_of_turn_or_without_an_action_are_errors(text: str, message: str) -> None:
    with pytest.raises(InputError, match=f"runs.txt:3: {message}"):
        one_line_iterations(text, FILE, 3)


@pytest.mark.parametrize(
    ("action", "calls"),
    [
        ("{'name': 'ls', 'args': {'all': True}}", (ToolCall("ls", {"all": True}),)),
        ("{'name': 'ls', 'arguments': '{\"all\": 1}'}", (ToolCall("ls", {"all": 1}),)),
        ("{}", ()),
        ("{'name': 'ls', 'args': [1]}", (ToolCall("ls", "[1]", parse_error="the arguments are not a mapping"),)),
        ("list files", (ToolCall("", "list files", parse_error="no literal with a name"),)),
        ("(" * 5000, (ToolCall("", "(" * 5000, parse_error="no literal with a name"),)),
        ("{'name': 'sed', 'args': {'expression': '\\d'}}", (ToolCall("sed", {"expression": "\\d"}),)),
    ],
)
def test_an_action_that_is_a_literal(action: str, calls: tuple[ToolCall, ...]) -> None:
    assert literal_calls(action) == calls


def test_a_literal_whose_arguments_are_no_json_keeps_them_with_the_reason() -> None:
    (call,) = literal_calls("{'name': 'ls', 'arguments': '{all'}")
    assert (call.name, call.arguments) == ("ls", "{all")
    assert call.parse_error.startswith("not valid JSON")


@pytest.mark.parametrize(
    ("action", "calls"),
    [
        (
            'search("a"), find("b", "c")',
            (ToolCall("search", {"positional": ["a"]}), ToolCall("find", {"positional": ["b", "c"]})),
        ),
        (
            'search("a");find("b"),',
            (ToolCall("search", {"positional": ["a"]}), ToolCall("find", {"positional": ["b"]})),
        ),
        ("search(what='a')", (ToolCall("search", {"what": "a"}),)),
        ("Analyze", (ToolCall("Analyze"),)),
        ("", ()),
        ("look around", (ToolCall("", "look around", parse_error="no call expression"),)),
        ("search(name)", (ToolCall("", "search(name)", parse_error="no call expression"),)),
        ("import os", (ToolCall("", "import os", parse_error="no call expression"),)),
    ],
)
def test_an_action_that_is_a_list_of_calls(action: str, calls: tuple[ToolCall, ...]) -> None:
    assert expression_calls(action) == calls


def test_an_action_is_never_run(tmp_path: Path) -> None:
    target = tmp_path / "made"
    literal_calls(f"__import__('pathlib').Path({str(target)!r}).touch()")
    expression_calls(f"open({str(target)!r}, 'w')")
    assert not target.exists()


def test_a_result_stands_in_the_step_whose_action_it_answers() -> None:
    steps = steps_of([Iteration("a", "x"), Iteration("b", "y")], [(ToolCall("x"),), ()], ["done"])
    assert [(step.text, step.calls, step.results) for step in steps] == [
        ("a", (ToolCall("x"),), (ToolResult("done"),)),
        ("b", (), ()),
    ]
