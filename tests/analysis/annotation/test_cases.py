"""What raters are shown of a case: everything that its folder has, however little, and never gold."""

import json
from pathlib import Path

import pytest

from misstep_analysis.annotation.cases import open_cases
from misstep_analysis.annotation.page import Material
from misstep_harness.errors import UsageError
from misstep_harness.judges import read_known
from tests.analysis.annotation.made_up import unlabelled_run, write_case


def _material(cases: Path) -> Material:
    opened = open_cases(cases)
    return opened.material(opened.ids[0])


def _texts(material: Material, part: str) -> dict[str, str]:
    return {file.path: file.text for one in material.parts if one.id == part for file in one.files}


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    write_case(tmp_path / "cases", "one")
    return tmp_path / "cases"


def test_a_case_is_shown_with_all_that_it_has(cases: Path) -> None:
    shown = _material(cases)
    assert [part.id for part in shown.parts] == ["logs", "tests", "changes", "solution", "environment"]
    assert "prints the sum" in shown.instruction
    assert (shown.outcome, shown.run is not None) == ("failed", True)
    assert list(_texts(shown, "logs")) == ["harness.log", "tests.log"]


def test_changes_are_those_against_the_environment(cases: Path) -> None:
    changes = _texts(_material(cases), "changes")
    assert list(changes) == ["notes.txt", "total.py"]
    assert changes["notes.txt"].splitlines() == ["@@ -1 +1,2 @@", " Prices are in cents.", "+Checked."]
    assert changes["total.py"].splitlines() == ["@@ -0,0 +1 @@", "+print(6)  # "]
    (part,) = [part for part in _material(cases).parts if part.id == "changes"]
    assert [file.note for file in part.files] == ["", "A new file."]


def test_a_strangers_case_needs_no_more_than_its_file(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one/case.toml").write_text('id = "one"\n')
    shown = _material(tmp_path)
    assert (shown.parts, shown.run, shown.problem, shown.outcome) == ((), None, "", "unknown")
    assert [label.name for label in shown.labels] == ["task", "agent", "infrastructure", "pass"]


def test_a_case_without_an_environment_shows_all_that_the_agent_left(cases: Path) -> None:
    import shutil

    shutil.rmtree(cases / "one/environment")
    (changes,) = [part for part in _material(cases).parts if part.id == "changes"]
    assert "no environment to compare with" in changes.note
    assert len(changes.files) == 3


def test_a_run_that_cannot_be_read_is_said_and_the_rest_is_shown(cases: Path) -> None:
    (cases / "one/trajectory.json").write_text('{"broken": ')
    shown = _material(cases)
    assert shown.problem.startswith("trajectory.json: the run cannot be read")
    assert str(cases) not in shown.problem
    assert shown.parts


def test_links_are_not_followed_and_bytes_are_not_shown_as_text(cases: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("a secret")
    (cases / "one/logs/link.log").symlink_to(tmp_path / "secret.txt")
    (cases / "one/logs/core").write_bytes(b"\0\1\2")
    shown = _material(cases)
    problems = {file.path: file.note for part in shown.parts if part.id == "logs" for file in part.files}
    assert "not followed" in problems["link.log"]
    assert "binary" in problems["core"]
    assert "a secret" not in str(shown)


def test_kinds_fit_the_outcome_of_the_run(tmp_path: Path) -> None:
    kinds = {}
    for outcome in ("failed", "passed"):
        write_case(tmp_path / outcome, "one", outcome=outcome)
        task = _material(tmp_path / outcome).labels[0]
        kinds[outcome] = [one.name for one in task.subcategories]
    assert kinds["failed"] == ["ambiguous_spec", "environment_fail", "brittle_tests"]
    assert kinds["passed"] == ["weak_tests", "solution_leakage"]


def test_items_of_a_benchmark_are_labelled_without_case_folders(tmp_path: Path) -> None:
    (tmp_path / "benchmark.toml").write_text('question = "Is it polite?"\n[labels]\nyes = "it thanks"\nno = ""\n')
    items = [{"id": f"i{number}", "kind": "text", "text": "Thank you."} for number in range(3)]
    (tmp_path / "items.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in items))
    opened = open_cases(tmp_path)
    assert (opened.ids, opened.labels) == (("i0", "i1", "i2"), ("yes", "no"))
    shown = opened.material("i1")
    assert (shown.question, _texts(shown, "text")) == ("Is it polite?", {"text": "Thank you."})


def test_the_items_of_a_judges_run_are_asked_about_in_the_words_of_its_prompt(tmp_path: Path) -> None:
    run = unlabelled_run(tmp_path, 2)
    opened = open_cases(run)
    shown = opened.material(opened.ids[0])
    assert (opened.ids, opened.labels, opened.folder) == (("s0", "s1"), ("yes", "no"), run / "benchmark")
    assert shown.question == "Infinite loop: which label is right?"
    assert {one.name: one.meaning for one in shown.labels} == read_known("infinite_loop").labels
    assert "comes back three times" in (run / "verdicts.jsonl").read_text()
    assert "comes back three times" not in str(shown)


def test_what_is_neither_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither"):
        open_cases(tmp_path)
    with pytest.raises(UsageError, match="not a folder"):
        open_cases(tmp_path / "absent")


def test_what_a_link_of_a_case_leads_to_is_neither_shown_nor_read(cases: Path, tmp_path: Path) -> None:
    (tmp_path / "own").write_text("secret")
    (cases / "one/workspace/link").symlink_to(tmp_path / "own")
    before = open_cases(cases).inputs()
    (tmp_path / "own").write_text("another")
    assert open_cases(cases).inputs() == before
    assert not any(
        "another" in text for part in ("changes", "tests") for text in _texts(_material(cases), part).values()
    )
