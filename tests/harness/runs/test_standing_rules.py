"""Where standing rules come from: named files, what a session shows, and the folder that it worked in."""

from pathlib import Path

import pytest

from misstep.harness.errors import InputError
from misstep.harness.runs.standing_rules import RulesAsked, cited, numbered, read_rules
from misstep.harness.trajectory import Source, StandingRules, Step, ToolCall, ToolResult, Trajectory


def _files(run: Trajectory, asked: RulesAsked | None = None) -> list[tuple[str, str]]:
    return [(one.file, one.text) for one in (asked or RulesAsked()).put_beside(run).rules]


def _in(folder: Path | str, *steps: Step) -> Trajectory:
    return Trajectory("r", Source("made"), steps=steps, extra={"cwd": str(folder)})


def _read(tool: str, value: str, answer: str, *, is_error: bool | None = None) -> Step:
    call = ToolCall(tool, {"command" if tool == "Bash" else "file_path": value}, "c")
    return Step("agent", calls=(call,), results=(ToolResult(answer, is_error, call_id="c"),))


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
    top = project.parent
    assert _files(_in(project)) == [
        (str(project / "AGENTS.md"), "Never commit.\n"),
        (str(top / "CLAUDE.md"), "Never push.\n"),
    ]
    assert _files(_in(project), RulesAsked(find=False)) == []
    assert _files(_in("/no/such/folder")) == []
    assert _files(_in("shop")) == []


def test_a_link_within_the_project_counts_once_and_one_that_leads_out_not_at_all(project: Path) -> None:
    (project / "CLAUDE.md").symlink_to(project / "AGENTS.md")
    (project.parent / "AGENTS.md").symlink_to(project.parents[1] / "CLAUDE.md")
    assert [text for _, text in _files(_in(project))] == ["Never commit.\n", "Never push.\n"]


def test_a_file_that_the_session_reads_counts_with_its_line_numbers_taken_off() -> None:
    read = _read("Read", "/gone/AGENTS.md", "     1→# Rules\n     2→\n     3→Never push.\n")
    assert _files(_in("/gone", read)) == [("/gone/AGENTS.md", "# Rules\n\nNever push.")]
    assert _files(_in("/gone", _read("Bash", "cat CLAUDE.md", "Never push."))) == [("CLAUDE.md", "Never push.")]


@pytest.mark.parametrize(
    "step",
    [
        _read("Read", "/gone/AGENTS.md", "no such file", is_error=True),
        _read("Read", "/gone/node_modules/x/AGENTS.md", "Never push."),
        _read("Bash", "ls CLAUDE.md", "CLAUDE.md"),
        _read("Write", "/gone/CLAUDE.md", "File written"),
    ],
)
def test_what_is_no_reading_of_the_projects_rules_does_not_count(step: Step) -> None:
    assert _files(_in("/gone", step)) == []


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("# AGENTS.md instructions for /w/p\n\n<INSTRUCTIONS>\nNever push.\n</INSTRUCTIONS>", "/w/p/AGENTS.md"),
        ("Contents of /w/p/CLAUDE.md (project instructions):\n\nNever push.\n</system-reminder>", "/w/p/CLAUDE.md"),
    ],
)
def test_rules_that_a_program_shows_to_the_agent_count(text: str, file: str) -> None:
    assert _files(_in("/w/p", Step("system", text))) == [(file, "Never push.\n")]


def test_named_files_come_first_and_what_cannot_be_read_is_said(tmp_path: Path, project: Path) -> None:
    rules = read_rules([tmp_path / "CLAUDE.md"])
    assert _files(_in(project), RulesAsked(rules))[0] == (str(tmp_path / "CLAUDE.md"), "Not ours.\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name in ("missing.md", "binary"):
        with pytest.raises(InputError, match=name):
            read_rules([tmp_path / name])


def test_lines_are_numbered_by_the_shortest_names_that_differ() -> None:
    two = [StandingRules("/p/CLAUDE.md", "One.\n\nTwo."), StandingRules("/p/src/CLAUDE.md", "Three.")]
    assert numbered(two[:1]).splitlines() == ["CLAUDE.md is /p/CLAUDE.md", "CLAUDE.md:1: One.", "CLAUDE.md:3: Two."]
    assert "src/CLAUDE.md:1: Three." in numbered(two)


def test_a_judge_that_repeats_a_rule_is_given_its_place_unless_it_names_it() -> None:
    lines = numbered([StandingRules("/p/CLAUDE.md", "# Rules\nNever edit files under `migrations/`.")])
    assert cited("It says never edit files under migrations/.", lines).endswith("(CLAUDE.md:2)")
    assert cited("CLAUDE.md:2 forbids it.", lines) == "CLAUDE.md:2 forbids it."
    assert cited("It edits a test.", lines) == "It edits a test."
