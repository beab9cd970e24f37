"""What tests of commands share: a command line in this process."""

from pathlib import Path

import pytest

from tests.misstep.as_a_user import CommandLine, in_this_process
from tests.misstep.made_up import LONG, atif, atif_lines


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """Run `misstep COMMAND` with arguments in this process: exit code, stdout, stderr."""
    return lambda command, *arguments: in_this_process(command, monkeypatch, capsys)(*arguments)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Many batches of trajectories with two taken ids, a broken line and a file of no known format."""
    folder = tmp_path_factory.mktemp("inputs")
    atif_lines(folder / "a.jsonl", (f"a{number % 298}" for number in range(300)), text=LONG)
    atif_lines(folder / "b.jsonl", (f"b{number}" for number in range(250)), text=LONG)
    with (folder / "b.jsonl").open("ab") as stream:
        stream.write(b'{"schema_version": \n' + atif("after"))
    (folder / "notes.txt").write_text("Mend the fence.\n")
    return folder
