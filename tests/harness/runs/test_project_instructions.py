"""Where the project instructions that judges read come from: named files, and the folder that a session worked in."""

from pathlib import Path

import pytest

from misstep_harness.errors import InputError
from misstep_harness.runs.classify import InstructionSources, ProjectInstructions, read_rules
from misstep_harness.trajectory import Source, Trajectory


def _text(folder: Path | str, asked: InstructionSources | None = None) -> str:
    return (asked or InstructionSources()).text_for(Trajectory("r", Source("made"), extra={"cwd": str(folder)}))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with rules at its top and in a folder, and rules above it that are not its own."""
    (tmp_path / "CLAUDE.md").write_text("Not ours.\n")
    folder = tmp_path / "shop" / "src"
    folder.mkdir(parents=True)
    (tmp_path / "shop" / ".git").mkdir()
    (tmp_path / "shop" / "CLAUDE.md").write_text("Never push.\n")
    (folder / "AGENTS.md").write_text("Never commit.\n")
    return folder


def test_the_folder_of_work_and_those_above_it_up_to_the_top_of_the_repository_are_looked_at(project: Path) -> None:
    assert _text(project) == f"{project}/AGENTS.md:\nNever commit.\n\n{project.parent}/CLAUDE.md:\nNever push."
    assert _text(project, InstructionSources(find=False)) == ""
    assert _text("/no/such/folder") == _text("shop") == ""


def test_a_link_within_the_project_counts_once_and_one_that_leads_out_not_at_all(project: Path) -> None:
    (project / "CLAUDE.md").symlink_to(project / "AGENTS.md")
    (project.parent / "AGENTS.md").symlink_to(project.parents[1] / "CLAUDE.md")
    text = _text(project)
    assert text.count("Never commit.") == 1
    assert "Not ours." not in text


def test_named_files_come_first_and_what_cannot_be_read_is_said(tmp_path: Path, project: Path) -> None:
    rules = read_rules([tmp_path / "CLAUDE.md"])
    assert rules == (ProjectInstructions(str(tmp_path / "CLAUDE.md"), "Not ours.\n"),)
    assert _text(project, InstructionSources(rules)).startswith(f"{tmp_path}/CLAUDE.md:\nNot ours.\n\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name in ("missing.md", "binary"):
        with pytest.raises(InputError, match=name):
            read_rules([tmp_path / name])
