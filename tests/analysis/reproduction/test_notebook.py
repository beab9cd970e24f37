"""An executed notebook's page: the finding first, code folded, only our own HTML, an error where it happened."""

from base64 import b64encode

import pytest

from misstep_analysis.pages import Foot, show_figure
from misstep_analysis.plots.rows import bars
from misstep_analysis.reproduction.notebook import notebook_page, read_notebook, write_figures
from misstep_analysis.tables import Row, Table
from tests.analysis.pages.html_rules import check_page
from tests.analysis.pages.made_up import by_set, compared
from tests.analysis.pages.made_up_notebooks import code, displayed, failed, notebook, printed, prose, shown

FOOT = Foot("misstep reproduce made_up")


def page_of(executed) -> str:
    return notebook_page(read_notebook("made_up", executed), executed, FOOT)


def test_title_and_finding_come_from_the_first_heading_and_the_first_table():
    report = read_notebook("made_up", notebook(prose("# A title\n\nText."), code("1", shown(compared()))))
    assert (report.title, report.finding) == ("A title", "One of three shares differs.")


def test_a_notebook_may_state_its_finding_and_its_data_sets():
    stated = {"finding": "It is so.", "datasets": ["trail"]}
    report = read_notebook("made_up", notebook(code("1", shown(compared())), misstep=stated))
    assert (report.finding, report.datasets) == ("It is so.", ("trail",))


def test_a_notebook_without_heading_is_called_by_its_name():
    assert read_notebook("made_up", notebook(prose("Text."))).title == "made up"


def test_tables_are_collected_from_the_outputs_as_they_were_computed():
    report = read_notebook("made_up", notebook(code("1", shown(compared())), code("2", shown(by_set()))))
    assert report.tables == (compared(), by_set())


def test_the_finding_is_said_once_and_before_everything_else():
    html = page_of(notebook(prose("# A title\n\nSome prose."), code("show(t)", shown(compared()))))
    check_page(html)
    assert html.count("One of three shares differs.") == 1
    assert html.index("One of three shares differs.") < html.index("Some prose.") < html.index("<table")


def test_code_is_folded_and_stands_below_what_it_gave():
    html = page_of(notebook(code("show(t)", shown(compared()))))
    assert html.index("<table") < html.index('<details class="code">') < html.index("show(t)")


def test_each_table_links_to_its_files():
    page = check_page(page_of(notebook(code("1", shown(by_set())))))
    assert {f"tables/made_up/by_set.{ending}" for ending in ("csv", "json", "md")} <= set(page.addresses)


def test_a_figure_is_inlined_with_its_caption():
    figure = show_figure(bars(by_set().rows, "Shares"), "Bars of shares.")._repr_mimebundle_()
    html = page_of(notebook(code("1", displayed(figure))))
    check_page(html)
    assert html.index("<svg") < html.index("Bars of shares.")


def drawn(title: str, table=None):
    """A figure with a title, as a cell displays it."""
    return displayed(show_figure(bars(by_set().rows, title), "Bars.", table)._repr_mimebundle_())


@pytest.mark.parametrize(
    ("figure", "words", "address"),
    [
        ((compared().title,), "Drawn from the table", "#table-made_up-compared"),
        (("Another title", compared()), "Drawn from the table", "#table-made_up-compared"),
        (("Another title",), "The table that follows:", "#table-made_up-by_set"),
    ],
    ids=["of the same title", "named", "the next one"],
)
def test_a_figure_leads_to_the_table_that_it_is_drawn_from(figure, words, address):
    cells = [code("1", shown(compared())), code("2", drawn(*figure)), code("3", shown(by_set()))]
    page = check_page(page_of(notebook(*cells)))
    assert words in page.text
    assert address in page.addresses


@pytest.mark.parametrize("table", [None, compared()], ids=["not named", "named but not shown"])
def test_a_figure_without_a_table_on_the_page_leads_nowhere(table):
    page = check_page(page_of(notebook(code("1", shown(by_set())), code("2", drawn("Another title", table)))))
    assert "Drawn from" not in page.text
    assert "that follows" not in page.text


def test_html_that_is_not_ours_is_shown_as_its_text():
    foreign = {"text/html": "<img src=https://example.org/x.png>", "text/plain": "a <frame>"}
    page = check_page(page_of(notebook(code("1", displayed(foreign)))))
    assert "img" not in page.tags
    assert "a <frame>" in page.text


def test_markup_in_prose_is_text():
    page = check_page(page_of(notebook(prose("# <b>T</b>\n\n<script>alert(1)</script>"))))
    assert page.tags.count("script") == 1
    assert "b" not in page.tags


def test_an_image_is_embedded():
    page = check_page(page_of(notebook(code("1", displayed({"image/png": "aGk=\n", "text/plain": "x"})))))
    assert "data:image/png;base64,aGk=" in page.addresses


def test_a_drawing_is_embedded_where_its_scripts_do_not_run_and_is_called_by_its_words():
    drawing = {"image/svg+xml": "<svg><script>a()</script></svg>", "image/png": "aGk=", "text/plain": "A rising line"}
    html = page_of(notebook(code("1", displayed(drawing))))
    (address,) = [one for one in check_page(html).addresses if one.startswith("data:image")]
    assert address == f"data:image/svg+xml;base64,{b64encode(drawing['image/svg+xml'].encode()).decode()}"
    assert 'alt="A rising line"' in html


