"""What labels of public sets say of whose fault something is: every label of the eight sets is spoken of, once."""

from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from misstep_harness.catalogue import data_set
from misstep_harness.datasets import loader_for
from misstep_harness.datasets.judged.trail_judges import Annotation
from misstep_harness.datasets.upstream import files_in, json_file
from misstep_harness.errors import InputError
from misstep_harness.fault_mappings import FAULTS, fault_mappings, mapping_of, taxonomy
from misstep_harness.readers import read_file

SUBCATEGORIES = {
    "task": ["ambiguous_spec", "environment_fail", "brittle_tests", "weak_tests", "solution_leakage"],
    "agent": ["logical_failure", "tool_call_error", "knowledge_gap", "premature_stop", "timeout"],
    "infrastructure": ["sandbox_crash", "network_issue", "harness_bug"],
    "pass": [],
}


def test_the_code_book_has_every_label_and_subcategory_of_table_1():
    book = taxonomy()
    assert tuple(book) == FAULTS
    assert {label: list(category.subcategories) for label, category in book.items()} == SUBCATEGORIES


def test_each_cell_of_table_1_says_what_is_done_with_a_run():
    actions = {
        label: tuple(cell.action if cell else None for cell in (category.failure, category.success))
        for label, category in taxonomy().items()
    }
    assert actions == {
        "task": ("repair_task", "filter"),
        "agent": ("keep", None),
        "infrastructure": ("rerun", "rerun"),
        "pass": (None, "keep"),
    }


def test_no_label_of_a_set_is_mapped_twice_and_every_reason_is_a_sentence() -> None:
    named = Counter((one.dataset, label) for one in fault_mappings() for label in one.labels)
    assert set(named.values()) == {1}
    assert all(one.reason.endswith(".") for one in fault_mappings())


@pytest.mark.parametrize(
    ("dataset", "question"),
    [
        *((name, "main") for name in ("agentrx", "codetracer_runs", "agent_as_a_judge", "paperbench_judge_eval")),
        *(("agentless_classes", question) for question in ("main", "solution")),
    ],
)
def test_every_label_of_a_set_is_mapped_or_said_not_to_be(dataset: str, question: str) -> None:
    assert all(mapping_of(dataset, label).reason for label in data_set(dataset).questions[question].labels)


@pytest.mark.data
def test_every_category_of_errors_is_mapped_or_said_not_to_be(data_folder: Path) -> None:
    files = files_in(data_folder / "trail" / "annotations_gaia", "*.json")
    categories = {error.category for path in files for error in json_file(path, Annotation).errors}
    assert {mapping_of("trail", category).of for category in categories} == {"error"}


def test_a_label_that_nothing_is_said_of_is_refused() -> None:
    with pytest.raises(InputError, match="'Bad luck' of agentrx"):
        mapping_of("agentrx", "Bad luck")


def test_a_subcategory_of_another_label_is_refused() -> None:
    with pytest.raises(ValueError, match="not a subcategory of infrastructure"):
        replace(mapping_of("agentrx", "System Failure"), subcategory="weak_tests")


@pytest.mark.data
def test_failed_runs_get_the_label_of_their_root_cause_and_none_where_that_does_not_hold(data_folder, tmp_path) -> None:
    loader_for("agentrx").load(data_folder / "agentrx", tmp_path / "agentrx", read_file)
    gold = (tmp_path / "agentrx-fault" / "gold.csv").read_text().splitlines()[1:]
    by_domain = Counter((line.partition("-")[0], line.rpartition(",")[2]) for line in gold)
    counts = {"agent": (18, 31), "task": (8, 0), "infrastructure": (1, 1)}
    assert {label: (by_domain["tau", label], by_domain["magentic", label]) for label in counts} == counts
    assert by_domain.total() == 59
