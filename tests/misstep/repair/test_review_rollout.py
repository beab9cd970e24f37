"""`misstep repair review rollout` and `list --share` as a user gives them."""

import json
from pathlib import Path

from typer.testing import CliRunner

from misstep.repair import app
from tests.misstep.made_up_runs import four, repaired_run


def _review(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, ["review", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_each_share_lists_its_patches_and_shows_its_funnel(tmp_path: Path) -> None:
    run = repaired_run(tmp_path / "run", four("apple pear plum quince"))
    stages = json.loads(_review("rollout", run, "--shares", "0.5,1", "--json"))["stages"]
    assert [stage["share"] for stage in stages] == [0.5, 1]
    assert len(json.loads(_review("list", run, "--share", "0.5", "--json"))) == stages[0]["cases"] < 4
    assert "At 100% no patch was published." in " ".join(_review("rollout", run).split())


def test_a_share_that_is_none_is_refused(tmp_path: Path) -> None:
    run = repaired_run(tmp_path / "run", four())
    for wrong in ("0", "1.5", "half"):
        assert "--shares" in str(CliRunner().invoke(app, ["review", "rollout", str(run), "--shares", wrong]).exception)
