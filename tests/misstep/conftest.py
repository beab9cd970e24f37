"""What tests of commands share: a command line in this process."""

import pytest

from tests.misstep.as_a_user import CommandLine, in_this_process


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """Run `misstep COMMAND` with arguments in this process: exit code, stdout, stderr."""
    return lambda command, *arguments: in_this_process(command, monkeypatch, capsys)(*arguments)
