"""Jobs of public harnesses become triage cases: each from its files, with all that they hold."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from misstep_harness.errors import InputError
from misstep_harness.triage.records import TriageCase
from misstep_harness.triage.runs.jobs import JOBS, cases_of_job, swe_bench
from misstep_harness.triage.texts import TextsOfCase, recorded_outcome
from tests.harness.triage.made_up_cases import triage_case
from tests.harness.triage.runs.jobs import made_up_jobs as made

MADE: dict[str, Callable[[Path], Path]] = {
    "harbor": made.harbor,
    "terminal_bench": made.terminal_bench,
    "swe_bench": made.swe_bench,
    "nemo_gym": made.nemo_gym,
}


def converted(path: Path, out: Path) -> dict[str, TriageCase]:
    result = cases_of_job(path, out)
    return {case.id: case for case in result.cases}


@pytest.mark.parametrize("name", JOBS.names())
def test_a_job_is_recognised_by_its_own_reader_alone(tmp_path, name):
    job = MADE[name](tmp_path / "job")
    assert [other for other in JOBS.names() if JOBS.load(other).is_job(job)] == [name]


@pytest.mark.parametrize("name", JOBS.names())
def test_what_is_no_job_is_left_alone(tmp_path, name):
    triage_case(tmp_path / "cases" / "one")
    (tmp_path / "cases" / "result.json").write_text('{"trial_name": 1')
    (tmp_path / "cases" / "rows.jsonl").write_text('{"reward": 1}\n')
    assert not JOBS.load(name).is_job(tmp_path / "cases")
    assert not JOBS.load(name).is_job(tmp_path / "cases" / "rows.jsonl")


@pytest.mark.parametrize(
    ("name", "outcomes"),
    [
        ("harbor", {"sort__a": "passed", "sort__b": "failed", "sort__c": "failed"}),
        ("terminal_bench", {"sort.1": "passed", "sort.2": "failed", "sort.3": "failed"}),
        ("swe_bench", {"made__up-1": "passed", "made__up-2": "failed", "made__up-3": "failed", "made__up-4": "failed"}),
        ("nemo_gym", {"task0-rollout0": "passed", "task0-rollout1": "failed", "line1": "failed"}),
    ],
)
def test_each_trial_is_a_case_with_the_outcome_that_the_harness_recorded(tmp_path, name, outcomes):
    cases = converted(MADE[name](tmp_path / "job"), tmp_path / "out")
    assert {case: recorded_outcome(TextsOfCase(one)) for case, one in cases.items()} == outcomes


@pytest.mark.parametrize(
    ("name", "case", "log", "said"),
    [
        ("harbor", "sort__c", "harness.log", "EnvironmentStartError: the container did not start"),
        ("harbor", "sort__c", "harness.log", "starting the trial"),
        ("harbor", "sort__b", "tests.log", "1 test of sort__b"),
        ("terminal_bench", "sort.3", "harness.log", "failure_mode: unknown_agent_error"),
        ("terminal_bench", "sort.2", "tests.log", "FAILED test_a\ntest_a: failed"),
        ("terminal_bench", "sort.1", "terminal.log", "$ sort words.txt"),
        ("swe_bench", "made__up-3", "harness.log", "BuildImageError"),
        ("swe_bench", "made__up-3", "harness.log", "no report"),
        ("swe_bench", "made__up-4", "harness.log", "empty patch"),
        ("swe_bench", "made__up-2", "tests.log", "FAILED tests/test_a.py"),
        ("swe_bench", "made__up-2", "patch.diff", "+++ b/made__up-2.py"),
        ("nemo_gym", "line1", "harness.log", "timeout"),
        ("nemo_gym", "task0-rollout1", "verifier.log", "sorted"),
    ],
)
def test_what_the_harness_wrote_stands_in_the_logs(tmp_path, name, case, log, said):
    cases = converted(MADE[name](tmp_path / "job"), tmp_path / "out")
    assert said in TextsOfCase(cases[case]).logs[log]


@pytest.mark.parametrize(
    ("name", "case", "roles"),
    [
        ("harbor", "sort__b", ["user", "agent"]),
        ("terminal_bench", "sort.1", ["agent"]),
        ("terminal_bench", "sort.2", ["user", "agent"] * 12),
        ("swe_bench", "made__up-2", ["user", "agent"]),
        ("nemo_gym", "task0-rollout0", ["system", "user", "agent", "agent"]),
    ],
)
def test_the_run_is_there_as_far_as_the_job_has_it(tmp_path, name, case, roles):
    texts = TextsOfCase(converted(MADE[name](tmp_path / "job"), tmp_path / "out")[case])
    assert [step.role for step in texts.trajectory.steps] == roles
    if name != "swe_bench":
        assert texts.instruction == made.ASKED


def test_episodes_stand_in_the_order_of_their_numbers(tmp_path):
    texts = TextsOfCase(converted(made.terminal_bench(tmp_path / "job"), tmp_path / "out")["sort.2"])
    assert [step.text for step in texts.trajectory.steps if step.role == "agent"] == [f"keys {n}" for n in range(12)]


def test_a_call_and_its_output_stand_in_one_step(tmp_path):
    texts = TextsOfCase(converted(made.nemo_gym(tmp_path / "job"), tmp_path / "out")["task0-rollout0"])
    step = texts.trajectory.steps[2]
    wanted = ("I should sort.", {"command": "sort words.txt"}, "a\nb")
    assert (step.reasoning, step.calls[0].arguments, step.results[0].text) == wanted


@pytest.mark.parametrize(
    ("name", "left", "case", "other"),
    [
        ("harbor", {"sort__d/trial.log": "pulling the image\n"}, "sort__d", "sort__a"),
        ("harbor", {"sort__d/result.json": '{"task_name": "so', "sort__d/trial.log": "x\n"}, "sort__d", "sort__a"),
        ("harbor", {"sort__d/agent/trajectory.json": "{"}, "sort__d", "sort__a"),
        ("terminal_bench", {"sort/sort.4/panes/post-agent.txt": "$ \n"}, "sort.4", "sort.1"),
    ],
)
def test_a_trial_that_was_cut_off_is_a_case_without_a_run_that_is_named(tmp_path, name, left, case, other):
    job = MADE[name](tmp_path / "job")
    for path, text in left.items():
        made.written(job / path, text)
    result = cases_of_job(job, tmp_path / "out")
    texts = {one.id: TextsOfCase(one) for one in result.cases}
    assert (texts[case].trajectory, recorded_outcome(texts[case])) == (None, None)
    assert texts[other].trajectory is not None
    assert case in result.sentence.partition("Without a trajectory that can be read:")[2]
    assert other not in result.sentence


def test_artifacts_are_the_workspace_without_links_and_pipes(tmp_path):
    job = made.harbor(tmp_path / "job")
    (job / "sort__b/artifacts/out").symlink_to("/etc")
    result = cases_of_job(job, tmp_path / "out")
    assert result.has_files
    case = next(case for case in result.cases if case.id == "sort__b")
    assert [file.name for file in (case.folder / "workspace").iterdir()] == ["words.txt"]
    assert "their files can be looked at, and nothing can be run" in result.sentence


def test_trials_of_one_name_get_names_of_their_own(tmp_path):
    for attempt in ("first", "second"):
        made.swe_bench(tmp_path / "job" / attempt)
    cases = converted(tmp_path / "job", tmp_path / "out")
    assert {"made__up-2@m", "made__up-2@m-2"} <= cases.keys()


def test_a_name_that_is_no_file_name_leads_nowhere(tmp_path):
    job = made.harbor(tmp_path / "job")
    made.written(job / "sort__a/result.json", {"task_name": "x", "trial_name": "../../../outside"})
    cases = converted(job, tmp_path / "out")
    assert all(case.folder.parent == tmp_path / "out" / "cases" for case in cases.values())
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize(
    ("name", "file"), [("harbor", "sort__a/result.json"), ("terminal_bench", "sort/sort.1/results.json")]
)
def test_a_file_of_another_shape_is_an_error_that_names_it(tmp_path, name, file):
    job = MADE[name](tmp_path / "job")
    made.written(job / file, {"task_name": 1, "trial_name": 2, "task_id": 3, "is_resolved": "yes"})
    with pytest.raises(InputError, match=file):
        cases_of_job(job, tmp_path / "out")


TASK = {
    "task.toml": "",
    "instruction.md": made.ASKED,
    "environment/Dockerfile": "FROM x\nWORKDIR /srv/app\n",
    "Dockerfile": "FROM x\nWORKDIR /srv/app\n",
    "tests/test.sh": "true\n",
    "run-tests.sh": "true\n",
    "solution/solve.sh": "sort words.txt\n",
}


@pytest.mark.parametrize(
    ("name", "case", "task", "image", "part", "run_by"),
    [
        (
            "harbor",
            "sort__a",
            "sort",
            "tasks/sort/environment/rootfs/x",
            "environment",
            "harbor_verifier /tests/test.sh",
        ),
        ("harbor", "sort__b", "sort", "job/sort__b/image.tar", "workspace", "harbor_verifier /tests/test.sh"),
        ("terminal_bench", "sort.2", "sort", "tasks/sort/rootfs.tar.gz", "environment", "bash /tests/run-tests.sh"),
        ("terminal_bench", "sort.2", "sort", "job/sort/sort.2/rootfs.tar", "workspace", "bash /tests/run-tests.sh"),
        ("swe_bench", "made__up-2", "", "images/made__up-2.tar", "environment", "swe_bench_grade /tests/eval.sh"),
    ],
)
def test_an_image_that_was_exported_beside_a_job_is_that_of_its_case(tmp_path, name, case, task, image, part, run_by):
    job = MADE[name](tmp_path / "job")
    for path, text in TASK.items() if task else ():
        made.written(tmp_path / "tasks" / task / path, text)
    for folder in job.glob("logs/run_evaluation/*/*/made__up-2"):
        made.written(folder / "eval.sh", "true\n")
    made.written(tmp_path / image, "x")
    result = cases_of_job(job, tmp_path / "out")
    one = next(one for one in result.cases if one.id == case)
    assert {part: place.exists() for part, place in one.roots.items()} == {part: True}
    assert one.file.test_command.endswith(run_by)
    assert one.file.workdir == ("/srv/app" if task else "/testbed")
    assert (one.part("solution") is not None) == bool(task)
    assert "can be run in exported images" in result.sentence


LINKED = {
    "harbor": ("sort__b/artifacts", "sort__b/agent", "sort__b/verifier", "sort__b/result.json", "sort__c/trial.log"),
    "terminal_bench": ("sort/sort.2/agent-logs", "sort/sort.2/panes", "sort/sort.1/commands.txt"),
    "swe_bench": ("logs/run_evaluation/first/m/made__up-1/test_output.txt", "predictions.jsonl"),
    "nemo_gym": ("more.jsonl",),
}


@pytest.mark.parametrize(("name", "path"), [(name, path) for name, paths in LINKED.items() for path in paths])
def test_a_job_shows_nothing_that_its_links_lead_to(tmp_path: Path, name: str, path: str) -> None:
    """What a link leads to has the very form that the reader looks for."""
    job, own = MADE[name](tmp_path / "job"), MADE[name](tmp_path / "own")
    place = job / path
    source = own / ("rollouts.jsonl" if name == "nemo_gym" and not (own / path).exists() else path)
    for file in [source] if source.is_file() else source.rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes().replace(b"sort", b"CANARY").replace(b"--- a", b"--- CANARY"))
            with file.open("a") as stream:
                stream.write("\n" if file.suffix in (".json", ".jsonl") else "CANARY\n")
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.symlink_to(source)
    converted(job, tmp_path / "out")
    written = [file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert written
    assert not any(b"CANARY" in content for content in written)


@pytest.mark.parametrize("folder", ["link", "named"])
def test_a_job_makes_no_folder_of_the_user_its_task(tmp_path: Path, folder: str) -> None:
    job, own = made.harbor(tmp_path / "jobs/job"), tmp_path / "own"
    made.written(own / "tests/test.sh", "CANARY")
    if folder == "link":
        (tmp_path / "jobs/tasks").mkdir()
        (tmp_path / "jobs/tasks/sort").symlink_to(own)
    else:
        made.written(job / "sort__b/config.json", {"task": {"path": str(own)}})
    assert converted(job, tmp_path / "out")["sort__b"].part("tests") is None


def test_a_job_behind_a_link_that_the_user_names_is_read(tmp_path: Path) -> None:
    made.harbor(tmp_path / "job")
    (tmp_path / "latest").symlink_to("job")
    assert set(converted(tmp_path / "latest", tmp_path / "out")) == {"sort__a", "sort__b", "sort__c"}


def test_a_trial_that_is_named_alone_brings_no_other(tmp_path: Path) -> None:
    job = made.harbor(tmp_path / "job")
    made.written(job / "sort__d/trial.log", "pulling the image\n")
    made.written(job / "notes/agent/plan.txt", "no trial\n")
    assert set(converted(job / "sort__a", tmp_path / "alone")) == {"sort__a"}
    assert set(converted(job, tmp_path / "all")) == {"sort__a", "sort__b", "sort__c", "sort__d"}


def test_a_job_whose_trials_were_all_cut_off_is_one_by_their_configurations(tmp_path: Path) -> None:
    for name in ("sort__a", "sort__b"):
        config = {"task": {"path": "tasks/sort"}, "trial_name": name, "trials_dir": "jobs/1", "agent": {"name": "a"}}
        made.written(tmp_path / "job" / name / "config.json", config)
        made.written(tmp_path / "job" / name / "trial.log", "building the image\n")
    made.written(tmp_path / "job/config.json", {"job_name": "1", "jobs_dir": "jobs"})
    assert set(converted(tmp_path / "job", tmp_path / "all")) == {"sort__a", "sort__b"}
    assert set(converted(tmp_path / "job" / "sort__b", tmp_path / "one")) == {"sort__b"}


@pytest.mark.parametrize("place", ["trajs/", "", "trajs/{name}/", "{name}/"])
def test_an_instance_has_its_own_run_though_others_of_its_repository_begin_alike(tmp_path: Path, place: str) -> None:
    names = ["made__up.1fd5.combine_file__0a", "made__up.1fd5.func_basic__1b"]
    for name in names:
        folder = tmp_path / "job/logs/run_evaluation/first/m" / name
        made.written(folder / "report.json", {name: {"resolved": False}})
    made.written(tmp_path / "job" / place.format(name=names[0]) / f"{names[0]}.traj.json", made.session())
    cases = converted(tmp_path / "job", tmp_path / "out")
    assert [TextsOfCase(cases[name]).trajectory is not None for name in names] == [True, False]


def test_a_line_that_was_cut_off_takes_no_other_prediction_with_it(tmp_path: Path) -> None:
    job = made.swe_bench(tmp_path / "job")
    with (job / "predictions.jsonl").open("a") as file:
        file.write('{"instance_id": "made__up-5", "mod')
    assert "made__up-4" in converted(job, tmp_path / "out")


def test_a_folder_that_is_named_as_rollouts_is_none(tmp_path: Path) -> None:
    (tmp_path / "job/one.jsonl").mkdir(parents=True)
    assert cases_of_job(tmp_path / "job", tmp_path / "out") is None


@pytest.mark.parametrize(
    ("wanted", "log", "passes"),
    [
        ("t.py::test_a", "PASSED t.py::test_a\n", True),
        ("t.py::test_a", "t.py::test_a PASSED [ 50%]\n", True),
        ("t.py::test_a[x", "PASSED t.py::test_a[x y]\n", True),
        ("test_a (m.T)", "test_a (m.T) ... ok\n", True),
        ("test_a", "test_a ok\n", True),
        ("tests::a", "test tests::a ... ok\n", True),
        ("t.py::test_a", "FAILED t.py::test_a - boom\nPASSED t.py::test_ab\n", False),
        ("t.py::test_a", "FAILED t.py::test_a - assert 'ok' == 'x'\n", False),
        ("test_a", "test_a F\ntest_ab ok\n", False),
    ],
)
def test_a_test_passes_by_its_own_line_when_an_evaluation_is_run_again(
    tmp_path: Path, wanted: str, log: str, passes: bool
) -> None:
    for name, text in (("required.txt", f"{wanted}\n"), ("log", log), ("eval.sh", f"cat {tmp_path}/log\n")):
        (tmp_path / name).write_text(text)
    grade = swe_bench._GRADE.replace("/tests/", f"{tmp_path}/").replace("/tmp/evaluation", f"{tmp_path}/evaluation")
    line = f"{grade}\nswe_bench_grade {tmp_path}/eval.sh"
    assert (subprocess.run(["bash", "-c", line], capture_output=True).returncode == 0) is passes
