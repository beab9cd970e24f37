r"""A table as LaTeX: a `table*` that needs `\usepackage{booktabs}` and nothing else.

In a paper of two columns it goes over both, and in one of one column it is a `table`. A table of more than a page is
several, each with the head; the later ones have the number of the first. None is wider than the text of LaTeX's
`article`: the widths of its letters say which columns have to be folded, and to which width.

The shape, with made-up figures:

    \begin{table*}
    \caption{Pears}
    \label{tab:fruit-pears}
    \begin{tabular}{@{}lrrl@{}}
    \toprule
    Quantity & Value & Interval & Evidence \\
    \midrule
    Ripe & 12.5\% & 9.8--14.1\% & real \\
    \bottomrule
    \end{tabular}
    \end{table*}

Text is escaped so that pdflatex with its own fonts prints it: signs of mathematics and Greek letters become commands,
letters with accents are put together; a character without a sign is named by its code point, as `[U+4E2D]`.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import chain
from math import ceil

from misstep.analysis.tables import Table
from misstep.analysis.tables.printed_lines import HEADS, Printed, printed
from misstep.harness.escaping import one_line

Line = tuple[str, ...]
Sections = tuple[tuple[str, tuple[Line, ...]], ...]
"""Lines under their headings."""

_FIGURES = frozenset({"value", "interval", "n"})
_REMARK = "remark"
_FOLDED = ({"quantity", "value"}, {"quantity", "value", "interval"})
"""The columns that are folded if a table is too wide, and those if these alone would become too narrow."""

_LEAST = 42.0
"""Points: the least width of a folded column, if others can give way as well."""

_TEXT_WIDTH = 345.0
_BETWEEN = 8.0
"""Points between two columns: twice the `tabcolsep` that a table sets."""

_WIDTHS = {
    character: width
    for width, characters in {
        2.4: "!',.:;[]il|",
        2.6: "fj",
        2.9: "- ",
        3.1: "I_",
        3.4: "()rst",
        3.8: "cez",
        4.3: '$`?"*/0123456789\\^ago{}~',
        4.7: "JSbdhkqvxynpu",
        5.8: "ZLFEP",
        6.5: "BCTwRAHNUVXYD",
        7.1: "&+<=>@KOQG#%m",
        8.8: "MW",
    }.items()
    for character in characters
}
"""Character → its width in points, at most, in the small print of LaTeX's own fonts."""

_WIDEST = 8.8
_NO_SIGN = 36.0
"""Points of a code point, which replaces a character that the fonts lack."""

_UNBROKEN = 8
_PIECE = re.compile(r"[^-_/.,:=@]{0,16}[-_/.,:=@]|[^-_/.,:=@]{1,16}")
"""The pieces of a longer word in a folded column: TeX itself breaks words of letters alone."""

_LINES_OF_A_PAGE = 47
"""How many lines fit on a page of small print: caption, head, rows, the finding and the notes."""

_FILLED = 0.85
"""How much of a folded line its words fill, about."""

_END = r" \\"
_SMALL = (r"\footnotesize", rf"\setlength{{\tabcolsep}}{{{_BETWEEN / 2:g}pt}}")

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
"""Character → its LaTeX, if it needs another form."""

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

_WRITTEN = _SIGNS | _GREEK | _LAMBDA
_JOINING = frozenset("-',")
"""Characters that a font draws as one if two of them meet."""


def latex_text(table: Table) -> str:
    """Return a table as LaTeX, in several parts if it does not fit on one page."""
    shown = printed(table)
    # A float longer than the page is cut off at its foot, without a word.
    parts = list(_parts(shown))
    floats = [_float(shown, part, "" if number else _named(table)) for number, part in enumerate(parts)]
    inside = _head_lines(shown) + _lines_of(shown, parts[-1]) + _remark_lines(shown) <= _LINES_OF_A_PAGE
    below = _remarks(shown, inside=inside)
    floats[-1][-1:-1] = below if inside else []
    return "\n".join([*chain.from_iterable(floats), *([] if inside else below)]) + "\n"


def _parts(shown: Printed) -> Iterator[Sections]:
    """Yield the rows that fit on each page, under their headings; that of a divided section is repeated."""
    head, widths = _head_lines(shown), _widths(shown)
    part: list[tuple[str, tuple[Line, ...]]] = []
    lines = head
    for heading, rows in shown.sections:
        for number, row in enumerate(rows):
            more = _row_lines(shown, row, widths) + (0 if number else _folds(heading))
            if part and lines + more > _LINES_OF_A_PAGE:
                yield tuple(part)
                part, lines = [], head + (_folds(heading) if number else 0)
            if not number or not part:
                part.append((heading, ()))
            part[-1] = heading, (*part[-1][1], row)
            lines += more
    yield tuple(part)


def _float(shown: Printed, part: Sections, label: str) -> list[str]:
    caption = escaped(shown.title)
    return [
        r"\begin{table*}",
        r"\centering",
        *([] if label else [r"\addtocounter{table}{-1}"]),
        rf"\caption{{{caption if label else f'{caption} (continued)'}}}",
        *([label] if label else []),
        *_SMALL,
        rf"\begin{{tabular}}{{{_declared(shown)}}}",
        *_head(shown),
        *_body(shown, part),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table*}",
    ]


def _named(table: Table) -> str:
    return rf"\label{{tab:{_label(table.paper)}-{_label(table.name)}}}"


def _head(shown: Printed) -> list[str]:
    return [r"\toprule", " & ".join(HEADS[name] for name in _set(shown)) + _END, r"\midrule"]


