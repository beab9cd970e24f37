"""The table of simulated raters beside table 2 says what it is."""

from misstep.analysis.papers.autotriage.simulated_annotation import simulated_annotation_table


def test_it_says_that_its_raters_are_simulated_and_that_its_figures_are_generated() -> None:
    table = simulated_annotation_table(resamples=200)
    assert table.finding.startswith("These raters are simulated")
    assert {row.evidence for row in table.rows} == {"generated"}
    assert [row.group for row in table.rows][::2] == [
        "All raters",
        "simulated 1 and simulated 2",
        "simulated 1 and simulated 3",
        "simulated 2 and simulated 3",
    ]
    assert {row.n for row in table.rows} == {118, 354}
    assert table.made_by.endswith("simulated_annotation_table")
