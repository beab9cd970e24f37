"""AutoTriage's annotation study: whole counts behind the agreements, intervals behind the kappas."""

from collections.abc import Sequence

import numpy as np
import pytest

from misstep_analysis.agreement import agreement_report
from misstep_analysis.labels import Labels
from misstep_analysis.tables import Row
from misstep_analysis.triage.paper import agreement as autotriage


@pytest.fixture(scope="module")
def rows() -> tuple[Row, ...]:
    return autotriage.annotation_table(resamples=2000).rows


def _find(rows: Sequence[Row], group: str, quantity: str, evidence: str) -> Row:
    (row,) = [row for row in rows if (row.group, row.quantity, row.evidence) == (group, quantity, evidence)]
    return row


@pytest.mark.parametrize(
    ("group", "count", "n"),
    [("All three annotators", 346, 354), ("A1 and A2", 117, 118), ("A1 and A3", 114, 118), ("A2 and A3", 115, 118)],
)
def test_each_printed_agreement_is_one_whole_count(rows: tuple[Row, ...], group: str, count: int, n: int) -> None:
    row = _find(rows, group, "Raw agreement", "recomputed")
    assert (row.status, row.value, row.n) == ("reproduced", count / n, n)


def test_the_overall_agreement_is_reproduced_as_the_mean_over_the_pairs(rows: tuple[Row, ...]) -> None:
    row = _find(rows, "All three annotators", "Raw agreement", "recomputed")
    assert (row.status, row.value) == ("reproduced", pytest.approx(346 / 354))


@pytest.mark.parametrize("group", ["All three annotators", "A1 and A2", "A1 and A3", "A2 and A3"])
def test_the_reconstruction_prints_the_published_kappa_and_its_interval_holds_it(rows, group) -> None:
    published = _find(rows, group, "Kappa", "published")
    rebuilt = _find(rows, group, "Kappa", "generated")
    assert f"{rebuilt.value:.3f}" == published.printed
    assert rebuilt.low < rebuilt.value <= rebuilt.high  # type: ignore[operator]
    assert _find(rows, group, "Kappa", "recomputed").status == "underdetermined"


def test_less_than_three_percent_holds_of_comparisons_and_not_of_trajectories(rows: tuple[Row, ...]) -> None:
    group = "Disagreements, in the text"
    row = _find(rows, group, "Share that disagree", "recomputed")
    assert row.status == "reproduced"
    assert row.value == pytest.approx(0.023)


def _rated(codes: list[list[int]], clusters: tuple[str, ...]) -> autotriage.RatedSet:
    items = [f"item {number}" for number in range(len(codes))]
    labels = Labels("made-up.csv", items, ["a", "b"], ["no", "yes"], [], np.array(codes), [])
    return autotriage.RatedSet("Made up", "mast", "made up", labels, agreement_report(labels, resamples=500), clusters)


def test_copies_of_a_run_widen_the_interval_that_resamples_clusters() -> None:
    runs = [[[0, 0], [1, 1]], [[0, 1], [1, 1]], [[0, 0], [1, 0]], [[1, 1], [0, 0]]]
    codes = [row for run in runs for row in run * 10]
    clusters = tuple(f"run {number}" for number, run in enumerate(runs) for _ in run * 10)
    rated = _rated(codes, clusters)
    clustered, naive = autotriage.clustered_fleiss(rated, resamples=2000), rated.report.fleiss_kappa
    assert clustered.value == pytest.approx(naive.value)
    assert clustered.low < naive.low  # type: ignore[operator]


def test_without_any_set_the_table_says_so_and_what_would_add_some() -> None:
    table = autotriage.real_agreement_table([], notes=["Not available: mast."])
    assert table.finding == "No set of ratings is available."
    assert "Not available: mast." in table.notes
