"""HTML of a notebook's output is read for what it says: cells and text are written anew, markup never comes through."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.reproduction.notebook import frame_html, read_frame
from tests.analysis.pages.html_rules import Page

FRAME = """<div><style scoped> .dataframe tbody {color: red} </style>
<table border="1" class="dataframe">
 <thead><tr><th></th><th>n</th><th>said</th></tr></thead>
 <tbody><tr><th>0</th><td>1</td><td>&lt;script&gt;a()&lt;/script&gt;</td></tr>
 <tr><th>1</th><td>2.5</td><td>fine</td></tr></tbody>
</table><p>2 rows × 2 columns</p></div>"""


def cells(source: str) -> list[list[str]]:
    frame = read_frame(source)
    return [[cell.text for cell in row] for row in frame.head + frame.body]


def test_a_frame_becomes_a_table_of_its_cells_with_its_size_below() -> None:
    assert cells(FRAME) == [["", "n", "said"], ["0", "1", "<script>a()</script>"], ["1", "2.5", "fine"]]
    page = Page(frame_html(read_frame(FRAME)))
    assert (page.wrong, page.tags.count("tr"), "script" in page.tags) == ([], 3, False)
    assert "<script>a()</script>" in page.text
    assert "2 rows × 2 columns" in page.text
    assert "color: red" not in page.text


def test_columns_of_numbers_are_set_to_the_right_with_their_heads() -> None:
    frame = read_frame(FRAME)
    assert [[cell.is_number for cell in row] for row in frame.head + frame.body] == [
        [False, True, False],
        [False, True, False],
        [False, True, False],
    ]


def test_headings_over_several_rows_or_columns_keep_their_spans() -> None:
    frame = read_frame(
        '<table><thead><tr><th colspan="2">k</th><th colspan="2">both</th></tr></thead>'
        '<tbody><tr><th rowspan="2">a</th><th>x</th><td>1</td><td>2</td></tr>'
        "<tr><th>y</th><td>3</td><td>4</td></tr></tbody></table>"
    )
    assert [(cell.columns, cell.rows) for cell in frame.head[0]] == [(2, 1), (2, 1)]
    assert (frame.body[0][0].columns, frame.body[0][0].rows) == (1, 2)
    assert [cell.is_number for cell in frame.body[1]] == [False, True, True]


@pytest.mark.parametrize(
    "cell",
    [
        "<b>bold</b>",
        '<img src=x onerror="a()">bold',
        "<script>a()</script>bold",
        "<table><tr><td>bold</td></tr></table>",
        '<a href="javascript:a()">bold</a>',
    ],
)
def test_of_markup_in_a_cell_the_text_alone_is_kept(cell: str) -> None:
    source = f"<table><tr><td>{cell}</td><td>next</td></tr></table>"
    assert cells(source) == [["bold", "next"]]
    assert set(Page(frame_html(read_frame(source))).tags) <= {"figure", "div", "table", "tbody", "tr", "td", "bdi"}


def test_html_without_a_table_is_its_text() -> None:
    frame = read_frame("<div><b>three</b> words<br>here</div><script>a()</script>")
    assert (frame.head, frame.body, frame.text) == ([], [], "three words here")


PIECES = (
    "<table> </table> <tr> </tr> <td> </td> <td|colspan=99999999999> <th|rowspan=x> <thead> </thead> <script> "
    "</script> <style> a < &lt; <b|onclick=x> <!-- --> ]]> \x1b"
)


@given(st.lists(st.sampled_from([piece.replace("|", " ") for piece in PIECES.split(" ")]), max_size=30))
def test_whatever_the_html_is_the_fragment_nests_and_has_our_elements_alone(pieces: list[str]) -> None:
    page = Page(frame_html(read_frame("".join(pieces))))
    assert page.wrong == []
    ours = {"figure", "div", "table", "thead", "tbody", "tr", "th", "td", "bdi", "figcaption", "p"}
    assert set(page.tags) <= ours
