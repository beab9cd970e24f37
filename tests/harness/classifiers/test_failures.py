"""Whether a call failed, and by whose fault."""

import pytest

from misstep_harness.classifiers.error_lines import exit_code
from misstep_harness.classifiers.failures import environment_failure, failed, own_failure
from misstep_harness.classifiers.history import Act, History
from misstep_harness.trajectory import Step, ToolCall, ToolResult
from tests.harness.classifiers.building import bash, call, read, run, user, verdict


def act_of(step: object) -> Act:
    (act,) = History(run(step)).acts  # type: ignore[arg-type]
    return act


@pytest.mark.parametrize(
    ("answer", "code"),
    [("Exit code 2\nboom", 2), ("boom\n[The command completed with exit code 1.]", 1), ("<returncode>127</returncode>", 127), ("fine", None)],
)  # fmt: skip
def test_an_exit_code_is_read_from_the_answer_where_it_is_not_recorded(answer: str, code: int | None) -> None:
    assert exit_code(act_of(bash("x", answer))) == code


def test_the_recorded_exit_code_counts_before_what_the_answer_says() -> None:
    assert exit_code(act_of(bash("cat log", "exit code 3", 0))) == 0


def test_what_a_file_says_of_an_exit_code_is_none_of_the_call() -> None:
    for act in map(
        act_of, (read("ci.log", "make\nexit code 3"), call("Grep", "ci.log:2: exit code 3", pattern="exit"))
    ):
        assert exit_code(act) is None
        assert not failed(act)


def test_a_call_without_an_answer_has_not_failed() -> None:
    assert not failed(act_of(bash("x", None)))
    assert own_failure(act_of(bash("x", None))) is None


def test_the_environment_is_at_fault_for_timeouts() -> None:
    act = act_of(bash("curl host", "curl: (28) Connection timed out", 28))
    assert environment_failure(act)
    assert own_failure(act) is None
    assert failed(act)


@pytest.mark.parametrize(("name", "answer", "code", "fault"), [
    ("bash", "curl: (28) Connection timed out", 28, True),
    ("bash", "curl: (28) Connection timed out\nExit Code: 28", None, True),
    ("bash", "Connection timed out, tried again: 200", 0, False),
    ("bash", "Connection timed out", None, False),
    ("Read", "Connection timed out\nexit code 28", None, False),
])  # fmt: skip
def test_of_a_command_the_exit_code_counts_before_a_harness_that_says_no_error(name, answer, code, fault) -> None:
    assert environment_failure(act_of(call(name, answer, code, False, command="curl host"))) == fault


@pytest.mark.parametrize(("answer", "fault"), [
    ("curl: (6) Could not resolve host: api.example", True),
    ("wget: unable to resolve host address 'api.example'", True),
    ("Failed to connect to api.example port 443", True),
    ("npm ERR! ERESOLVE unable to resolve dependency tree", False),
    ("Failed to resolve import './colour' from 'src/main.ts'", False),
    ("error: cannot resolve symbol Colour", False),
])  # fmt: skip
def test_what_is_not_resolved_is_the_networks_fault_if_it_is_a_host(answer: str, fault: bool) -> None:
    assert environment_failure(act_of(bash("make", answer, 1))) == fault


def test_content_of_a_file_is_no_failure_however_it_begins() -> None:
    assert not failed(act_of(read("a.py", "errors = []\n" * 100)))


REFUSALS = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected. STOP what you are doing.",
    "User did not allow tool call",
    "exec command rejected by user",
    "The user denied this operation and provided the following feedback: leave it",
    "The user has declined to run this tool. DO NOT attempt to call this tool again.",
    "The user chose to skip the tool call, they want to proceed without running it",
    "Permission to use Bash with command rm -rf x has been denied.",
    "They asked to write to a.py, but you haven't granted it yet.",
    "This command requires approval",
    "[Operation Cancelled] Reason: the operator turned down nothing, but the reviewer declined it",
    "Not run: blocked by the user",
    "The tool call was declined.",
    "Der Benutzer hat die Aktion abgelehnt.",
)


@pytest.mark.parametrize("category", ["tool_call_failure", "infinite_loop"])
@pytest.mark.parametrize("marked", [True, None])
@pytest.mark.parametrize("words", REFUSALS)
def test_what_a_person_refuses_is_neither_a_failure_nor_a_loop(words: str, marked: bool | None, category: str) -> None:
    edits = [call("Edit", words, None, marked, file_path="a.py", old_string="a", new_string="b")] * 4
    others = [call("Bash", words, None, marked, command=f"rm {n}") for n in range(4)]
    rounds = [step for edit in edits for step in (edit, call("Bash", words, None, marked, command="rm x"))]
    for steps in (edits, others, rounds):
        assert verdict(category, run(user("Tidy up."), *steps)).label == "no"


@pytest.mark.parametrize(
    "extra", [{"toolUseResult": "User rejected tool use"}, {"approval": {"approved": False}}, {"status": "declined"}]
)
def test_a_refusal_may_stand_in_the_record_alone(extra: dict[str, object]) -> None:
    step = Step("agent", calls=(ToolCall("edit", {"path": "a.py"}),), results=(ToolResult("No.", True, extra=extra),))
    assert own_failure(act_of(step)) is None
    assert failed(act_of(step))


@pytest.mark.parametrize(
    "words",
    ["Tool call rejected: unknown argument `path`", "Error: user 'kim' is no argument of this tool", "request was rejected: argument `a` is no number"],
)  # fmt: skip
def test_a_word_on_why_a_call_cannot_be_is_no_persons_refusal(words: str) -> None:
    failure = own_failure(act_of(call("ledger", words, None, True, path="a")))
    assert failure.fault == "invalid arguments"
