"""Sound made-up tables raise no alarm, and planted errors are found: a quick form of `benchmarks.audit`."""

from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from msgspec import structs

from benchmarks.audit.__main__ import page, recording
from benchmarks.audit.detection import (
    PlantedResult,
    Sound,
    detectable,
    on_planted_errors,
    on_sound_tables,
    planted_counts,
    wrong_digits,
)
from benchmarks.audit.generated_draws import sound_table
from benchmarks.audit.generated_tables import Quantity, Rule, Style, prints_sound, rounded
from benchmarks.audit.planted_errors import KINDS, planted_error
from misstep.analysis.audit.detection import Detection
from misstep.harness.forms import toml_form

SEED = 3
TABLES = 60

MISSED_AT_TIMES = {
    "total of rounded parts off by one in the last digit",
    "one-sided p-value",
    "p-value of another row",
    "sign of a difference",
    "relative change for a difference in points",
    "difference in points for a relative change",
    "one digit of kappa, no matrix",
}
FOUND_ALWAYS = [kind for kind in KINDS if kind not in MISSED_AT_TIMES]
"""Kinds of error that a check of the printed figures can miss in no table where they show at all."""


@cache
def planted(kind: str) -> list[PlantedResult]:
    return on_planted_errors(SEED, kind, TABLES)


def test_sound_tables_raise_no_alarm() -> None:
    sound = on_sound_tables(SEED, 450)
    assert sound.alarms == ()
    assert sound.checks > 1_000


@pytest.mark.parametrize("kind", FOUND_ALWAYS)
def test_an_error_that_shows_is_found(kind: str) -> None:
    result = planted(kind)
    assert any(one.undetectable is False for one in result)
    assert all(one.detected for one in detectable(result))


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_that_leaves_a_sound_table_raises_no_alarm(kind: str) -> None:
    assert not [one for one in planted(kind) if one.undetectable and one.detected]


@pytest.mark.parametrize(
    "kind",
    [
        "percentages cut off, counts printed",
        "two digits of a percentage exchanged, count printed",
        "rows of precision and recall swapped",
        "sign of a difference",
        "relative change for a difference in points",
        "difference in points for a relative change",
    ],
)
def test_the_planted_repair_is_suggested_nearly_always(kind: str) -> None:
    named = [one.named for one in planted(kind) if one.detected]
    assert sum(bool(one) for one in named) >= 0.9 * len(named)


def test_a_table_of_a_seed_is_always_the_same_and_another_seed_gives_another() -> None:
    assert sound_table(SEED, 17).paper() == sound_table(SEED, 17).paper()
    assert sound_table(SEED, 17).paper() != sound_table(SEED + 1, 17).paper()
    kind = "one-sided p-value"
    assert planted_error(SEED, kind, 4).table.paper() == planted_error(SEED, kind, 4).table.paper()


@pytest.mark.parametrize(
    ("value", "digits", "rule", "text"),
    [
        (Fraction(1, 8), 2, "half_up", "0.13"),
        (Fraction(1, 8), 2, "half_even", "0.12"),
        (Fraction(199, 1000), 2, "cut_off", "0.19"),
        (Fraction(75, 1000), 2, "binary", "0.07"),
        (Fraction(-1, 100), 1, "binary", "0.0"),
        (Fraction(-5, 2), 0, "half_up", "-3"),
        (Fraction(-1, 100), 1, "half_up", "0.0"),
        (Fraction(42807), 0, "half_even", "42807"),
    ],
)
def test_values_are_rounded_as_their_rule_says(value: Fraction, digits: int, rule: Rule, text: str) -> None:
    assert rounded(value, digits, rule) == text


def test_a_share_without_its_count_may_print_as_any_count_of_its_cases() -> None:
    share = Quantity("share", Fraction(1, 7), "share", check="percentage", steps=Fraction(7))
    assert prints_sound(share, Style(digits=0), "43%")
    assert not prints_sound(share, Style(digits=0), "42%")
    assert not prints_sound(structs.replace(share, steps=None), Style(digits=0), "43%")


def test_a_wrong_digit_is_found_where_not_every_share_can_come() -> None:
    results = {(one.n, one.digits): one.found / one.shares for one in wrong_digits(SEED, 20)}
    # Out of 100 cases every whole percentage can come, and only what is more than 100% is found.
    assert results[100, 0] < 0.2
    assert results[100, 2] > 0.4


def test_the_page_says_alarms_first_and_every_kind() -> None:
    results = {kind: on_planted_errors(SEED, kind, 3) for kind in KINDS}
    content = page(on_sound_tables(SEED, 9), results, tuple(wrong_digits(SEED, 3)), 3, SEED)
    assert "0 of 9 sound tables" in content
    assert all(f"| {kind} | 3 |" in content for kind in KINDS)


def test_what_is_recorded_is_read_back_as_it_was_counted() -> None:
    kind = next(iter(KINDS))
    results = {kind: on_planted_errors(SEED, kind, 5)}
    text = recording(Sound(9, 30, 1, ()), results, tuple(wrong_digits(SEED, 2)), SEED)
    run = toml_form(text.encode(), Detection, Path("recording.toml"), "Written by the benchmark.")
    assert (run.seed, run.sound.with_alarm) == (SEED, 1)
    assert run.planted == (planted_counts(kind, results[kind]),)
    assert run.wrong_digits == tuple(wrong_digits(SEED, 2))
