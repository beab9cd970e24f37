"""Open coding of comments on patches: how often each theme and code was given, and how far the coders agree on it."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from misstep.analysis.measures.agreement import Pair
from misstep.analysis.measures.coding import Codings, code_share
from misstep.analysis.measures.coding import read_codings as read_any_codings
from misstep.analysis.published import load_paper
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Table, TableHead, made_by_this, rows_in
from misstep.analysis.tables.wording import counted_text, with_interval
from misstep.harness.forms import toml_form
from misstep.harness.places import data_folder

_PAPER = "engineering_agent"
_THEMES = TableHead(
    "feedback_codes",
    "repair",
    "Themes of the comments on patches",
    (
        "A comment has a code where more than half of its coders gave it, and a theme where more than half gave "
        "any code of the theme. It may have several.",
    ),
)


class Theme(Struct, frozen=True):
    """A theme of the code book: its codes, each with when it is given, and the paper's figure of it."""

    printed: str
    codes: dict[str, str]


class CodeFigures(Struct, frozen=True):
    """A theme (`code` is empty) or a code of it: the share of comments that have it, and how far the coders agree."""

    theme: str
    code: str
    share: Estimate
    krippendorff_alpha: Estimate
    pairs: list[Pair]


@lru_cache(maxsize=1)
def code_book() -> dict[str, Theme]:
    """Return the paper's themes with their codes, in the order of the book."""
    file = data_folder() / "codebooks" / "repair_feedback.toml"
    return toml_form(file.read_bytes(), dict[str, Theme], file, "The file says its form.")


def read_codings(file: Path) -> Codings:
    """Return the codings in a file with the columns comment, coder and codes."""
    return read_any_codings(file, "comment", {code for theme in code_book().values() for code in theme.codes})


def code_figures(codings: Codings) -> list[CodeFigures]:
    """Return the figures of each theme, followed by those of its codes, in the order of the book."""
    return [
        CodeFigures(name, code, *structs.astuple(code_share(codings, wanted)))
        for name, theme in code_book().items()
        for code, wanted in {"": frozenset(theme.codes), **{code: frozenset({code}) for code in theme.codes}}.items()
    ]


def codings_document(codings: Codings) -> dict[str, Any]:
    """Return the figures for scripts."""
    return {"n_comments": len(codings.codes), "coders": codings.coders, "codes": code_figures(codings)}


@made_by_this
def codings_table(codings: Codings, source: str) -> Table:
    """Return a line for each theme and code that was given: the share of comments that have it, and the agreement."""
    book, paper = code_book(), load_paper(_PAPER)
    codes_used = frozenset(
        code for of_comment in codings.codes.values() for codes in of_comment.values() for code in codes
    )
    figures, rows = code_figures(codings), []
    for one in figures:
        codes = book[one.theme].codes
        if one.code in codes_used and len(codes) > 1 if one.code else codes_used & codes.keys():
            line = f"– {one.code}" if one.code else one.theme
            rows += rows_in("share", {"share of the comments": one.share}, line, source)
            rows += rows_in("coefficient", {"Krippendorff's alpha": one.krippendorff_alpha}, line, source)
    absent = [theme for theme, of in book.items() if not codes_used & of.codes.keys()]
    printed = ", ".join(f"{theme} {paper[of.printed].printed}" for theme, of in book.items())
    notes = [f"Nobody gave a code of these themes: {', '.join(absent)}."] if absent else []
    notes.append(
        f"The Engineering Agent's paper prints of {paper['feedback.n.text'].printed} other comments: {printed}."
    )
    most = max((one for one in figures if not one.code), key=lambda one: one.share.value or 0.0)
    n, alpha = counted_text(len(codings.codes), "comment"), most.krippendorff_alpha
    finding = f"None of {n} has a theme."
    if most.share.value:
        agree = f"Krippendorff's alpha of {counted_text(len(codings.coders), 'coder')} on it is "
        agree += with_interval(alpha, "coefficient") if alpha.value is not None else f"undefined: {alpha.reason}"
        finding = f"The most frequent theme is {most.theme!r}: {with_interval(most.share, 'share')} of {n}. {agree}."
    return _THEMES.table(finding, rows, notes)
