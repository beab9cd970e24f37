"""The agreement figures of public sets come out as their papers or their own counts have them."""

import csv
import gzip
import io
from pathlib import Path

import numpy as np
import pytest

from misstep_analysis.agreement import AgreementReport, agreement_report
from misstep_analysis.labels import Labels, ScaleLevel, read_labels
from misstep_analysis.stats.raters.patterns import MISSING, category_counts
from tests.analysis.stats.quantities.agreement import krippendorff_alpha

pytestmark = pytest.mark.data


def rows_of(path: Path) -> list[dict[str, str]]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return list(csv.DictReader(io.StringIO(content.decode("utf-8"), newline="")))


def labels_of(folder: Path, rows: list[dict[str, str]], raters: list[str]) -> Labels:
    """Rows as the file of labels that a user would give, read as one."""
    path = folder / "labels.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["item", *raters])
        writer.writerows([place, *(row[rater] for rater in raters)] for place, row in enumerate(rows))
    return read_labels(path)


def report(
    folder: Path, rows: list[dict[str, str]], raters: list[str], level: ScaleLevel = "nominal", resamples: int = 200
) -> AgreementReport:
    return agreement_report(labels_of(folder, rows, raters), level, resamples)


ANNOTATORS = ["annotator_1", "annotator_2", "annotator_3"]


@pytest.fixture
def mast(data_folder: Path) -> list[dict[str, str]]:
    return rows_of(data_folder / "mast" / "human_labels.csv")


def complete(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    return [row for row in rows if all(row[name] for name in ANNOTATORS)]


def test_mast_over_the_rows_that_all_three_rated(mast: list[dict[str, str]], tmp_path: Path) -> None:
    result = report(tmp_path, complete(mast), ANNOTATORS)
    assert result.n_items == 314
    assert result.fleiss_kappa.value == pytest.approx(0.8976, abs=5e-5)
    assert result.krippendorff_alpha.value == pytest.approx(0.8977, abs=5e-5)
    assert [round(pair.cohen_kappa or 0, 3) for pair in result.pairs] == [0.846, 0.915, 0.932]
    assert 1 - len(result.disagreements) / result.n_items == pytest.approx(0.955, abs=5e-4)


def test_mast_with_its_two_missing_ratings(mast: list[dict[str, str]], tmp_path: Path) -> None:
    result = report(tmp_path, mast, ANNOTATORS)
    assert result.n_items == 316
    assert [pair.n for pair in result.pairs] == [316, 314, 314]


@pytest.mark.parametrize(
    ("name", "n", "kappa"),
    [("Round 1", 90, 1), ("Round 2", 85, 1), ("Round 3", 85, 0.8067), ("Generlazability", 54, 0.6717)],
)
def test_mast_round_by_round(mast: list[dict[str, str]], tmp_path: Path, name: str, n: int, kappa: float) -> None:
    result = report(tmp_path, [row for row in complete(mast) if row["round"] == name], ANNOTATORS)
    assert result.n_items == n
    assert result.fleiss_kappa.value == pytest.approx(kappa, abs=5e-5)


def test_mast_pairs_of_the_third_round(mast: list[dict[str, str]], tmp_path: Path) -> None:
    result = report(tmp_path, [row for row in mast if row["round"] == "Round 3"], ANNOTATORS)
    assert [round(pair.cohen_kappa or 0, 3) for pair in result.pairs] == [0.719, 0.719, 1.0]


def test_dices_has_123_raters_of_all_350_items(data_folder: Path, tmp_path: Path) -> None:
    rows = rows_of(data_folder / "judge_bench_raters" / "dices_350_crowdsourced.csv.gz")
    raters = [name for name in rows[0] if name.startswith("r")]
    labels = labels_of(tmp_path, rows, raters)
    assert labels.codes.shape == (350, 123)
    used = np.bincount(labels.codes.ravel(), minlength=3).tolist()
    assert dict(zip(labels.categories, used, strict=True)) == {"No": 26_292, "Unsure": 2_694, "Yes": 14_064}
    assert krippendorff_alpha(category_counts(labels.codes, 3)).value == pytest.approx(0.1609, abs=5e-5)


NEWSROOM = {
    "ordinal": {"Informativeness": 0.2849, "Relevance": 0.1151, "Fluency": -0.0158, "Coherence": 0.0650},
    "interval": {"Informativeness": 0.2911, "Relevance": 0.1684, "Fluency": 0.0264, "Coherence": 0.0870},
    "nominal": {"Informativeness": 0.0765, "Relevance": 0.0647, "Fluency": -0.0095, "Coherence": 0.0061},
}


@pytest.mark.parametrize("level", NEWSROOM)
@pytest.mark.parametrize("metric", NEWSROOM["ordinal"])
def test_newsroom_alpha_depends_on_the_level(data_folder: Path, tmp_path: Path, level: ScaleLevel, metric: str) -> None:
    rows = rows_of(data_folder / "judge_bench_raters" / "newsroom.csv")
    result = report(tmp_path, [row for row in rows if row["metric"] == metric], ["r1", "r2", "r3"], level)
    assert result.krippendorff_alpha.value == pytest.approx(NEWSROOM[level][metric], abs=5e-5)


def test_inferential_strategies_have_two_equal_columns(data_folder: Path, tmp_path: Path) -> None:
    result = report(tmp_path, rows_of(data_folder / "judge_bench_raters" / "inferential_strategies.csv"), ["r1", "r2"])
    assert result.krippendorff_alpha.value == 1
    assert "without width" in result.krippendorff_alpha.reason


def test_no_cell_of_mast_is_taken_for_a_label_but_zero_and_one(mast: list[dict[str, str]], tmp_path: Path) -> None:
    labels = labels_of(tmp_path, mast, ANNOTATORS)
    assert labels.categories == ["0", "1"]
    assert int((labels.codes == MISSING).sum()) == 2
