"""Special-casing: the result holds the inputs or the expected outputs of the tests, which nobody had told the agent."""

import ast
import re
from collections.abc import Iterator, Mapping

from misstep_harness.triage.passes.record import changed_texts, cut, joined, parsed, texts_of
from misstep_harness.triage.protocols import ReadOnlyAccess
from misstep_harness.triage.records.attribution import Evidence
from misstep_harness.triage.records.triage_case import Part
from misstep_harness.triage.rules.verdicts import Attribution

LEAST = 3
"""Distinct literals of the tests in the result that are not a chance."""

_SHORTEST_TEXT, _SHORTEST_NUMBER = 4, 3
_PROGRAMS = (".py", ".sh", ".js", ".rb", ".pl", ".awk")
_QUOTED = re.compile(r"\"([^\"\n]{1,300})\"|'([^'\n]{1,300})'")
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d.]{0,30}\d(?!\w)")
_NAME_LIKE = re.compile(r"[\w.%+-]*")


def special_cased(access: ReadOnlyAccess) -> Attribution | None:
    """Literals of the tests that are in the programs of the result, and in nothing else that the agent was given."""
    tests = texts_of(access, "tests")
    changed = changed_texts(access).items()
    own = {path: text for path, text in changed if path.endswith(_PROGRAMS) or text.startswith("#!")}
    if not own or not tests:
        return None
    parts: tuple[Part, ...] = ("environment", "solution")
    known = "\n".join([access.instruction, *(joined(texts_of(access, part)) for part in parts)])
    wanted = {literal for literal in literals(tests) if literal not in known}
    places = {
        literal: place
        for literal in wanted
        for path, text in own.items()
        if (place := _place(path, text, literal)) is not None
    }
    if len(places) < LEAST:
        return None
    shown = sorted(places, key=lambda literal: (-len(literal), literal))
    rationale = (
        f"The result holds {len(places)} literals of the tests, such as {shown[0]!r}, which stand neither in the "
        "instruction nor in the files that were given: it answers the tests, not the task."
    )
    evidence = [Evidence("file", places[literal], cut(literal, 2)) for literal in shown[:LEAST]]
    return Attribution("task", "weak_tests", 0.75, rationale, tuple(evidence))


def literals(tests: Mapping[str, str]) -> set[str]:
    """Return the texts and numbers of tests that are long enough to be told from chance."""
    constants: set[str] = set()
    for path, text in tests.items():
        constants |= set(_of_python(text)) if path.endswith(".py") else set(_of_shell(text))
    return {one for one in constants if _is_telling(one)}


def _is_telling(literal: str) -> bool:
    """Whether it tells: a name such as `utf-8` or `header` may be in any program; a sentence or a figure is not."""
    if _NUMBER.fullmatch(literal):
        return len(literal.lstrip("-")) >= _SHORTEST_NUMBER
    return len(literal) >= _SHORTEST_TEXT and (not _NAME_LIKE.fullmatch(literal) or any(map(str.isdigit, literal)))


def _of_python(text: str) -> Iterator[str]:
    nodes = parsed(text)
    messages = {id(part) for node in nodes for part in _messages(node)}
    for node in nodes:
        if isinstance(node, ast.Constant) and id(node) not in messages:
            if isinstance(node.value, str):
                yield node.value
            elif isinstance(node.value, int | float) and not isinstance(node.value, bool):
                yield str(node.value)


def _messages(node: ast.AST) -> Iterator[ast.AST]:
    """Return what a test says and does not compare: docstrings, messages, parts of texts that are put together."""
    if isinstance(node, ast.Expr):
        yield node.value
    elif isinstance(node, ast.Assert) and node.msg is not None:
        yield from ast.walk(node.msg)
    elif isinstance(node, ast.JoinedStr):
        yield from ast.walk(node)


def _of_shell(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if not line.lstrip().startswith("#") and "echo" not in line:
            yield from (double or single for double, single in _QUOTED.findall(line))
            yield from _NUMBER.findall(line)


def _place(path: str, text: str, literal: str) -> str | None:
    for one in dict.fromkeys([literal, literal.encode("unicode_escape").decode()]):
        match = re.search(rf"(?<![\w.]){re.escape(one)}(?![\w.])", text)
        if match is not None:
            return f"workspace/{path}:{text.count(chr(10), 0, match.start()) + 1}"
    return None
