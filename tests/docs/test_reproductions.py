"""`.ci/run` holds the README to what a clone prints, and the figures of a clone to those with the public sets."""

import json
from pathlib import Path

from scripts.reproductions import README, differing, not_printed

ROW = {"evidence": "real", "group": "", "quantity": "kappa", "source": "trail", "value": 0.5, "low": 0.4, "high": 0.6}


def test_a_line_of_the_readme_that_the_run_did_not_print_is_named() -> None:
    readme = README.read_text("utf-8")
    printed = readme.partition("```text\n")[2].partition("```")[0]
    assert not_printed(readme, printed) == []
    (changed,) = not_printed(readme, printed.replace(" figures in 15 notebooks", " figures in 14 notebooks"))
    assert changed.startswith("Of ")


def test_a_figure_that_both_runs_have_is_the_same_in_both(tmp_path: Path) -> None:
    def reports(name: str, *rows: dict[str, object]) -> Path:
        folder = tmp_path / name / "tables" / "wink"
        folder.mkdir(parents=True)
        (folder / "judges.json").write_text(
            json.dumps({"rows": [{"n": 9, "printed": "", "status": None} | row for row in rows]})
        )
        return tmp_path / name

    clone = reports("clone", ROW)
    assert differing(clone, reports("more", ROW, ROW | {"quantity": "recall"})) == []
    assert differing(clone, reports("other", ROW | {"value": 0.6})) == ["wink/judges · real ·  · kappa · trail"]
