"""The reflexive harness's tables: what the printed counts of its runs give, and what contradicts what."""

import pytest

from misstep_analysis.audit.checks import check_all
from misstep_analysis.published import load_paper
from misstep_analysis.reflexive.paper import mechanisms as reflexive
from misstep_analysis.tables import Row, Table

TABLES = (reflexive.fix_rate_table, reflexive.failure_modes_table, reflexive.contradictions_table, reflexive.runs_table)


def _judged(table: Table) -> list[Row]:
    return [row for row in table.rows if row.status is not None]


def _reasons(table: Table) -> str:
    return "\n".join(row.reason for row in _judged(table))


def test_every_check_of_the_document_and_its_runs_stands_in_one_table() -> None:
    shown = [row.status or "" for table in TABLES for row in _judged(table())]
    assert sorted(shown) == sorted(checked.status for _, checked in check_all(load_paper("reflexive")))


def test_contradictions_stand_apart_the_impossible_before_those_that_differ() -> None:
    statuses = [row.status for row in _judged(reflexive.contradictions_table())]
    assert statuses == sorted(statuses, key=("impossible", "differs").index)
    assert {row.status for row in _judged(reflexive.runs_table())} == {"reproduced", "underdetermined"}


@pytest.mark.parametrize(
    "arithmetic",
    [
        "93 + 26 is 119, not 120.",
        "226 here is not 229",
        "356 / 487 is 73.1%, not 74%.",
        "6.1h / 9.5h is 64.2%",
        "76% is a share of rules with 3+ reflections here and of reflections in",
    ],
)
def test_the_reasons_are_the_arithmetic(arithmetic: str) -> None:
    assert arithmetic in _reasons(reflexive.contradictions_table())


def test_a_share_that_its_own_count_gives_is_reproduced_though_another_total_would_not_give_it() -> None:
    rows = [row for row in _judged(reflexive.fix_rate_table()) if row.group == "Run 3"]
    assert [row.status for row in rows] == ["reproduced"]


def test_each_runs_share_has_the_interval_of_its_count_and_the_finding_names_the_extremes() -> None:
    table = reflexive.fix_rate_table()
    fixed = [row for row in table.rows if row.low is not None]
    assert len(fixed) == 8
    assert all(row.low < row.value < row.high for row in fixed)  # type: ignore[operator]
    assert "from 7.1%" in table.finding
    assert "in v3" in table.finding


def test_a_share_printed_below_its_count_was_cut_off() -> None:
    rows = [row for row in _judged(reflexive.failure_modes_table()) if row.status == "differs"]
    assert [row.reason for row in rows] == [
        "42 / 226 is 18.6%, not 18%. Suggestion: the further digits are cut off instead of rounded."
    ]
