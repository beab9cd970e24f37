"""What became of each misbehaviour, from its onset on or from the word that the agent hears."""

import numpy as np
import pytest
from msgspec import structs

from misstep_analysis.observer.recovery import (
    ENGINEER,
    RECOVERED,
    SESSION_OVER,
    WINDOW,
    Problem,
    as_judged,
    by_unit,
    chosen,
    groundless,
    judge_of_recoveries,
    problems,
    recovery_effects,
    recovery_rate,
    recovery_rates,
    time_to_recovery,
)
from misstep_analysis.stats.clusters.clustered import clustered_difference
from misstep_analysis.stats.clusters.clustered_bounds import korn_graubard
from misstep_analysis.stats.significance import holm
from misstep_harness.intervention import Intervention, Misbehaviour
from misstep_harness.live_session import Episode
from tests.analysis.observer.recovery.made_up import CATEGORIES, experiment, session, word

CLASSES = {"Loops": ("infinite_loop",), "Overall": CATEGORIES}


def test_a_problem_that_guidance_ends_is_recovered_at_the_first_step_behind_the_word() -> None:
    episode = Episode("infinite_loop", 5, 12, "guidance")
    (result,) = problems([session("a", "guide", [episode], [word("infinite_loop", 10, 12)])], "word")
    assert (result.event, result.steps, result.words, result.recovered) == (RECOVERED, 1, 1, True)


def test_in_the_arm_that_only_detects_the_word_is_where_it_would_have_been_heard() -> None:
    episode = Episode("infinite_loop", 5, 20, "itself")
    (result,) = problems([session("a", "shadow", [episode], [word("infinite_loop", 10)])], "word")
    assert (result.event, result.steps) == (RECOVERED, 20 + 1 - 12)


def test_what_was_over_before_its_word_is_followed_from_the_onset_alone() -> None:
    given = [session("a", "guide", [Episode("infinite_loop", 5, 11, "itself")], [word("infinite_loop", 10, 12)])]
    assert problems(given, "word") == []
    assert [one.steps for one in problems(given, "onset")] == [7]


def test_a_relapse_belongs_to_its_problem_which_is_over_when_that_is() -> None:
    episodes = [
        Episode("infinite_loop", 5, 12, "guidance"),
        Episode("infinite_loop", 16, 31, "session", relapse=True),
        Episode("tool_call_failure", 8, 9, "itself"),
    ]
    given = [session("a", "guide", episodes, [word("infinite_loop", 10, 12), word("infinite_loop", 20, 22)])]
    (result,) = problems(given, "word")
    assert (result.event, result.recovered, result.words) == (SESSION_OVER, False, 2)
    assert [one.category for one in problems(given, "onset")] == ["infinite_loop", "tool_call_failure"]


def test_an_engineer_who_steps_in_is_no_recovery_nor_is_one_after_the_window() -> None:
    helped = session("a", "shadow", [Episode("infinite_loop", 5, 14, "engineer")], [word("infinite_loop", 10)])
    late = session("b", "shadow", [Episode("infinite_loop", 5, 28, "itself")], [word("infinite_loop", 10)])
    first, second = problems([helped, late], "word")
    assert (first.event, first.recovered) == (ENGINEER, False)
    assert (second.event, second.steps, second.recovered) == (RECOVERED, 17, False)


def test_a_word_about_two_categories_is_about_both_problems() -> None:
    both = Intervention((Misbehaviour("infinite_loop"), Misbehaviour("tool_call_failure")), 10, 12)
    episodes = [Episode("infinite_loop", 5, 12, "guidance"), Episode("tool_call_failure", 6, 12, "guidance")]
    assert len(problems([session("a", "guide", episodes, [both])], "word")) == 2


def test_a_word_withheld_as_stale_or_repeated_is_none() -> None:
    stale = Intervention((Misbehaviour("infinite_loop"),), 10, withheld="stale")
    given = [session("a", "guide", [Episode("infinite_loop", 5, 20, "itself")], [stale])]
    assert problems(given, "word") == []
    assert groundless(given) == (0, 0)


def test_words_without_a_planted_misbehaviour_are_counted() -> None:
    given = [
        session("a", "guide", [Episode("infinite_loop", 15, 20, "itself")], [word("infinite_loop", 10, 12)]),
        session("b", "guide", [Episode("infinite_loop", 5, 12, "itself")], [word("infinite_loop", 10, 12)]),
    ]
    assert groundless(given) == (1, 2)


