"""Tables II to V with measured figures beside the printed ones."""

from importlib import import_module

import pytest
from msgspec import structs

from misstep_analysis.pages import table_text
from misstep_analysis.repair.attempts import RepairArm, review_funnel
from misstep_analysis.repair.paper import repairs
from misstep_analysis.repair.paper.tables import formats_table, solve_rate_table
from misstep_analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p
from misstep_analysis.tables import Table
from misstep_harness.repair.records import ReviewEvent, Signal
from tests.analysis.repair.made_up import arm, attempt


def measured(setting: str, solved: str, *, instructions: str = "", form: str = "search_replace") -> RepairArm:
    """An arm in a setting that solves the cases named."""
    attempts = tuple(attempt(case, case in solved, setting=setting, format=form, iterations=4) for case in "abcdefgh")
    return RepairArm(
        f"planted-{setting}", "search", setting, form, attempts, "planted", "c4", instructions, evidence="generated"
    )


FOUR = [measured("react", ""), measured("react+static", "a"), measured("react+tests", "abcdefgh")]
FOUR.append(measured("react+static+tests", "abcdef"))


def _golden(table: Table, group: str) -> dict[tuple[str, str], object]:
    return {(row.evidence, row.quantity): row.value for row in table.rows if row.group == group}


@pytest.mark.parametrize(
    ("table", "printed"), [(repairs.ablation_table, solve_rate_table), (repairs.measured_formats_table, formats_table)]
)
def test_without_a_recording_the_printed_and_recomputed_figures_stand_alone_and_a_note_says_so(table, printed) -> None:
    made = table()
    assert made.rows == printed().rows
    assert made.finding == printed().finding
    assert repairs.NONE_RECORDED in made.notes


def test_a_measured_setting_stands_beside_the_printed_one() -> None:
    result = _golden(repairs.ablation_table(FOUR), "Test execution")
    assert result["published", "Solved, one run"] == 0.439
    assert result["recomputed", "Solved, one run"] == pytest.approx(54 / 123)
    assert result["generated", "Solved, one run"] == 1.0
    assert result["generated", repairs.MEDIAN] == 4.0
    assert ("generated", "Solved, five runs") not in result, "one attempt a case says nothing of five"
    assert "published Table III" in " ".join(table_text(repairs.ablation_table(FOUR)).split())


def test_the_finding_has_a_sentence_for_each_set_of_cases() -> None:
    orchard = RepairArm("it", "search", "react", "search_replace", FOUR[0].attempts, "orchard", evidence="real")
    finding = repairs.ablation_table([*FOUR, orchard]).finding
    assert "may be chance. Test execution (search on planted) solves 8 of 8 cases." in finding
    assert "ReAct alone (search on orchard) solves 0 of 8 cases." in finding
    alike = [orchard, structs.replace(orchard, setting="react+tests")]
    assert "are level, and none is ahead of them. ReAct alone" in repairs.ablation_table(alike).finding


def test_a_setting_with_static_analysis_that_gives_the_same_case_by_case_is_left_out_and_a_sentence_says_so() -> None:
    alone = RepairArm("it", "search", "react", "search_replace", FOUR[0].attempts, "orchard", evidence="real")
    same = structs.replace(alone, setting="react+static")
    table = repairs.ablation_table([alone, same])
    assert repairs.of_ablation([alone, same]) == [alone]
    assert "Left out are settings with static analysis of search on orchard" in " ".join(table.notes)
    first, *rest = same.attempts
    other = structs.replace(same, attempts=(structs.replace(first, iterations=first.iterations + 1), *rest))
    assert repairs.of_ablation([alone, other]) == [alone, other]
    assert repairs.of_ablation([same]) == [same]


def test_a_figure_shows_the_measured_settings_of_a_set_in_the_order_of_table_3() -> None:
    drawn = repairs.ablation_table(FOUR[::-1]).drawn
    measured_rows = [row.quantity for row in drawn if row.group == "search on planted"]
    assert measured_rows == ["ReAct alone", "Static analysis", "Test execution", "Both"]


def test_generated_figures_name_what_planted_their_faults() -> None:
    for table in (repairs.ablation_table(FOUR), repairs.ablation_pairs_table(FOUR)):
        module, _, name = table.generator.rpartition(".")
        assert callable(getattr(import_module(module), name))


