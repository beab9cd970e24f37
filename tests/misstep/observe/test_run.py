"""`misstep observe` on the command line: the table, the document, the run with its page, a growing file, the hook."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from misstep_harness.runs.generate import GenerateOptions, write_folder
from tests.harness.observer.growing_sessions import looping, written

LINE = [sys.executable, "-m", "misstep", "observe"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    write_folder(folder, GenerateOptions(n=60, seed=3))
    return folder / "trajectories.jsonl"


def test_the_document_has_the_shape_that_scripts_rely_on(made: Path, in_process) -> None:
    code, out, _ = in_process("observe", made, "--mode", "guide", "--delay", 1, "--json")
    document = json.loads(out)
    assert code == 0
    assert document["invocations"] >= document["flagged"] > 0
    assert set(document["misbehaviour_rate"]) == {"value", "low", "high", "n", "method", "reason"}
    first = next(one for one in document["interventions"] if one["delivered_at"] is not None)
    assert {"item", "step", "categories", "detected_at", "delivered_at"} <= set(first)
    assert first["step"] <= first["detected_at"] < first["answered_at"] == first["delivered_at"]


def test_the_text_says_the_rate_and_that_nobody_heard_the_guidance(made: Path, in_process) -> None:
    code, out, _ = in_process("observe", made, "--mode", "guide")
    assert code == 0
    assert "saw misbehaviour in" in out
    assert "cannot hear guidance" in out
    assert "only recorded" in in_process("observe", made)[1]


def test_a_run_has_a_page_which_report_makes_again(made: Path, tmp_path: Path, in_process) -> None:
    out = in_process("observe", made, "--out", tmp_path / "run")[1]
    assert f"open {tmp_path / 'run' / 'report.html'}" in out
    assert in_process("report", tmp_path / "run", "--out", tmp_path / "again.html")[0] == 0
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "run" / "report.html").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name files to replay"),
        (("runs.jsonl", "--follow", "s.jsonl"), "name files to replay"),
        (("runs.jsonl", "--detector", "nobody"), "'nobody' is not among the detectors"),
        (("--follow", "s.jsonl", "--detector", "prompted"), "the detector `prompted` needs a model"),
        (("--follow", "s.jsonl", "--out", "run"), "--out, --workers and --dask are for recorded runs"),
        (("--follow", "s.jsonl", "--model", "m"), "the detector `rules` asks no model"),
        (("runs.jsonl", "--model", "m"), "the detector `rules` asks no model"),
        (("--follow", "s.jsonl", "--detector", "prompted", "--model", "m", "--delay", "2"), "Leave out --delay"),
        (("runs.jsonl", "--categories", "nothing"), "unknown category nothing"),
        (("nowhere.jsonl",), "nowhere.jsonl"),
    ],
)
def test_what_cannot_be_is_said_in_one_line_with_exit_code_2(arguments, message, in_process) -> None:
    code, out, err = in_process("observe", *arguments)
    assert (code, out, err.count("\n"), message in err) == (2, "", 1, True), err


def test_a_session_that_grows_is_followed_until_ctrl_c(tmp_path: Path) -> None:
    file = written(tmp_path / "s1.jsonl", looping(6))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    line = [*LINE, "--follow", str(file), "--mode", "guide", "--json"]
    with subprocess.Popen(line, cwd=tmp_path, env=os.environ, text=True, **pipes) as following:  # type: ignore[call-overload]
        first = json.loads(following.stdout.readline())
        following.send_signal(signal.SIGINT)
        following.communicate(timeout=60)
    assert (first["item"], first["detected_at"]) == ("s1", 3)
    assert following.returncode == 130


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)  # the process of a session ends with its cache


def _hook(folder: Path, line: list[str]) -> "subprocess.CompletedProcess[str]":
    """Tell a hook of a looping session, as the agent does."""
    file = written(folder / "s1.jsonl", looping(6))
    event = json.dumps({"session_id": "s1", "transcript_path": str(file), "hook_event_name": "PostToolUse"})
    environment = os.environ | {"MISSTEP_CACHE": str(folder / "cache")}
    return subprocess.run(
        line, input=event, stdout=subprocess.PIPE, text=True, env=environment, timeout=60, check=False
    )


def test_the_hook_speaks_once_of_a_loop_and_exits_with_0(folder: Path) -> None:
    first, second = (_hook(folder, [*LINE, "--hook"]) for _ in range(2))
    assert (first.returncode, second.returncode, second.stdout) == (0, 0, "")
    assert json.loads(first.stdout)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("redirected", ["<&-", ">&-", "2>&-", ">/dev/full", "2>/dev/full", "</dev/null 2>/dev/full"])
def test_the_hook_exits_with_0_whatever_its_streams_are(redirected: str, folder: Path) -> None:
    assert _hook(folder, ["sh", "-c", f'exec "$@" {redirected}', "sh", *LINE, "--hook"]).returncode == 0
