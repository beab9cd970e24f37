"""Open coding of comments on patches: how often each theme and code was given, and how far the coders agree on it.

A file of codings has a row a comment and coder, with as many codes as fit, or none:

    comment,coder,codes
    c1,ann,gratitude;already_fixed
    c1,bob,already_fixed
    c2,ann,

A comment may get several codes, so that agreement is a question of each code by itself: given or not. A coder without a
row for a comment has not coded it.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from analysis.labels import Labels
from analysis.labels.rows import read_rows
from analysis.measures.agreement import Pair, agreement_report
from analysis.published import load_paper
from analysis.stats.estimate import Estimate
from analysis.stats.patterns import MISSING
from analysis.stats.proportions import wilson
from analysis.tables import Row, Table, estimate_row, made_by_this
from analysis.tables.wording import counted_text, with_interval
from harness.forms import toml_form
from harness.places import data_folder

_COLUMNS = ("comment", "coder", "codes")
_FORM = "Give the columns comment,coder,codes; separate several codes by semicolons."
_PAPER = "engineering_agent"


class Theme(Struct, frozen=True):
    """A theme of the code book: its codes, each with when it is given, and the paper's figure of it."""

    printed: str
    codes: dict[str, str]


class Codings(Struct, frozen=True):
    """What coders gave: comment → coder → codes. A coder who has no row for a comment has not coded it."""

    given: Mapping[str, Mapping[str, frozenset[str]]]

    @property
    def coders(self) -> list[str]:
        """Every coder, by name."""
        return sorted({coder for of_comment in self.given.values() for coder in of_comment})


class CodeFigures(Struct, frozen=True):
    """A theme, or a code of it: the share of comments that have it, and how far the coders agree on that.

    `code` is empty where it is the whole theme. A comment has it where more than half of its coders gave it.
    """

    theme: str
    code: str
    share: Estimate
    krippendorff_alpha: Estimate
    pairs: list[Pair]


@lru_cache(maxsize=1)
def code_book() -> dict[str, Theme]:
    """The paper's themes with their codes, in the order of the book."""
    file = data_folder() / "codebooks" / "repair_feedback.toml"
    return toml_form(file.read_bytes(), dict[str, Theme], file, "The file says its form.")


def read_codings(file: Path) -> Codings:
    """The codings in a file.

    Raises
    ------
    InputError
        It is no such CSV, a code is not in the book, or a coder has two rows for a comment; names file and line.
    """
    sheet = read_rows(file, "codings", _FORM)
    if missing := [name for name in _COLUMNS if name not in sheet.header]:
        raise sheet.error(-1, f"no column {missing[0]}", _FORM)
    known = sorted(code for theme in code_book().values() for code in theme.codes)
    given: dict[str, dict[str, frozenset[str]]] = {}
    columns = (sheet.columns[sheet.header.index(name)] for name in _COLUMNS)
    for row, (comment, coder, listed) in enumerate(zip(*(map(str.strip, cells) for cells in columns), strict=True)):
        if not comment or not coder:
            raise sheet.error(row, "a comment or coder without a name", _FORM)
        codes = frozenset(code.strip() for code in listed.split(";") if code.strip())
        if unknown := sorted(codes.difference(known)):
            raise sheet.error(row, f"unknown code {unknown[0]!r}", f"Codes: {', '.join(known)}.", "codes")
        if coder in given.setdefault(comment, {}):
            raise sheet.error(row, f"{coder} has coded {comment!r} twice", "Keep one row.")
        given[comment][coder] = codes
    return Codings(given)


def code_figures(codings: Codings) -> list[CodeFigures]:
    """The figures of each theme, followed by those of its codes, in the order of the book."""
    return [
        _figures(codings, name, code, wanted)
        for name, theme in code_book().items()
        for code, wanted in {"": frozenset(theme.codes), **{code: frozenset({code}) for code in theme.codes}}.items()
    ]


def _figures(codings: Codings, theme: str, code: str, wanted: frozenset[str]) -> CodeFigures:
    """The figures of codes any of which counts: those of a theme, or one alone."""
    coders = codings.coders
    votes = np.array(
        [
            [int(bool(wanted & of_comment[coder])) if coder in of_comment else MISSING for coder in coders]
            for of_comment in codings.given.values()
        ]
    )
    having = int(np.sum(2 * (votes == 1).sum(axis=1) > (votes != MISSING).sum(axis=1)))
    labels = Labels("", list(codings.given), coders, ["not given", "given"], [], votes, [])
    report = agreement_report(labels)
    return CodeFigures(theme, code, wilson(having, len(votes)), report.krippendorff_alpha, report.pairs)


def codings_document(codings: Codings) -> dict[str, Any]:
    """The figures for scripts."""
    return {"n_comments": len(codings.given), "coders": codings.coders, "codes": code_figures(codings)}


@made_by_this
def codings_table(codings: Codings, source: str) -> Table:
    """A line a theme and a line a code of it: the share of the comments that have it, and the coders' agreement.

    A theme or code that nobody gave has no line, and neither has the one code of a theme.
    """
    book, paper = code_book(), load_paper(_PAPER)
    given = frozenset(code for of_comment in codings.given.values() for codes in of_comment.values() for code in codes)
    found = code_figures(codings)
    shown = [
        one
        for one in found
        if (one.code in given and len(book[one.theme].codes) > 1 if one.code else given & book[one.theme].codes.keys())
    ]
    absent = [theme for theme, of in book.items() if not given & of.codes.keys()]
    printed = ", ".join(f"{theme} {paper[of.printed].printed}" for theme, of in book.items())
    return Table(
        name="feedback_codes",
        paper="repair",
        title="Themes of the comments on patches",
        finding=_finding(codings, found),
        rows=tuple(row for one in shown for row in _rows(one, source)),
        notes=(
            "A comment has a code where more than half of its coders gave it, and a theme where more than half gave "
            "any code of the theme. It may have several.",
            *([f"Nobody gave a code of these themes: {', '.join(absent)}."] if absent else []),
            f"The Engineering Agent's paper prints of {paper['feedback.n.text'].printed} other comments: {printed}.",
        ),
    )


def _rows(one: CodeFigures, source: str) -> list[Row]:
    line = f"– {one.code}" if one.code else one.theme
    return [
        estimate_row("share of the comments", one.share, "share", line, source),
        estimate_row("Krippendorff's alpha", one.krippendorff_alpha, "coefficient", line, source),
    ]


def _finding(codings: Codings, found: list[CodeFigures]) -> str:
    """The most frequent theme, and how far its coders agree on it."""
    most = max((one for one in found if not one.code), key=lambda one: one.share.value or 0.0)
    n = counted_text(len(codings.given), "comment")
    if not most.share.value:
        return f"None of {n} has a theme."
    alpha = most.krippendorff_alpha
    agree = f"Krippendorff's alpha of {counted_text(len(codings.coders), 'coder')} on it is "
    agree += with_interval(alpha, "coefficient") if alpha.value is not None else f"undefined: {alpha.reason}"
    return f"The most frequent theme is {most.theme!r}: {with_interval(most.share, 'share')} of {n}. {agree}."