def test_five_attempts_a_case_give_a_rate_of_five_runs() -> None:
    tries = [
        attempt(case, case == "a" and sample == 4, sample, setting="react") for case in "ab" for sample in range(5)
    ]
    arms = [arm(*tries, evidence="generated")]
    one = RepairArm("it", "search", "react", "search_replace", arms[0].attempts, "planted", evidence="generated")
    result = _golden(repairs.ablation_table([one]), "ReAct alone")
    assert (result["generated", "Solved, one run"], result["generated", "Solved, five runs"]) == (0.1, 0.5)


def test_measured_settings_are_compared_in_pairs_on_the_same_cases() -> None:
    table = repairs.ablation_pairs_table(FOUR)
    rows = {row.quantity: row.value for row in table.rows if row.group == "ReAct alone less Test execution"}
    assert rows["Difference of solve rates"] == -1.0
    assert rows["p-value"] == mcnemar_mid_p(PairedTable(0, 0, 8, 0)).p_value
    assert table.finding.startswith("2 of 6 pairs")
    assert repairs.ablation_pairs_table(FOUR[:1]).rows == ()


def test_settings_on_different_cases_are_not_compared() -> None:
    other = RepairArm("it", "search", "react+tests", "search_replace", FOUR[2].attempts, "planted", "another version")
    assert repairs.ablation_pairs_table([FOUR[0], other]).rows == ()


def test_a_format_with_its_instructions_stands_in_table_2_and_not_in_table_3() -> None:
    one = measured("react", "abcd", instructions="detailed", form="unified_diff")
    result = _golden(repairs.measured_formats_table([one]), "search, instructions by templates")
    assert result == {("generated", "Unified diff, detailed instructions"): 0.5}
    assert repairs.ablation_table([one]).rows == solve_rate_table().rows


def test_instructions_of_a_model_and_of_templates_are_told_apart_in_table_2() -> None:
    one = measured("react", "abcd", instructions="detailed", form="unified_diff")
    other = structs.replace(one, instructions_by="small-1, back_translation@1, 0c5f", policy="direct", model="hand")
    table = repairs.measured_formats_table([one, other])
    groups = {row.group for row in table.rows if row.evidence == "generated"}
    assert groups == {"search, instructions by templates", "direct with hand, instructions by small-1"}
    assert structs.replace(one, evidence="real").instructions_author == "the cases' maker"


def test_table_4_fits_the_counts_with_its_rows_swapped_and_not_as_printed() -> None:
    table = repairs.judge_readings_table()
    statuses = {
        group: [row.status for row in table.rows if row.group == group and row.status]
        for group in dict.fromkeys(row.group for row in table.rows)
    }
    assert list(statuses.values()) == [["differs"] * 4, ["reproduced"] * 4]
    assert "0 of 4" in table.finding
    assert "4 of 4" in table.finding


def test_a_judge_of_patches_is_held_against_the_oracle() -> None:
    said = {"a": (True, True), "b": (True, False), "c": (False, False), "d": (False, False), "e": (False, True)}
    tries = [attempt(case, solved, signals=(Signal("patch_judge", passed),)) for case, (solved, passed) in said.items()]
    tries += [attempt("f", False, patched=False, signals=(Signal("patch_judge", False),)), attempt("g", True)]
    table = repairs.judge_readings_table([arm(*tries, evidence="generated")])
    results = {row.quantity: (row.value, row.n) for row in table.rows if row.evidence == "generated"}
    assert results == {
        "Precision, unacceptable": (pytest.approx(2 / 3), 3),
        "Precision, acceptable": (0.5, 2),
        "Recall, unacceptable": (pytest.approx(2 / 3), 3),
        "Recall, acceptable": (0.5, 2),
    }


def test_a_review_log_stands_beside_table_5() -> None:
    log = [ReviewEvent("a", "landed"), ReviewEvent("a", "accepted"), ReviewEvent("b", "rejected")]
    table = repairs.review_funnel_table(review_funnel(log), "made-up log", "generated")
    result = _golden(table, "")
    assert result["published", "Land Rate of Reviewed"] == 0.315
    assert result["generated", "Land Rate of Reviewed"] == 0.5
    assert result["generated", "# diffs Published"] == 2
    without = repairs.review_funnel_table()
    assert {row.evidence for row in without.rows} == {"published", "recomputed"}
    assert "No review log is recorded for this table." in without.notes
