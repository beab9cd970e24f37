"""Runs that were recorded as text, an iteration a block: thought, action and, apart from them, result.

Two layouts of thoughts and actions are known. In the second an action is a Python literal, not JSON:

    Thought at Iteration 0: The parser drops the last token.
    Action at Iteration 0: search_class("Parser"), search_method("parse")

    Iteration 0: Thought=The parser drops the last token.; Action={'name': 'read_range', 'args': {'start': 3}}
    ---

and one of results, whose tail repeats the action that follows:

    Result at iteration 0: 3 lines read
    ; Next action: {'name': 'write_fix', 'args': {}}
    ---

An iteration is a step; both are numbered from 0.
"""

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from misstep_harness.errors import InputError
from misstep_harness.trajectory import Step, ToolCall, ToolResult

_TWO_LINES = re.compile(r"^Thought at Iteration (\d+): ", re.MULTILINE)
_ONE_LINE = re.compile(r"^(?:Thought and Action at iteration|Iteration) (\d+): Thought=", re.MULTILINE)
_RESULT = re.compile(r"^Result at iteration (\d+): ", re.MULTILINE)
_RULE = re.compile(r"\n---\s*\Z")
_FOLLOWING_ACTION = re.compile(r"^; (?:Next action|Action at iteration ?\d+ ?): ?", re.MULTILINE)


class Iteration(Struct, frozen=True):
    """What an agent thought and did in one iteration; `action` as it was written."""

    thought: str
    action: str


def two_line_iterations(text: str, file: Path, line: int | None = None) -> list[Iteration]:
    """Return the iterations of a text in the first layout."""
    pairs = _pairs(_TWO_LINES, "\nAction at Iteration {}:", text, file, line)
    return [Iteration(thought, action.strip()) for thought, action in pairs]


def one_line_iterations(text: str, file: Path, line: int | None = None) -> list[Iteration]:
    """Return the iterations of a text in the second layout."""
    pairs = _pairs(_ONE_LINE, "; Action=", text, file, line)
    return [Iteration(thought, _RULE.sub("", action).strip()) for thought, action in pairs]


def _pairs(
    heading: re.Pattern[str], between: str, text: str, file: Path, line: int | None
) -> Iterator[tuple[str, str]]:
    """Return thought and action of each block; `between` parts them, with the iteration's number in it."""
    for number, block in _blocks(heading, text, file, line):
        thought, mark, action = block.partition(between.format(number))
        if not mark:
            raise InputError(f"iteration {number} has no action", file=file, line=line)
        yield thought.strip(), action


def results(text: str, file: Path, line: int | None = None) -> list[str]:
    """Return what each iteration's action gave."""
    texts = []
    for _, block in _blocks(_RESULT, text, file, line):
        tails = list(_FOLLOWING_ACTION.finditer(block))
        texts.append((block[: tails[-1].start()] if tails else _RULE.sub("", block)).strip())
    return texts


def _blocks(heading: re.Pattern[str], text: str, file: Path, line: int | None) -> Iterator[tuple[int, str]]:
    heads = list(heading.finditer(text))
    if not heads:
        raise InputError("the text has no iteration", file=file, line=line)
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for expected, (head, end) in enumerate(zip(heads, ends, strict=True)):
        if int(head[1]) != expected:
            raise InputError(f"iteration {head[1]} was found, and {expected} was expected", file=file, line=line)
        yield expected, text[head.end() : end]


def steps_of(
    iterations: list[Iteration], calls: list[tuple[ToolCall, ...]], answers: list[str] | None = None
) -> tuple[Step, ...]:
    """Return one step of the agent an iteration, with its result if there is one."""
    texts = answers or []
    return tuple(
        Step(
            role="agent",
            text=iteration.thought,
            calls=calls_here,
            results=(ToolResult(text=texts[number]),) if number < len(texts) else (),
        )
        for number, (iteration, calls_here) in enumerate(zip(iterations, calls, strict=True))
    )


def literal_calls(action: str) -> tuple[ToolCall, ...]:
    """Return the call in a Python literal with a `name` and `args`, or `arguments` as a JSON string.

    An empty literal is not a call; anything that is not such a literal is kept raw with the reason.
    """
    value = _parsed(action, ast.literal_eval)
    if value == {}:
        return ()
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return (ToolCall(name="", arguments=action, parse_error="no literal with a name"),)
    arguments = value.get("args", value.get("arguments"))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError as error:
            return (ToolCall(name=value["name"], arguments=str(arguments), parse_error=f"not valid JSON: {error}"),)
    if not isinstance(arguments, dict):
        return (ToolCall(name=value["name"], arguments=str(arguments), parse_error="the arguments are not a mapping"),)
    return (ToolCall(name=value["name"], arguments=arguments),)


def expression_calls(action: str) -> tuple[ToolCall, ...]:
    """Return the calls in a list of call expressions, or one word; positional arguments under `positional`.

    An action that is neither is kept raw with the reason.
    """
    if not action:
        return ()
    if action.isidentifier():
        return (ToolCall(name=action),)
    calls: tuple[ToolCall, ...] | None = _parsed(action.rstrip(",; "), _called)
    return (ToolCall(name="", arguments=action, parse_error="no call expression"),) if calls is None else calls


def _called(text: str) -> tuple[ToolCall, ...]:
    expressions: list[ast.expr] = []
    for statement in ast.parse(text).body:
        if not isinstance(statement, ast.Expr):
            raise ValueError("a statement")
        expressions += statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
    return tuple(map(_call, expressions))


def _call(node: ast.expr) -> ToolCall:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise ValueError("not a plain call")
    arguments: dict[str, Any] = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    if node.args:
        arguments["positional"] = [ast.literal_eval(argument) for argument in node.args]
    return ToolCall(name=node.func.id, arguments=arguments)


def _parsed(text: str, parse: Callable[[str], Any]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a doubtful escape in the agent's text is not for us to say
            return parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
