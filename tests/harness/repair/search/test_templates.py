"""Templates: a broken line, and the mended one that is among what they propose."""

import ast
from contextlib import suppress

import pytest

from misstep_harness.repair.search.localisation import Suspect
from misstep_harness.repair.search.policy import candidates
from misstep_harness.repair.search.scope import ProgramSource, changed

PROGRAM = """\
LIMIT = 3


def scaled(value, factor):
    return value * factor


def price(items, tax, seen, node):
    total = 0
    count = len(items)
    tax = min(tax, LIMIT)
    for place, item in enumerate(items):
        if item.cost > tax:
            total += scaled(item.cost, tax)
            seen.add(item)
        if node.left is None:
            continue
    return total
"""

MENDED = {
    "        if item.cost > tax:": [
        "        if item.cost >= tax:",
        "        if item.cost < tax:",
        "        if not item.cost > tax:",
        "        if item.cost > tax + 1:",
        "        if item.cost > total:",
        "        while item.cost > tax:",
    ],
    "    return value * factor": ["    return value ** factor", "    return value + factor", "    return value"],
    "    total = 0": ["    total = 1", "    total = -1"],
    "    count = len(items)": ["    count = sum(items)", "    count = len(items) - 1", "    count = len(items[1:])"],
    "    for place, item in enumerate(items):": ["    for place, item in enumerate(seen):"],
    "            total += scaled(item.cost, tax)": [
        "            total -= scaled(item.cost, tax)",
        "            total = scaled(item.cost, tax)",
        "            total += scaled(tax, item.cost)",
        "            total += item.cost",
        "            total += scaled(item.left, tax)",
        "            total += max(0, scaled(item.cost, tax))",
    ],
    "            seen.add(item)": [
        "            seen.add(place)",
        "            seen.update(item)",
        "            pass",
        "            if item not in seen:\n                seen.add(item)",
    ],
    "        if node.left is None:": [
        "        if node is None or node.left is None:",
        "        if node.left is not None:",
    ],
    "            continue": ["            break"],
    "    return total": ["    return count", "    return total + 1", "    total += 1\n    return total"],
    "LIMIT = 3": ["LIMIT = 2"],
}
TEXT = "def f(a, i):\n    if i < len(a):\n        return a[i]\n    return None\n"
SOURCES = {"app.py": ProgramSource("app.py", TEXT)}


def _proposed(program: str) -> set[str]:
    source = ProgramSource("program.py", program)
    suspects = [Suspect("program.py", line + 1, 1.0, "") for line in range(len(source.lines))]
    return {changed(program, each.change) for each in candidates({"program.py": source}, suspects, "")}


def _forms(texts: set[str]) -> set[str]:
    """The trees of those texts that are Python; layout does not matter."""
    forms = set()
    for text in texts:
        with suppress(SyntaxError):
            forms.add(ast.dump(ast.parse(text)))
    return forms


@pytest.fixture(scope="module")
def forms() -> set[str]:
    return _forms(_proposed(PROGRAM))


@pytest.mark.parametrize("broken", MENDED)
def test_a_common_mistake_is_undone_by_a_template(broken: str, forms: set[str]) -> None:
    for mended in MENDED[broken]:
        wanted = PROGRAM.replace(broken, mended, 1)
        assert wanted != PROGRAM
        assert ast.dump(ast.parse(wanted)) in forms, mended


def test_most_of_what_is_proposed_is_python() -> None:
    texts = _proposed(PROGRAM)
    assert len(_forms(texts)) > 0.9 * len(texts)


def test_a_change_leaves_the_layout_of_everything_else_alone() -> None:
    program = "def f( a,b ):\n    # a remark: é\n\n    return   a   <   b   # why\n"
    texts = _proposed(program)
    assert program.replace("<", "<=") in texts
    assert all(text.startswith("def f( a,b ):\n") for text in texts)


def test_an_operand_that_would_be_read_otherwise_gets_parentheses() -> None:
    texts = _proposed("def f(a, b, c):\n    return a * b - c\n")
    assert "def f(a, b, c):\n    return a * (b - 1) - c\n" in texts
    assert not any("a * b - 1 - c" in text and "b - c" in text for text in texts)


