"""Inspect eval logs: scorers as judges, epochs as attempts, and what is not a grade."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.runs.judging.judge_import import written_verdicts
from misstep_harness.verdict_readers.written import WrittenVerdict
from tests.families.recordings import verdicts_of


def verdicts(folder: Path, document: dict[str, Any] | bytes) -> dict[tuple[str, str, int], WrittenVerdict]:
    file = folder / "log"
    file.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
    return {(one.item, one.judge, one.attempt): one for one in written_verdicts(file).verdicts}


def log(*samples: dict[str, Any]) -> dict[str, Any]:
    return {"version": 2, "eval": {"task": "t", "scorers": [{"name": "graded"}]}, "samples": list(samples)}


def test_each_scorer_is_a_judge_each_key_of_a_mapping_too_and_each_epoch_an_attempt(tmp_path: Path) -> None:
    result = verdicts(tmp_path, verdicts_of("inspect_ai"))
    labels = {key: one.label for key, one in result.items() if one.label is not None}
    assert labels == {
        ("a1", "model_graded_qa", 1): "C",
        ("a1", "rubric/clear", 1): "1",
        ("a1", "rubric/short", 1): "0.5",
        ("a1", "model_graded_qa", 2): "I",
    }
    assert result["a1", "model_graded_qa", 1].rationale.endswith("GRADE: C")
    assert result["a1", "model_graded_qa", 1].names["case"] == "k1"
    ungraded, unscored, ended = (result[item, "model_graded_qa", 1] for item in ("2", "a3", "a4"))
    assert (ungraded.status, ungraded.label, ungraded.written_as) == ("unreadable", None, "I"), "Inspect's incorrect"
    assert (unscored.status, unscored.error, unscored.written_as) == ("unreadable", "the scorer gave no verdict", "")
    assert (ended.status, ended.error) == ("failed", "the sample ended with an error: the container died")


def test_a_sample_that_ended_with_an_error_has_failed_for_each_key_of_a_mapping_and_each_scorer_of_a_name(tmp_path):
    document = log({"id": "a", "epoch": 1, "error": {"message": "the container died"}})
    rubric = {"name": "rubric", "metrics": {"clear": [{"name": "mean"}], "o*": [{"name": "mean"}]}}
    document["eval"]["scorers"] = [{"name": "graded", "metrics": [{"name": "accuracy"}]}, rubric, {"name": "graded"}]
    assert [judge for _, judge, _ in verdicts(tmp_path, document)] == ["graded", "rubric/clear", "graded1"]


def test_a_scorer_of_a_package_is_called_alike_in_the_log_and_in_its_samples(tmp_path: Path) -> None:
    document = log({"id": "a", "scores": {"loops": {"value": "C"}}}, {"id": "b", "error": {"message": "it died"}})
    document["eval"]["scorers"] = [{"name": "shop/loops"}]
    assert {judge for _, judge, _ in verdicts(tmp_path, document)} == {"loops"}


@pytest.mark.parametrize(("edited", "label"), [("C", "C"), ("UNCHANGED", None)])
def test_a_value_that_a_person_put_in_place_of_a_grade_that_was_not_found_is_one(tmp_path, edited, label) -> None:
    own = {"value": "I", "explanation": "Grade not found in model output: fine", "provenance": None}
    history = [own, {"value": edited, "explanation": "UNCHANGED", "provenance": {"author": "kim"}}]
    value = own | {"value": "C" if edited == "C" else "I", "history": history}
    assert verdicts(tmp_path, log({"id": "a", "scores": {"graded": value}}))["a", "graded", 1].label == label


@pytest.mark.parametrize(("value", "label"), [("P", "P"), (True, "true"), (1.0, "1"), (0, "0"), ([1, 2], None)])
def test_a_single_value_is_the_label_as_inspect_wrote_it(tmp_path: Path, value: Any, label: str | None) -> None:
    result = verdicts(tmp_path, log({"id": "a", "epoch": 1, "scores": {"graded": {"value": value}}}))
    assert result["a", "graded", 1].label == label


def test_logs_of_the_first_version_have_one_score(tmp_path: Path) -> None:
    result = verdicts(tmp_path, log({"id": "a", "epoch": 1, "score": {"value": "C"}}))
    assert result["a", "score", 1].label == "C"


def test_an_archive_holds_the_same_verdicts_as_its_document(tmp_path: Path) -> None:
    document = verdicts_of("inspect_ai")
    about = json.loads(document)
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({name: about[name] for name in ("version", "status", "eval")}))
        for sample in about["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    result = written_verdicts(tmp_path / "log.eval").verdicts
    assert {(one.item, one.judge, one.attempt): one.label for one in result} == {
        key: one.label for key, one in verdicts(tmp_path, document).items()
    }
    assert {str(one.place) for one in result} == {f"record {number}" for number in (1, 2, 3, 4, 5)}


@pytest.mark.data
def test_a_published_log_is_read(data_folder: Path) -> None:
    result = written_verdicts(data_folder / "transcript_formats/inspect_ai/security-guide.json")
    assert result.forms == ("an Inspect eval log",)
    assert {one.judge for one in result.verdicts} == {"model_graded_fact"}
    assert {one.label for one in result.verdicts} <= {"C", "I"}
