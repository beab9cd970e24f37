"""The cheap key of a call never tells calls apart that are nearly the same, and no answer has a say in it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.classifiers.history import Act, History
from misstep_harness.classifiers.identity import call_key, coarse_key
from misstep_harness.trajectory import Step, ToolCall
from tests.harness.classifiers.building import bash, call, run, verdict
from tests.harness.test_values import VALUES

WORDS = ("python3", "python", "ls", "./src/", "src", "a.py", "--quiet", "-q", "-rn", "-n", "-r", "my-app", "/dev/null")
SPELLINGS = ("", " ", "  ", "\t", '"', "'", "\\", " 2>&1", " || true", ";", " | cat", ">/dev/null", "\u00a0", "\n", "é")


def act(step: Step) -> Act:
    (only,) = History(run(step)).acts
    return only


def shared(one: Step, other: Step) -> bool:
    return call_key(act(one)) != call_key(act(other)) or coarse_key(act(one)) == coarse_key(act(other))


commands = st.lists(
    st.tuples(st.sampled_from(SPELLINGS), st.sampled_from(WORDS), st.sampled_from(SPELLINGS)), max_size=3
)


def line(words: list[tuple[str, str, str]]) -> str:
    return " ".join("".join(word) for word in words)


@given(commands, st.data())
def test_spellings_of_one_command_share_the_cheap_key(words: list[tuple[str, str, str]], data: st.DataObject) -> None:
    again = [
        (data.draw(st.sampled_from(SPELLINGS)), word, data.draw(st.sampled_from(SPELLINGS)))
        for _, word, _ in data.draw(st.permutations(words))
    ]
    assert shared(bash(line(words)), bash(line(again)))


values = st.sampled_from(
    (
        0,
        "0",
        1,
        "1",
        1.5,
        "1.5",
        True,
        False,
        None,
        "",
        "A  b",
        " a b",
        "a\tB ",
        [],
        ["x"],
        ["X "],
        {"k": 1},
        {"k": "1"},
        [1, 2],
        [1.0, "2"],
        [1, [2]],
        [1, [3]],
        {"k": [1]},
        10**3000,
        str(10**3000),
        "long " * 500,
        "long  " * 500,
    )
)
arguments = st.dictionaries(
    st.sampled_from(("path", "file_path", "pattern", "offset", "timeout", "description", "new")), values, max_size=3
)


@given(st.sampled_from(("Read", "Grep", "Edit", "get_user")), arguments, arguments)
def test_calls_with_equal_arguments_share_the_cheap_key(name: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    assert shared(call(name, **one), call(name, **dict(reversed(one.items()))))
    assert shared(call(name, **one), call(name, **other))


LONG = "OK: the results of all 12 cases agree with those of the reference implementation of last week."


@pytest.mark.parametrize(
    "steps",
    [
        [bash(f"SEED={seed} python -m pytest -q", "..........  10 passed in 1.0s", 0) for seed in range(4)],
        [bash(f"DB={name} make check", LONG, 0) for name in ("sqlite", "postgres", "mysql")],
        [bash(f"./bench --threads={count}", LONG, 0) for count in (1, 2, 4, 8)],
        [bash(f"grep -n{flag} load a.py", "3: load = 1", 0) for flag in ("", " -v", " -s")],
        [call("set_description", "The item was updated.", description=f"Chapter {turn}") for turn in range(4)],
        [call("create_issue", "Created.", project="A", summary=f"Chapter {turn}") for turn in range(4)],
        [bash("python move.py", f"Moved ten users to the new table, {count} remaining.", 0) for count in (30, 20, 10)],
        [bash("./check-status.sh", f"The service at port 80 gave the response {code}.", 0) for code in (500, 503, 200)],
    ],
)
def test_calls_for_other_things_and_other_answers_are_no_loop(steps: list[Step]) -> None:
    assert verdict("infinite_loop", run(*steps)).label == "no"


def test_variables_of_the_surroundings_make_no_other_call() -> None:
    lines = ("pytest -q", "LC_ALL=C pytest -q", "PYTHONPATH=. timeout 9 pytest -q")
    assert verdict("infinite_loop", run(*(bash(line, "1 failed: test_total", 1) for line in lines))).label == "yes"


def test_a_call_that_works_in_the_end_is_no_loop_however_its_answers_begin() -> None:
    locked = [bash("make deploy", "Deployment is locked by another job.", 1)] * 3
    assert verdict("infinite_loop", run(*locked)).label == "yes"
    assert verdict("infinite_loop", run(*locked, bash("make deploy", "Done: version 4 is live.", 0))).label == "no"


@pytest.mark.parametrize("depth", [30, 100, 900])
@pytest.mark.parametrize("raw", [False, True])
def test_equal_calls_are_found_however_deep_their_arguments_are(depth: int, raw: bool) -> None:
    given: dict[str, Any] = {"leaf": 'say "x" \\'}
    for level in range(depth):
        given = {"b": [given], "a": level}
    turned: dict[str, Any] = dict(reversed(given.items()))
    shapes = ["[" * depth] * 3 if raw else [given, turned, given]
    error = "no JSON" if raw else None
    steps = [Step("agent", calls=(ToolCall("plan_route", shape, parse_error=error),)) for shape in shapes]
    assert verdict("infinite_loop", run(*steps)).steps == (0, 1, 2)
    other = Step("agent", calls=(ToolCall("plan_route", {**given, "a": -1}),))
    assert verdict("infinite_loop", run(steps[0], other, steps[2])).label == "no"


@given(VALUES, VALUES)
def test_nested_arguments_that_are_equal_share_the_cheap_key(one: Any, other: Any) -> None:
    for name in ("get_user", "Grep", "Read"):
        assert shared(call(name, path="a", query=one), call(name, path="a", query=other))