@pytest.mark.parametrize("words", ["", "<Figure size 640x480 with 1 Axes>"])
def test_an_image_without_words_of_its_own_points_to_the_prose(words):
    html = page_of(notebook(code("1", displayed({"image/png": "aGk=", "text/plain": words}))))
    assert 'alt="A figure; the prose beside it says what it shows"' in html


def test_an_image_that_a_cell_gives_twice_is_shown_once():
    image = displayed({"image/png": "aGk=", "text/plain": "x"})
    assert check_page(page_of(notebook(code("1", image, image)))).tags.count("img") == 1


def test_markdown_that_a_cell_gives_is_set_without_its_markup():
    page = check_page(page_of(notebook(code("1", displayed({"text/markdown": "**so** <script>a()</script>"})))))
    assert ("strong" in page.tags, page.tags.count("script")) == (True, 1)


def test_html_that_has_no_other_text_is_its_own_text():
    data = {"text/html": "<b>three</b> words", "text/plain": "<IPython.core.display.HTML object>"}
    page = check_page(page_of(notebook(code("1", displayed(data)))))
    assert "three words" in page.text
    assert "object>" not in page.text


def test_what_is_printed_is_shown_and_what_is_warned_is_kept_for_the_terminal():
    executed = notebook(code("1", printed("3 < 4\n"), printed("careful\n", "stderr")))
    page = check_page(page_of(executed))
    assert "3 < 4" in page.text
    assert "careful" not in page.text
    assert read_notebook("made_up", executed).warnings == "careful\n"


def test_an_address_in_memory_is_left_out():
    html = page_of(notebook(code("1", displayed({"text/plain": "<object object at 0x7f00aa>"}))))
    assert "0x7f" not in html


def test_an_error_stands_at_the_top_and_at_its_cell_whose_code_is_open():
    executed = notebook(prose("# A title"), code("fail()", failed()))
    html = page_of(executed)
    check_page(html)
    assert html.count("ValueError: no such thing") == 2
    assert '<details class="code" open>' in html
    assert read_notebook("made_up", executed).error.traceback == "ValueError\nValueError: no such thing"


def test_a_cell_without_code_leaves_no_trace():
    assert "<details" not in page_of(notebook(code("\n")))


def long_table(name: str):
    """A table of more lines than a page shows unfolded."""
    rows = tuple(Row(f"share {number}", 0.5, unit="share") for number in range(130))
    return Table(name, "made_up", f"Table {name}", f"The finding of {name}.", rows)


def asked(*tables, last=()):
    """A notebook that asks a question a table."""
    cells = (
        cell for table in tables for cell in (prose(f"## What of {table.name}?\n\nText."), code("1", shown(table)))
    )
    return notebook(prose("# Title"), *cells, *last)


def test_a_contents_list_names_the_questions_of_a_page_and_leads_to_them():
    html = page_of(asked(compared(), by_set()))
    page = check_page(html)
    assert [one for one in page.addresses if one.startswith("#part-")] == ["#part-1", "#part-2"]
    assert {"part-1", "part-2"} <= set(page.ids)
    assert html.index("</nav>") < html.index("Text.")


def test_a_short_page_folds_no_question():
    assert '<details class="section">' not in page_of(asked(compared(), by_set()))


def test_a_folded_question_shows_its_answer_once_and_a_page_that_opens_with_it_does_not_repeat_it():
    html = page_of(asked(long_table("a"), long_table("b")))
    check_page(html)
    assert html.count('<details class="section">') == 2
    assert (html.count("The finding of a."), html.count("The finding of b.")) == (1, 1)
    summaries = [part.partition("</summary>")[0] for part in html.split('<details class="section">')[1:]]
    assert ["The finding of" in summary for summary in summaries] == [False, True]


def test_a_question_with_a_cell_that_failed_is_open_on_a_long_page():
    html = page_of(asked(long_table("a"), long_table("b"), last=[code("2", failed())]))
    assert html.count('<details class="section">') == 1
    assert '<section id="part-2">' in html


def test_each_figure_links_to_itself_as_svg_and_png_and_these_are_written(tmp_path):
    executed = notebook(code("1", drawn("One")), code("2", drawn("Two")))
    addresses = {f"figures/made_up/{number}.{ending}" for number in (1, 2) for ending in ("svg", "png")}
    assert addresses <= set(check_page(page_of(executed)).addresses)
    write_figures(read_notebook("made_up", executed), tmp_path)
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")} == addresses
    assert (tmp_path / "figures/made_up/1.png").read_bytes().startswith(b"\x89PNG")


def test_a_figure_in_jupyter_is_its_drawing_with_its_caption_escaped() -> None:
    html = show_figure("<svg><title>Rates</title></svg>", "Below <5%")._repr_mimebundle_()["text/html"]
    assert "<svg><title>Rates</title></svg>" in html
    assert "Below &lt;5%" in html
