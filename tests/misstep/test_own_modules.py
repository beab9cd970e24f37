"""What a command takes as `package.module:name` is found in the present folder, as the program beside the work is."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from misstep.doctor.plugins import _REGISTRIES
from tests.harness.repair.cases import price_case
from tests.misstep.as_a_user import CommandLine
from tests.misstep.made_up_judges import benchmark
from tests.misstep.test_help import ALL

LINES = {
    ("judge run", "judge"): ("own_part:part", "--benchmark", "plants", "--out", "out"),
    ("judge ask", "judge"): ("own_part:part", "runs.jsonl"),
    ("judge probe", "judge"): ("own_part:part", "--benchmark", "plants", "--out", "out"),
    ("observe", "detector"): ("runs.jsonl", "--detector", "own_part:part"),
    ("experiment run", "detector"): ("--n", "2", "--out", "out", "--detector", "own_part:part"),
    ("experiment run", "observe"): ("--n", "2", "--out", "out", "--observe", "own_part:part"),
    ("reflect run", "skill"): ("own_part:part", "--out", "out"),
    ("repair run", "policy"): ("case", "--out", "out", "--policy", "own_part:part"),
    ("repair run", "observe"): ("case", "--out", "out", "--observe", "own_part:part"),
}
"""Command and parameter → arguments that name one's own."""


OWN = """
class part:
    def __init__(self, *given):
        raise RuntimeError("reached")
"""


@pytest.fixture
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The present folder has a module of one's own, which is not installed, and something to work on."""
    (tmp_path / "own_part.py").write_text(OWN)
    (tmp_path / "runs.jsonl").write_text(json.dumps({"messages": [{"role": "user", "content": "Hello."}]}) + "\n")
    benchmark(tmp_path / "plants", ["an apple"])
    price_case(tmp_path / "case")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    sys.modules.pop("own_part", None)


@pytest.mark.usefixtures("_own_folder")
@pytest.mark.parametrize("registry", _REGISTRIES.values(), ids=_REGISTRIES)
def test_every_kind_of_part_is_found_in_the_present_folder(registry):
    assert registry.load("own_part:part").__module__ == "own_part"


@pytest.mark.usefixtures("_own_folder")
@pytest.mark.parametrize(("command", "parameter"), LINES)
def test_a_command_finds_a_part_of_ones_own_in_the_present_folder(command, parameter, in_process: CommandLine):
    name, *rest = command.split()
    code, _, output = in_process(name, *rest, *LINES[command, parameter])
    assert (code, "RuntimeError: reached" in output) == (2, True), output


def test_no_parameter_that_takes_ones_own_is_left_out_above():
    taken = {
        (command, parameter.name)
        for command, known in ALL.items()
        for parameter in known.params
        if "package.module" in (parameter.help or "")
    }
    assert taken == set(LINES)
