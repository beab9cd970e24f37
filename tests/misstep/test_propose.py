"""`misstep PATH` and `misstep` alone say what is there and the one line to run, and run, write and send nothing."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from misstep import propose
from misstep.__main__ import main
from tests.families.recordings import recording_of
from tests.harness.triage.runs.jobs.made_up_jobs import harbor
from tests.misstep.as_a_user import CommandLine
from tests.misstep.made_up import atif

Propose = Callable[..., tuple[int, str, str]]
LABELS = "item,ann,ben\n1,yes,no\n2,yes,yes\n"


@pytest.fixture
def propose_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Propose:
    """Run `misstep` with words in a new folder, whose files stay as they are: exit code, stdout, stderr."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def run(*words: str) -> tuple[int, str, str]:
        before = sorted(Path.cwd().rglob("*"))
        monkeypatch.setattr(sys, "argv", ["misstep", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert sorted(Path.cwd().rglob("*")) == before
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return run


def lines_of(text: str) -> list[str]:
    """Return the lines to run, which are indented."""
    return [line.strip() for line in text.splitlines() if line.startswith("  ")]


def written(path: str, content: str | bytes) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def test_a_folder_of_sessions_is_classified_whatever_tools_wrote_them(propose_for: Propose) -> None:
    written("logs/project/a.jsonl", recording_of("claude_code"))
    written("logs/project/b.jsonl", recording_of("claude_code"))
    written("logs/c.jsonl", recording_of("codex"))
    written("logs/notes.md", "# Notes\n")
    code, out, err = propose_for("logs")
    assert (code, err) == (0, "")
    assert out.startswith("logs: 3 files with sessions (claude_code, codex).\n")
    assert lines_of(out) == ["misstep classify logs --out findings"]


@pytest.mark.parametrize(
    ("table", "line"),
    [
        (LABELS, "misstep agreement table.csv"),
        ("item,rater,label\n1,ann,yes\n1,ben,no\n2,ann,no\n2,ben,no\n", "misstep agreement table.csv"),
        ("id,human_label,judge_label\n1,yes,no\n2,no,no\n", "misstep judge check table.csv"),
        ("task,passed\nsort,yes\nsort,no\n", "misstep pass table.csv"),
        ("task,system,output\nsort,a,x\nsort,b,y\n", "misstep benchmark make --kind pair --out pairs table.csv"),
    ],
)
def test_a_table_goes_to_the_command_that_reads_its_columns(propose_for: Propose, table: str, line: str) -> None:
    written("table.csv", table)
    assert lines_of(propose_for("table.csv")[1]) == [line]


@pytest.mark.parametrize("table", ["name,age,city\nann,3,rome\nben,4,paris\n", "date,price\n2020,3.5\n2021,4.5\n"])
def test_a_table_without_labels_is_not_taken_for_one(propose_for: Propose, table: str) -> None:
    written("table.csv", table)
    assert "nothing that Misstep recognises" in propose_for("table.csv")[1]


def test_a_run_is_shown_and_labels_next_to_a_judges_run_check_the_judge(
    propose_for: Propose, in_process: CommandLine
) -> None:
    written("session.json", atif("fence"))
    assert in_process("judge", "run", "infinite_loop@rule", "session.json", "--out", "judged")[0] == 0
    Path("session.json").unlink()
    assert lines_of(propose_for("judged")[1]) == ["misstep show judged"]
    written("labels.csv", LABELS)
    code, out, _ = propose_for()
    assert code == 0
    assert lines_of(out) == ["misstep judge check judged --labels labels.csv"]
    assert "Also here: 1 run of Misstep." in out


def test_a_job_of_a_public_harness_is_triaged(propose_for: Propose, monkeypatch: pytest.MonkeyPatch) -> None:
    harbor(Path("jobs/first"))
    code, out, _ = propose_for("jobs")
    assert (code, lines_of(out)) == (0, ["misstep triage jobs"])
    assert "a Harbor job" in out
    monkeypatch.setattr(propose, "_MOST_FOLDERS", 3)
    assert lines_of(propose_for("jobs")[1]) == ["misstep triage jobs"], "its first trials tell"


@pytest.mark.parametrize(
    ("file", "content", "tests"),
    [
        ("tests/test_total.py", "def test_total():\n    assert 1 + 1 == 3\n", "'python -m pytest'"),
        ("pyproject.toml", "[tool.pytest.ini_options]\n", "'python -m pytest'"),
        ("package.json", json.dumps({"scripts": {"test": "jest"}}).replace(" ", ""), "'npm test'"),
        ("go.mod", "module shop\n", "'go test ./...'"),
    ],
)
def test_a_repository_is_repaired_with_the_line_of_its_tests(
    propose_for: Propose, file: str, content: str, tests: str
) -> None:
    written("shop/.git/HEAD", "ref: refs/heads/main\n")
    written(f"shop/{file}", content)
    assert lines_of(propose_for("shop")[1]) == [f"misstep repair run shop --test-command {tests} --out repairs"]


def test_what_is_written_lies_outside_of_what_is_read_and_replaces_nothing(propose_for: Propose) -> None:
    written("a.jsonl", recording_of("codex"))
    assert lines_of(propose_for()[1]) == ["misstep classify . --out ../findings"]
    Path("../findings").mkdir()
    assert lines_of(propose_for(".")[1]) == ["misstep classify . --out ../findings_2"]


def test_of_a_mixed_folder_the_first_line_is_printed_and_the_rest_is_named(propose_for: Propose) -> None:
    written("logs/a.jsonl", recording_of("claude_code"))
    written("labels.csv", LABELS)
    written("more.csv", LABELS)
    out = propose_for()[1]
    assert out.startswith("This folder: 1 file with sessions (claude_code).")
    assert lines_of(out) == ["misstep classify . --out ../findings"]
    assert "Also here: labels of several raters in labels.csv and 1 more." in out
    assert "misstep --help" in out


def test_an_empty_folder_says_what_is_read(propose_for: Propose) -> None:
    code, out, _ = propose_for()
    assert code == 0
    assert out.startswith("This folder is empty.\n\nIt reads sessions of coding agents, tables of labels")


def test_of_a_large_folder_some_files_are_looked_at(propose_for: Propose, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(80):
        written(f"logs/{number:02}.json", atif(str(number)))
    looked_at: list[Path] = []
    inner = propose._session_format
    monkeypatch.setattr(propose, "_session_format", lambda file: looked_at.append(file) or inner(file))
    assert "logs: 60 or more files with sessions" in propose_for("logs")[1]
    assert len(looked_at) == 60


def test_a_word_that_is_a_command_stays_one(propose_for: Propose) -> None:
    written("doctor/a.jsonl", recording_of("codex"))
    assert "misstep classify" not in propose_for("doctor", "--help")[1]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["clasify"], "unknown command 'clasify'. Did you mean classify? `misstep --help` lists the commands."),
        (["judge", "rnu"], "unknown command 'rnu'. Did you mean run? `misstep judge --help` lists the commands."),
        (["repair", "review", "pakage"], "unknown command 'pakage'. Did you mean package? `misstep repair review"),
        (["classify", "--wrkers", "2"], "unknown option --wrkers. Did you mean --workers? `misstep classify --help`"),
        (["zzz"], "unknown command 'zzz'. `misstep --help` lists the commands."),
        (["logs/a.json"], "logs/a.json: no such file or folder. `misstep --help` lists the commands."),
        (["a.csv"], "a.csv: no such file or folder."),
        (["..", "--out", "x"], ".. is a path, not a command. `misstep ..` alone says what to run."),
    ],
)  # fmt: skip
def test_a_name_that_is_nothing_is_answered_in_one_line(propose_for: Propose, words: list[str], error: str) -> None:
    code, out, err = propose_for(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"misstep: {error}")
