"""Open coding of comments on patches: how often each code was given, and how far the coders agree on it.

A file of codings has a line a comment and coder, with as many codes as fit, or none:

    comment,coder,codes
    c1,ann,gratitude;already_fixed
    c1,bob,already_fixed
    c2,ann,

A comment may get several codes, so that agreement is a question of each code by itself: given or not.
"""

import csv
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path

from msgspec import Struct

from analysis.stats.agreement import cohen_kappa
from analysis.stats.estimate import Estimate
from analysis.stats.proportions import wilson
from harness.errors import InputError
from harness.places import data_folder

_COLUMNS = ("comment", "coder", "codes")
_FORM = "The columns are comment, coder and codes; several codes stand with ; between them."


class Code(Struct, frozen=True):
    """A code of the book: its name, the theme that it belongs to, when it is given."""

    name: str
    theme: str
    meaning: str


class Codings(Struct, frozen=True):
    """What coders gave: comment → coder → codes. A coder who has no line for a comment has not coded it."""

    given: Mapping[str, Mapping[str, frozenset[str]]]

    @property
    def coders(self) -> tuple[str, ...]:
        """Every coder, by name."""
        return tuple(sorted({coder for of_comment in self.given.values() for coder in of_comment}))


class CodePair(Struct, frozen=True):
    """Two coders on one code: over how many comments, and Cohen's kappa of given or not."""

    coders: tuple[str, str]
    n: int
    kappa: Estimate


class CodeFigures(Struct, frozen=True):
    """One code: the share of comments that a majority of their coders gave it to, and the agreement of coders."""

    code: Code
    share: Estimate
    pairs: tuple[CodePair, ...]


@lru_cache(maxsize=1)
def code_book() -> tuple[Code, ...]:
    """The codes of the paper's themes, in the order of the book."""
    with (data_folder() / "codebooks" / "repair_feedback.toml").open("rb") as stream:
        book = tomllib.load(stream)
    return tuple(Code(name, fields["theme"], fields["meaning"]) for name, fields in book.items())


def read_codings(file: Path, known: Sequence[Code] = ()) -> Codings:
    """The codings in a file.

    Raises
    ------
    InputError
        A column is missing, a code is not in the book, or a coder has two lines for a comment; names file and line.
    """
    names = {code.name for code in known or code_book()}
    given: dict[str, dict[str, frozenset[str]]] = {}
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream, strict=True)
            if missing := [name for name in _COLUMNS if name not in (rows.fieldnames or ())]:
                raise InputError(f"no column {missing[0]}", _FORM, file=file, line=1)
            for row in rows:
                comment, coder = (row["comment"] or "").strip(), (row["coder"] or "").strip()
                codes = frozenset(code.strip() for code in (row["codes"] or "").split(";") if code.strip())
                line = rows.line_num
                if not comment or not coder:
                    raise InputError("a comment or coder without a name", _FORM, file=file, line=line)
                if unknown := sorted(codes - names):
                    advice = f"Codes: {', '.join(sorted(names))}."
                    raise InputError(f"unknown code {unknown[0]!r}", advice, file=file, line=line, field="codes")
                if coder in given.setdefault(comment, {}):
                    raise InputError(f"{coder} has coded {comment!r} twice", "Keep one line.", file=file, line=line)
                given[comment][coder] = codes
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot be read: {error}", "Give a CSV file in UTF-8.", file=file) from error
    return Codings(given)


def code_figures(codings: Codings, known: Sequence[Code] = ()) -> tuple[CodeFigures, ...]:
    """Each code's share of the comments, with Wilson's interval, and the agreement of each pair of coders on it.

    A comment has a code where more than half of its coders gave it.
    """
    return tuple(_figures(code, codings) for code in known or code_book())


def _figures(code: Code, codings: Codings) -> CodeFigures:
    votes = [[code.name in codes for codes in of_comment.values()] for of_comment in codings.given.values()]
    having = sum(2 * sum(each) > len(each) for each in votes)
    pairs = tuple(_pair(code.name, first, second, codings) for first, second in combinations(codings.coders, 2))
    return CodeFigures(code, wilson(having, len(votes)), pairs)


def _pair(code: str, first: str, second: str, codings: Codings) -> CodePair:
    both = [each for each in codings.given.values() if first in each and second in each]
    labels = [[("given" if code in each[coder] else "not given") for each in both] for coder in (first, second)]
    if not both:
        return CodePair((first, second), 0, Estimate(None, n=0, reason="no comment was coded by both"))
    kappa = cohen_kappa(labels[0], second=labels[1])
    return CodePair((first, second), len(both), kappa.estimate(kappa.z_interval(), "normal"))
