"""`misstep reflect report` and `misstep reflect run --ablate`, as a user gives them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from misstep_harness.reflexive.records import RunBegan
from misstep_harness.reflexive.runs.running import recorded_events
from tests.misstep.as_a_user import in_this_process

Reflect = Callable[..., tuple[int, str, str]]


@pytest.fixture
def reflect(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Reflect:
    return in_this_process("reflect", monkeypatch, capsys)


def test_a_report_says_what_the_run_said_and_writes_its_page(reflect: Reflect, tmp_path: Path) -> None:
    run = tmp_path / "run"
    ran = reflect("run", "--n", 2, "--out", run)
    code, out, err = reflect("report", run, "--out", tmp_path / "pages/run.html")
    assert code == 0, err
    assert set(ran[1].splitlines()) < set(out.splitlines())
    assert "What the mechanisms did" in out
    page = (tmp_path / "pages/run.html").read_text()
    assert "misstep reflect report" in page
    began = next(iter(recorded_events(run))).happened
    assert isinstance(began, RunBegan)
    assert all(item.id in page for item in began.items)
    assert json.loads(reflect("report", run, "--json")[1])["items"]


def test_an_ablation_compares_the_whole_loop_with_each_mechanism_left_out(reflect: Reflect, tmp_path: Path) -> None:
    line = ["--n", 2, "--ablate", 2, "--without", "memory,snapshots", "--out", tmp_path / "ablation"]
    code, out, err = reflect("run", *line, "--json")
    assert code == 0, err
    without = {tuple(run["without"]) for run in json.loads(out)["runs"]}
    assert {(), ("memory",), ("snapshots",)} < without
    assert len(without) == 4
    events = {file: file.read_bytes() for file in sorted(tmp_path.glob("ablation/*/*/events.jsonl"))}
    assert reflect("run", *line, "--json")[1] == out
    assert {file: file.read_bytes() for file in events} == events
    reported = json.loads(reflect("report", tmp_path / "ablation", "--json")[1])
    assert reported["ablation"] == json.loads(out)["ablation"]
    assert "not all of the same items" not in err


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--ablate", "2", "--agents", "lucky"], "has no agents 'lucky'"),
        (["--ablate", "2", "--without", "luck"], "unknown mechanism 'luck'"),
        (["--ablate", "1"], "--ablate"),
    ],
)
def test_an_ablation_of_what_there_is_not_writes_nothing(reflect, tmp_path, options, text) -> None:
    code, _, err = reflect("run", *options, "--out", tmp_path / "ablation")
    assert (code, text in err) == (2, True)
    assert not (tmp_path / "ablation").exists()
