"""Samples of the LM Evaluation Harness: replies and metrics, filter by filter."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.errors import InputError
from misstep_harness.runs.judging.judge_import import written_verdicts
from misstep_harness.verdict_readers import Place, lm_evaluation_harness
from misstep_harness.verdict_readers.written import WrittenVerdict
from tests.families.recordings import verdicts_of

SAMPLE = json.loads(verdicts_of("lm_evaluation_harness").splitlines()[0])


def verdicts(**fields: Any) -> dict[str, WrittenVerdict]:
    """The verdicts of a sample by judge; a field that is `None` is left out."""
    sample = {name: value for name, value in (SAMPLE | fields).items() if value is not None}
    return {one.judge: one for one in lm_evaluation_harness.verdicts(sample, Place("samples.jsonl", 1))}


def test_the_reply_and_each_metric_are_judges_for_each_filter(tmp_path: Path) -> None:
    (tmp_path / "samples").write_bytes(verdicts_of("lm_evaluation_harness"))
    results = {(one.item, one.judge): one for one in written_verdicts(tmp_path / "samples").verdicts}
    assert {key: one.label for key, one in results.items() if key[1].endswith("flexible-extract")} == {
        ("0", "response,flexible-extract"): "yes",
        ("0", "exact_match,flexible-extract"): "1",
        ("1", "response,flexible-extract"): "no",
        ("1", "exact_match,flexible-extract"): "0",
    }
    assert results["1", "response,flexible-extract"].rationale == "I would say no"
    assert results["1", "response,flexible-extract"].names == {"doc_id": "1", "case": "k2", "question": "Is it done?"}


@pytest.mark.parametrize("reply", ["[invalid]", "", "  "])
def test_a_reply_in_which_the_filter_found_nothing_is_no_label_and_its_zero_is_no_grade(reply: str) -> None:
    result = verdicts(filtered_resps=[reply], exact_match=0.0)
    response, metric = result["response,strict-match"], result["exact_match,strict-match"]
    assert (response.status, response.written_as) == ("unreadable", "")
    assert (metric.status, metric.label, metric.written_as) == ("unreadable", None, "0")


def test_older_files_name_neither_metrics_nor_a_filter() -> None:
    assert verdicts(metrics=None, filter=None, acc=1, bypass=999).keys() == {"response", "exact_match", "acc"}
    assert verdicts(metrics=None, filter="none").keys() == {"response", "exact_match"}


def test_a_run_that_only_predicts_names_a_metric_that_measures_nothing() -> None:
    assert verdicts(metrics=["bypass"], bypass=999, filter="none").keys() == {"response"}


def test_likelihoods_are_no_reply() -> None:
    result = verdicts(filtered_resps=[[-3.0, False], [-4.0, True]], metrics=["acc"], acc=1.0)
    assert {judge: one.label for judge, one in result.items()} == {"acc,strict-match": "1"}


def test_a_sample_without_a_usable_id_is_an_error() -> None:
    with pytest.raises(InputError, match=r"samples\.jsonl:1: doc_id: the id is neither a number nor a text"):
        verdicts(doc_id=[1])
