"""Agreement from counted rating patterns is agreement of the file that was counted, however it was cut."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from misstep.analysis.labels import Reading, read_questions, read_ratings
from misstep.analysis.labels.coding import counted_labels, rating_patterns
from misstep.analysis.measures.agreement import AgreementReport, agreement_report
from misstep.harness.errors import UsageError
from misstep.harness.records.whole_counts import Counts, summed

CELL = st.sampled_from(["agent", "Agent", "task ", "", "pass"])
ROWS = st.lists(st.tuples(CELL, CELL, CELL), min_size=3, max_size=30).filter(
    lambda rows: any(sum(bool(cell) for cell in row) > 1 for row in rows)
)
LISTS_OF_ITEMS = {"disagreements", "consensus", "items_under_two_ratings", "items_named", "notes"}


def write(path: Path, rows: list[tuple[str, ...]], first: int = 0) -> Path:
    lines = [",".join([f"run-{first + place}", *row]) for place, row in enumerate(rows)]
    path.write_text("\n".join(["item,ann,ben,cat", *lines, ""]), "utf-8")
    return path


def counted(*files: Path) -> Counts:
    return summed(
        Counts(ratings=tuple(rating_patterns(question, one)))
        for file in files
        for question, one in read_ratings(file, Reading())[0].items()
    )


def figures(report: AgreementReport) -> dict[str, object]:
    return {name: value for name, value in structs.asdict(report).items() if name not in LISTS_OF_ITEMS}


@given(ROWS, st.integers(1, 2))
@settings(max_examples=30, deadline=None)
def test_every_figure_and_interval_is_that_of_the_records(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, ...]], cut: int
) -> None:
    folder = tmp_path_factory.mktemp("labels")
    whole = write(folder / "whole.csv", rows)
    parts = [write(folder / "1.csv", rows[:cut]), write(folder / "2.csv", rows[cut:], cut)]
    (labels,) = read_questions(whole, Reading()).labels.values()
    (from_counts,) = counted_labels(counted(*parts).ratings, Reading(), "counts").values()
    expected, found = (agreement_report(one, resamples=200, seed=3) for one in (labels, from_counts))
    assert figures(found) == figures(expected)
    assert not found.items_named
    assert found.disagreements == found.consensus == []


def test_a_long_table_is_counted_like_a_wide_one_and_raters_may_differ_between_parts(tmp_path: Path) -> None:
    long = tmp_path / "long.csv"
    long.write_text("item,rater,label\n1,ben,no\n1,ann,yes\n2,ann,yes\n2,ben,no\n", "utf-8")
    wide = tmp_path / "wide.csv"
    wide.write_text("item,cat,ann\n3,yes,yes\n4,,yes\n", "utf-8")
    (labels,) = counted_labels(counted(long, wide).ratings, Reading(), "counts").values()
    report = agreement_report(labels, resamples=0)
    assert (report.raters, report.n_items) == (["ann", "ben", "cat"], 4)
    assert report.confusion[0].matrix == [[0, 0], [2, 0]], "ann said yes where ben said no"
    assert {pair.raters: pair.n for pair in report.pairs} == {("ann", "ben"): 2, ("ann", "cat"): 1, ("ben", "cat"): 0}


def test_raters_may_be_chosen_and_labels_said_to_be_missing_after_counting(tmp_path: Path) -> None:
    counts = counted(write(tmp_path / "labels.csv", [("1", "NA", "2"), ("1", "1", "2"), ("2", "3", "3")]))
    reading = Reading(raters=("ann", "ben"), level="ordinal", missing=("NA",))
    (labels,) = counted_labels(counts.ratings, reading, "counts").values()
    assert (labels.raters, labels.categories) == (["ann", "ben"], ["1", "2", "3"])
    with pytest.raises(UsageError, match="has no rater 'dan'"):
        counted_labels(counts.ratings, Reading(raters=("ann", "dan")), "counts")
