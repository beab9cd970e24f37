"""An export to a data set opens offline by `datasets`, whatever its kind, and its card says what it is."""

import re
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from misstep_analysis.exports.writing import export_run
from misstep_analysis.runs.kind import Choice
from tests.docs.documents import EVERYTHING
from tests.misstep.made_up_runs import benchmark_of_runs, judged_run, repaired_run, verdict


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of `datasets`, in a folder of the test, and no network."""
    datasets = pytest.importorskip("datasets", reason="pip install 'misstep[files]' brings datasets")
    datasets.disable_progress_bars()
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cached")
    return tmp_path / "cached"


def test_every_table_of_every_kind_of_run_opens_by_its_name(runs, tmp_path, offline) -> None:
    import datasets

    for kind, run in runs.items():
        out = tmp_path / kind
        counts = export_run(run, "hf", out, Choice(gold=True))
        assert datasets.get_dataset_config_names(str(out)) == list(counts)
        for name, n in counts.items():
            table = datasets.load_dataset(str(out), name, split="train", cache_dir=str(offline))
            assert len(table) == n
    judged = datasets.load_dataset(str(tmp_path / "judged"), split="train", cache_dir=str(offline))
    assert Counter(judged["label"]) == {"yes": 3, "no": 2, None: 3}
    assert judged.features["steps"] == datasets.List(datasets.Value("int64"))


def test_a_table_without_rows_which_datasets_does_not_open_is_in_its_file_alone(tmp_path: Path, offline: Path) -> None:
    import datasets

    export_run(repaired_run(tmp_path / "run", []), "hf", tmp_path / "out", Choice())
    assert len(datasets.load_dataset(str(tmp_path / "out"), split="train", cache_dir=str(offline))) > 0
    front = yaml.safe_load((tmp_path / "out" / "README.md").read_text().split("---\n")[1])
    assert [one["config_name"] for one in front["configs"]] == ["scores"]
    assert "solved" in pq.read_schema(tmp_path / "out" / "attempts" / "train-00000-of-00001.parquet").names


def test_the_lines_of_the_readme_open_an_export(runs, tmp_path, offline, monkeypatch) -> None:
    blocks = re.findall(r"```python\n(from datasets import.*?)```", EVERYTHING, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        (folder,) = re.findall(r'load_dataset\("(\w+)"', block)
        export_run(runs["classified"], "hf", tmp_path / folder, Choice())
        exec(block, {})  # noqa: S102 (what a reader runs)
    assert blocks
    assert offline.exists()


def test_the_card_says_what_it_is_with_counts_figures_command_and_sources(runs, tmp_path) -> None:
    export_run(runs["triaged"], "hf", tmp_path / "out", Choice())
    _, front, text = (tmp_path / "out" / "README.md").read_text().split("---\n", 2)
    named = yaml.safe_load(front)
    assert named["license"] == "unknown"
    assert [one["config_name"] for one in named["configs"]] == ["verdicts", "scores"]
    for told in (
        "- `verdicts`: 5 rows.",
        "| n | Evidence |",
        "misstep export triaged --to hf --out DIR",
        "cases: no licence is known",
        "- `label` (string): The label, or null if there is none.",
        "Gold labels are not part of it.",
    ):
        assert told in text


def test_the_head_of_the_card_has_counts_figures_with_intervals_and_commands(runs, tmp_path) -> None:
    counts = export_run(runs["judged"], "hf", tmp_path / "out", Choice())
    counted = yaml.safe_load((tmp_path / "out" / "README.md").read_text().split("---\n")[1])["misstep"]
    assert counted["rows"] == counts
    assert counted["commands"][-1] == "misstep export judged --to hf --out DIR"
    bounded = [one for one in counted["figures"] if "low" in one]
    assert bounded
    assert all(one["low"] <= one["value"] <= one["high"] and one["n"] for one in bounded)


@pytest.mark.parametrize(
    ("text", "licence"), [('licence = "CC-BY-4.0"\n', "cc-by-4.0"), ('licence = "ask Ada"\n', "other"), ("", "unknown")]
)
def test_the_licence_is_that_of_the_benchmark_and_never_guessed(text: str, licence: str, tmp_path: Path) -> None:
    benchmark = benchmark_of_runs(tmp_path / "gates", 1)
    with (benchmark / "benchmark.toml").open("a") as stream:
        stream.write(text)
    export_run(judged_run(tmp_path / "run", benchmark, [verdict(0)]), "hf", tmp_path / "out", Choice())
    assert f"license: {licence}\n" in (tmp_path / "out" / "README.md").read_text()
