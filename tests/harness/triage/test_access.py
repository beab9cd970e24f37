"""What a judge of triage cases is handed: texts, files that it can only read, and replicas."""

import zipfile
from pathlib import Path

import pytest

from misstep_harness.errors import InputError, TimeSpent
from misstep_harness.triage.replica import ReplicasOfCase, not_installed
from misstep_harness.triage.rules.judging import by_running
from misstep_harness.triage.rules.verdicts import Undecided
from misstep_harness.triage.texts import MOST_TEXT, FilesOfCase, TextsOfCase, recorded_outcome
from misstep_harness.workspace import Sandbox
from tests.harness.triage.made_up_cases import TEST, a_run, triage_case, written


def test_parts_that_are_missing_are_empty(tmp_path):
    case = triage_case(tmp_path / "one")
    (case.folder / "instruction.md").unlink()
    access = FilesOfCase(case)
    assert (access.instruction, access.trajectory, dict(access.logs), access.files("logs")) == ("", None, {}, ())


def test_a_run_that_cannot_be_read_is_an_error_that_names_the_file(tmp_path):
    access = TextsOfCase(triage_case(tmp_path / "one", {"trajectory.json": '{"id": '}))
    with pytest.raises(InputError, match=r"trajectory\.json"):
        _ = access.trajectory


def test_the_outcome_is_that_of_the_description_else_that_of_the_run(tmp_path):
    run = {"trajectory.json": written(a_run())}
    case = triage_case(tmp_path / "one", run)
    assert recorded_outcome(TextsOfCase(case)) == "failed"
    case = triage_case(tmp_path / "two", {"case.toml": 'id = "two"\n'})
    assert recorded_outcome(TextsOfCase(case)) is None
    case = triage_case(tmp_path / "three", {"case.toml": 'id = "three"\n', **run})
    assert recorded_outcome(TextsOfCase(case)) == "failed"


def test_a_long_log_is_cut_in_the_middle(tmp_path):
    log = "begin " + "x" * MOST_TEXT + " end"
    text = TextsOfCase(triage_case(tmp_path / "one", {"logs/tests.log": log})).logs["tests.log"]
    assert text.startswith("begin ")
    assert text.endswith(" end")
    assert "bytes are left out" in text
    assert len(text) < len(log) + 100


def test_links_are_neither_listed_nor_read(tmp_path):
    case = triage_case(tmp_path / "one", {"logs/tests.log": "ok"})
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    for place in ("workspace/link.py", "logs/link.log"):
        (case.folder / place).symlink_to(secret)
    (case.folder / "instruction.md").unlink()
    (case.folder / "instruction.md").symlink_to(secret)
    access = FilesOfCase(case)
    assert access.files("workspace") == ("price.py",)
    assert access.read("workspace", "link.py") is None
    assert access.read("workspace", "../../secret") is None
    assert (access.instruction, list(access.logs)) == ("", ["tests.log"])


def test_a_link_in_place_of_a_part_is_no_part(tmp_path):
    case = triage_case(tmp_path / "one")
    (case.folder / "logs").symlink_to(tmp_path)
    assert FilesOfCase(case).files("logs") == ()


def test_tests_are_run_on_the_result_of_the_agent_and_on_gold(tmp_path, sandbox: Sandbox):
    access = ReplicasOfCase(triage_case(tmp_path / "one"), sandbox)
    with access.replica("workspace") as replica:
        assert replica.test().exit_code == 1
    with access.replica("solution") as replica:
        assert replica.test().exit_code == 0
    assert access.read("workspace", "price.py") == b"def total(values):\n    return len(values)\n"


def test_a_script_makes_the_gold_result_and_is_gone(tmp_path, sandbox: Sandbox):
    case = triage_case(tmp_path / "one", {"solution/solve.sh": "sed -i 's/0/sum(values)/' price.py\n"})
    (case.folder / "solution/price.py").unlink()
    with ReplicasOfCase(case, sandbox).replica("solution") as replica:
        assert (replica.files(), replica.test().exit_code) == (["price.py", "tests/test_price.py"], 0)


def test_changed_tests_are_run_as_they_are_until_they_are_laid_again(tmp_path, sandbox: Sandbox):
    with ReplicasOfCase(triage_case(tmp_path / "one"), sandbox).replica("workspace") as replica:
        replica.write("tests/test_price.py", b"pass\n")
        assert (replica.test_as_is().exit_code, replica.test().exit_code) == (0, 1)