def test_the_judges_label_stands_at_the_word_that_the_problem_is_followed_from() -> None:
    episode = Episode("infinite_loop", 5, 20, "itself")
    words = [word("tool_call_failure", 6, 8), word("infinite_loop", 10, 12), word("infinite_loop", 15, 17)]
    (result,) = problems([session("a", "guide", [episode], words)], "word", {("a", 1): True, ("a", 2): False})
    assert result.judged is True


def arms(n: int = 300, **given: float) -> tuple[list[Problem], list[Problem]]:
    result = problems(experiment(n, **given), "word")  # type: ignore[arg-type]
    return [one for one in result if one.arm == "guide"], [one for one in result if one.arm == "shadow"]


def judged(message: list[Problem], right: float, seed: int = 0) -> list[Problem]:
    rng = np.random.default_rng(seed)
    return [structs.replace(one, judged=one.recovered is bool(rng.random() < right)) for one in message]


def test_a_rate_is_over_problems_and_its_interval_over_units() -> None:
    guided, _ = arms()
    result = recovery_rate(guided)
    assert result == korn_graubard(by_unit(guided))
    assert result.value == pytest.approx(sum(one.recovered for one in guided) / len(guided))


def test_classes_and_numbers_of_words_divide_the_problems() -> None:
    guided, _ = arms()
    guided[0] = structs.replace(guided[0], words=3)
    sizes = [len(chosen(guided, CATEGORIES, words)) for words in ("single", "multiple", "any")]
    assert sizes == [len(guided) - 1, 1, len(guided)]
    rates = recovery_rates(guided, CLASSES, "single")
    assert rates["Loops"].n == sum(one.category == "infinite_loop" and one.words == 1 for one in guided)


def test_the_effect_is_the_difference_between_the_arms_over_units() -> None:
    guided, unguided = arms()
    overall = next(one for one in recovery_effects(guided, unguided, CLASSES) if one.name == "Overall")
    assert overall.difference == clustered_difference(by_unit(guided), by_unit(unguided)).small_sample
    assert overall.difference.low > 0
    assert overall.p_adjusted == overall.test.p_value


def test_the_p_values_of_single_classes_are_adjusted_for_their_number() -> None:
    classes = {name: (name,) for name in CATEGORIES} | {"Overall": CATEGORIES}
    *single, _ = recovery_effects(*arms(120, heeding=0.3), classes)
    assert tuple(one.p_adjusted for one in single) == holm([one.test.p_value for one in single]).p_values


def test_without_censoring_the_incidences_at_the_window_are_the_shares() -> None:
    guided, unguided = arms()
    result = time_to_recovery(guided, unguided, "word")
    shares = result.at_window[RECOVERED].shares
    assert [one.value for one in shares] == pytest.approx([recovery_rate(arm).value for arm in (guided, unguided)])
    over = result.at_window[SESSION_OVER].shares[1].value
    expected = sum(one.event == SESSION_OVER and one.steps <= WINDOW for one in unguided) / len(unguided)
    assert over == pytest.approx(expected)
    assert ENGINEER not in result.at_window  # nobody stepped in
    assert result.unguided.one_minus_kaplan_meier[-1] >= result.unguided.incidence[0, -1]


def test_a_judge_without_errors_changes_nothing() -> None:
    guided, unguided = arms()
    result = judge_of_recoveries(judged(guided + unguided, right=1))
    assert (result.precision.value, result.sensitivity.value, result.specificity.value) == (1, 1, 1)
    assert result.apparent == result.true
    assert result.corrected.value == pytest.approx(result.true.value)


def test_a_rate_is_corrected_by_the_errors_made_on_the_other_half() -> None:
    guided, _ = arms(600)
    used = set(sorted({one.unit for one in guided})[1::2])
    rng = np.random.default_rng(0)
    errs = [
        structs.replace(one, judged=one.recovered is (one.unit not in used or bool(rng.random() < 0.6)))
        for one in guided
    ]
    result = judge_of_recoveries(errs)
    assert result.apparent.value < result.true.value
    assert result.corrected.value == pytest.approx(result.apparent.value)  # on the other half it made no error


def test_problems_without_a_label_count_for_no_figure_and_are_told() -> None:
    guided, unguided = arms()
    half = judged(guided, right=0.9)
    result = judge_of_recoveries(half + unguided)
    assert result.unlabelled == len(unguided)
    assert recovery_rate(half + unguided, as_judged).n == len(half)


def test_a_judge_that_tells_nothing_corrects_nothing_and_says_why() -> None:
    always = [structs.replace(one, judged=True) for arm in arms() for one in arm]
    assert judge_of_recoveries(always).corrected.value is None
    assert "tells nothing" in judge_of_recoveries(always).corrected.reason
    assert judge_of_recoveries([]).precision.value is None
