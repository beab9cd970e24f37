"""`misstep group` as a user runs it: what many reasons say, in groups to read."""

import sys
from functools import partial
from pathlib import Path

import pytest

from misstep.group import app
from misstep.harness.errors import InputError, MissingPrerequisite, UsageError
from misstep.judge import app as judge_app
from tests.misstep.as_a_user import command_of
from tests.misstep.made_up_runs import benchmark_of_runs, judged_run, verdict

group = command_of(app, raises=True)
calibrate = command_of(judge_app, "calibrate", raises=True)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A judge that finds a loop in six items and a missing test in six others, and one reason that would print red."""
    benchmark = benchmark_of_runs(tmp_path / "gates", 13)
    reasons = ["the agent repeats one command again and again without progress"] * 6
    reasons += ["no unit test covers the changed function, coverage stays low"] * 6 + ["\x1b[31mred alert\x1b[0m"]
    given = [verdict(number, "yes", rationale=reason) for number, reason in enumerate(reasons)]
    return judged_run(tmp_path / "run", benchmark, given)


def test_groups_list_their_members_and_say_that_they_are_no_finding(run: Path) -> None:
    output = group(run).stdout
    assert output.startswith("12 of 13 reasons are in 2 groups of like words; 1 stand alone.\n")
    assert "no finding" in output
    assert "members: item-0, item-1" in output
    assert "stability 1.00" in output
    assert "\x1b" not in output


def test_what_has_no_texts_is_refused(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has errors"):
        group(run, "--texts", "errors")
    with pytest.raises(InputError, match=r"run\.toml is missing"):
        group(tmp_path)


def test_without_scikit_learn_a_line_says_how_to_get_it(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    for line in (partial(group, run), partial(calibrate, run, "--method", "isotonic")):
        with pytest.raises(MissingPrerequisite, match=r"pip install 'misstep\[learn\]'"):
            line()
