"""The reflexive harness's mechanisms: repeats, budgets and categories as printed figures give them."""

import pytest

from misstep_analysis.reflexive.paper import mechanisms as mechanisms
from misstep_analysis.stats.proportions import wilson


def test_a_share_of_226_in_whole_percent_leaves_several_counts_open() -> None:
    rows = [row for row in mechanisms.plateau_table().rows if row.quantity.startswith("If ")]
    assert [row.source.partition(" /")[0] for row in rows] == ["171", "172"]
    assert all(row.low == wilson(int(row.source.partition(" /")[0]), 226).low for row in rows)


def test_one_printed_number_stands_for_several_things_and_the_finding_says_so() -> None:
    table = mechanisms.plateau_table()
    assert table.finding.startswith(
        "76% is printed in 4 places, not of the same thing; of 226 reflections it is 171 to 172"
    )
    assert "18.6% (95% interval 14.1% to 24.2%) of the reflections cite sudo" in table.finding


def test_the_same_number_of_rules_would_be_one_of_three_counts_and_of_an_accuracy_cannot_be_told() -> None:
    rows = {row.quantity: row for row in mechanisms.plateau_table().rows}
    assert rows["Counts that print so of rules, of which there are 28 at most"].value == "13 of 17, 16 of 21, 19 of 25"
    assert rows["Counts that print so of an accuracy"].status == "underdetermined"


def test_three_equal_sentences_in_a_row_are_far_from_the_printed_share_in_whatever_order_they_came() -> None:
    rows = {row.quantity: row for row in mechanisms.plateau_table().rows}
    most = rows["Most that it could flag"]
    sentences = ["the same"] * 64 + [f"sentence {number}" for number in range(162)]
    assert (len(sentences), len(set(sentences))) == (226, 163)
    triples = zip(sentences, sentences[1:], sentences[2:], strict=False)
    assert most.source.startswith(f"{sum(len(set(one)) == 1 for one in triples)} / 226")
    assert most.value == 62 / 226
    assert rows["Counts of 226 that print as 0%"].value == "0 to 1"
    assert "could flag 27.4% at most" in mechanisms.plateau_table().finding


def test_a_share_that_was_cut_off_keeps_its_status() -> None:
    sudo = [row for row in mechanisms.plateau_table().rows if "sudo" in row.quantity]
    assert [row.status for row in sudo] == [None, "differs"]
    assert sudo[1].n == 226


def test_rules_given_up_took_several_times_as_long_as_those_fixed() -> None:
    ratios = {
        row.group: row.value
        for row in mechanisms.budget_table().rows
        if row.quantity.startswith("Seconds, escalated over")
    }
    assert ratios == pytest.approx({"v3": 959 / 34, "Run 3": 426 / 55.4, "Run 4": 392 / 54.9})
    assert "of a budget of 1,200 s" in mechanisms.budget_table().finding


def test_outcomes_are_of_complete_runs_and_steps_narrow() -> None:
    counts: dict[str, float] = {}
    for row in [row for row in mechanisms.outcome_table().rows if row.unit == "count"]:
        counts[row.group] = counts.get(row.group, 0) + float(row.value or 0)
    assert counts == {"Run 1": 270, "Run 5": 269, "Run 6": 270}
    assert [row.value for row in mechanisms.last_run_steps()] == [270, 247, 153]


def test_out_of_all_rules_a_run_fixed_less_than_its_printed_share() -> None:
    table = mechanisms.outcome_table()
    shares = [(row.group, row.value, row.n) for row in table.rows if row.unit == "share"]
    assert shares == [("Run 1", 85 / 270, 270), ("Run 5", 143 / 270, 270), ("Run 6", 153 / 270, 270)]
    assert table.finding.startswith("Of all 270 rules, Run 1 fixed 31.5% (95% interval 26.2% to 37.2%) and Run 6 fixed")


def test_a_category_has_an_interval_where_its_counts_are_printed() -> None:
    rows = mechanisms.category_table().rows
    counted = [row for row in rows if row.evidence == "recomputed"]
    assert {(row.group, row.quantity) for row in counted} == {
        ("Run 1", "authentication"),
        ("Run 1", "kernel"),
        ("Run 1", "audit"),
        ("Run 1", "ssh"),
        ("Run 2", "kernel"),
    }
    assert all(row.low is not None for row in counted)


def test_the_matrix_of_categories_has_a_gap_where_nothing_is_printed() -> None:
    shares, categories, runs = mechanisms.category_shares()
    assert runs == ["v3", "Run 1", "Run 2", "Run 3"]
    assert dict(zip(categories, shares, strict=True))["banner"] == [0.0, None, None, 0.0]
    assert dict(zip(categories, shares, strict=True))["kernel"] == [0.89, 0.68, 0.97, 0.92]
