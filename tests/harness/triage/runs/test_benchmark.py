"""The cases that somebody names become a benchmark that points to them."""

from pathlib import Path

import pytest

from misstep_analysis.gold import BenchmarkItem
from misstep_analysis.judging.sample import clusters_of
from misstep_harness.benchmarks.inputs import inputs_of
from misstep_harness.benchmarks.trajectories import BenchmarkRuns
from misstep_harness.errors import InputError, UsageError
from misstep_harness.items import read_items, read_question
from misstep_harness.triage.runs.benchmark import asked_cases
from tests.harness.triage.made_up_cases import a_run, shell, triage_case, written
from tests.harness.triage.runs.jobs.made_up_jobs import harbor, nemo_gym


def case(folder: Path, name: str, **files: str) -> Path:
    given = {"case.toml": f'id = "{name}"\noutcome = "failed"\n', "logs/tests.log": "2 != 3", **files}
    return triage_case(folder / name, given).folder


def two(folder: Path) -> Path:
    run = written(a_run(shell("ls")))
    case(folder, "one", **{"trajectory.json": run})
    case(folder, "two")
    return folder


def test_cases_are_pointed_to_and_not_copied(tmp_path):
    cases = two(tmp_path / "cases")
    asked = asked_cases([cases], tmp_path / "run")
    assert (asked.cases, asked.access) == (cases, "sandbox")
    items = list(read_items(asked.folder))
    assert [(item.id, item.extra["case"]) for item in items] == [(name, str(cases / name)) for name in ("one", "two")]
    assert "sum of the values" in items[0].task
    assert "2 != 3" in items[0].text
    files = {file.relative_to(asked.folder).as_posix() for file in asked.folder.rglob("*") if file.is_file()}
    assert files == {"benchmark.toml", "items.jsonl", "gold.csv", "trajectories/one.json"}
    assert (asked.folder / "trajectories/one.json").samefile(cases / "one/trajectory.json")
    run = BenchmarkRuns(asked.folder).of(items[0])
    assert run.steps[0].calls[0].name == "bash"


def test_the_labels_are_those_of_the_taxonomy(tmp_path):
    question = read_question(asked_cases([two(tmp_path / "cases")], tmp_path / "run").folder)
    wanted = ("cases", "triage", ("task", "agent", "infrastructure", "pass"))
    assert (question.name, question.kind, tuple(question.labels)) == wanted


def test_the_same_cases_give_the_same_benchmark_and_a_changed_file_another(tmp_path):
    cases = two(tmp_path / "cases")
    first = inputs_of(asked_cases([cases], tmp_path / "run").folder)
    assert inputs_of(asked_cases([cases], tmp_path / "other").folder) == first
    (cases / "two/solution/price.py").write_text("def total(values):\n    return 3\n")
    assert inputs_of(asked_cases([cases], tmp_path / "run").folder).digest != first.digest


def test_labels_stand_above_the_cases_or_are_named_or_were_given_before(tmp_path):
    cases = two(tmp_path / "cases")
    labels = "item,rater,label\none,ann,agent\n"
    assert (asked_cases([cases], tmp_path / "run").folder / "gold.csv").read_text() == "item,rater,label\n"
    (cases / "gold.csv").write_text(labels)
    asked = asked_cases([cases], tmp_path / "run")
    assert (asked.folder / "gold.csv").read_text() == labels
    (tmp_path / "mine.csv").write_text(labels.replace("agent", "task"))
    assert "task" in (asked_cases([cases], tmp_path / "run", tmp_path / "mine.csv").folder / "gold.csv").read_text()
    (cases / "gold.csv").unlink()
    assert "task" in (asked_cases([cases], tmp_path / "run").folder / "gold.csv").read_text()


def test_a_folder_that_is_a_benchmark_is_asked_about_as_it_is(tmp_path):
    folder = asked_cases([two(tmp_path / "cases")], tmp_path / "run").folder
    assert asked_cases([folder], tmp_path / "other").folder == folder
    with pytest.raises(UsageError, match="labels of its own"):
        asked_cases([folder, tmp_path / "cases"], tmp_path / "other")


def test_trials_of_a_job_are_cases_in_the_benchmark_with_what_access_there_is(tmp_path):
    asked = asked_cases([harbor(tmp_path / "job")], tmp_path / "run")
    wanted = (None, "read-only", "read-only", "text")
    assert (asked.cases, asked.access, asked.at_most("sandbox"), asked.at_most("text")) == wanted
    assert "a Harbor job with 3 trials" in asked.notes[0]
    first = next(read_items(asked.folder))
    assert (first.extra["case"], first.trajectory) == ("cases/sort__a", "cases/sort__a/trajectory.json")
    assert asked_cases([nemo_gym(tmp_path / "rows")], tmp_path / "other").access == "text"


@pytest.mark.parametrize("named", ["missing", "empty"])
def test_a_path_without_cases_is_an_error(tmp_path, named):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="triage-case"):
        asked_cases([tmp_path / named], tmp_path / "run")
    assert not (tmp_path / "run" / "benchmark").exists()


def test_runs_of_one_task_hang_together(tmp_path):
    for name in ("one", "two"):
        case(tmp_path / "cases", name, **{"case.toml": f'id = "{name}"\ntask = "gates"\n'})
    case(tmp_path / "cases", "three")
    items = read_items(asked_cases([tmp_path / "cases"], tmp_path / "run").folder, BenchmarkItem)
    assert clusters_of(items) == {"one": "cluster task gates", "two": "cluster task gates", "three": "item three"}
