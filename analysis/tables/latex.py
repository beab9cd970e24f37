r"""A table as LaTeX: one `table` that needs `\usepackage{booktabs}` and nothing else.

A table of more than a page is a `longtable`, and opens with a comment that names the package of that, too.

The shape, with made-up figures:

    \begin{table}
    \caption{Pears}
    \label{tab:fruit-pears}
    \begin{tabular}{lrrll}
    \toprule
    Quantity & Value & Interval & Evidence \\
    \midrule
    Ripe & 12.5\% & 9.8--14.1\% & real \\
    \bottomrule
    \end{tabular}
    \end{table}

Text is escaped so that pdflatex with its own fonts prints it: signs of mathematics and Greek letters become commands,
letters with accents are put together; what it has no sign for is named by its code point, as `[U+4E2D]`.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from math import ceil

from analysis.tables import Table
from analysis.tables.printed_lines import HEADS, Printed, printed
from harness.escaping import one_line

_FIGURES = frozenset({"value", "interval", "n"})
_WIDEST = 34
"""Characters: a column with longer texts is folded."""

_LINE = 80
"""Characters of small print over the whole width of a page, at least."""

_LINES_OF_A_PAGE = 50
"""What fits on a page of small print: caption, head, rows, the finding and the notes."""

_END = r" \\"

_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # after the end of a line it would open an option
    "]": "{]}",
    "*": "{*}",  # so would this
    "\N{MINUS SIGN}": "$-$",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{NON-BREAKING HYPHEN}": "-",
    "\N{NO-BREAK SPACE}": "~",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{LEFT SINGLE QUOTATION MARK}": r"\textquoteleft{}",
    "\N{RIGHT SINGLE QUOTATION MARK}": r"\textquoteright{}",
    "\N{LEFT DOUBLE QUOTATION MARK}": r"\textquotedblleft{}",
    "\N{RIGHT DOUBLE QUOTATION MARK}": r"\textquotedblright{}",
    "\N{SECTION SIGN}": r"\S{}",
    "\N{PILCROW SIGN}": r"\P{}",
    "\N{BULLET}": r"\textbullet{}",
    "\N{COPYRIGHT SIGN}": r"\textcopyright{}",
    "\N{POUND SIGN}": r"\pounds{}",
    "\N{EURO SIGN}": r"\texteuro{}",
    "\N{DEGREE SIGN}": r"$^{\circ}$",
    "\N{SUPERSCRIPT ONE}": "$^1$",
    "\N{SUPERSCRIPT TWO}": "$^2$",
    "\N{SUPERSCRIPT THREE}": "$^3$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{DIVISION SIGN}": r"$\div$",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{MIDDLE DOT}": r"$\cdot$",
    "\N{INFINITY}": r"$\infty$",
    "\N{ALMOST EQUAL TO}": r"$\approx$",
    "\N{NOT EQUAL TO}": r"$\neq$",
    "\N{LESS-THAN OR EQUAL TO}": r"$\leq$",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$",
    "\N{SQUARE ROOT}": r"$\surd$",
    "\N{N-ARY SUMMATION}": r"$\sum$",
    "\N{ELEMENT OF}": r"$\in$",
    "\N{LEFTWARDS ARROW}": r"$\leftarrow$",
    "\N{RIGHTWARDS ARROW}": r"$\rightarrow$",
    "\N{LEFT RIGHT ARROW}": r"$\leftrightarrow$",
    "\N{UPWARDS ARROW}": r"$\uparrow$",
    "\N{DOWNWARDS ARROW}": r"$\downarrow$",
    "\N{MATHEMATICAL LEFT ANGLE BRACKET}": r"$\langle$",
    "\N{MATHEMATICAL RIGHT ANGLE BRACKET}": r"$\rangle$",
    "\N{LATIN SMALL LETTER SHARP S}": r"\ss{}",
    "\N{LATIN SMALL LETTER O WITH STROKE}": r"\o{}",
    "\N{LATIN CAPITAL LETTER O WITH STROKE}": r"\O{}",
    "\N{LATIN SMALL LETTER L WITH STROKE}": r"\l{}",
    "\N{LATIN CAPITAL LETTER L WITH STROKE}": r"\L{}",
    "\N{LATIN SMALL LETTER AE}": r"\ae{}",
    "\N{LATIN CAPITAL LETTER AE}": r"\AE{}",
    "\N{LATIN SMALL LIGATURE OE}": r"\oe{}",
    "\N{LATIN CAPITAL LIGATURE OE}": r"\OE{}",
    "\N{LATIN SMALL LETTER DOTLESS I}": r"\i{}",
}
"""Character → how LaTeX writes it, where it cannot stand as it is."""

_GREEK_SMALL = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa mu nu xi pi rho sigma tau upsilon phi chi psi omega"
)
_GREEK_CAPITAL = "Gamma Delta Theta Xi Pi Sigma Upsilon Phi Psi Omega"
_GREEK = {unicodedata.lookup(f"GREEK SMALL LETTER {name.upper()}"): rf"$\{name}$" for name in _GREEK_SMALL.split()} | {
    unicodedata.lookup(f"GREEK CAPITAL LETTER {name.upper()}"): rf"$\{name}$" for name in _GREEK_CAPITAL.split()
}
# Unicode spells this letter's name another way than LaTeX.
_LAMBDA = {"\N{GREEK SMALL LETTER LAMDA}": r"$\lambda$", "\N{GREEK CAPITAL LETTER LAMDA}": r"$\Lambda$"}

_ACCENTS = {
    "\N{COMBINING GRAVE ACCENT}": "`",
    "\N{COMBINING ACUTE ACCENT}": "'",
    "\N{COMBINING CIRCUMFLEX ACCENT}": "^",
    "\N{COMBINING TILDE}": "~",
    "\N{COMBINING MACRON}": "=",
    "\N{COMBINING BREVE}": "u",
    "\N{COMBINING DOT ABOVE}": ".",
    "\N{COMBINING DIAERESIS}": '"',
    "\N{COMBINING RING ABOVE}": "r",
    "\N{COMBINING DOUBLE ACUTE ACCENT}": "H",
    "\N{COMBINING CARON}": "v",
    "\N{COMBINING CEDILLA}": "c",
}
"""Accent → the command that sets it over, or under, a letter."""

_WRITTEN = _SIGNS | _GREEK | _LAMBDA
_JOINING = frozenset("-',")
"""What a font draws as one sign where two of them meet."""


def latex_text(table: Table) -> str:
    """A table as LaTeX: caption, rules of booktabs, a line a figure, the finding and the notes below.

    It is a `table`, or a `longtable` where it does not fit on one page.
    """
    shown = printed(table)
    # What stands in one float and is longer than the page is cut off at its foot, without a word.
    lines = _over_pages(table, shown) if _printed_lines(shown) > _LINES_OF_A_PAGE else _on_one_page(table, shown)
    return "\n".join(lines) + "\n"


def _on_one_page(table: Table, shown: Printed) -> list[str]:
    return [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped(shown.title)}}}",
        _named(table),
        r"\footnotesize",
        rf"\begin{{tabular}}{{{''.join(_columns(shown))}}}",
        *_head(shown),
        *_body(shown),
        r"\bottomrule",
        r"\end{tabular}",
        *_remarks(shown),
        r"\end{table}",
    ]


def _over_pages(table: Table, shown: Printed) -> list[str]:
    """The head is repeated on every page; a line at the foot of all but the last says that the table goes on."""
    return [
        r"% \usepackage{booktabs}",
        r"% \usepackage{longtable}",
        r"\begingroup",
        r"\footnotesize",
        rf"\begin{{longtable}}{{{''.join(_columns(shown))}}}",
        rf"\caption{{{escaped(shown.title)}}}",
        _named(table) + _END,
        *_head(shown),
        r"\endfirsthead",
        *_head(shown),
        r"\endhead",
        r"\midrule",
        rf"\multicolumn{{{len(shown.columns)}}}{{r}}{{\textit{{continued on the next page}}}}{_END}",
        r"\endfoot",
        r"\bottomrule",
        r"\endlastfoot",
        *_body(shown),
        r"\end{longtable}",
        *_remarks(shown),
        r"\endgroup",
    ]


def _named(table: Table) -> str:
    return rf"\label{{tab:{_label(table.paper)}-{_label(table.name)}}}"


def _head(shown: Printed) -> list[str]:
    return [r"\toprule", " & ".join(HEADS[name] for name in shown.columns) + _END, r"\midrule"]


def _body(shown: Printed) -> Iterator[str]:
    for position, (heading, rows) in enumerate(shown.sections):
        if heading:
            yield from [r"\addlinespace"] if position else []
            form = "l" if len(heading) <= _LINE else r"p{0.95\linewidth}"
            yield rf"\multicolumn{{{len(shown.columns)}}}{{{form}}}{{\textit{{{escaped(heading)}}}}}{_END}"
        yield from (" & ".join(map(escaped, row)) + _END for row in rows)


def _remarks(shown: Printed) -> list[str]:
    remarks = [escaped(text) for text in (shown.finding, *shown.notes) if text]
    if not remarks:
        return []
    return ["", r"\smallskip", r"\begin{minipage}{\linewidth}", "\n\n".join(remarks), r"\end{minipage}"]


def _printed_lines(shown: Printed) -> int:
    """How many lines the table takes on paper: what is folded and what stands above and below the rows counted."""
    headings = sum(ceil(len(heading) / _LINE) for heading, _ in shown.sections)
    rows = (row for _, rows in shown.sections for row in rows)
    folded = sum(max(ceil(len(text) / _WIDEST) for text in (*row, " ")) for row in rows)
    below = sum(ceil(len(text) / _LINE) + 1 for text in (shown.finding, *shown.notes) if text)
    return ceil(len(shown.title) / _LINE) + 1 + headings + folded + below


def escaped(text: str) -> str:
    """Text as LaTeX prints it: nothing in it is a command, an end of a cell or a sign that the fonts lack."""
    written = ""
    for piece in _pieces(unicodedata.normalize("NFC", one_line(text))):
        meets_itself = piece[0] in _JOINING and written.endswith(piece[0])
        written += f"{{}}{piece}" if meets_itself else piece
    return written


def _pieces(text: str) -> Iterator[str]:
    for character in text:
        if character in _WRITTEN:
            yield _WRITTEN[character]
        elif character.isascii():
            yield character
        else:
            yield _accented(character) or f"{{[}}U+{ord(character):04X}{{]}}"


def _accented(character: str) -> str:
    """A Latin letter with one accent as LaTeX puts it together; empty for any other character."""
    parts = unicodedata.normalize("NFD", character)
    if len(parts) != 2 or parts[1] not in _ACCENTS or not (parts[0].isascii() and parts[0].isalpha()):
        return ""
    letter = rf"\{parts[0]}" if parts[0] in "ij" and parts[1] != "\N{COMBINING CEDILLA}" else parts[0]
    return rf"\{_ACCENTS[parts[1]]}{{{letter}}}"


def _columns(shown: Printed) -> Iterator[str]:
    """How each column is set: figures to the right, words to the left, long words folded."""
    lines: Sequence[tuple[str, ...]] = [line for _, rows in shown.sections for line in rows]
    for position, name in enumerate(shown.columns):
        longest = max((len(line[position]) for line in lines), default=0)
        if longest > _WIDEST:
            yield r"p{0.28\linewidth}"
        else:
            yield "r" if name in _FIGURES else "l"


def _label(slug: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", slug.lower())
