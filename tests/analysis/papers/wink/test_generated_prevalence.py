"""Tables 1 and 2 on a generated study: every figure is called generated, printed ones stand beside them as printed."""

import pytest

from misstep.analysis.papers.wink import generated_prevalence as generated
from misstep.analysis.tables import Table
from misstep.studies.recorded.generated_study import generated_study


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MISSTEP_CACHE", str(tmp_path_factory.mktemp("cache")))
        study = generated_study(300, 150)
        assert study == generated_study(300, 150), "what was kept is what was made"
    made = (
        generated.generated_prevalence_table(study),
        generated.generated_models_table(study),
        generated.weeks_table(study, 0),
        generated.ratings_table(study),
    )
    return {table.name: table for table in made}


def test_every_figure_is_generated_but_those_that_the_paper_prints(tables: dict[str, Table]) -> None:
    for table in tables.values():
        assert {row.evidence for row in table.rows} <= {"generated", "published"}
        assert all("seed" in row.source and "n 300" in row.source for row in table.rows if row.evidence == "generated")
        assert table.generator == "misstep.harness.generate.sessions.generate_sessions"


def test_printed_and_planted_stand_in_one_group(tables: dict[str, Table]) -> None:
    rows = [row for row in tables["generated_prevalence"].rows if row.group == "Tool call failure"]
    assert [row.quantity for row in rows] == [
        "Printed",
        "Planted",
        "Found by rule",
        "Corrected for the rule's errors",
        "Planted alone",
    ]
    assert rows[0].printed == "14.02%"
    assert all(row.low is not None for row in rows[1:])


def test_what_no_rule_could_check_has_a_reason_or_the_number_of_those_that_it_could(tables: dict[str, Table]) -> None:
    for row in tables["generated_prevalence"].rows:
        if row.quantity == "Found by rule" and row.group in ("Did not follow instructions", "Unrequested changes"):
            assert row.reason or (row.n is not None and row.n < 60)


def test_both_p_values_of_a_category_stand_side_by_side(tables: dict[str, Table]) -> None:
    by_group: dict[str, dict[str, object]] = {}
    for row in tables["generated_models"].rows:
        by_group.setdefault(row.group, {})[row.quantity] = row.value
    assert len(by_group) == 8
    for result in by_group.values():
        plain, adjusted = result["p-value"], result["p-value, Holm"]
        assert (plain is None and adjusted is None) or adjusted >= plain  # type: ignore[operator]


def test_five_weeks_are_shown_and_a_daily_sample_beside_all(tables: dict[str, Table]) -> None:
    rows = tables["weeks"].rows
    assert [row.quantity for row in rows][:5] == [f"Week {week}" for week in range(1, 6)]
    whole, sample = rows[-2:]
    assert whole.n == 300
    assert 30 <= sample.n <= 45


def test_the_disliked_show_more_than_all(tables: dict[str, Table]) -> None:
    results = {row.quantity: row.value for row in tables["ratings"].rows if row.group == "Any of the four, planted"}
    assert float(results["Disliked"] or 0) > float(results["All"] or 0) > float(results["Liked"] or 0)
