"""Rates of sessions by group: each share is of the sessions that could be checked, in that group alone."""

from misstep_analysis.sessions.prevalence import Labels, prevalence
from misstep_analysis.sessions.session_rates import (
    NOT_RECORDED,
    counts_of,
    rates_by,
    session_rates_table,
    worst_group,
)
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables.text import grid
from misstep_harness.session import Session

CATEGORIES = ("loop", "drift")


def _sessions(project: str, labels: Labels, n: int = 1, parent: str | None = None) -> list[tuple[Session, Labels]]:
    return [
        (Session(f"{project}-{number}", "runs.jsonl", project=project, parent=parent), labels) for number in range(n)
    ]


SHOP = [
    *_sessions("shop", ("yes", None), 3),
    *_sessions("shop", ("no", "yes"), 7),
    *_sessions("shop", ("yes", "no"), 5, "run"),
]
BANK = [*_sessions("bank", ("yes", "no"), 1), *_sessions("bank", ("no", None), 11)]


def test_a_share_is_of_the_sessions_of_its_group_that_could_be_checked() -> None:
    rates = rates_by(CATEGORIES, SHOP + BANK, "project")
    assert list(rates) == ["bank", "shop"]
    assert counts_of(rates, "loop")["shop"].share == wilson(3, 10)
    assert counts_of(rates, "drift")["shop"].share == wilson(7, 7)
    assert counts_of(rates, "drift")["bank"].share == wilson(0, 1)


def test_weeks_stand_in_their_order_and_sessions_without_one_last() -> None:
    days = ("2026-03-09T10:00:00Z", None, "2025-12-30T10:00:00Z", "2026-03-02T10:00:00Z", "2026-03-03T10:00:00Z")
    sessions = [(Session(f"s{place}", "f", started=day), ("no", "no")) for place, day in enumerate(days)]
    assert list(rates_by(CATEGORIES, sessions, "week")) == ["2026-W01", "2026-W10", "2026-W11", NOT_RECORDED]


def test_the_worst_group_is_the_one_that_is_bad_for_certain() -> None:
    once = _sessions("tiny", ("yes", "no"))
    often = [*_sessions("large", ("yes", "no"), 30), *_sessions("large", ("no", "no"), 10)]
    worst = worst_group(rates_by(CATEGORIES, [*often, *once], "project"), "loop")
    assert worst == ("large", prevalence(CATEGORIES, {("yes", "no"): 30, ("no", "no"): 10}).categories[0])
    assert worst_group(rates_by(CATEGORIES, _sessions("calm", ("no", "no"), 4), "project"), "loop") is None


def test_the_table_has_a_line_a_group_and_names_the_worst() -> None:
    table = session_rates_table(rates_by(CATEGORIES, SHOP + BANK, "project"), "project", source="made up")
    (section,) = grid(table).sections
    assert [line.label for line in section.lines] == ["bank", "shop"]
    assert table.finding == "Cases of drift are most frequent in the project shop: 7 of 7 sessions."


def test_only_weeks_and_categories_with_something_to_show_are_drawn() -> None:
    sessions = [(Session("a", "f", started=day), ("yes", None)) for day in ("2026-03-02", "2026-03-09", None)]
    table = session_rates_table(rates_by(CATEGORIES, sessions, "week"), "week", source="made up")
    assert [(row.quantity, row.group) for row in table.drawn] == [("2026-W10", "loop"), ("2026-W11", "loop")]
    assert "No session could be checked for drift." in table.notes
