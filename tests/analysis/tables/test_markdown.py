"""A table in Markdown reads back as what was printed, whatever its texts say."""

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from misstep_analysis.tables import Row, Table
from misstep_analysis.tables.text import HEADS, escaped, markdown_text, printed
from misstep_harness.escaping import one_line
from tests.analysis.any_text import tables, words
from tests.analysis.pages.made_up import compared

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def text_of(token) -> str:
    assert {child.type for child in token.children} <= {"text", "text_special"}
    return "".join(child.content for child in token.children)


def read(text: str) -> tuple[list[str], list[list[str]]]:
    """The paragraphs and headings, and the lines of the one table, as a reader of Markdown sees them."""
    lines: list[list[str]] = []
    prose: list[str] = []
    tokens = PARSER.parse(text)
    for token in tokens:
        if token.type == "tr_open":
            lines.append([])
        elif token.type == "inline" and token.level == 1:
            prose.append(text_of(token))
        elif token.type == "inline":
            lines[-1].append(text_of(token))
    assert [token.type for token in tokens].count("table_open") == 1
    return prose, lines


def test_published_and_recomputed_stand_below_each_other_with_evidence_n_interval_and_status():
    _, lines = read(markdown_text(compared()))
    assert lines[:3] == [
        ["Quantity", "Value", "Interval", "n", "Evidence", "Status", "Remark"],
        ["Loops", "20%", "", "50", "published", "", ""],
        ["Loops", "20.0%", "11.2–33.0%", "50", "recomputed", "reproduced", ""],
    ]
    assert lines[4][-2:] == ["differs", "15 of 50 are 30%, not 31%."]


def test_title_finding_and_notes_stand_around_the_table():
    text = markdown_text(compared())
    assert text.index("### Shares") < text.index("One of three") < text.index("| Loops") < text.index("Wilson")


@given(tables)
def test_no_text_breaks_a_line_a_cell_or_a_paragraph(table):
    shown = printed(table)
    grouped = any(heading for heading, _ in shown.sections)
    prose, lines = read(markdown_text(table))
    heads = [HEADS[name] for name in shown.columns]
    assert lines[0] == (["Group", *heads] if grouped else heads)
    assert lines[1:] == [[heading, *row] if grouped else list(row) for heading, rows in shown.sections for row in rows]
    assert prose == [shown.title, *(text for text in (shown.finding, *shown.notes) if text)]


@given(words)
def test_any_text_reads_back_as_it_was(text):
    prose, _ = read(markdown_text(Table("t", "p", "T", f"x{text}", (Row("a", 1),))))
    assert prose == ["T", one_line(f"x{text}")]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("see https://a.example or www.a.example", r"see https\://a.example or www\.a.example"),
        ("@someone #12", r"\@someone \#12"),
        ("a|b", r"a\|b"),
    ],
)
def test_what_a_reader_would_turn_into_a_link_or_a_mention_stays_text(text, content):
    assert escaped(text) == content


@pytest.mark.parametrize("opening", ["- ", "1. ", "2) ", "---", "+ ", "===", "# ", "> "])
def test_a_finding_that_begins_like_a_list_or_a_rule_is_a_paragraph(opening):
    prose, _ = read(markdown_text(Table("t", "p", "T", f"{opening}x", (Row("a", 1),))))
    assert prose == ["T", f"{opening}x"]
