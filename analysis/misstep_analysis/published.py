"""Figures as the papers print them: `data/published/<paper>.toml`, one loader.

A figure is kept as a string, with its place:

    [[figure]]
    id = "fruit.pears.share"
    place = "Table 7"
    row = "Pears"
    column = "Share of the harvest"
    printed = "12.5%"
    unit = "share"
    check = "percentage"
    inputs = { count = "fruit.pears.count", n = "fruit.n" }

What could be worked out again from other printed figures says so (`check` and `inputs`); the judgement is computed by
`analysis.papers` and by the audit, never stored. A figure whose place opens with "worked out:" is not printed: it is
what a check needs and says where it is from.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Literal

from msgspec import Struct, structs

from misstep_analysis.tables import Row, Unit
from misstep_harness.errors import InputError, UsageError
from misstep_harness.forms import toml_form
from misstep_harness.places import data_folder

Check = Literal[
    "percentage",
    "mean",
    "two_proportion_p",
    "stars",
    "precision_recall",
    "kappa",
    "rater_agreement",
    "sum",
    "difference",
    "relative_change",
    "same",
    "share_of",
]

INPUTS: dict[Check, frozenset[str]] = {
    "percentage": frozenset({"count", "n", "repeats", "beside", "most"}),
    "mean": frozenset({"n", "step", "repeats"}),
    "two_proportion_p": frozenset({"x1", "n1", "x2", "n2", "share1", "share2"}),
    "stars": frozenset({"p", "one", "two", "three", "four"}),
    "precision_recall": frozenset(
        {"tp", "fp", "fn", "tn", "positives", "negatives", "n"}
        | {"precision", "recall", "f1", "accuracy", "kappa", "other_precision", "other_recall"}
    ),
    "kappa": frozenset({"n", "agreement", "matrix", "labels", "margins"}),
    "rater_agreement": frozenset({"n", "labels", "agreements", "kappas"}),
    "sum": frozenset({"parts"}),
    "difference": frozenset({"a", "b"}),
    "relative_change": frozenset({"from", "to"}),
    "same": frozenset({"other"}),
    "share_of": frozenset({"part", "whole"}),
}
"""What each check takes; any may be missing where it is not printed.

- `percentage`: 100 count / (n x repeats); where n is not printed, whether any number up to `most` has whole counts of
  this share and of those `beside` it, which are of the same items.
- `mean`: of n x repeats answers that go in steps of `step`, 1 where not given.
- `two_proportion_p`: the p-value of x1 of n1 against x2 of n2, or of two shares where no counts are printed.
- `stars`: the stars beside a figure, from its p-value `p` and the levels that the legend gives to `one` star, `two` …
- `precision_recall`: the figure's column says precision, recall, F1 or accuracy; seen from the class of the figure's
  row, so that what is a true negative for one class is a true positive for the other; `positives` are tp + fn,
  `negatives` fp + tn, `n` all. Where the cells are not printed the judge's other figures count: one table has to
  print them all.
- `kappa`: from the matrix of an id; or against every matrix of n items with that agreement, of so many `labels`, and
  with `margins`, how often one of the two raters used each label.
- `rater_agreement`: the overall agreement (a share) or Fleiss' kappa of n items, from the `agreements` and `kappas` of
  each pair of raters, in the order 1-2, 1-3, 2-3. `sum`: of the parts. `difference`: a less b.
- `relative_change`: (to - from) / from. `same`: the same quantity in another place. `share_of`: part / whole.
"""

LISTS = frozenset({"parts", "margins", "agreements", "kappas", "beside"})

MOST_DIGITS = 15
"""How many digits a printed number has at most, those of the thousands that a letter stands for included."""

_MOST_DECIMALS, _MOST_DECIMALS_OF_A_LIMIT = 20, 300
_LONGEST_PRINTED, _LONGEST_SHOWN, _MOST_NAMED = 200, 40, 12
_DIGITS = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_PERCENT = ("share", "difference")
_WORKED_OUT = "worked out:"
_TOGETHER = frozenset({"precision", "recall", "f1", "accuracy", "kappa", "other_precision", "other_recall"})
"""Inputs of a judge's figure that are not what it is worked out from: they have to fit the same table."""


def too_many_digits(digits: str, *, is_limit: bool) -> bool:
    """Whether a number has more digits than can be compared; a limit as small as p < 1e-300 has few that count."""
    behind = len(digits.partition(".")[2])
    counting = len(digits.lstrip("-0.").replace(".", ""))
    return behind > (_MOST_DECIMALS_OF_A_LIMIT if is_limit else _MOST_DECIMALS) or counting > MOST_DIGITS


