"""What raters are shown of a case, and where cases are read from: never gold, never a verdict."""

import json
from pathlib import Path

import pytest

from misstep.annotate.cases import open_cases
from misstep_analysis.annotation.page import Material
from misstep_harness.errors import UsageError
from misstep_harness.judges import read_known
from tests.analysis.annotation.made_up import unlabelled_run, write_case
from tests.harness.triage.runs.jobs import made_up_jobs


def _material(cases: Path) -> Material:
    opened = open_cases(cases, cases)
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
    opened = open_cases(tmp_path, tmp_path)
    assert (opened.ids, opened.labels) == (("i0", "i1", "i2"), ("yes", "no"))
    shown = opened.material("i1")
    assert (shown.question, _texts(shown, "text")) == ("Is it polite?", {"text": "Thank you."})


def test_the_items_of_a_judges_run_are_asked_about_in_the_words_of_its_prompt(tmp_path: Path) -> None:
    run = unlabelled_run(tmp_path, 2)
    opened = open_cases(run, run)
    shown = opened.material(opened.ids[0])
    assert (opened.ids, opened.labels, opened.folder) == (("s0", "s1"), ("yes", "no"), run / "benchmark")
    assert shown.question == "Infinite loop: which label is right?"
    assert {one.name: one.meaning for one in shown.labels} == read_known("infinite_loop").labels
    assert "comes back three times" in (run / "verdicts.jsonl").read_text()
    assert "comes back three times" not in str(shown)


@pytest.mark.parametrize("harness", ["harbor", "terminal_bench", "swe_bench", "nemo_gym"])
def test_a_job_its_triaged_run_and_its_curated_folder_have_the_same_cases(
    tmp_path: Path, in_process, harness: str
) -> None:
    job, run, curated = getattr(made_up_jobs, harness)(tmp_path / "job"), tmp_path / "run", tmp_path / "curated"
    code, _, _ = in_process("triage", job, "--workers", 1, "--out", run, "--curate", curated)
    assert code == 0
    shown = {}
    for path in (job, run, curated):
        opened = open_cases(path, tmp_path / "written" / path.name)
        shown[path.name] = {name: opened.material(name) for name in opened.ids}
    by_name = shown["job"]
    assert set(by_name) == set(shown["run"]) == set(shown["curated"])
    assert {each.outcome for each in by_name.values()} == {"passed", "failed"}
    for other in ("run", "curated"):
        assert {name: each.outcome for name, each in shown[other].items()} == {
            name: each.outcome for name, each in by_name.items()
        }
        assert {name: each.run is None for name, each in shown[other].items()} == {
            name: each.run is None for name, each in by_name.items()
        }


def test_a_job_is_the_same_wherever_its_cases_are_written_and_another_once_a_log_changes(tmp_path: Path) -> None:
    job = made_up_jobs.harbor(tmp_path / "job")
    first, again = (open_cases(job, tmp_path / name).inputs() for name in ("first", "again"))
    (job / "sort__a/verifier/test-stdout.txt").write_text("2 tests")
    assert (first, again == open_cases(job, tmp_path / "changed").inputs()) == (again, False)


def test_curated_cases_are_shown_from_their_own_folders_without_the_verdict(cases: Path, tmp_path: Path, in_process):
    curated = tmp_path / "curated"
    in_process("triage", cases, "--workers", 1, "--curate", curated)
    (row,) = [json.loads(line) for line in (curated / "runs.jsonl").read_text().splitlines()]
    opened = open_cases(curated, tmp_path / "written")
    shown = opened.material("one")
    assert [part.id for part in shown.parts] == ["logs", "tests", "changes", "solution", "environment"]
    assert (row["reason"] != "", row["reason"] in str(shown)) == (True, False)


def test_a_run_whose_cases_are_gone_is_labelled_by_the_texts_of_its_items(cases: Path, tmp_path: Path, in_process):
    run = tmp_path / "run"
    in_process("triage", cases, "--workers", 1, "--out", run)
    assert _texts(open_cases(run, tmp_path).material("one"), "tests")
    cases.rename(tmp_path / "moved")
    shown = open_cases(run, tmp_path).material("one")
    assert (_texts(shown, "tests"), "AssertionError" in _texts(shown, "text")["text"]) == ({}, True)


def test_what_is_neither_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no triage case"):
        open_cases(tmp_path, tmp_path)
    with pytest.raises(UsageError, match="does not exist"):
        open_cases(tmp_path / "absent", tmp_path)


def test_what_a_link_of_a_case_leads_to_is_neither_shown_nor_read(cases: Path, tmp_path: Path) -> None:
    (tmp_path / "own").write_text("secret")
    (cases / "one/workspace/link").symlink_to(tmp_path / "own")
    before = open_cases(cases, cases).inputs()
    (tmp_path / "own").write_text("another")
    assert open_cases(cases, cases).inputs() == before
    assert not any(
        "another" in text for part in ("changes", "tests") for text in _texts(_material(cases), part).values()
    )
