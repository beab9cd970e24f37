"""Anchors are drawn at random within each label, in proportion, and the same seed draws the same ones."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.judging.drift import drawn_anchors, stratified
from misstep_harness.errors import UsageError
from tests.misstep.made_up_runs import benchmark_of_runs, judged_run, verdict


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=60), st.integers(1, 60))
def test_each_label_has_its_proportion_and_a_rare_one_an_anchor(labels: list[str], n: int) -> None:
    label_of, n = {str(place): label for place, label in enumerate(labels)}, min(n, len(labels))
    chosen, counts = stratified(label_of, n, 0), Counter(labels)
    assert sum(map(len, chosen.values())) == n
    for label, items in chosen.items():
        assert len(set(items)) == len(items) <= counts[label]
        assert {label_of[item] for item in items} <= {label}
        assert abs(len(items) - n * counts[label] / len(labels)) < 2
        assert items or n < len(counts)
    assert stratified(label_of, n, 0) == chosen


def test_anchors_of_a_run_are_of_its_answered_items_and_those_of_a_benchmark_of_all(tmp_path: Path) -> None:
    benchmark = benchmark_of_runs(tmp_path / "gates", 12)
    given = [verdict(number, "yes" if number < 3 else "no") for number in range(10)]
    failed = verdict(10, None, status="failed", error="no answer")
    run = judged_run(tmp_path / "run", benchmark, [*given, failed])
    assert drawn_anchors(str(run), 5, 0).sentence == "5 anchors of 10 items: 2 “yes”, 3 “no”"
    assert drawn_anchors(str(benchmark), 5, 0).sentence == "5 anchors of 12 items"
    with pytest.raises(UsageError, match="11 anchors are asked for, of 10 items"):
        drawn_anchors(str(run), 11, 0)
