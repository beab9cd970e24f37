"""The recorded figures of the audit's benchmark, as the notebook shows them."""

from misstep.analysis.audit.detection import curve_places, detection_curve, detection_table, recorded_detection


def test_recorded_figures_are_of_generated_cases_and_say_seed_and_n() -> None:
    run = recorded_detection()
    for row in (*detection_table().rows, *detection_curve().rows):
        assert row.evidence == "generated"
        assert row.n
        assert f"seed {run.seed}" in row.source
    assert all(run.date in table.notes[0] for table in (detection_table(), detection_curve()))


def test_the_seed_is_none_that_the_rules_were_worked_out_on() -> None:
    assert recorded_detection().seed not in (1, 2, 3)


def test_what_a_sound_table_prints_too_does_not_count_as_missed() -> None:
    rows = {row.quantity: row for row in detection_table().rows if row.group.startswith("Found")}
    for one in recorded_detection().planted:
        could = one.tables - one.undetectable
        assert not could or (rows[one.kind].n, rows[one.kind].value) == (could, one.found / could)


def test_every_size_of_the_curve_has_its_place_on_the_axis() -> None:
    assert {row.quantity for row in detection_curve().rows} == set(curve_places())