@pytest.mark.parametrize(
    ("program", "mended"),
    [
        ("def f(a, b, i):\n    return a[i:b]\n", "def f(a, b, i):\n    return a[i:]\n"),
        ("def f(a, b, i):\n    return a[i][b]\n", "def f(a, b, i):\n    return a[b][i]\n"),
        ("def f(a, b):\n    return a and b\n", "def f(a, b):\n    return a or b\n"),
        ("def f(a, b):\n    return not a\n", "def f(a, b):\n    return a\n"),
        ("def f(a, b):\n    return any(a)\n", "def f(a, b):\n    return all(a)\n"),
        ("def f(a, b):\n    yield f(a, b)\n", "def f(a, b):\n    yield from f(a, b)\n"),
        ("def f(n):\n    return f(n - 1)\n", "def f(n):\n    if n == 0:\n        return n\n    return f(n - 1)\n"),
        ("def f(n):\n    while True:\n        n.pop()\n", "def f(n):\n    while n:\n        n.pop()\n"),
        ("def f(n):\n    if n:\n        n()\n        n += 1\n", "def f(n):\n    if n:\n        n()\n    n += 1\n"),
        ("def f(n):\n    a = n\n    n = 2\n    return a\n", "def f(n):\n    n = 2\n    a = n\n    return a\n"),
        ("def f(a, b):\n    a = {x for x in a if x in b}\n", "def f(a, b):\n    a = {x for x in a if x not in b}\n"),
        ("def f(a, n):\n    a = [i for i in range(n)]\n", "def f(a, n):\n    a = [i for i in range(1, n)]\n"),
    ],
)  # fmt: skip
def test_what_is_missing_or_on_the_wrong_level_is_found(program: str, mended: str) -> None:
    result = _forms(_proposed(program))
    assert ast.dump(ast.parse(mended)) in result


def test_what_is_put_into_a_file_with_crlf_ends_its_lines_alike() -> None:
    program = "def f(n):\r\n    n.pop()\r\n    return n\r\n"
    texts = _proposed(program)
    assert "def f(n):\r\n    if n:\r\n        n.pop()\r\n    return n\r\n" in texts
    assert not any("\n" in text.replace("\r\n", "") for text in texts)


def _ranked(scores: dict[int, float], failure: str = "", sample: int = 0) -> list[tuple[int, str, str]]:
    suspects = [Suspect("app.py", line, score, "") for line, score in scores.items()]
    result = candidates(SOURCES, suspects, failure, sample)
    return [(each.change.line, each.change.template, each.change.text) for each in result]


def test_changes_of_more_suspicious_lines_come_first_and_other_lines_are_left_alone() -> None:
    assert _ranked({2: 1.0, 3: 0.1})[0][0] == 2
    assert _ranked({2: 0.1, 3: 1.0})[0][0] == 3
    assert {line for line, _, _ in _ranked({3: 1.0})} == {3}


def test_what_the_failure_ended_with_makes_some_mistakes_likelier() -> None:
    before, after = (
        [kind for _, kind, _ in _ranked({2: 1.0, 3: 1.0}, said)] for said in ("", "IndexError: list index")
    )
    assert after.index("off by one") < before.index("off by one")


def test_no_change_is_proposed_twice() -> None:
    suspects = [Suspect("app.py", line, 1.0, "") for line in (2, 3, 4)]
    places = [(each.change.start, each.change.end, each.change.text) for each in candidates(SOURCES, suspects, "")]
    assert len(places) == len(set(places))


def test_a_sample_is_the_same_each_time_and_differs_from_the_others() -> None:
    scores = {2: 1.0, 3: 0.9}
    assert _ranked(scores, sample=1) == _ranked(scores, sample=1)
    assert _ranked(scores, sample=1) != _ranked(scores, sample=2)
    assert sorted(_ranked(scores, sample=1)) == sorted(_ranked(scores))