def test_the_setup_is_run_before_each_command_and_programs_among_the_tests_can_be_run(tmp_path, sandbox: Sandbox):
    case = triage_case(
        tmp_path / "one",
        {
            "tests/check": '#!/bin/sh\ntest "$STARTED" = yes\n',
            "case.toml": 'id = "one"\ntest_command = "tests/check"\nsetup_command = "export STARTED=yes"\n',
        },
    )
    (case.folder / "tests/check").chmod(0o755)
    with ReplicasOfCase(case, sandbox).replica("workspace") as replica:
        assert replica.test().exit_code == 0


def test_a_command_keeps_to_the_limits_of_the_case(tmp_path, sandbox: Sandbox):
    access = ReplicasOfCase(triage_case(tmp_path / "one", description="[limits]\nseconds = 0.3\n"), sandbox)
    with access.replica("environment", tests=False) as replica:
        assert replica.run("sleep 5").ended == "time"


def test_all_commands_keep_to_the_time_for_the_case(tmp_path, sandbox: Sandbox):
    access = ReplicasOfCase(triage_case(tmp_path / "one"), sandbox, seconds=0.3)
    with access.replica("workspace") as replica:
        with pytest.raises(TimeSpent, match="sleep 5"):
            replica.run("sleep 5")
        with pytest.raises(TimeSpent):
            replica.run("true")


def test_a_part_that_is_missing_gives_no_replica(tmp_path, sandbox: Sandbox):
    case = triage_case(tmp_path / "one")
    (case.folder / "solution/price.py").unlink()
    (case.folder / "solution").rmdir()
    with pytest.raises(InputError, match="no solution/"), ReplicasOfCase(case, sandbox).replica("solution"):
        pass


def test_gold_files_keep_their_modes_also_where_the_environment_has_other_ones(tmp_path, sandbox: Sandbox):
    case = triage_case(tmp_path / "one")
    (case.folder / "environment/price.py").chmod(0o600)
    (case.folder / "solution/price.py").chmod(0o644)
    with ReplicasOfCase(case, sandbox).replica("solution") as replica:
        assert replica.run("stat -c %a price.py").output.strip() == "644"


def wheel_of(folder: Path, name: str) -> Path:
    """A wheel of one module, which has an ANSWER."""
    folder.mkdir()
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", "ANSWER = 42\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return folder


def test_the_requirements_of_a_case_are_installed_from_wheels(tmp_path, sandbox: Sandbox):
    needs = {"requirements.txt": "madeup==1.0\n"}
    ask = "python -c 'import madeup; print(madeup.ANSWER)'"
    access = ReplicasOfCase(triage_case(tmp_path / "one", needs), sandbox)
    access.wheels = wheel_of(tmp_path / "wheels", "madeup")
    with access.replica("workspace") as replica:
        assert replica.run(ask).output == "42\n"
    access.wheels = tmp_path / "one"
    with access.replica("environment") as replica:
        assert replica.run(ask).output == "42\n"  # installed once
    without = ReplicasOfCase(triage_case(tmp_path / "two", needs), sandbox)
    without.wheels = tmp_path / "one"
    with pytest.raises(InputError, match=r"requirements.txt.*cannot be installed"), without.replica("workspace"):
        pass


def test_a_requirement_that_nobody_brought_is_no_fault_of_the_task(tmp_path, sandbox: Sandbox):
    needs = {"requirements.txt": "madeup==1.0\n", "tests/test_price.py": "import unittest, madeup\n" + TEST}
    result = by_running(ReplicasOfCase(triage_case(tmp_path / "one", needs), sandbox))
    assert isinstance(result, Undecided)
    assert "--wheels" in result.rationale


def test_requirements_behind_a_link_are_not_read(tmp_path: Path, sandbox: Sandbox) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/requirements.txt").write_text("madeup==1.0\n")
    case = triage_case(tmp_path / "one", {"requirements.txt": "other==1.0\n"})
    access = ReplicasOfCase(case, sandbox)
    (case.folder / "environment").rename(tmp_path / "environment")
    (case.folder / "environment").symlink_to(tmp_path / "outside")
    (case.folder / "tests").mkdir(exist_ok=True)
    (case.folder / "tests/requirements.txt").symlink_to(tmp_path / "outside/requirements.txt")
    assert not not_installed(access, "madeup")
    assert not_installed(access, "other")
