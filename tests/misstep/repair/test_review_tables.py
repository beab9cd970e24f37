"""`misstep repair review codes`, `rollout` and `list --share` as a user gives them."""

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


def test_without_a_file_the_codes_are_listed_under_their_themes() -> None:
    assert "test already fixed\n  already_fixed   The test had been mended" in _review("codes")
    assert "gratitude" in json.loads(_review("codes", "--json"))["positive"]["codes"]


def test_codings_are_shown_as_a_table_and_as_a_document(tmp_path: Path) -> None:
    file = tmp_path / "codings.csv"
    rows = (f"c{n},{coder},{'flaky_test' if n < 3 else ''}\n" for n in range(4) for coder in ("ann", "bob"))
    file.write_text("comment,coder,codes\n" + "".join(rows))
    text = " ".join(_review("codes", file).split())
    assert "The most frequent theme is 'test already fixed': 75.0%" in text
    document = json.loads(_review("codes", file, "--json"))
    assert (document["n_comments"], document["coders"]) == (4, ["ann", "bob"])
    [flaky] = [one for one in document["codes"] if one["code"] == "flaky_test"]
    assert (flaky["share"]["value"], flaky["krippendorff_alpha"]["value"]) == (0.75, 1.0)
    assert flaky["pairs"][0]["cohen_kappa"] == 1.0
