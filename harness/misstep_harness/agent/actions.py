"""Read an agent's command: Unix-like, a name and keyword arguments (table I of the paper).

    search_method_in_class method_name="total" class_name="Order"

A value is a Python string literal, or is bare if it has no space and no quote.
"""

import ast
import re
from collections.abc import Mapping

from msgspec import Struct

from misstep_harness.trajectory import Tokens

_NAME = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)")
_KEY = re.compile(r"\s+([A-Za-z_][A-Za-z0-9_]*)\s*=\s*")
_QUOTES = ('"""', "'''", '"', "'")
_BARE = re.compile(r"[^\s'\"]+")


class Action(Struct, frozen=True, omit_defaults=True):
    """What a policy decided: a thought, and one command."""

    name: str
    arguments: Mapping[str, str] = {}
    thought: str = ""
    command: str = ""
    error: str = ""
    tokens: Tokens | None = None


class EditFeedback(Struct, frozen=True):
    """What an edit came to, whatever words tell it: a policy decides by this.

    - `complaint`: Whether static analysis found errors in it, or the judge of patches rejects it.
    - `tests_passed`: Whether the tests pass with it; `None` if they were not run.
    """

    applied: bool = True
    complaint: bool = False
    tests_passed: bool | None = None


class Observation(Struct, frozen=True, omit_defaults=True):
    """What came back: a text for the agent, whether it is an error and ends the run, and what an edit came to."""

    text: str
    is_error: bool = False
    ends: bool = False
    feedback: EditFeedback | None = None


def read_command(text: str) -> Action:
    """The command in one line or block of text; `error` tells the agent what is wrong with it and what would be right.

    >>> read_command("go_to_line file_path='a.py' line=12").arguments
    {'file_path': 'a.py', 'line': '12'}
    """
    match = _NAME.match(text)
    if match is None:
        return Action("", command=text, error="A command begins with its name, as: read_file file_path='app.py'")
    name, arguments, place = match[1], {}, match.end()
    while text[place:].strip():
        key = _KEY.match(text, place)
        if key is None:
            rest = text[place:].strip().splitlines()[0][:60]
            error = f"After {name} is {rest!r}, not a keyword argument as in: {name} argument='value'"
            return Action(name, command=text, error=error)
        if key[1] in arguments:
            return Action(name, command=text, error=f"The argument {key[1]} is given twice.")
        end = _value_end(text, key.end())
        if end is None:
            return Action(name, command=text, error=f"The value of {key[1]} is not closed or has a stray quote.")
        value = _value(text[key.end() : end])
        if value is None:
            return Action(name, command=text, error=f"The value of {key[1]} is not a valid string literal.")
        arguments[key[1]] = value
        place = end
    return Action(name, arguments, command=text)


def write_command(name: str, arguments: Mapping[str, str]) -> str:
    """Return a command as an agent writes it; `read_command` gives the same name and arguments back."""
    return " ".join([name, *(f"{key}={value!r}" for key, value in arguments.items())])


def _value_end(text: str, start: int) -> int | None:
    for quote in _QUOTES:
        if text.startswith(quote, start):
            place = start + len(quote)
            while (place := text.find(quote, place)) != -1:
                escapes = len(text[start:place]) - len(text[start:place].rstrip("\\"))
                if escapes % 2 == 0:
                    return place + len(quote)
                place += 1
            return None
    bare = _BARE.match(text, start)
    if bare is None or text[bare.end() : bare.end() + 1] in ("'", '"'):
        return None
    return bare.end()


def _value(literal: str) -> str | None:
    if not literal.startswith(("'", '"')):
        return literal
    if not literal.startswith(('"""', "'''")):
        literal = literal.replace("\r\n", "\n").replace("\n", "\\n")
    try:
        value = ast.literal_eval(literal)
    except (SyntaxError, ValueError):
        return None
    return value if isinstance(value, str) else None
