"""A page answers first, stands alone, and says where it comes from."""

from pathlib import Path

import pytest

from misstep_analysis.pages import Foot, Section, page, table_html, table_text
from misstep_analysis.pages.page import described, table_id
from misstep_analysis.plots.rows import bars
from misstep_analysis.tables import Row, Table
from misstep_harness.errors import InputError
from tests.analysis.pages.html_rules import check_page
from tests.analysis.pages.made_up import HOSTILE, by_set, compared, of_many_sources


def made(**changes):
    fields = {
        "title": "A title",
        "finding": "One of three shares differs.",
        "tables": [compared(), by_set()],
        "figures": [bars(compared().rows, "Shares")],
        "notes": ["It was counted."],
        "foot": Foot("misstep made-up --seed 3", ("trail",), ("labels.csv, 30 rows",), 3),
    }
    return page(**(fields | changes))


def test_finding_figure_table_and_making_follow_each_other():
    html = made()
    places = [html.index(part) for part in ("<h1>", 'class="lede"', "<svg", "<table", "It was counted.", "<footer")]
    assert places == sorted(places)


def test_sections_stand_below_the_tables_and_a_contents_list_links_all_of_them():
    table, other = compared(), by_set()
    html = made(tables=[table], sections=[Section("<b>First</b>", (other,)), Section("Second", (), folded=True)])
    result = check_page(html)
    assert result.addresses == ["data:,", "#main", f"#{table_id(table)}", "#section-1", "#section-2"]
    assert [html.count(f'<details class="section"{state}>') for state in (" open", "")] == [1, 1]
    assert html.index('<div class="part" id="section-1">') < html.index('<div class="part" id="section-2">')
    assert "&lt;b&gt;First" in html
    assert html.index(f'id="{table_id(table)}"') < html.index('id="section-1"') < html.index(f'id="{table_id(other)}"')


def test_a_page_without_sections_has_no_contents_list():
    assert "<nav" not in made()


def test_a_page_stands_alone():
    assert check_page(made()).addresses == ["data:,", "#main"]


def test_the_finding_is_said_once():
    assert made().count("One of three shares differs.") == 1


def test_the_foot_names_neither_the_server_that_was_asked_nor_the_present_folder():
    command = f"misstep judge run loops --base-url http://10.0.0.5:8000/v1 --out {Path.cwd()}/run"
    shown = described(Foot(command, inputs=(f"2 items of {Path.cwd()}/gates",)))
    assert shown["command"] == "misstep judge run loops --base-url [base-url]/v1 --out run"
    assert shown["inputs"] == ("2 items of gates",)


def test_the_foot_names_data_licence_seed_versions_and_command():
    text = " ".join(check_page(made()).text.split("Where this page comes from")[1].split())
    for part in (
        "trail",
        "MIT",
        "labels.csv, 30 rows",
        "Seed 3",
        "misstep 1.",
        "Python 3.",
        "misstep made-up --seed 3",
    ):
        assert part in text


def test_a_seed_is_named_only_where_something_was_drawn():
    assert "Seed" not in check_page(made(foot=Foot("misstep x"))).text


def test_a_data_set_that_nobody_could_fetch_is_refused():
    with pytest.raises(InputError, match="no data set nowhere"):
        made(foot=Foot("misstep x", ("nowhere",)))


def test_hostile_words_are_text_everywhere():
    html = made(title=HOSTILE, finding=HOSTILE, notes=[HOSTILE], foot=Foot(HOSTILE, inputs=(HOSTILE,)))
    page_ = check_page(html)
    assert page_.tags.count("script") == 1
    assert "\u202e" not in html


@pytest.mark.parametrize("table", [compared(), by_set(), of_many_sources()], ids=lambda table: table.name)
def test_a_table_has_a_caption_and_scoped_headers(table):
    html = table_html(table)
    page = check_page(html)
    assert page.tags.count("caption") == 1
    assert html.count("<th ") == page.tags.count("th") == html.count("<th scope=")


@pytest.mark.parametrize("table", [compared(), by_set(), of_many_sources()], ids=lambda table: table.name)
def test_every_line_is_as_wide_as_the_head(table):
    rows = [row.split("</tr>")[0] for row in table_html(table).split("<tr")[1:]]
    spans = []
    covered = 0
    for row in rows:
        cells = [cell.split(">")[0] for cell in row.replace("<td", "<th").split("<th")[1:]]
        widths = [int(cell.split('colspan="')[1].split('"')[0]) if "colspan" in cell else 1 for cell in cells]
        spans.append(sum(widths) + (covered > 0))
        covered = max(covered - 1, 0)
        for cell in cells:
            if "rowspan" in cell:
                covered = int(cell.split('rowspan="')[1].split('"')[0]) - 1
    assert len(set(spans)) == 1


def test_value_interval_n_and_kind_are_all_there():
    text = " ".join(check_page(table_html(compared())).text.split())
    for expected in ("published", "recomputed", "20%", "20.0% 11.2–33.0%", "50", "table 1, row 1"):
        assert expected in text


def test_a_status_that_is_not_reproduced_carries_its_reason():
    html = table_html(compared())
    assert html.index("differs</span>") < html.index("15 of 50 are 30%, not 31%.")
    assert "No count is printed." in html


def test_a_hostile_label_is_text():
    row = Row(HOSTILE, 1, source=HOSTILE, group=HOSTILE, reason=HOSTILE, status="differs", printed=HOSTILE)
    html = table_html(Table("t", "p", HOSTILE, HOSTILE, (row,), (HOSTILE,)))
    page = check_page(html)
    assert "script" not in page.tags
    assert "\u202e" not in html
    assert "\x1b" not in html
    assert "⟨U+202E⟩" in page.text


def test_the_finding_can_be_left_to_the_page():
    assert "One of three shares differs." in table_html(compared())
    assert "One of three shares differs." not in table_html(compared(), with_finding=False)


def test_links_to_the_files_stand_below():
    assert check_page(table_html(by_set(), files=(("CSV", "tables/a.csv"),))).addresses == ["tables/a.csv"]


def test_how_the_figures_were_computed_is_said_on_the_page_and_in_text():
    table = Table("t", "p", "T", "F", (Row("a", 0.5, 0.4, 0.6, method="Wilson, 95%"),))
    assert "were computed: Wilson, 95%." in check_page(table_html(table)).text
    assert "were computed: Wilson, 95%." in table_text(table)
