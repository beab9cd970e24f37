"""Whether a call failed, and by whose fault."""

import pytest

from harness.classifiers.exit_codes import exit_code
from harness.classifiers.failures import environment_failure, failed, own_failure
from harness.classifiers.history import Act, History
from tests.harness.classifiers.building import bash, read, run


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


def test_a_call_without_an_answer_has_not_failed() -> None:
    assert not failed(act_of(bash("x", None)))
    assert own_failure(act_of(bash("x", None))) is None


def test_the_environment_is_at_fault_for_timeouts() -> None:
    act = act_of(bash("curl host", "curl: (28) Connection timed out", 28))
    assert environment_failure(act)
    assert own_failure(act) is None
    assert failed(act)


def test_content_of_a_file_is_no_failure_however_it_begins() -> None:
    assert not failed(act_of(read("a.py", "errors = []\n" * 100)))