def _body(shown: Printed, part: Sections) -> Iterator[str]:
    widths = _widths(shown)
    for position, (heading, rows) in enumerate(part):
        if heading:
            yield from [r"\addlinespace"] if position else []
            yield _over_all(shown, rf"\textit{{{_breakable(heading)}}}")
        for row in rows:
            line = dict(zip(shown.columns, row, strict=True))
            remark = line.pop(_REMARK, "")
            cells = (
                escaped(text) if widths[name] is None else rf"\raggedright\hspace{{0pt}}{_breakable(text)}"
                for name, text in line.items()
            )
            yield " & ".join(cells) + _END
            if remark:
                yield _over_all(shown, rf"\quad {_breakable(remark)}")


def _over_all(shown: Printed, text: str) -> str:
    return rf"\multicolumn{{{len(_set(shown))}}}{{@{{}}p{{\linewidth}}@{{}}}}{{\raggedright {text}}}{_END}"


def _breakable(text: str) -> str:
    """Return text as LaTeX prints it, in which long names may break at punctuation."""
    return " ".join(
        escaped(word) if len(word) <= _UNBROKEN else r"\allowbreak{}".join(map(escaped, _PIECE.findall(word)))
        for word in text.split(" ")
    )


def _remarks(shown: Printed, *, inside: bool) -> list[str]:
    """Return the finding and the notes in one piece `inside` the float, or below it, where a page may end in them."""
    remarks = [_breakable(text) for text in (shown.finding, *shown.notes) if text]
    if not remarks:
        return []
    begin, end = (r"\begin{minipage}{\linewidth}", r"\end{minipage}") if inside else (r"{\footnotesize", r"\par}")
    return ["", r"\smallskip", r"\noindent", begin, r"\raggedright", "\n\n".join(remarks), end]


def _head_lines(shown: Printed) -> int:
    return _folds(shown.title) + 1


def _lines_of(shown: Printed, part: Sections) -> int:
    """Return how many lines the rows take on paper, with folded cells and headings."""
    widths = _widths(shown)
    rows = sum(_row_lines(shown, row, widths) for _, rows in part for row in rows)
    return sum(_folds(heading) for heading, _ in part) + rows


def _row_lines(shown: Printed, row: Line, widths: Mapping[str, float | None]) -> int:
    texts = dict(zip(shown.columns, row, strict=True))
    remark = texts.pop(_REMARK, "")
    return max(_folds(text, widths[name]) for name, text in texts.items()) + _folds(remark)


def _remark_lines(shown: Printed) -> int:
    return sum(_folds(text) + 1 for text in (shown.finding, *shown.notes) if text)


def _folds(text: str, width: float | None = _TEXT_WIDTH) -> int:
    return 1 if text and width is None else ceil(_width(text) / (_FILLED * (width or 1.0)))


def escaped(text: str) -> str:
    """Return text as LaTeX prints it, without commands, ends of cells and characters that the fonts lack."""
    printed = ""
    for piece in _pieces(unicodedata.normalize("NFC", one_line(text))):
        meets_itself = piece[0] in _JOINING and printed.endswith(piece[0])
        printed += f"{{}}{piece}" if meets_itself else piece
    return printed


def _pieces(text: str) -> Iterator[str]:
    for character in text:
        if character in _WRITTEN:
            yield _WRITTEN[character]
        elif character.isascii():
            yield character
        else:
            yield _accented(character) or f"{{[}}U+{ord(character):04X}{{]}}"


def _accented(character: str) -> str:
    """Return a Latin letter with one accent as LaTeX puts it together; empty for any other character."""
    parts = unicodedata.normalize("NFD", character)
    if len(parts) != 2 or parts[1] not in _ACCENTS or not (parts[0].isascii() and parts[0].isalpha()):
        return ""
    letter = rf"\{parts[0]}" if parts[0] in "ij" and parts[1] != "\N{COMBINING CEDILLA}" else parts[0]
    return rf"\{_ACCENTS[parts[1]]}{{{letter}}}"


def _set(shown: Printed) -> tuple[str, ...]:
    return tuple(name for name in shown.columns if name != _REMARK)


def _declared(shown: Printed) -> str:
    forms = (
        ("r" if name in _FIGURES else "l") if width is None else f"p{{{width:.1f}pt}}"
        for name, width in _widths(shown).items()
    )
    return f"@{{}}{''.join(forms)}@{{}}"


def _widths(shown: Printed) -> dict[str, float | None]:
    """Return column → its folded width, in points; `None` for one that keeps its own width."""
    lines = [dict(zip(shown.columns, row, strict=True)) for _, rows in shown.sections for row in rows]
    own = {name: max(map(_width, (HEADS[name], *(line[name] for line in lines)))) for name in _set(shown)}
    room = _TEXT_WIDTH - _BETWEEN * (len(own) - 1)
    own_widths: dict[str, float | None] = dict.fromkeys(own)
    if sum(own.values()) <= room:
        return own_widths
    for folded in _FOLDED:
        narrow = sorted((width, name) for name, width in own.items() if name in folded)
        left = room - sum(width for name, width in own.items() if name not in folded)
        widths = dict(own_widths)
        while narrow:  # the narrow ones keep their width, and the others share what is left
            width, name = narrow.pop(0)
            share = max(left, 0.0) / (len(narrow) + 1)
            widths[name] = None if width <= share else max(share, _LEAST)
            left -= min(width, share)
        if all(width is None or width > _LEAST for width in widths.values()):
            break
    return widths


def _width(text: str) -> float:
    return sum(map(_width_of, unicodedata.normalize("NFC", text)))


def _width_of(character: str) -> float:
    if character.isascii():
        return _WIDTHS.get(character, 0.0)
    letter = unicodedata.normalize("NFD", character)[0]
    known = character in _WRITTEN or _accented(character)
    return _WIDTHS.get(letter, _WIDEST) if known else _NO_SIGN


def _label(slug: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", slug.lower())
