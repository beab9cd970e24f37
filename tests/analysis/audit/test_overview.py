"""What cannot be told is told by what is wanting, whatever words a figure's own sentence has."""

from misstep_analysis.audit.findings import Finding
from misstep_analysis.audit.overview import counted_by, underdetermined_table


def untold(sentence: str, wanting: str = "", source: str = "fruit") -> Finding:
    return Finding(source, "a", "percentage", "underdetermined", "12%", None, sentence, wanting=wanting)


def test_figures_that_want_the_same_are_counted_together_under_the_words_of_the_first() -> None:
    results = [untold("Out of 210 all can come.", "the count"), untold("Of 42, in other words.", "the count")]
    (row,) = underdetermined_table(results).rows
    assert (row.value, row.group, row.papers) == (2, "percentage: Out of 210 all can come.", ("fruit",))


def test_sentences_that_differ_in_a_number_alone_are_not_taken_for_one_reason() -> None:
    assert len(underdetermined_table([untold("1 is not printed."), untold("2 is not printed.")]).rows) == 2


def test_findings_are_counted_by_source_or_by_check() -> None:
    results = [untold("One."), untold("Two.", source="vegetables")]
    assert {name: counts["underdetermined"] for name, counts in counted_by(results).items()} == {
        "fruit": 1,
        "vegetables": 1,
    }
    assert counted_by(results, by_check=True)["percentage"]["underdetermined"] == 2
