"""`misstep.assert_judge` and the marker `misstep_gate`: a judge's figures as a test of another project."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import structs

import misstep
from misstep_harness.errors import MisstepError
from misstep_harness.journal.records import read_manifest, write_manifest
from misstep_harness.workspace.bubblewrap import ENVIRONMENT
from misstep_harness.workspace.suite.command import WRAPPED
from tests.misstep.made_up_exports import classified, judged, observed

TABLE = "id,human,judge\n" + "".join(f"{n},{('yes', 'no')[n % 2]},{('yes', 'no')[n % 2]}\n" for n in range(12))


def test_limits_that_hold_give_a_line_each(tmp_path: Path) -> None:
    lines = misstep.assert_judge(judged(tmp_path), "accuracy=0.5", "kappa=0.1")
    assert [line.split()[:2] for line in lines] == [["passed:", "accuracy"], ["passed:", "kappa"]]


def test_a_limit_that_does_not_hold_raises_its_line(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"failed: accuracy is .*95% interval") as failed:
        misstep.assert_judge(judged(tmp_path), "accuracy=0.99", "kappa=0.1")
    assert "kappa" not in str(failed.value)


def test_an_interval_that_holds_the_limit_is_undecided_and_what_becomes_of_it_is_chosen(tmp_path: Path) -> None:
    run = judged(tmp_path)
    (line,) = misstep.assert_judge(run, "accuracy=0.7", undecided="pass")
    assert line.startswith("undecided: accuracy")
    with pytest.raises(AssertionError, match="undecided"):
        misstep.assert_judge(run, "accuracy=0.7", undecided="fail")


def test_sessions_and_tables_can_be_held_too(tmp_path: Path) -> None:
    assert misstep.assert_judge(classified(tmp_path), "any>99%")
    (tmp_path / "results.csv").write_text(TABLE)
    assert misstep.assert_judge(tmp_path / "results.csv", "accuracy.lower=0.6", judge=["judge"], human=["human"])


@pytest.mark.parametrize("limits", [("accurcy=0.5",), ("accuracy",), ("accuracy=nan",), ("any>5",), ("accuracy=85",)])
def test_an_unknown_figure_or_form_is_an_error_and_no_failure(tmp_path: Path, limits: tuple[str, ...]) -> None:
    with pytest.raises(MisstepError):
        misstep.assert_judge(judged(tmp_path), *limits)


def test_an_unfinished_run_and_one_without_such_figures_are_errors(tmp_path: Path) -> None:
    run = judged(tmp_path)
    write_manifest(run, structs.replace(read_manifest(run), finished="", written=None))
    with pytest.raises(MisstepError, match="not finished"):
        misstep.assert_judge(run, "accuracy=0.5")
    with pytest.raises(MisstepError, match="no figure that a limit"):
        misstep.assert_judge(observed(tmp_path), "accuracy=0.5")


def test_the_marker_fails_a_test_of_another_project_and_junit_has_the_figures(tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text(TABLE)
    (tmp_path / "test_judge.py").write_text(
        "import pytest\n"
        "@pytest.mark.misstep_gate('results.csv', 'accuracy=0.8')\ndef test_good(): pass\n"
        "@pytest.mark.misstep_gate('results.csv', 'accuracy.lower=0.99')\n"
        "def test_bad(): raise SystemExit('never run')\n"
        "def test_other(): pass\n"
    )
    line = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "misstep.pytest_plugin",
        "--strict-markers",
        "--junit-xml=j.xml",
    ]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, "1 failed, 2 passed" in done.stdout) == (1, True)
    junit = (tmp_path / "j.xml").read_text()
    assert '<property name="misstep_gate" value="passed: accuracy is 100.0%' in junit
    assert "failed: accuracy is 100.0%" in junit
    assert "never run" not in junit


def test_the_plug_in_imports_nothing_that_takes_time() -> None:
    script = "import sys, misstep.pytest_plugin; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not {"msgspec", "numpy", "typer", "pytest"} & set(loaded)
    assert {name for name in loaded if name.startswith("misstep")} == {
        *("misstep", "misstep_harness", "misstep_harness.version", "misstep.pytest_plugin")
    }


@pytest.mark.parametrize("options", [ENVIRONMENT["PYTEST_ADDOPTS"], WRAPPED.partition('"')[2].partition(" -o")[0]])
def test_where_a_sandbox_hides_the_installation_pytest_runs_without_the_plug_in(options: str, tmp_path: Path) -> None:
    info = tmp_path / "made_up-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: made-up\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pytest11]\nmisstep = misstep_that_is_hidden\n")
    (tmp_path / "test_one.py").write_text("def test_one(): pass\n")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path), "PYTEST_ADDOPTS": options}
    line = [sys.executable, "-m", "pytest", "-q", "test_one.py"]
    assert subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True).returncode == 0
