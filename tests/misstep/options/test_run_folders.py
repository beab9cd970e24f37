"""Whole sentences say how a run ended, whatever the server's own words are."""

import pytest
import typer

from misstep.options.run_folders import exit_unless_whole
from misstep_harness.runs.kind import RunEnd


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        (
            RunEnd(59, 0, 200, "asking could cost $0.20 and $0.10 of the $1 are left"),
            "stopped: asking could cost $0.20 and $0.10 of the $1 are left. 59 of 200 items were asked.",
        ),
        (RunEnd(1, 0, 1, "no money is left."), "stopped: no money is left. 1 of 1 item was asked."),
        (
            RunEnd(10, 3, 10, "", "connection: is a server there?"),
            "3 of 10 items failed; the same command asks again. The last failure: connection: is a server there?",
        ),
        (RunEnd(10, 1, 10), "1 of 10 items failed; the same command asks again."),
    ],
)
def test_a_run_that_is_not_whole_ends_with_1_and_says_why(ended, said, capsys) -> None:
    with pytest.raises(typer.Exit) as exited:
        exit_unless_whole(ended)
    assert exited.value.exit_code == 1
    assert capsys.readouterr().err == f"misstep: {said}\n"


def test_items_that_failed_for_good_are_counted_and_the_run_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    exit_unless_whole(RunEnd(10, 3, 10, "", "No output produced", finished=True))
    text = "3 of 10 items failed; they have no label. The last failure: No output produced."
    assert capsys.readouterr().err == f"misstep: {text}\n"


def test_a_whole_run_ends_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    exit_unless_whole(RunEnd(10, 0, 10))
    assert capsys.readouterr().err == ""
