"""The hook is found in the settings of a coding agent, and this installation's own hook is tried."""

import json
from pathlib import Path

import pytest

from misstep_harness.errors import MissingPrerequisite
from misstep_harness.observer.hook import settings
from misstep_harness.observer.hook.settings import (
    BusyMachine,
    InstalledHook,
    installed_hooks,
    settings_files,
    tried_hook,
)

COMMAND = "misstep observe --hook"


def _settings(file: Path, *commands: str, event: str = "PostToolUse") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    hooks = [{"hooks": [{"type": "command", "command": command} for command in commands]}]
    file.write_text(json.dumps({"hooks": {event: hooks}}))
    return file


@pytest.mark.parametrize(
    "command", [COMMAND, "/opt/venv/bin/misstep observe --hook --every 3", "python -m misstep observe --hook"]
)
def test_the_hook_is_known_by_its_words(tmp_path: Path, command: str) -> None:
    file = _settings(tmp_path / "settings.json", "make lint", command)
    assert [(one.file, one.event, one.command) for one in installed_hooks([file])] == [(file, "PostToolUse", command)]


@pytest.mark.parametrize("command", ["make lint", "misstep observe runs", "echo 'open", ""])
def test_other_commands_are_not(tmp_path: Path, command: str) -> None:
    assert not list(installed_hooks([_settings(tmp_path / "settings.json", command)]))


@pytest.mark.parametrize(
    "content", ["", "[]", '{"hooks": []}', '{"hooks": {"Stop": {"hooks": 3}}}', '{"hooks": {"Stop": [{"hooks": [1]}]}}']
)
def test_settings_of_another_shape_have_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "settings.json").write_text(content)
    assert not list(installed_hooks([tmp_path / "settings.json", tmp_path / "missing.json"]))


def test_the_users_settings_come_before_the_projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "own"))
    files = settings_files(tmp_path / "app")
    assert files[0] == tmp_path / "own" / "settings.json"
    assert files[1:3] == tuple(tmp_path / "app" / ".claude" / f"settings{name}.json" for name in ("", ".local"))


def test_a_program_that_is_not_there_is_none(tmp_path: Path) -> None:
    (hook,) = installed_hooks([_settings(tmp_path / "settings.json", "/nowhere/misstep observe --hook")])
    assert hook.program is None


def test_this_installations_hook_speaks_of_a_loop() -> None:
    assert tried_hook() > 0


@pytest.mark.parametrize(
    ("alone", "trials", "limit", "outcome"),
    [
        (0.02, [False, True], 20.0, 0.1),
        (0.8, [False, True], 80.0, 0.1),
        (0.8, [False, False], 80.0, BusyMachine),
        (0.02, [False, False], 20.0, MissingPrerequisite),
    ],
)
def test_a_hook_that_is_slow_on_a_busy_machine_has_more_time_and_is_no_fault(
    monkeypatch: pytest.MonkeyPatch, alone: float, trials: list[bool], limit: float, outcome: float | type[Exception]
) -> None:
    limits: list[float] = []

    def trial(seconds: float) -> float:
        limits.append(seconds)
        if not trials[len(limits) - 1]:
            raise MissingPrerequisite("it did not answer")
        return 0.1

    monkeypatch.setattr(settings, "_seconds_of_hook", trial)
    monkeypatch.setattr(settings, "bare_start", lambda: alone)
    if isinstance(outcome, float):
        assert tried_hook() == outcome
    else:
        with pytest.raises(outcome) as raised:
            tried_hook()
        assert type(raised.value) is outcome
    assert limits == [20.0, pytest.approx(limit)]


@pytest.mark.parametrize("before", ["", "MISSTEP_CACHE=/tmp/cache TMPDIR='/a b' "])
@pytest.mark.parametrize("place", ["$HOME/bin", "~/bin"])
def test_a_program_is_found_as_a_shell_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, place: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    program = tmp_path / "bin" / "misstep"
    program.parent.mkdir()
    program.touch(mode=0o755)
    hook = InstalledHook(tmp_path, "PostToolUse", f"{before}{place}/misstep observe --hook")
    assert hook.program == str(program)
