"""A table on a page: semantic, complete, and harmless whatever its labels say."""

import pytest

from misstep.analysis.pages import table_html, table_text
from misstep.analysis.tables import Row, Table
from tests.analysis.pages.html_rules import check_page
from tests.analysis.pages.made_up import HOSTILE, by_set, compared, of_many_sources


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
