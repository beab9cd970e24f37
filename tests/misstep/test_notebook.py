"""`misstep notebook` writes a notebook that runs, and whose figures are those of the run's own scores."""

import json
from pathlib import Path

import pytest

import misstep
from tests.misstep.as_a_user import in_this_process
from tests.misstep.made_up_runs import benchmark_of_runs, judged_run, verdict


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = benchmark_of_runs(tmp_path / "gates", 12)
    return judged_run(
        tmp_path / "run", folder, [verdict(number, "yes" if number < 8 else "no") for number in range(12)]
    )


def test_a_run_opens_as_frames_of_items_verdicts_and_gold(run: Path) -> None:
    opened = misstep.open(run)
    assert [len(frame) for frame in (opened.items, opened.verdicts, opened.gold)] == [12, 12, 12]
    assert list(opened.gold.columns) == ["item", "rater", "label"]
    assert opened.verdicts.label.value_counts().to_dict() == {"yes": 8, "no": 4}


def test_the_notebook_computes_the_share_that_the_run_is_scored_with(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = in_this_process("notebook", monkeypatch, capsys)(run)
    assert code == 0
    cells = json.loads(Path(out.strip()).read_text())["cells"]
    names: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)  # noqa: S102 (what a user runs)
    gold = {row.item: row.label for row in misstep.open(run).gold.itertuples()}
    said = {row.item: row.label for row in misstep.open(run).verdicts.itertuples()}
    assert names["right"].mean() == sum(gold[item] == said[item] for item in gold) / 12  # type: ignore[attr-defined]


def test_a_notebook_that_is_there_is_not_written_over(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.ipynb"
    mine.write_text("my work")
    code, _, error = in_this_process("notebook", monkeypatch, capsys)(run, "--out", mine)
    assert (code, mine.read_text()) == (2, "my work")
    assert "exists" in error
