"""The index answers "what did this run find", the worst news first."""

import json

from msgspec import structs

from misstep_analysis.pages import Foot
from misstep_analysis.published import published_papers
from misstep_analysis.reproduction.notebook import CellError, Report
from misstep_analysis.reproduction.reproduce import dataset_lines, index_page, notebook_lines, paper_lines, summary
from misstep_analysis.tables import Row
from misstep_harness.places import notebooks_folder
from tests.analysis.pages.html_rules import check_page
from tests.analysis.pages.made_up import HOSTILE, by_set, compared


def report(name: str, *tables, error: str = "", datasets=()) -> Report:
    problem = CellError("ValueError", error, "") if error else None
    return Report(name, f"The {name}", f"{name} was found.", tables, problem, datasets)


def with_status(status: str):
    table = compared()
    return structs.replace(table, rows=tuple(structs.replace(row, status=status) for row in table.rows))


GOOD, DIFFERS = report("a_good", with_status("reproduced")), report("b_differs", with_status("differs"))
IMPOSSIBLE, BROKEN = report("c_impossible", with_status("impossible")), report("d_broken", error="no such thing")


def test_errors_come_first_then_the_impossible_then_what_differs():
    lines = notebook_lines([GOOD, DIFFERS, IMPOSSIBLE, BROKEN])
    assert [line.report.name for line in lines] == ["d_broken", "c_impossible", "b_differs", "a_good"]


def test_equally_good_news_stands_by_name():
    assert [line.report.name for line in notebook_lines([report("b"), report("a")])] == ["a", "b"]


def test_statuses_are_counted_worst_first():
    (line,) = notebook_lines([report("a", compared())])
    assert line.statuses == (("differs", 1), ("underdetermined", 1), ("reproduced", 1))
    assert line.figures == 5


def test_a_data_set_is_told_by_the_first_figure_of_each_table_that_was_measured_on_it():
    (line,) = dataset_lines(notebook_lines([report("a", by_set())]))
    assert (line.dataset.name, line.figures, line.notebooks) == ("trail", 6, ("a",))
    assert line.found == "alpha, Loops 10.0% (5.0–15.0%, n 1,200)"


def test_a_data_set_on_which_nothing_was_measured_comes_first_and_says_what_brings_it():
    reports = [report("a", by_set(), datasets=("mast", "trail"))]
    assert [line.dataset.name for line in dataset_lines(notebook_lines(reports))] == ["mast", "trail"]
    html = index_page(reports, Foot("misstep reproduce"))
    assert "misstep datasets fetch mast" in html
    assert "misstep datasets fetch trail" not in html


def test_in_a_table_of_several_sets_a_figure_belongs_to_the_one_it_says():
    table = structs.replace(by_set(), datasets=("mast", "trail"))
    rows = tuple(structs.replace(row, group="mast", datasets=("mast",)) for row in table.rows[:3])
    (nothing, measured) = dataset_lines(notebook_lines([report("a", structs.replace(table, rows=rows))]))
    assert (nothing.dataset.name, nothing.figures) == ("trail", 0)
    assert (measured.figures, measured.found) == (3, "Loops 10.0% (5.0–15.0%, n 1,200)")


def test_the_run_is_one_sentence():
    assert summary(notebook_lines([BROKEN, report("a", compared())])) == (
        "1 notebook of 2 failed; of 3 printed figures compared, 1 differs, 1 is underdetermined, 1 is reproduced; "
        "5 figures in 2 notebooks."
    )


def on(figure: str, evidence: str, status: str | None = None) -> Row:
    return Row("Loops", 1, evidence=evidence, status=status, figures=(figure,) if figure else ())  # type: ignore[arg-type]


def test_a_printed_figure_of_two_notebooks_counts_once_by_the_worst_that_was_found_of_it():
    both = (on("fruit/pears", "published"), on("fruit/pears", "recomputed", "reproduced"))
    again = (on("fruit/pears", "published"), on("fruit/pears", "recomputed", "differs"), on("", "real"))
    one, other = (structs.replace(compared(), name=name, rows=rows) for name, rows in (("a", both), ("b", again)))
    assert summary(notebook_lines([report("a", one), report("b", other)])) == (
        "Of 1 printed figure compared, 1 differs; 3 figures in 2 notebooks; "
        "a printed figure counts once, with its worst status."
    )
    assert summary(notebook_lines([report("a", one)])) == (
        "Of 1 printed figure compared, 1 is reproduced; 2 figures in 1 notebook."
    )


def test_a_row_on_several_printed_figures_stands_for_each_and_one_on_none_for_itself():
    several = structs.replace(on("fruit/pears", "recomputed", "differs"), figures=("fruit/pears", "fruit/plums"))
    table = structs.replace(compared(), rows=(several, on("", "real", "differs"), on("", "real", "differs")))
    assert summary(notebook_lines([report("a", table)])).startswith(
        "Of 4 printed figures compared, 4 differ; 4 figures"
    )


def of_papers() -> Report:
    """A notebook that compares figures of two papers and a rate that no paper prints."""
    rows = (
        on("wink/one", "recomputed", "differs"),
        on("wink/two", "recomputed", "reproduced"),
        on("autotriage/one", "recomputed", "reproduced"),
        on("", "real", "differs"),
    )
    return structs.replace(report("a", structs.replace(compared(), rows=rows)), remember=("made_up/compared",))


def test_a_line_a_paper_counts_its_figures_by_status_and_all_lines_add_up_to_the_run():
    result = paper_lines(notebook_lines([of_papers()]))
    assert [(line.title.partition(":")[0], line.counts) for line in result] == [
        ("Wink", (0, 1, 0, 1)),
        ("Verifying the Verifiers", (0, 0, 0, 1)),
        ("Rates stated with public results", (0, 1, 0, 0)),
    ]
    assert "Of 4 printed figures compared, 2 differ, 2 are reproduced" in summary(notebook_lines([of_papers()]))


def test_the_finding_to_remember_of_a_paper_links_to_its_table():
    table = structs.replace(compared(), paper="wink", rows=(on("wink/one", "recomputed", "differs"),))
    one = structs.replace(report("a", table), remember=("wink/compared",))
    (line,) = paper_lines(notebook_lines([one]))
    assert (line.finding, line.address) == ("One of three shares differs.", "a.html#table-wink-compared")


def test_each_paper_has_one_finding_to_remember_in_a_notebook_that_names_it():
    notebooks = [json.loads(path.read_text()) for path in notebooks_folder().glob("*.ipynb")]
    remembered = [name for one in notebooks for name in one["metadata"]["misstep"].get("remember", ())]
    assert sorted(name.partition("/")[0] for name in remembered) == sorted(published_papers())


def test_the_index_opens_with_the_papers_and_ends_with_what_was_counted():
    html = index_page([of_papers()], Foot("misstep reproduce"))
    page = check_page(html)
    places = [
        page.text.index(words) for words in ("printed figures compared", "Wink:", "The a", "figures in 1 notebook")
    ]
    assert places == sorted(places)


def test_every_line_links_to_its_page():
    page = check_page(index_page([GOOD, BROKEN], Foot("misstep reproduce", seed=0)))
    assert {"a_good.html", "d_broken.html"} <= set(page.addresses)
    assert "ValueError: no such thing" in page.text


def test_hostile_words_are_text():
    broken = structs.replace(BROKEN, title=HOSTILE, finding=HOSTILE, error=CellError(HOSTILE, HOSTILE, ""))
    page = check_page(index_page([broken], Foot("misstep reproduce")))
    assert page.tags.count("script") == 1