class Derivation(Struct, frozen=True, forbid_unknown_fields=True):
    """One way to work a figure out again: the check, and the figures (or the matrix) that it takes, by id.

    `reading` says in words what the figure is taken for where the paper leaves that open: of several ways with a
    reading one has to fit, and all without one.
    """

    check: Check
    inputs: dict[str, str | tuple[str, ...]] = {}
    reading: str = ""


class Figure(Struct, frozen=True, forbid_unknown_fields=True):
    """One printed figure.

    `value` is the number where `printed` is not one ("42,807k", "Three"); `approximate` where the paper says "about";
    `bound` where it is a limit ("over", "up to"); `also` has further ways to work it out. `statistic` is what its place
    calls the number, `of` what a share is of; `same` compares these too. `paper` is the slug of its file.
    """

    id: str
    place: str
    row: str
    column: str
    printed: str
    unit: Unit
    value: str | None = None
    check: Check | None = None
    inputs: dict[str, str | tuple[str, ...]] = {}
    reading: str = ""
    also: tuple[Derivation, ...] = ()
    approximate: bool = False
    bound: Literal["above", "below"] | None = None
    statistic: str = ""
    of: str = ""
    note: str = ""
    paper: str = ""

    @property
    def named(self) -> tuple[str, ...]:
        """Return how a row of a table names it: the paper and the id; empty where it is of no file."""
        return (f"{self.paper}/{self.id}",) if self.paper else ()

    @property
    def digits(self) -> str:
        """The number alone, digits as printed: without sign words, stars, thousands separators and the percent sign."""
        plain = (self.value or self.printed).replace(",", "").replace("\N{MINUS SIGN}", "-")
        return plain.strip("~<>≥≤≈%*+ ").removesuffix("pp").rstrip()

    @property
    def is_worked_out(self) -> bool:
        """Return whether the paper does not print it: it was inferred, as its place says."""
        return self.place.startswith(_WORKED_OUT)

    @property
    def number(self) -> float:
        """Return the number; a share or a difference of shares is printed in percent and given as a fraction."""
        return float(self.digits) / (100 if self.unit in _PERCENT else 1)

    @property
    def derivations(self) -> tuple[Derivation, ...]:
        """Return every way to work it out again that the file names, the first one first."""
        return self.also if self.check is None else (Derivation(self.check, self.inputs, self.reading), *self.also)


class PrintedMatrix(Struct, frozen=True, forbid_unknown_fields=True):
    """A printed table of counts: `cells` holds the ids of figures, a row for each of `rows` (the truth)."""

    id: str
    place: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    note: str = ""


class Pattern(Struct, frozen=True, forbid_unknown_fields=True):
    """One combination of the raters' labels, and how many items have it."""

    labels: tuple[int, ...]
    items: int


class _Reconstruction(Struct, frozen=True, forbid_unknown_fields=True):
    """Ratings that print the figures at `place`; one possibility among many, not the authors' data."""

    id: str
    place: str
    patterns: tuple[Pattern, ...]


