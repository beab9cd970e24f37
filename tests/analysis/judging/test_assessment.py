"""A run assessed: one document, tables, and what says most."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from misstep_analysis.gold import BenchmarkItem, GoldLabel
from misstep_analysis.judging.assessment import (
    NOT_RECORDED,
    Assessment,
    assess,
    assessment_document,
    assessment_tables,
    item_costs,
    main_findings,
)
from misstep_analysis.judging.sample import judged_sample
from misstep_analysis.judging.scores import score
from misstep_analysis.judging.slices import Lengths
from misstep_analysis.pages import table_text
from misstep_harness.trajectory import Evidence
from misstep_harness.verdict import Verdict
from tests.analysis.judging.samples import YES_NO, labels_of, verdicts

FURTHER = {
    "bias",
    "reliability",
    "ceiling",
    "alternative_annotator",
    "slices",
    "votes",
    "prevalence",
    "cost",
    "evidence",
    "given",
}


def made_up(seed: int = 1, n: int = 60, raters: int = 3, runs: int = 0) -> Assessment:
    """A biased, overconfident judge that is worse on rust, and some raters."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(YES_NO, size=n)
    rust = rng.random(n) < 0.5
    answers = np.where((truth == "no") & (rng.random(n) < np.where(rust, 0.9, 0.2)), "yes", truth).tolist()
    people = {
        f"r{place}": np.where(rng.random(n) < 0.9, truth, rng.choice(YES_NO, size=n)).tolist()
        for place in range(raters)
    }
    items = [BenchmarkItem(f"i{place}", extra={"language": "rust" if rust[place] else "go"}) for place in range(n)]
    return assess(
        verdicts(answers, rng.choice([0.9, 0.95, 1.0], size=n).tolist()),
        labels_of(people),
        YES_NO,
        benchmark="made_up",
        items=items,
        lengths=Lengths("steps", {item.id: place % 17 for place, item in enumerate(items)}),
        clusters={f"i{place}": f"run {place // runs}" for place in range(n)} if runs else None,
        positive="yes",
        resamples=200,
    )


