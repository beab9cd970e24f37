"""Prevalence in a generated study: shares by week, day, version and rating, and what correction makes of errors."""

import pytest

from misstep.analysis.measures.study_prevalence import (
    StudiedSession,
    Study,
    by_rating,
    by_week,
    compare_versions,
    corrected,
    sampled_by_day,
    share,
)

CATEGORIES = ("loops", "drift")


def session(
    place: int, planted: str = "", message: str = "no no", version: str = "one", liked: bool | None = None
) -> StudiedSession:
    labels = [None if label == "-" else label for label in message.split()]
    return StudiedSession(
        f"s{place}",
        version,
        1 + place % 2,
        f"2026-03-{1 + place % 4:02}",
        liked,
        frozenset(planted.split()),
        dict(zip(CATEGORIES, labels, strict=True)),
    )


def study(*sessions: StudiedSession, validation: tuple[StudiedSession, ...] = ()) -> Study:
    return Study(sessions, validation, CATEGORIES, "made up")


def test_a_session_that_was_not_answered_is_in_no_share_of_what_was_found_and_in_that_of_what_was_planted() -> None:
    sessions = [session(0, "loops", "yes -"), session(1, "drift", "no -"), session(2, "", "no no")]
    assert (share(sessions, "loops", "found").value, share(sessions, "drift", "found").n) == (pytest.approx(1 / 3), 1)
    assert share(sessions, "drift", "planted").value == pytest.approx(1 / 3)
    assert share(sessions, "any", "planted").value == pytest.approx(2 / 3)
    assert share(sessions[:2], "drift", "found").reason == "the classifier answered for no session"


def test_correction_brings_back_the_prevalence_that_a_classifier_of_known_errors_hides() -> None:
    """20% planted, sensitivity 75%, specificity 90%: 23% are flagged."""
    validation = [session(n, "loops", "yes no" if n < 75 else "no no") for n in range(100)]
    validation += [session(n, "", "yes no" if n < 10 else "no no") for n in range(100)]
    flagged = [session(n, "loops" if n < 200 else "", "yes no" if n < 230 else "no no") for n in range(1000)]
    result = corrected(study(*flagged, validation=tuple(validation)), "loops")
    assert result.value == pytest.approx(0.2)
    assert result.low < 0.2


def test_a_classifier_that_never_errs_and_one_that_tells_nothing_are_told_apart() -> None:
    right = tuple(session(n, "loops" if n % 2 else "", "yes no" if n % 2 else "no no") for n in range(20))
    assert corrected(study(*right, validation=right), "loops").value == pytest.approx(0.5)
    blind = tuple(session(n, "loops" if n % 2 else "", "no no") for n in range(20))
    result = corrected(study(*blind, validation=blind), "loops")
    assert (result.value, "tells nothing" in result.reason) == (None, True)


def test_weeks_and_ratings_part_the_sessions() -> None:
    liked = (True, False, None)
    made = study(*(session(n, "loops" if n % 4 == 0 else "", liked=liked[n % 3]) for n in range(120)))
    weeks, ratings = by_week(made, "loops", "planted"), by_rating(made, "any", "planted")
    assert [(week, one.value, one.n) for week, one in weeks.items()] == [(1, 0.5, 60), (2, 0.0, 60)]
    assert [one.n for one in ratings.values()] == [40, 40, 40, 120]


def test_a_sample_takes_the_same_part_of_every_day_and_all_of_it_is_the_whole() -> None:
    made = study(*(session(n, "", "yes no" if n % 5 == 0 else "no no") for n in range(400)))
    assert sampled_by_day(made, 0.1, 0).n == 40
    assert sampled_by_day(made, 1.0, 0) == share(made.sessions, "any", "found")
    assert sampled_by_day(made, 0.1, 0) == sampled_by_day(made, 0.1, 0)


def test_versions_are_tested_by_category_and_adjusted_together() -> None:
    sessions = [session(n, "loops" if n < 60 else "", version="one") for n in range(200)]
    sessions += [session(n, "loops" if n < 30 else "", version="two") for n in range(200)]
    loops, drift = compare_versions(study(*sessions), "planted")
    assert loops.difference.value == pytest.approx(0.15)
    assert loops.test.p_value is not None
    assert loops.adjusted == loops.test.p_value, "the other has no p-value and counts for no test"
    assert (drift.adjusted, drift.test.p_value) == (None, None)
