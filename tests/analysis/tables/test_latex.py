r"""A table in LaTeX compiles with booktabs: what is not a command of ours is text.

There may be no TeX available, so a small reader that is stricter than TeX takes the table to pieces: it knows the
commands that may stand there and what each takes, and fails on everything else.
"""

import re

import pytest
from hypothesis import given
from msgspec import structs

from misstep.analysis.tables import Row, Table
from misstep.analysis.tables.latex import _width, _widths, escaped, latex_text
from misstep.analysis.tables.printed_lines import printed
from misstep.analysis.tables.wording import MISSING
from tests.analysis.any_text import tables, words
from tests.analysis.pages.made_up import compared

TOKEN = re.compile(r"\\(?:[a-zA-Z]+|.)|[{}$&#%~^_\[\]*]|[^\\{}$&#%~^_\[\]*]", re.DOTALL)
TEXT_COMMANDS = {
    *(rf"\{sign}" for sign in "{}$&#%_"),
    *(
        rf"\text{name}"
        for name in ("backslash", "asciitilde", "asciicircum", "asciigrave", "bullet", "copyright", "euro")
    ),
    *(rf"\textquote{name}" for name in ("left", "right", "dblleft", "dblright")),
    *(
        rf"\{name}"
        for name in ("ldots", "S", "P", "pounds", "ss", "o", "O", "l", "L", "ae", "AE", "oe", "OE", "i", "j")
    ),
    *(rf"\{accent}" for accent in "`'^~=u.\"rHvc"),
    r"\allowbreak",
}
"""The commands that may be in text outside of mathematics."""


def check_text(text: str) -> None:
    """Balanced, ASCII, one line, and no sign that means something to TeX unless it is ours."""
    assert text.isascii()
    assert "\n" not in text
    depth, in_mathematics = 0, False
    for part in TOKEN.findall(text):
        if part == "$":
            in_mathematics = not in_mathematics
        elif in_mathematics:
            assert re.fullmatch(r"\\[a-zA-Z]+|[-<>|0-9^{}]", part), part
        elif part in "{}":
            depth += 1 if part == "{" else -1
            assert depth >= 0
        elif part in ("[", "]", "*"):
            assert depth > 0, f"{part} could be taken for an option"
        elif part.startswith("\\"):
            assert part in TEXT_COMMANDS, part
        else:
            assert part not in "&#%^_"
    assert depth == 0
    assert not in_mathematics


def body(text: str) -> list[str]:
    """The lines of the table between its rules, of all its parts, without the space between groups."""
    insides = [part.split("\\midrule\n")[1].split("\\bottomrule")[0] for part in text.split(r"\begin{tabular}")[1:]]
    return [line for inside in insides for line in inside.splitlines() if line != r"\addlinespace"]


FOLDED = r"\raggedright\hspace{0pt}"
OVER_ALL = re.compile(
    r"\\multicolumn\{\d\}\{@\{\}p\{\\linewidth\}@\{\}\}\{\\raggedright (?:\\textit\{(.*)\}|\\quad (.*))\}"
)


def cells(line: str) -> list[str]:
    """The cells of one line, which ends as a line must; a heading or a remark is alone on its line."""
    end = r" \\"
    assert line.endswith(end)
    over_all = OVER_ALL.fullmatch(line.removesuffix(end))
    if over_all:
        return [over_all[1] or over_all[2] or ""]
    results = [cell.strip() for cell in re.split(r"(?<!\\)&", f" {line.removesuffix(end)} ")]
    return [cell.removeprefix(FOLDED) for cell in results]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("50% & more_or_less #1 {x} $5", r"50\% \& more\_or\_less \#1 \{x\} \$5"),
        (r"a\b~c^d", r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d"),
        ("−3.2 to 9.8–14.1 ≥ 0", r"$-$3.2 to 9.8--14.1 $\geq$ 0"),
        ("Fleiss’ κ, α = .05, Λ", r"Fleiss\textquoteright{} $\kappa$, $\alpha$ = .05, $\Lambda$"),
        ("naïve Krüger Łódź", r"na\"{\i}ve Kr\"{u}ger \L{}\'{o}d\'{z}"),
        ("--boot ''", "-{}-boot '{}'"),
        ("- a-b, c", "- a-b, c"),
        ("[1]*", "{[}1{]}{*}"),
        ("中", "{[}U+4E2D{]}"),
        ("one\ntwo\x1b[31m", "one two"),
        (MISSING, "---"),
    ],
)
def test_text_is_written_so_that_tex_prints_it(text, content):
    assert escaped(text) == content


@given(words)
def test_any_text_is_text(text):
    check_text(escaped(text))


@given(tables)
def test_no_text_breaks_a_line_or_a_cell(table):
    shown = printed(table)
    expected = []
    for heading, rows in shown.sections:
        expected += [[escaped(heading)]] if heading else []
        for row in rows:
            *line, remark = row if "remark" in shown.columns else (*row, "")
            expected += [[escaped(text) for text in line], *([[escaped(remark)]] if remark else [])]
    results = [cells(line) for line in body(latex_text(table))]
    unfolded = [[cell.replace(r"\allowbreak{}", "") for cell in line] for line in results]
    assert [[cell.replace("{}", "") for cell in line] for line in unfolded] == [
        [cell.replace("{}", "") for cell in line] for line in expected
    ]
    for line in results:
        for cell in line:
            check_text(cell)


