"""`misstep classify --shard` and `misstep merge` on the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from misstep.classify import app as classify_app
from misstep.harness.errors import MisstepError
from misstep.runs.merge import app as merge_app
from tests.misstep.made_up import atif


def _classify(*arguments: str) -> str:
    done = CliRunner().invoke(classify_app, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


@pytest.fixture(autouse=True)
def _runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three files, one of them with a broken line, in the folder `runs` of the present folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    for name in "abc":
        (tmp_path / "runs" / f"{name}.jsonl").write_bytes(atif(name) + b"{broken\n" * (name == "b"))


def test_the_merged_run_is_the_run_without_shards_to_the_byte() -> None:
    whole = CliRunner().invoke(classify_app, ["runs", "--out", "run"])
    Path("run").rename("whole")
    outputs = [_classify("runs", "--out", "run", "--shard", f"{number}/2") for number in (2, 1)]
    assert outputs[1].splitlines() == [
        "shard 1/2 is done; sessions read: 1, unreadable: 0, files skipped: 0",
        "when all 2 are done: misstep merge run",
    ]
    merged = [CliRunner().invoke(merge_app, ["run"]) for _ in range(2)]
    for one in merged:
        assert (one.exit_code, one.stdout, one.stderr) == (whole.exit_code, whole.stdout, whole.stderr)
    for file in Path("whole").iterdir():
        assert file.name == "run.toml" or file.read_bytes() == (Path("run") / file.name).read_bytes()


def test_limits_belong_to_the_merge() -> None:
    with pytest.raises(MisstepError, match=r"--fail-on is about the whole run.* Merge first: misstep merge RUN\."):
        _classify("runs", "--out", "run", "--shard", "1/1", "--fail-on", "any>50%")
    document = json.loads(_classify("runs", "--out", "run", "--shard", "1/1", "--json"))
    assert document["counts"] == {"sessions": 3, "unreadable": 1, "skipped": 0}
    done = CliRunner().invoke(merge_app, ["run", "--json", "--fail-on", "any<=100%"])
    assert done.exit_code == 1
    assert json.loads(done.stdout)["n"] == 3
    assert "misstep: failed: any" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["runs", "--shard", "1/2"], "--shard needs --out"),
        (["runs", "--out", "memory://run"], "a run does not lie at an address"),
    ],
)
def test_where_a_run_in_shards_lies_has_to_be_said(arguments: list[str], message: str) -> None:
    with pytest.raises(MisstepError, match=message):
        _classify(*arguments)


def test_what_is_no_run_in_shards_is_not_merged() -> None:
    with pytest.raises(MisstepError, match=r"runs: shards/plan\.json is missing"):
        CliRunner().invoke(merge_app, ["runs"], catch_exceptions=False)
