"""What the public sets give of whose fault failures are: how many runs can be judged, which tasks are defective."""

import pytest

from misstep_analysis.reproduction.recorded import fault_data

pytestmark = pytest.mark.data


def test_the_runs_that_are_judged_are_those_with_a_transcript_and_a_label_that_maps() -> None:
    (results,) = (one for one in fault_data.triaged_sets(["triage@phrases"]) if one.judged.dataset == "agentrx")
    assert (results.scores.n, results.unmapped, results.unaskable) == (27, 2, 44)
    assert {label: results.scores.labels[label].support for label in results.supported} == {
        "task": 8,
        "agent": 18,
        "infrastructure": 1,
    }


def test_runs_of_which_the_reward_alone_is_known_are_told_apart_by_it() -> None:
    results = {one.outcome: one for one in fault_data.unlabelled_runs(["triage@phrases"])}
    assert {outcome: len(one.verdicts) for outcome, one in results.items()} == {"failed": 4, "passed": 1}
    assert "pass" not in results["failed"].counts()


def test_known_defects_are_shares_of_the_tasks_that_were_looked_at() -> None:
    counts = {one.mapping.subcategory: (len(one.tasks), len(one.among)) for one in fault_data.defective_tasks()}
    assert counts == {"ambiguous_spec": (19, 150), "solution_leakage": (6, 150), "weak_tests": (14, 500)}


def test_no_unclear_text_is_on_the_leaderboard_and_tasks_with_weak_tests_are_solved_more_often() -> None:
    results = {one.defect.mapping.subcategory: one for one in fault_data.worth_of_passes()}
    assert results["ambiguous_spec"].kept.value == 0
    weak = results["weak_tests"]
    assert weak.rate.value == pytest.approx(0.728, abs=5e-4)
    assert (weak.difference.low or 0) > 0
    assert weak.of_passes.value == pytest.approx(1365 / 34485, abs=1e-9)


def test_people_give_nearly_all_marked_errors_to_the_agent() -> None:
    shares = [one.shares["agent"].value or 0 for one in fault_data.errors_by_fault() if one.who.startswith("people")]
    assert len(shares) == 3
    assert min(shares) > 0.93


def test_the_printed_accuracies_of_judges_are_there_for_five_models_and_four_kinds_of_leaves() -> None:
    printed = fault_data.printed_judges()
    assert {len(shares) for shares in printed.values()} == {4}
    assert round(printed["o1-2024-12-17_high"]["Overall"], 3) == 0.844