@given(tables)
def test_environments_nest_and_every_line_of_figures_is_as_wide_as_the_columns_that_are_declared(table):
    text = latex_text(table)
    open_ = []
    for what, name in re.findall(r"(?m)^\\(begin|end)\{(\w+\*?)\}", text):
        if what == "begin":
            open_.append(name)
        else:
            assert open_.pop() == name
    assert open_ == []
    declared = re.search(r"(?m)^\\begin\{tabular\}\{@\{\}(.*)@\{\}\}$", text)[1]
    columns = re.sub(r"p\{[\d.]+pt\}", "p", declared)
    assert re.fullmatch(r"[lrp]+", columns)
    widths = {len(cells(line)) for line in body(text) if not line.startswith(r"\multicolumn")}
    assert widths <= {len(columns)}


def test_a_line_is_as_wide_as_the_text_of_an_article_at_most():
    name, remark = "The share of runs in which did_not_follow_instructions was found", "Why " * 60
    wide = Row(name, 0.123, 0.0456, 0.789, 123_456, "recomputed", "s", "underdetermined", remark, "share")
    long_row = Row(name, f"steps {', '.join(map(str, range(40)))}", n=40, unit="text", group=name * 3)
    for rows in ((wide,), (long_row,), (wide, long_row), (Row("a", 1),)):
        shown = printed(Table("t", "p", "T", "F", rows))
        widths, lines = _widths(shown), [dict(zip(shown.columns, row, strict=True)) for row in shown.sections[0][1]]
        own = {column: width or max(_width(line[column]) for line in lines) for column, width in widths.items()}
        assert sum(own.values()) + 8 * (len(own) - 1) <= 345
        assert all(width is None or width >= 42 for width in widths.values())


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("underdetermined", 62.82),
        ("The quick brown fox jumps over 1,234 lazy dogs (95%).", 206.94),
        ("did_not_follow_instructions", 98.53),
        ("98.7--100.0 WMwm", 72.71),
    ],
)
def test_a_width_is_at_least_what_tex_measures(text, points):
    """`points` is what TeX Live 2022 measures of the text in `footnotesize`."""
    assert points <= _width(text) <= 1.1 * points


def test_the_caption_is_the_title_and_the_finding_is_the_first_note():
    text = latex_text(compared())
    assert r"\caption{Shares}" in text
    assert r"\label{tab:made-up-compared}" in text
    below = text.split(r"\end{tabular}")[1]
    assert below.index("One of three shares differs.") < below.index("Wilson intervals.")


def of_rows(count: int, reason: str = "") -> Table:
    rows = tuple(
        Row(f"Quantity {place}", place, reason=reason, group="" if place < 3 else "Later") for place in range(count)
    )
    return Table("long", "made-up", "A long table", "There are many.", rows, notes=("One note.",))


def of_parts(text: str) -> int:
    return text.count(r"\begin{table*}")


def test_a_table_of_more_than_a_page_is_several_with_the_head_on_each_and_the_number_of_the_first():
    text = latex_text(of_rows(60))
    assert of_parts(text) == 2
    assert text.count("\\toprule\nQuantity & Value & Evidence \\\\\n\\midrule\n") == 2
    first, later = text.split(r"\end{table*}")[:2]
    assert r"\label{tab:made-up-long}" in first
    assert r"\label" not in later
    assert "\\addtocounter{table}{-1}\n\\caption{A long table (continued)}" in later
    assert [cells(line)[0] for line in body(text)][:4] == ["Quantity 0", "Quantity 1", "Quantity 2", "Later"]
    assert next(cells(line)[0] for line in body(later)) == "Later"
    assert sum(line.startswith("Quantity") for line in body(text)) == 60
    assert text.index("There are many.") > text.index(r"\bottomrule", text.index("(continued)"))


def test_headings_count_as_well_since_they_stand_on_the_same_page():
    table = of_rows(30)
    assert of_parts(latex_text(table)) == 1
    grouped = tuple(structs.replace(row, group=f"{place} " * 60) for place, row in enumerate(table.rows))
    assert of_parts(latex_text(structs.replace(table, rows=grouped))) > 1


def test_notes_for_which_the_page_has_no_room_follow_the_table_and_may_go_on_overleaf():
    text = latex_text(structs.replace(of_rows(30), notes=("A note of some length. " * 70,)))
    assert text.index("A note") > text.index(r"\end{table*}")
    assert "minipage" not in text


def test_folded_lines_count_and_a_table_of_a_page_stays_one():
    assert of_parts(latex_text(of_rows(40))) == 1
    assert of_parts(latex_text(of_rows(40, "It is not printed, and nobody knows what it would have been."))) == 2