def estimates(value: Any) -> Iterator[dict[str, Any]]:
    """Every estimate in a document."""
    if isinstance(value, dict):
        if value.keys() >= {"value", "low", "high", "reason"}:
            yield value
        for inner in value.values():
            yield from estimates(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from estimates(inner)


def test_the_document_has_the_scores_as_they_are_and_each_further_result_under_its_name() -> None:
    answers, labels = verdicts(["yes", "no", "no", None]), labels_of({"ann": ["yes", "yes", "no", "no"]})
    document = assessment_document(assess(answers, labels, YES_NO, resamples=20))
    scores = to_builtins(score(answers, labels, YES_NO, resamples=20))
    assert {name: document[name] for name in scores} == scores
    assert document.keys() - scores.keys() == FURTHER


@pytest.mark.parametrize("runs", [0, 4])
def test_a_run_with_everything_has_a_table_for_each_question(runs: int) -> None:
    assessment = made_up(runs=runs)
    tables = assessment_tables(assessment, "made_up")
    names = [table.name for table in tables]
    assert names == [
        "scores",
        "bias",
        "error_flows",
        "slices",
        "reliability",
        "reliability_bins",
        "ceiling",
        "agreement_by_rater",
        "alternative_annotator",
        "alternative_annotator_by_rater",
        "prevalence",
    ]
    for table in tables:
        assert table.finding.endswith(".")
        assert table.made_by.startswith("misstep_analysis.judging.")
        assert all(row.evidence == "real" and row.source == "made_up" for row in table.rows)
        assert table_text(table)


def test_votes_and_costs_have_a_table_where_a_run_has_them() -> None:
    answers = verdicts(["yes", "no", "no"], [1.0, 0.6, 1.0])
    answers[0] = type(answers[0])("i0", "strict", "yes", score=1.0, seconds=2.0, cost_usd=0.01)
    assessment = assess(answers, labels_of({"ann": ["yes", "yes", "no"]}), YES_NO, votes=5, resamples=20)
    tables = {table.name: table for table in assessment_tables(assessment, "x")}
    assert tables["votes"].finding.startswith("All 5 votes give the answer on 66.7%")
    assert tables["costs"].finding.startswith("An item asked now takes $0.01 (by 1 verdict; no 95% interval) and 2 s")


def test_what_says_most_is_at_most_three_sentences_and_nothing_where_nothing_stands_out() -> None:
    sentences = main_findings(made_up(n=200), "made_up")
    assert len(sentences) == 3
    assert "Errors flow most clearly from “no” to “yes”" in sentences[0]
    assert "alternative annotator test" in sentences[1]
    assert "By language" in sentences[2]
    plain = assess(verdicts(["yes", "no"] * 5), labels_of({"ann": ["yes", "no"] * 5}), YES_NO, resamples=20)
    assert main_findings(plain, "x") == []


CELLS = st.tuples(
    st.sampled_from([*YES_NO, "other", None]), st.sampled_from([*YES_NO, None]), st.sampled_from([*YES_NO, None])
)


@given(st.lists(CELLS, max_size=12), st.sampled_from([0, 1, 3]), st.sampled_from(["nominal", "ordinal"]))
def test_whatever_was_answered_all_is_json_and_what_is_missing_has_a_reason(cells, runs, level) -> None:
    assessment = assess(
        verdicts([answer for answer, _, _ in cells], [None if not place % 3 else 0.7 for place in range(len(cells))]),
        labels_of({"ann": [first for _, first, _ in cells], "bob": [second for _, _, second in cells]}),
        YES_NO,
        clusters={f"i{place}": f"run {place // runs}" for place in range(len(cells))} if runs else None,
        items=[BenchmarkItem(f"i{place}", extra={"kind": "ab"[place % 2]}) for place in range(len(cells))],
        positive="no",
        level=level,
        votes=3,
        resamples=20,
    )
    document = json.loads(json.dumps(assessment_document(assessment), allow_nan=False))
    for estimate in estimates(document):
        assert estimate["value"] is not None or estimate["reason"]
        if estimate["low"] is not None:
            assert estimate["low"] <= estimate["value"] + 1e-9
            assert estimate["value"] <= estimate["high"] + 1e-9
    for table in assessment_tables(assessment, "x"):
        assert table.finding


@pytest.mark.parametrize("evidence", ["generated", "real"])
def test_figures_are_of_the_kind_of_evidence_that_the_benchmark_says_whoever_the_raters_are(evidence: Evidence) -> None:
    verdicts = [Verdict(f"i{n}", "j", "yes" if n % 2 else "no") for n in range(8)]
    gold = [GoldLabel(f"i{n}", "construction", "yes" if n % 3 else "no") for n in range(8)]
    for table in assessment_tables(assess(verdicts, gold, ("yes", "no"), evidence=evidence, resamples=20), "x"):
        assert {row.evidence for row in table.rows} == {evidence}


def test_mean_median_and_percentile_are_over_the_verdicts_that_say_so() -> None:
    verdicts = [Verdict(f"i{place}", "j", "yes", seconds=float(place)) for place in range(1, 21)]
    verdicts.append(Verdict("silent", "j", "yes"))
    seconds = item_costs(judged_sample(verdicts, [], ("yes",))).now["seconds"]
    assert (seconds.reported, seconds.mean.value, seconds.median, seconds.total) == (20, 10.5, 10.5, 210)
    assert seconds.percentile_95 == pytest.approx(19.05)
    assert seconds.mean.low < 10.5


def test_what_came_from_the_cache_stands_apart() -> None:
    verdicts = [
        Verdict("a", "j", "yes", cost_usd=0.5, input_tokens=7),
        Verdict("b", "j", "yes", cost_usd=0.25, cached=True),
    ]
    costs = item_costs(judged_sample(verdicts, [], ("yes",)))
    assert (costs.asked, costs.cached) == (1, 1)
    assert (costs.now["cost_usd"].total, costs.from_cache["cost_usd"].total) == (0.5, 0.25)
    assert costs.from_cache["input_tokens"].mean.reason == NOT_RECORDED


def test_an_item_that_was_not_answered_costs_as_well() -> None:
    verdicts = [Verdict("a", "j", None, "refused", cost_usd=0.5), Verdict("b", "j", "yes", cost_usd=0.1)]
    assert item_costs(judged_sample(verdicts, [], ("yes",))).now["cost_usd"].total == pytest.approx(0.6)
