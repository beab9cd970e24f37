"""Classifying a run takes no longer than its length, and reading a shell line no longer than the line."""

import random
import time
from collections.abc import Callable

import pytest

from misstep_harness.classifiers import classify_all
from misstep_harness.classifiers.shell import commands
from misstep_harness.trajectory import Step, Trajectory
from tests.benchmarks.growth import QUADRATIC, growth
from tests.harness.classifiers.building import bash, call, edit, misses, run, says, user, write

_ASKS = (
    "Use the `tool_{0}` tool.",
    "Run `make x{0}` first.",
    "Write it to out{0}.md.",
    "Don't run the tests.",
    "Ask before deleting.",
)


def _turns(said: Callable[[int], str], answered: Callable[[int], Step]) -> Callable[[int], Trajectory]:
    """Runs of turns of the user's, each with a call that answers it."""
    return lambda size: run(
        *[step for turn in range(size) for step in (user(said(turn)), answered(turn))], says("Done.")
    )


def _calls(text: str, made: Callable[[int], Step]) -> Callable[[int], Trajectory]:
    return lambda size: run(user(text), *[made(turn) for turn in range(size)])


GROWING: dict[str, Callable[[int], Trajectory]] = {
    "files written under a ban": _calls("Don't touch a.py.", lambda turn: write(f"src/m{turn}.py")),
    "files written after listings": _calls(
        "Don't modify the tests.", lambda turn: bash(f"ls d{turn}; touch tests/t{turn}.py", "a.py")
    ),
    "tools asked for": _turns(lambda turn: f"Use the `tool_{turn}` tool.", lambda turn: call(f"tool_{turn}")),
    "commands asked for": _turns(lambda turn: f"Run `make x{turn}` first.", lambda turn: bash(f"make x{turn}")),
    "files asked for": _turns(lambda turn: f"Write it to out{turn}.md.", lambda turn: write(f"out{turn}.md")),
    "instructions in long turns": _turns(
        lambda turn: _ASKS[turn % len(_ASKS)].format(turn) + " As we said." * 50, lambda turn: bash(f"ls {turn}")
    ),
    "edits that fail, of many files": _calls("Fix it.", lambda turn: misses(f"a{turn}.py", "x")),
    "edits that fail, made in the end": lambda size: run(
        *[misses(f"a{turn}.py", "x") for turn in range(size)], *[edit(f"a{turn}.py") for turn in range(size)]
    ),
    "one call": _calls("Fix it.", lambda _turn: bash("grep x", "y")),
    "other calls": _calls("Fix it.", lambda turn: bash(f"cat {turn % 7}", "y" * 300)),
    "open conflict marks": lambda size: run(*[bash("edit 1:2\n" + "<<<<\n" * size, "y", 1)] * 3),
    "dots in an error": lambda size: run(
        *[edit("a.py", "1", "2"), edit("a.py", "2", "1"), edit("a.py", "1", "2")],
        bash("pytest", "Error: " + "a." * size, 1),
    ),
    "texts": lambda size: run(*[says(f"{turn} " + "some words of the agent " * 8) for turn in range(size)]),
}  # fmt: skip
"""Runs by the number of their steps."""


@pytest.mark.parametrize("name", GROWING)
def test_the_time_grows_as_the_run_does(name: str) -> None:
    assert growth(GROWING[name], classify_all, 100) < QUADRATIC


def _turned_down(turn: int) -> list[Step]:
    return [says(f"I think {turn}"), user(f"Reply number {turn} has no action in it.")]


def _asked(turn: int) -> list[Step]:
    return [user(f"Run `make x{turn}` and don't touch f{turn}.py."), bash(f"ls {turn}")]


def _shuffled(turn: int) -> str:
    """Two thousand letters in an order of their own, in words."""
    letters = list("abcdefghijklmnopqrst " * 95)
    random.Random(turn).shuffle(letters)  # noqa: S311 (no secret)
    return "".join(letters)


HOSTILE: dict[str, Callable[[], Trajectory]] = {
    "failing edits": lambda: run(*[misses("a.py", f"{step}") for step in range(4_000)]),
    "one long answer": lambda: run(*[bash("cat x", "Error: " + "a" * 5_000_000)] * 3),
    "one long command": lambda: run(*[bash("echo " + "'a' && cat <<E\n" * 20_000, "y")] * 3),
    "one long turn of the user": lambda: run(user("Don't change the the the the " * 40_000), edit("a.py")),
    "many turns of the user": lambda: run(
        *[step for turn in range(600) for step in (user(f"Only edit f{turn}.py."), edit("a.py"))]
    ),
    "many commands asked for": lambda: run(*[step for turn in range(600) for step in _asked(turn)]),
    "long texts of the same letters": lambda: run(*[says(_shuffled(turn)) for turn in range(500)]),
    "errors of many tools": lambda: run(
        *[call(f"tool_{step % 97}", f"Error: no {step}", None, True, a=step) for step in range(6_000)]
    ),
    "steps without calls that are turned down": lambda: run(
        bash("ls"), *[step for turn in range(2_000) for step in _turned_down(turn)]
    ),
    "brackets": lambda: run(user("`" * 9_001 + "(" * 9_000 + '"' * 9_001), bash("(" * 20_000, "[" * 20_000)),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_no_run_takes_long(name: str) -> None:
    """Far from a measurement: what is quadratic or worse would take minutes here."""
    hostile = HOSTILE[name]()
    start = time.process_time()
    classify_all(hostile)
    assert time.process_time() - start < 8


LONG: dict[str, Callable[[int], str]] = {
    "blank lines of a here-document": lambda size: "cat <<E\n" + "\n" * size,
    "here-documents": lambda size: "".join(f"cat <<A{turn}\nx\nA{turn}\n" for turn in range(size // 10)),
    "assignments": lambda size: "A=1 " * (size // 4),
    "wrappers": lambda size: "sudo " * (size // 5),
    "changes of folder": lambda size: "cd a; rm b;" * (size // 11),
    "unbalanced quotes": lambda size: "\"'" * (size // 2),
    "open substitutions": lambda size: "$((a)" * (size // 5),
    "words": lambda size: "rm " + "a " * (size // 2),
}


@pytest.mark.parametrize("name", LONG)
def test_the_time_grows_as_the_line_does(name: str) -> None:
    assert growth(LONG[name], commands, 5_000) < QUADRATIC
