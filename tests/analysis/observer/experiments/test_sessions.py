"""A user's own experiment, read from a CSV."""

from pathlib import Path

import pytest

from misstep_analysis.observer.experiments.sessions import read_sessions
from misstep_harness.errors import InputError

FULL = """session,unit,arm,failed_calls,calls,tokens,seconds,engineer_interventions
s-1,ana,control,2,31,81230,412.5,1
s-2,ben,treatment,0,18,40112,198.0,0
"""


def read(tmp_path: Path, text: str):  # type: ignore[no-untyped-def]
    file = tmp_path / "sessions.csv"
    file.write_text(text)
    return read_sessions(file)


def test_each_row_is_a_session_with_its_unit_and_arm(tmp_path: Path) -> None:
    first, second = read(tmp_path, FULL)
    assert (first.session, first.unit, first.arm, first.failed_calls, first.calls) == ("s-1", "ana", "control", 2, 31)
    assert (second.tokens, second.seconds, second.engineer_interventions) == (40112, 198, 0)


def test_any_metrics_will_do_and_an_empty_cell_is_not_measured(tmp_path: Path) -> None:
    first, second = read(tmp_path, "Arm;Tokens\ncontrol;5\ntreatment;\n")
    assert (first.tokens, second.tokens) == (5, None)
    assert first.calls is None
    assert first.unit != second.unit


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("session,tokens\na,1\n", 1, "no column arm"),
        ("session,arm\na,x\n", 1, "no column of"),
        ("session,arm,failed_calls\na,x,1\n", 1, "failed_calls without calls"),
        ("session,arm,tokens\na,x,1\nb,,2\n", 3, "no arm"),
        ("session,arm,tokens\na,x,1\nb,y,many\n", 3, "'many'"),
        ("session,arm,tokens\na,x,-1\n", 2, "'-1'"),
        ("session,arm,tokens\na,x,nan\n", 2, "'nan'"),
        ("session,arm,failed_calls,calls\na,x,3,2\n", 2, "3 of 2 calls failed"),
        ("session,arm,tokens\na,x,1\na,x,2\n", 3, "on line 2 already"),
        ("session,unit,arm,tokens\na,u,x,1\nb,u,y,2\n", 3, "'u' is in the arm 'y' here and 'x' on line 2"),
    ],
)
def test_what_cannot_be_is_named_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, text)
    assert f"sessions.csv:{line}" in str(error.value)
    assert message in str(error.value)
