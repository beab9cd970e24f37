"""A figure on a page leads to what it is made of: each link to a page that is written and a place that is on it."""

import re
from pathlib import PurePosixPath
from urllib.parse import urldefrag

import pytest
from msgspec import structs

from misstep_analysis.observer.paper import prevalence as wink
from misstep_analysis.pages import Foot, table_html
from misstep_analysis.pages.origins import (
    DataSetRecord,
    RecordFile,
    Upstream,
    data_set_page,
    origin_pages,
    origins,
    published_file_text,
)
from misstep_analysis.published import load_paper
from misstep_analysis.tables import Row, Table
from tests.analysis.pages.html_rules import check_page
from tests.analysis.pages.made_up import HOSTILE

FOOT = Foot("misstep reproduce made_up", seed=0)
PEARS = DataSetRecord(
    "pears",
    "Pears, counted",
    "MIT",
    "A. Author, Pears, 2025",
    "apples",
    (Upstream("main", "owner/pears", "1a" * 20, "https://raw.example.org/owner/pears/1a/"),),
    (RecordFile("counts.csv", 1200, "c0" * 32, "main", "data/counts.csv"),),
    "pears@1a1a1a1",
    "77" * 32,
    True,
)


def measured(*datasets: str) -> Table:
    rows = tuple(Row("Ripe", 0.1, 0.05, 0.2, 40, source=f"{name}@1a2b", datasets=(name,)) for name in datasets)
    return Table("ripe", "fruit", "Ripe", "Few are ripe.", rows, datasets=datasets)


@pytest.fixture(scope="module")
def printed() -> Table:
    return wink.prevalence_table()


def test_a_printed_figure_leads_to_the_line_that_names_it(printed):
    lines = published_file_text("wink").splitlines()
    figures = {figure.id: figure for figure in load_paper("wink").figure}
    result = origins(printed).rows
    published = [row for row in printed.rows if row.evidence == "published"]
    assert published
    for row in published:
        address, line = urldefrag(result[row])
        assert address == "records/wink.html"
        figure = figures[lines[int(line.removeprefix("L")) - 1].split('"')[1]]
        assert (figure.printed, figure.place) == (row.printed, row.source)


def test_a_recomputed_figure_leads_to_the_printed_one_that_it_is_held_against(printed):
    lines, results = published_file_text("wink").splitlines(), origins(printed).rows
    recomputed = [row for row in printed.rows if row.evidence == "recomputed"]
    assert recomputed
    for row in recomputed:
        line = lines[int(urldefrag(results[row])[1].removeprefix("L")) - 1]
        assert row.figures == (f"wink/{line.split(chr(34))[1]}",)


@pytest.mark.parametrize("figures", [(), ("wink/no.such",), ("wink/shadow.p", "wink/prevalence.any.share")])
def test_a_figure_that_no_line_or_several_are_named_for_leads_to_the_file(figures):
    row = Row("Ripe", 1, evidence="published", source="Table 99", printed="1", figures=figures)
    assert origins(Table("t", "wink", "T", "F", (row,))).rows == {row: "records/wink.html"}


def test_a_measured_figure_leads_to_its_data_set():
    table = measured("mast", "trail")
    assert list(origins(table).rows.values()) == ["records/mast.html", "records/trail.html"]
    assert origins(table).records == (("mast", "records/mast.html"), ("trail", "records/trail.html"))


def test_an_example_of_a_run_leads_to_the_page_of_that_run_at_its_step():
    rows = tuple(Row("a run", "steps 3", example=f"mast/{name}#3") for name in ("a/b", "a?b", "../../x", "x" * 300))
    addresses = list(origins(Table("t", "fruit", "T", "F", rows, datasets=("mast",))).rows.values())
    assert len(set(addresses)) == 4
    assert all(re.fullmatch(r"runs/mast/[\w.-]{1,110}\.html#step-3", one) for one in addresses)


def test_a_figure_of_several_sets_leads_nowhere_but_the_caption_names_them_all():
    row = Row("Ripe", 0.1, source="2 public sets")
    result = origins(Table("ripe", "fruit", "Ripe", "F", (row,), datasets=("mast", "trail")))
    assert result.rows == {}
    assert [name for name, _ in result.records] == ["mast", "trail"]


def test_a_generated_figure_leads_to_the_function_that_generated_it():
    row = Row("Recall", 1, evidence="generated", source="generated, seed 0, n 3")
    table = Table("t", "fruit", "T", "F", (row,), made_by="misstep_analysis.observer.paper.prevalence.prevalence_table")
    assert origins(table).rows[row] == origins(table).code
    assert origins(table).code.startswith("code/misstep_analysis.observer.paper.prevalence.html#L")


@pytest.mark.parametrize("function", ["", "os.system", "misstep_analysis.tables.no_such", HOSTILE])
def test_a_function_that_is_not_ours_is_no_link(function):
    assert origins(Table("t", "fruit", "T", "F", (), made_by=function)).code == ""


def test_every_link_of_a_table_leads_to_a_page_and_a_place_on_it(printed):
    shown = [
        Table(
            "t", "wink", "T", "F", printed.rows, made_by="misstep_analysis.observer.paper.prevalence.prevalence_table"
        ),
        measured("pears"),
    ]
    pages = origin_pages(shown, {"pears": PEARS}, FOOT)
    html = {address: check_page(text) for address, text in pages.items() if address.endswith(".html")}
    assert {"code/misstep_analysis.observer.paper.prevalence.html", "records/wink.html", "records/pears.html"} == set(
        html
    )
    links = [link for table in shown for link in check_page(table_html(table, origins=origins(table))).addresses]
    assert len(links) > 10
    for link in links:
        address, place = urldefrag(link)
        assert place in ("", *html[address].ids)
    outside = {urldefrag(link)[0] for page in html.values() for link in page.addresses if not link.startswith("data:")}
    assert {str(PurePosixPath("records", link)) for link in outside if ".." not in link and link != ""} <= set(pages)


def test_the_record_of_a_data_set_says_where_it_is_from_under_which_licence_and_which_files_it_has():
    text = check_page(data_set_page(PEARS, FOOT)).text
    for said in ("owner/pears", "1a" * 20, "https://raw.example.org/owner/pears/1a/", "MIT", "c0" * 32, "1,200"):
        assert said in text


@pytest.mark.parametrize(
    ("verified", "said"),
    [(True, "as listed below"), (False, "misstep datasets verify pears"), (None, "misstep datasets fetch pears")],
)
def test_the_record_says_whether_the_files_at_hand_are_these(verified, said):
    assert said in check_page(data_set_page(structs.replace(PEARS, verified=verified), FOOT)).text
