"""`misstep repair review codes`, `rollout` and `list --share` as a user gives them."""

import json
from pathlib import Path

from typer.testing import CliRunner

from misstep.repair import app


def _review(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, ["review", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


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
