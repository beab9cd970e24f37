"""AutoTriage's judges and Wink's: the numbers of runs that print their figures, and what these leave open."""

import pytest

from misstep_analysis.judging.judged import scored_items
from misstep_analysis.published import load_paper
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import Row, Table
from misstep_analysis.triage.paper import triage as autotriage_judges
from tests.analysis.judging.recorded import alone


@pytest.fixture(scope="module")
def triage() -> Table:
    return autotriage_judges.triage_table()


def find(table: Table, group: str, quantity: str, evidence: str = "recomputed") -> Row:
    (row,) = [row for row in table.rows if (row.group, row.quantity, row.evidence) == (group, quantity, evidence)]
    return row


def test_the_least_number_of_cases_is_that_of_which_most_percentages_are_whole_counts() -> None:
    assert autotriage_judges.common_denominator(["33.3", "66.7", "50.0"], 100) == (6, 3)
    assert autotriage_judges.common_denominator(["33.3", "66.7", "50.0"], 5) == (3, 2)


def test_eight_of_nine_agreements_are_whole_counts_of_31_runs_and_no_number_prints_all(triage: Table) -> None:
    assert triage.finding.startswith(
        "8 of the 9 agreements are whole counts of 31 runs; no number up to 118 prints all"
    )
    assert load_paper("autotriage")["triage.n"].number == 31


def test_an_agreement_of_31_runs_has_its_wilson_interval(triage: Table) -> None:
    row = find(triage, "LLM-only, Sonnet 4.5", "Agreement")
    assert (row.status, row.n, row.low, row.high) == ("reproduced", 31, wilson(23, 31).low, wilson(23, 31).high)


def test_the_best_agreement_is_no_count_of_31_and_may_be_8_of_9(triage: Table) -> None:
    group = "Agent-sandbox, GPT-5.2 Codex"
    assert find(triage, group, "Agreement").status == "impossible"
    other = find(triage, group, "Agreement, if of 9 runs")
    assert (other.value, other.low) == (8 / 9, wilson(8, 9).low)


def test_every_kappa_is_open_since_the_agreements_leave_it_so(triage: Table) -> None:
    kappas = {row.group: row for row in triage.rows if row.quantity == "Kappa" and row.status is not None}
    human = kappas.pop("Human-Human Baseline")
    assert {row.status for row in kappas.values()} == {"underdetermined"}
    assert all("how often each rater used each label is not printed" in row.reason for row in kappas.values())
    assert (human.status, len(kappas)) == ("differs", 9)
    assert "is called Cohen’s κ here and Fleiss' κ in Table 2" in human.reason


def test_recalls_of_table_4_follow_from_its_cells_and_have_intervals() -> None:
    table = autotriage_judges.triage_errors_table()
    recalls = [row for row in table.rows if row.quantity == "Recall" and row.status]
    assert [(row.status, row.n) for row in recalls] == [("reproduced", n) for n in (9, 4, 16, 5, 16, 5)]
    assert all(row.low is not None for row in recalls)
    assert {row.status for row in table.rows if row.status} == {"reproduced"}


def test_the_printed_matrices_are_counts_by_judge() -> None:
    matrices = autotriage_judges.triage_matrices()
    assert list(matrices) == ["codex", "sonnet", "haiku"]
    assert autotriage_judges.matrix_counts(matrices["haiku"]) == [[0, 7, 7, 2], [0, 1, 4, 0]]


def test_winks_precision_comes_from_multiples_of_seven_and_of_seven_says_little() -> None:
    table = autotriage_judges.wink_precision_table()
    possible = [row.n for row in table.rows if row.n is not None]
    assert possible == list(range(7, 101, 7))
    assert "only multiples of 7 print so" in table.finding
    assert find(table, "If so many answers were verified", "6 of 7").low == wilson(6, 7).low


def test_printed_kappas_stand_beside_real_ones_the_highest_first() -> None:
    halves = [("yes", "yes"), ("no", "no")]
    worse = scored_items(alone("a", [*halves, ("yes", "no"), ("no", "yes"), ("yes", "yes")]), resamples=20)
    better = scored_items(alone("b", [*halves, ("yes", "yes")]), resamples=20)
    rows = autotriage_judges.printed_beside_real([worse, better])
    assert [(row.group, row.quantity) for row in rows[-2:]] == [("Public sets", "b"), ("Public sets", "a")]
    assert rows[0].quantity == "Human-Human Baseline"
    assert len(rows) == 12
