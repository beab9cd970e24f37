"""The taxonomy of failures, and verdicts that name one of its labels."""

import msgspec

from misstep_harness.triage.records.attribution import FAULTS, Evidence, TriageVerdict, taxonomy
from misstep_harness.verdict import Verdict

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


def test_a_triage_verdict_reads_as_a_verdict_and_keeps_its_evidence():
    written = TriageVerdict(
        "case-1",
        "triage@rules",
        "agent",
        subcategory="logical_failure",
        evidence=(Evidence("log", "tests.log:3", "1 != 2"),),
    )
    line = msgspec.json.encode(written)
    assert msgspec.json.decode(line, type=TriageVerdict) == written
    assert msgspec.json.decode(line, type=Verdict).label == "agent"
