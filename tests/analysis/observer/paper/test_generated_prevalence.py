"""Table 1 on a generated study: every figure is called generated, printed ones stand beside them as printed."""

import pytest

from misstep_analysis.observer.paper.generated_prevalence import (
    StudiedSession,
    Study,
    corrected_share,
    generated_prevalence_table,
    shown_share,
)
from misstep_analysis.reproduction.recorded.classified import generated_study
from misstep_analysis.tables import Table

CATEGORIES = ("loops", "drift")


def session(place: int, planted: str, labels: str) -> StudiedSession:
    found = [None if label == "-" else label for label in labels.split()]
    return StudiedSession(f"s{place}", frozenset(planted.split()), dict(zip(CATEGORIES, found, strict=True)))


def corrected(sessions: list[StudiedSession], validation: list[StudiedSession]):
    return corrected_share(Study(tuple(sessions), tuple(validation), CATEGORIES, "made up"), "loops")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MISSTEP_CACHE", str(tmp_path_factory.mktemp("cache")))
        study = generated_study(300, 150)
        assert study == generated_study(300, 150), "what was kept is what was made"
    return generated_prevalence_table(study)


def test_every_figure_is_generated_but_those_that_the_paper_prints(table: Table) -> None:
    assert {row.evidence for row in table.rows} == {"generated", "published"}
    assert all("seed" in row.source and "n 300" in row.source for row in table.rows if row.evidence == "generated")
    assert table.generator == "misstep_harness.generate.sessions.generate_sessions"


def test_printed_and_planted_stand_in_one_group(table: Table) -> None:
    rows = [row for row in table.rows if row.group == "Tool call failure"]
    assert [row.quantity for row in rows] == [
        "Printed",
        "Planted",
        "Found by rule",
        "Corrected for the rule's errors",
        "Planted alone",
    ]
    assert rows[0].printed == "14.02%"
    assert all(row.low is not None for row in rows[1:])


def test_what_no_rule_could_check_has_a_reason_or_the_number_of_those_that_it_could(table: Table) -> None:
    for row in table.rows:
        if row.quantity == "Found by rule" and row.group in ("Did not follow instructions", "Unrequested changes"):
            assert row.reason or (row.n is not None and row.n < 60)


def test_a_session_that_was_not_answered_is_in_no_share_of_what_was_found_and_in_that_of_what_was_planted() -> None:
    sessions = [session(0, "loops", "yes -"), session(1, "drift", "no -"), session(2, "", "no no")]
    of_loops, of_drift = (shown_share(sessions, category, "found") for category in CATEGORIES)
    assert (of_loops.value, of_drift.n) == (pytest.approx(1 / 3), 1)
    assert shown_share(sessions, "any", "planted").value == pytest.approx(2 / 3)
    assert shown_share(sessions[:2], "drift", "found").reason == "the classifier answered for no session"


def test_correction_brings_back_the_prevalence_that_a_classifier_of_known_errors_hides() -> None:
    """20% planted, sensitivity 75%, specificity 90%: 23% are flagged."""
    validation = [session(n, "loops", "yes no" if n < 75 else "no no") for n in range(100)]
    validation += [session(n, "", "yes no" if n < 10 else "no no") for n in range(100)]
    result = corrected([session(n, "", "yes no" if n < 230 else "no no") for n in range(1000)], validation)
    assert result.value == pytest.approx(0.2)
    assert result.low < 0.2


def test_a_classifier_that_tells_nothing_corrects_nothing() -> None:
    blind = [session(n, "loops" if n % 2 else "", "no no") for n in range(20)]
    result = corrected(blind, blind)
    assert (result.value, "tells nothing" in result.reason) == (None, True)
