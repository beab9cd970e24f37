"""The cheap key of a call never tells calls apart that are nearly the same, and no answer has a say in it."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.classifiers.history import Act, History
from harness.classifiers.identity import call_key, coarse_key
from harness.trajectory import Step
from tests.harness.classifiers.building import bash, call, run, verdict

WORDS = ("python3", "python", "ls", "./src/", "src", "a.py", "--quiet", "-q", "-rn", "-n", "-r", "my-app", "/dev/null")
SPELLINGS = ("", " ", "  ", "\t", '"', "'", "\\", " 2>&1", " || true", ";", " | cat", ">/dev/null", "\u00a0", "\n", "é")


def act(step: Step) -> Act:
    (only,) = History(run(step)).acts
    return only


def shared(one: Step, other: Step) -> bool:
    """Whether two calls that are the same have the same cheap key."""
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
    (0, "0", 1, "1", 1.5, "1.5", True, False, None, "", "A  b", " a b", "a\tB ", [], ["x"], {"k": 1})
)
arguments = st.dictionaries(
    st.sampled_from(("path", "file_path", "pattern", "offset", "timeout", "description", "new")), values, max_size=3
)


@given(st.sampled_from(("Read", "Grep", "Edit", "get_user")), arguments, arguments)
def test_calls_with_equal_arguments_share_the_cheap_key(name: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    assert shared(call(name, **one), call(name, **dict(reversed(one.items()))))
    assert shared(call(name, **one), call(name, **other))


def test_a_call_that_works_in_the_end_is_no_loop_however_its_answers_begin() -> None:
    locked = [bash("make deploy", "Deployment is locked by another job.", 1)] * 3
    assert verdict("infinite_loop", run(*locked)).label == "yes"
    assert verdict("infinite_loop", run(*locked, bash("make deploy", "Done: version 4 is live.", 0))).label == "no"
