"""People's own sessions become a benchmark that any judge of sessions or texts can answer, without a gold label."""

from pathlib import Path

import pytest
from msgspec import structs

from misstep_harness.errors import NoTrajectory, UsageError
from misstep_harness.items import read_items, read_question
from misstep_harness.judges import read_known
from misstep_harness.judges.prompted import prompted_judge
from misstep_harness.judges.runnable import RunnableJudge
from misstep_harness.readers import read_file
from misstep_harness.runs.judging.known_judges import asked_about
from misstep_harness.runs.judging.rules import judge_named
from misstep_harness.runs.judging.session_benchmark import kind_for, session_benchmark
from misstep_harness.trajectory import Trajectory
from tests.misstep.made_up import atif, atif_lines

LOOP = judge_named("infinite_loop@rule")
TEXTS = prompted_judge(structs.replace(read_known("infinite_loop"), kind="text", labels={"good": "", "bad": ""}))


def _benchmark(judge: RunnableJudge, paths: list[Path], folder: Path) -> Path:
    return session_benchmark(kind_for(judge), judge.labels, paths, folder)


def test_each_session_is_an_item_that_names_its_file_and_has_its_run(tmp_path: Path) -> None:
    file = atif_lines(tmp_path / "runs.jsonl", ["one", "two", "one"])
    folder = _benchmark(LOOP, [file], tmp_path / "run/benchmark")
    question = read_question(folder)
    assert (question.kind, list(question.labels), question.positive) == ("misbehaviour", ["yes", "no"], "yes")
    items = list(read_items(folder))
    assert [item.id for item in items] == ["one", "two", "one~2"]
    assert [item.extra["file"] for item in items] == [f"{file}:{line}" for line in (1, 2, 3)]
    runs = [run.id for run in read_file(folder / "trajectories/sessions.jsonl") if isinstance(run, Trajectory)]
    assert runs == [item.trajectory_id for item in items]


def test_a_judge_of_texts_is_shown_the_last_message_of_the_agent(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_bytes(atif("one", steps=4, text="I looked at post"))
    (item,) = read_items(_benchmark(TEXTS, [file], tmp_path / "benchmark"))
    assert (item.kind, item.text) == ("text", "I looked at post 4")


def test_what_people_have_labelled_stays_when_sessions_come_in(tmp_path: Path) -> None:
    file = atif_lines(tmp_path / "runs.jsonl", ["one"])
    folder = _benchmark(LOOP, [file], tmp_path / "benchmark")
    (folder / "gold.csv").write_text("item,rater,label\none,kim,yes\n")
    written = (folder / "items.jsonl").stat().st_ino
    _benchmark(LOOP, [file], folder)
    assert (folder / "items.jsonl").stat().st_ino == written, "what is unchanged is not written again"
    atif_lines(file, ["one", "two"])
    _benchmark(LOOP, [file], folder)
    assert [item.id for item in read_items(folder)] == ["one", "two"]
    assert (folder / "gold.csv").read_text().splitlines()[1:] == ["one,kim,yes"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_what_a_session_cannot_answer_is_refused(tmp_path: Path) -> None:
    file = atif_lines(tmp_path / "runs.jsonl", ["one"])
    for judge, result in (("patch_acceptability", "about a patch"), ("benchmark_question", "from a benchmark")):
        with pytest.raises(UsageError, match=result):
            _benchmark(prompted_judge(read_known(judge)), [file], tmp_path / "benchmark")
    with pytest.raises(UsageError, match="both sessions and --benchmark"):
        asked_about(LOOP, [file], "trail", tmp_path / "run")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/notes.txt").write_text("Mend the fence.\n")
    with pytest.raises(NoTrajectory):
        _benchmark(LOOP, [tmp_path / "notes"], tmp_path / "benchmark")
    assert not (tmp_path / "benchmark").exists()