class Paper(Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """A paper's printed figures."""

    slug: str
    title: str
    authors: str
    figure: tuple[Figure, ...] = ()
    matrix: tuple[PrintedMatrix, ...] = ()
    reconstruction: tuple[_Reconstruction, ...] = ()

    def __getitem__(self, id: str) -> Figure:  # noqa: A002 (the file's own word)
        """Return the figure with an id."""
        try:
            return self._by_id[id]
        except KeyError:
            raise UsageError(f"{self.slug} has no printed figure {id!r}") from None

    def __contains__(self, id: object) -> bool:  # noqa: A002 (as above)
        return id in self._by_id

    @cached_property
    def _by_id(self) -> dict[str, Figure]:
        return {figure.id: figure for figure in reversed(self.figure)}


def published_papers() -> tuple[str, ...]:
    """Return the slugs of the papers whose figures are available."""
    return tuple(sorted(file.stem for file in (data_folder() / "published").glob("*.toml")))


@cache
def load_paper(slug: str) -> Paper:
    """Return the printed figures of a paper."""
    if slug not in published_papers():
        raise UsageError(f"unknown paper {slug!r}", f"Known: {', '.join(published_papers())}.")
    return read_paper(data_folder() / "published" / f"{slug}.toml")


def read_paper(file: Path) -> Paper:
    """Return the printed figures in a file of this form."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", "Give a TOML file of printed figures.", file=file
        ) from error
    paper = toml_form(data, Paper, file, "See data/published/wink.toml for the form.")
    _check_ids(paper, file)
    return structs.replace(paper, figure=tuple(structs.replace(figure, paper=paper.slug) for figure in paper.figure))


def _check_ids(paper: Paper, file: Path) -> None:
    figures, matrices = {figure.id for figure in paper.figure}, {matrix.id for matrix in paper.matrix}
    for name, times in Counter([named.id for named in paper.figure] + [named.id for named in paper.matrix]).items():
        if times > 1:
            raise InputError(
                "the id is used twice", "Give each figure and each matrix an id of its own.", file=file, field=name
            )
    for figure in paper.figure:
        if figure.inputs and figure.check is None:
            raise InputError(
                "the figure has inputs but no check", "Name the check that takes them.", file=file, field=figure.id
            )
        _check_number(figure, file)
        for derivation in figure.derivations:
            _check_inputs(derivation, figures, matrices, file, figure.id)
    for matrix in paper.matrix:
        if [len(row) for row in matrix.cells] != [len(matrix.columns)] * len(matrix.rows):
            shape = f"{len(matrix.rows)} rows of {len(matrix.columns)}"
            raise InputError(f"cells are not {shape}", "Give each row and column a cell.", file=file, field=matrix.id)
        for name in (name for row in matrix.cells for name in row):
            if name not in figures:
                raise InputError(f"a cell names the figure {name!r}, which does not exist", file=file, field=matrix.id)
    _check_order(paper, file)


def _check_number(figure: Figure, file: Path) -> None:
    if figure.unit == "text":
        return
    long = len(figure.printed) > _LONGEST_PRINTED
    shown, digits = figure.printed if long else figure.value or figure.printed, figure.digits
    shown = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"
    if not _DIGITS.fullmatch(digits) or long:
        advice = 'Give the number in digits as `value`, or the unit "text".'
        raise InputError(f"{shown!r} is not a number", advice, file=file, field=figure.id)
    if too_many_digits(digits, is_limit=figure.bound is not None or figure.printed.startswith(("<", ">", "≤", "≥"))):
        advice = f"Give at most {MOST_DIGITS} digits."
        raise InputError(f"{shown!r} has too many digits to compare", advice, file=file, field=figure.id)


def _check_order(paper: Paper, file: Path) -> None:
    """Refuse figures that are worked out from themselves, in one step or in several: nothing could contradict them."""
    matrices = {matrix.id: [name for row in matrix.cells for name in row] for matrix in paper.matrix}
    try:
        TopologicalSorter({figure.id: set(_needed(figure, matrices)) for figure in paper.figure}).prepare()
    except CycleError as error:
        named: list[str] = error.args[1][::-1]
        shown = " → ".join([*named[:_MOST_NAMED], "…"] if len(named) > _MOST_NAMED else named)
        advice = "Name what else is printed that it could be worked out from."
        raise InputError(f"the figure is computed from itself: {shown}", advice, file=file, field=named[0]) from error


def _needed(figure: Figure, matrices: dict[str, list[str]]) -> Iterator[str]:
    for derivation in figure.derivations:
        for key, value in derivation.inputs.items():
            for name in (value,) if isinstance(value, str) else value:
                if key == "matrix":
                    yield from matrices[name]
                elif name == figure.id or key not in _TOGETHER:
                    yield name


def _check_inputs(derivation: Derivation, figures: set[str], matrices: set[str], file: Path, field: str) -> None:
    known = INPUTS[derivation.check]
    for key, value in derivation.inputs.items():
        if key not in known:
            takes = ", ".join(sorted(known))
            raise InputError(f"{derivation.check} takes no {key!r}", f"It takes: {takes}.", file=file, field=field)
        if isinstance(value, str) == (key in LISTS):
            form = "a list of ids" if key in LISTS else "one id"
            raise InputError(f"{key!r} is not {form}", f"Give {form}.", file=file, field=field)
        for name in (value,) if isinstance(value, str) else value:
            if name not in (matrices if key == "matrix" else figures):
                kind = "matrix" if key == "matrix" else "figure"
                raise InputError(f"the inputs name the {kind} {name!r}, which does not exist", file=file, field=field)


def published_row(figure: Figure, quantity: str | None = None, *, n: int | None = None, group: str = "") -> Row:
    """Return a printed figure as a row of a table."""
    return Row(
        quantity=quantity or figure.row,
        value=figure.printed if figure.unit == "text" else figure.number,
        n=n,
        evidence="published",
        source=figure.place,
        unit=figure.unit,
        printed=figure.printed,
        group=group,
        figures=figure.named,
    )
