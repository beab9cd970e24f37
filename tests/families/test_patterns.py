"""No regular expression grows faster than n log n on a text from outside; each is found in the code itself."""

import ast
import importlib
import inspect
import pkgutil
import re
from collections import defaultdict
from functools import cache
from types import ModuleType
from typing import Any

import pytest

import misstep
from tests.families.attacks import slowest, uses_of

METHODS = ("search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split")

Key = tuple[str, int]

SENTENCE = "is used on one sentence, cut at 600 characters"
TURN = "is used on a turn of the user, cut at 20,000 characters"
NAME = "is used on the name of a file, from its start alone"
PATH = "is used on the path of a file in a repository"
LINE = "is used on the command line of tests, which the user gives or a package names in 5,000 characters"
BOUNDED = {
    "misstep_harness.classifiers.overstepping": SENTENCE,
    "misstep_harness.classifiers.prose": TURN,
    "misstep_harness.classifiers.prose._NAMES": NAME,
    "misstep_harness.datasets.intercode._FILE": NAME,
    "misstep_harness.repair.failure_bot.rules._DECLARING": PATH,
    "misstep_harness.workspace.suite.run": LINE,
    "misstep_harness.workspace.suite.command": LINE,
    "misstep_harness.workspace.toolchain._TOX": LINE,
}
"""Where a pattern is that may grow faster, and why the text that it meets cannot."""


ROOMS = [
    f"misstep.{top}{room.name}"
    for top in ("", "harness.", "analysis.", "studies.")
    for room in pkgutil.iter_modules([f"{misstep.__path__[0]}/{top.strip('.')}"])
    if room.name not in ("__main__", "harness", "analysis", "studies")
]


class Uses:
    """Where each pattern of the code is first met, and which of its methods are used."""

    def __init__(self) -> None:
        self.place: dict[Key, str] = {}
        self.methods: defaultdict[Key, set[str]] = defaultdict(set)

    def add(self, pattern: "re.Pattern[Any]", place: str, method: str | None = None) -> None:
        """Note a pattern, and one of its methods where it is known."""
        text = pattern.pattern
        key = (text if isinstance(text, str) else text.decode("latin-1"), pattern.flags & ~re.UNICODE)
        self.place.setdefault(key, place)
        if method is not None:
            self.methods[key].add(method)


class StandIn(str):
    """What stands for a value that is known only when the code runs."""

    def __getattr__(self, name: str) -> "StandIn":
        return self

    def __call__(self, *_: object, **__: object) -> "StandIn":
        """What a function gives of it stands for a word too."""
        return self


class Known(dict[str, Any]):
    """The names of a module; any other stands for a word."""

    def __missing__(self, name: str) -> Any:
        builtins = vars(importlib.import_module("builtins"))
        return builtins[name] if name in builtins else StandIn("word")


@cache
def uses(room: str) -> Uses:
    """Every pattern of a room: of its modules, in tables, and those that are written where they are used."""
    result = Uses()
    root = importlib.import_module(room)
    inside = pkgutil.walk_packages(getattr(root, "__path__", ()), f"{room}.")
    for name in (room, *(module.name for module in inside if not module.name.endswith("__main__"))):
        _look_into(importlib.import_module(name), result)
    return result


def _look_into(module: ModuleType, result: Uses) -> None:
    for name, value in list(vars(module).items()):
        for pattern in _patterns_in(value):
            result.add(pattern, f"{module.__name__}.{name}", None if pattern is value else "findall")
    source = inspect.getsource(module)
    if not re.search(r"\bre\.", source) and not any(isinstance(value, re.Pattern) for value in vars(module).values()):
        return
    known = Known(vars(module))
    nodes = list(ast.walk(ast.parse(source)))
    named = _methods_of_names(nodes)
    with_method = set()
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id == "re" and node.func.attr in (*METHODS, "compile"):
                pattern = _evaluated(node, known)
                methods = named.get(id(node), [None]) if node.func.attr == "compile" else [node.func.attr]
                for method in methods:
                    result.add(pattern, f"{module.__name__}:{node.lineno}", method)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in METHODS:
            with_method.add(node.value)
            if isinstance(value := vars(module).get(node.value.id), re.Pattern):
                result.add(value, module.__name__, node.attr)
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in with_method:
            value = vars(module).get(node.id)
            if isinstance(value, re.Pattern):
                result.add(value, module.__name__, "findall")


def _methods_of_names(nodes: list[ast.AST]) -> dict[int, list[str]]:
    """Calls whose value is given a name, by identity → the methods that are used of that name."""
    used: defaultdict[str, list[str]] = defaultdict(list)
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in METHODS:
            used[node.value.id].append(node.attr)
    assigned = [node for node in nodes if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    targets = [(target, node.value) for node in assigned for target in node.targets if isinstance(target, ast.Name)]
    return {id(value): used[target.id] for target, value in targets if used[target.id]}


def _patterns_in(value: Any, depth: int = 0) -> list["re.Pattern[Any]"]:
    if isinstance(value, re.Pattern):
        return [value]
    if depth > 4 or isinstance(value, ModuleType | type | str | bytes):
        return []
    inside: Any = ()
    if isinstance(value, dict):
        inside = [*value, *value.values()]
    elif isinstance(value, tuple | list | set | frozenset):
        inside = value
    elif hasattr(value, "__struct_fields__"):
        inside = [getattr(value, name) for name in value.__struct_fields__]
    return [pattern for one in inside for pattern in _patterns_in(one, depth + 1)]


def _evaluated(call: ast.Call, known: Known) -> "re.Pattern[Any]":
    """The pattern of a call such as `re.search(rf"{WORD}+", text, re.IGNORECASE)`."""
    assert isinstance(call.func, ast.Attribute)
    place = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(call.func.attr, 2)
    flags = [*call.args[place : place + 1], *[one.value for one in call.keywords if one.arg == "flags"]]
    values = [eval(compile(ast.Expression(one), "pattern", "eval"), {}, known) for one in [call.args[0], *flags]]  # noqa: S307
    return values[0] if isinstance(values[0], re.Pattern) else re.compile(*values)


@pytest.mark.parametrize("room", ROOMS)
def test_a_pattern_takes_no_longer_than_n_log_n_on_what_nearly_matches_it(room: str) -> None:
    slow = {}
    for key, place in uses(room).place.items():
        pattern = re.compile(*key)
        if not place.startswith(tuple(BOUNDED)):
            slow[place] = slowest(pattern, uses_of(pattern, sorted(uses(room).methods[key] or {"findall"})))
    assert {place: growth for place, growth in slow.items() if growth} == {}, "times as long for 16 times such a text"


@pytest.mark.parametrize(
    "pattern",
    [
        r"\s+$",
        r"<(?=\s*/?\s*data\b)",
        r"(?s)```bash\s*\n(.*?)\n```",
        r"(?:\\.|.)*x",
        r"\d+:\d+",
        r"x*y",
        r"<!--(?:.|\n)*?-->",
        r"(\w+)@(\w+)\.com",
    ],
)
def test_a_pattern_that_is_slow_is_found(pattern: str) -> None:
    compiled = re.compile(pattern)
    assert slowest(compiled, uses_of(compiled, ["search"])) is not None
