"""Recovery rates, their control, time to recovery and the judge of recoveries."""

import numpy as np
import pytest
from msgspec import structs

from misstep.analysis.measures.recovery.effect import recovery_effects, time_to_recovery
from misstep.analysis.measures.recovery.judge import judge_of_recoveries
from misstep.analysis.measures.recovery.problems import ENGINEER, RECOVERED, SESSION_OVER, WINDOW, Problem, problems
from misstep.analysis.measures.recovery.rates import as_judged, by_unit, chosen, recovery_rate, recovery_rates
from misstep.analysis.stats.clusters.clustered import clustered_difference
from misstep.analysis.stats.clusters.clustered_bounds import korn_graubard
from misstep.analysis.stats.significance import holm
from tests.analysis.measures.recovery.made_up import CATEGORIES, experiment

CLASSES = {"Loops": ("infinite_loop",), "Overall": CATEGORIES}


def arms(n: int = 300, **given: float) -> tuple[list[Problem], list[Problem]]:
    found = problems(experiment(n, **given), "word")  # type: ignore[arg-type]
    return [one for one in found if one.arm == "guide"], [one for one in found if one.arm == "shadow"]


def judged(found: list[Problem], right: float, seed: int = 0) -> list[Problem]:
    rng = np.random.default_rng(seed)
    return [structs.replace(one, judged=one.recovered is bool(rng.random() < right)) for one in found]


def test_a_rate_is_over_problems_and_its_interval_over_units() -> None:
    guided, _ = arms()
    found = recovery_rate(guided)
    assert found == korn_graubard(by_unit(guided))
    assert found.value == pytest.approx(sum(one.recovered for one in guided) / len(guided))


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
    found = time_to_recovery(guided, unguided, "word")
    shares = found.at_window[RECOVERED].shares
    assert [one.value for one in shares] == pytest.approx([recovery_rate(arm).value for arm in (guided, unguided)])
    over = found.at_window[SESSION_OVER].shares[1].value
    expected = sum(one.event == SESSION_OVER and one.steps <= WINDOW for one in unguided) / len(unguided)
    assert over == pytest.approx(expected)
    assert ENGINEER not in found.at_window  # nobody stepped in
    assert found.unguided.one_minus_kaplan_meier[-1] >= found.unguided.incidence[0, -1]


def test_a_judge_without_errors_changes_nothing() -> None:
    guided, unguided = arms()
    found = judge_of_recoveries(judged(guided + unguided, right=1))
    assert (found.precision.value, found.sensitivity.value, found.specificity.value) == (1, 1, 1)
    assert found.apparent == found.true
    assert found.corrected.value == pytest.approx(found.true.value)


def test_a_rate_is_corrected_by_the_errors_made_on_the_other_half() -> None:
    guided, _ = arms(600)
    used = set(sorted({one.unit for one in guided})[1::2])
    rng = np.random.default_rng(0)
    errs = [
        structs.replace(one, judged=one.recovered is (one.unit not in used or bool(rng.random() < 0.6)))
        for one in guided
    ]
    found = judge_of_recoveries(errs)
    assert found.apparent.value < found.true.value
    assert found.corrected.value == pytest.approx(found.apparent.value)  # on the other half it made no error


def test_problems_without_a_label_count_for_no_figure_and_are_told() -> None:
    guided, unguided = arms()
    half = judged(guided, right=0.9)
    found = judge_of_recoveries(half + unguided)
    assert found.unlabelled == len(unguided)
    assert recovery_rate(half + unguided, as_judged).n == len(half)


def test_a_judge_that_tells_nothing_corrects_nothing_and_says_why() -> None:
    always = [structs.replace(one, judged=True) for arm in arms() for one in arm]
    assert judge_of_recoveries(always).corrected.value is None
    assert "tells nothing" in judge_of_recoveries(always).corrected.reason
    assert judge_of_recoveries([]).precision.value is None
