"""The hook goes into settings and out of them again; all else keeps its order, its form and its blanks."""

import json
from pathlib import Path

import pytest

from misstep_harness.errors import InputError
from misstep_harness.observer.hook.settings import (
    EVENTS_OF,
    hook_command,
    installed,
    installed_hooks,
    settings_file,
    settings_files,
    uninstalled,
)

COMMAND = "misstep observe --hook"
OTHER = '{"matcher": "Bash", "hooks": [{"type": "command", "command": "make lint"}]}'
SETTINGS = [
    "{}",
    '{"model": "opus", "unknown": [1, 2.50, null]}',
    '{\n  "z": 1,\n  "a": {"é": "\\u00e9"}\n}\n',
    '{\n\t"permissions": {"allow": ["Bash(ls:*)"]},\n\n\t"hooks": {"Stop": [' + OTHER + "]}\n}",
    '{"hooks":{"PostToolUse":[' + OTHER + '],"PreToolUse":[]},"last":true}',
    '{\n    "hooks": {\n        "PostToolUse": [\n            ' + OTHER + '\n        ]\n    },\n    "b": 2\n}\n',
]


def _file(folder: Path, text: str) -> Path:
    file = folder / "settings.json"
    file.write_text(text)
    return file


@pytest.mark.parametrize("text", SETTINGS)
def test_what_is_put_in_comes_out_again_to_the_last_blank(tmp_path: Path, text: str) -> None:
    file = _file(tmp_path, text)
    change = installed(file, "claude", COMMAND)
    change.write()
    assert [(one.event, one.command) for one in installed_hooks([file])] == [
        (event, COMMAND) for event in sorted(EVENTS_OF["claude"], key=list(json.loads(file.read_text())["hooks"]).index)
    ]
    before, now = json.loads(text), json.loads(file.read_text())
    assert {name: value for name, value in now.items() if name != "hooks"} == {
        name: value for name, value in before.items() if name != "hooks"
    }
    assert list(now)[: len(before)] == list(before)
    uninstalled(file).write()
    assert file.read_text() == text


def test_a_second_time_changes_nothing_and_other_options_take_the_place_of_the_first(tmp_path: Path) -> None:
    file = _file(tmp_path, SETTINGS[3])
    installed(file, "claude", COMMAND).write()
    again = installed(file, "claude", COMMAND)
    assert (again.before, again.diff()) == (again.after, "")
    installed(file, "claude", f"{COMMAND} --every 3").write()
    assert {one.command for one in installed_hooks([file])} == {f"{COMMAND} --every 3"}
    uninstalled(file).write()
    assert file.read_text() == SETTINGS[3]


def test_a_hook_of_ours_beside_another_in_one_group_leaves_the_other(tmp_path: Path) -> None:
    ours = '{"type": "command", "command": "/opt/misstep observe --hook"}'
    text = '{"hooks": {"PostToolUse": [{"hooks": [%s{"type": "command", "command": "make lint"}]}]}}'
    file = _file(tmp_path, text % f"{ours}, ")
    uninstalled(file).write()
    assert file.read_text() == text % ""


def test_a_file_that_is_not_there_is_made_and_goes_again(tmp_path: Path) -> None:
    file = tmp_path / ".codex" / "hooks.json"
    change = installed(file, "codex", COMMAND)
    assert change.before is None
    change.write()
    assert list(json.loads(file.read_text())["hooks"]) == ["PostToolUse", "UserPromptSubmit"]
    assert file.read_text().endswith("}\n")
    uninstalled(file).write()
    assert not file.exists()
    assert uninstalled(file).diff() == ""


def test_the_diff_shows_what_comes_and_nothing_else(tmp_path: Path) -> None:
    lines = installed(_file(tmp_path, SETTINGS[2]), "claude", COMMAND).diff().splitlines()[3:]
    assert {line for line in lines if line[:1] == "-"} == {'-  "a": {"é": "\\u00e9"}'}


def test_a_link_stays_one_and_permissions_stay(tmp_path: Path) -> None:
    real = _file(tmp_path, "{}")
    real.chmod(0o600)
    (tmp_path / "link.json").symlink_to(real)
    installed(tmp_path / "link.json", "claude", COMMAND).write()
    assert (tmp_path / "link.json").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    assert list(installed_hooks([real]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n  // mine\n  "a": 1\n}', "it has comments"),
        ('{"a": 1, /* mine */ "b": 2,}', "it has comments"),
        ("{", "not valid JSON"),
        ("[]", "not an object"),
        ('{"hooks": []}', "hooks"),
        ('{"hooks": {"PostToolUse": {}}}', "hooks.PostToolUse"),
    ],
)
def test_settings_that_cannot_be_changed_safely_are_left_with_advice(tmp_path: Path, text: str, message: str) -> None:
    file = _file(tmp_path, text)
    for change in (lambda: installed(file, "claude", COMMAND), lambda: uninstalled(file)):
        with pytest.raises(InputError) as error:
            change()
        assert message in error.value.line()
        assert str(file) in error.value.line()
    assert file.read_text() == text


def test_each_agent_has_its_file_and_doctor_looks_into_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    places = {settings_file(agent, project) for agent in EVENTS_OF for project in (None, tmp_path / "app")}
    assert places < set(settings_files(tmp_path / "app"))
    assert len(places) == 4


def test_the_command_is_one_that_a_shell_takes_with_its_options() -> None:
    assert hook_command(["--model", "a b"]).endswith("observe --hook --model 'a b'")
