"""Codes that people gave to texts or runs, whatever the code book: reading them, shares, and agreement of the coders.

A file of codings has a row an item and coder, with as many codes as fit, or none:

    comment,coder,codes
    c1,ann,gratitude;already_fixed
    c1,bob,already_fixed
    c2,ann,
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct

from misstep.analysis.labels import Labels
from misstep.analysis.labels.rows import LabelRows, read_rows
from misstep.analysis.measures.agreement import AgreementReport, Pair, agreement_report
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.stats.raters.patterns import MISSING


class Codings(Struct, frozen=True):
    """What coders gave: item → coder → codes. A coder who has no row for an item has not coded it."""

    codes: Mapping[str, Mapping[str, frozenset[str]]]

    @property
    def coders(self) -> list[str]:
        """Return every coder, by name."""
        return sorted({coder for of_item in self.codes.values() for coder in of_item})


class CodeShare(Struct, frozen=True):
    """Codes any of which counts: the share of the items that have one, and how far the coders agree on that.

    An item has them where more than half of its coders gave one.
    """

    share: Estimate
    krippendorff_alpha: Estimate
    pairs: list[Pair]


def read_codings(file: Path, item: str, known: Collection[str]) -> Codings:
    """Return the codings in a file."""
    names = (item, "coder", "codes")
    form = f"Give the columns {','.join(names)}; separate several codes by semicolons."
    sheet = read_rows(file, "codings", form)
    answers: dict[str, dict[str, frozenset[str]]] = {}
    for row, (coded, coder, listed) in enumerate(cells_of(sheet, names, form)):
        if not coded or not coder:
            raise sheet.error(row, f"a {item} or coder without a name", form)
        codes = frozenset(code.strip() for code in listed.split(";") if code.strip())
        if unknown := sorted(codes.difference(known)):
            raise sheet.error(row, f"unknown code {unknown[0]!r}", f"Codes: {', '.join(sorted(known))}.", "codes")
        if coder in answers.setdefault(coded, {}):
            raise sheet.error(row, f"{coder} has coded {coded!r} twice", "Keep one row.")
        answers[coded][coder] = codes
    return Codings(answers)


def cells_of(sheet: LabelRows, names: Sequence[str], form: str) -> list[tuple[str, ...]]:
    """Return the cells of some columns, row by row, without blanks around them; `form` says what columns there are."""
    if missing := [name for name in names if name not in sheet.header]:
        raise sheet.error(-1, f"no column {missing[0]}", form)
    columns = [map(str.strip, sheet.columns[sheet.header.index(name)]) for name in names]
    return list(zip(*columns, strict=True))


def code_share(codings: Codings, wanted: frozenset[str]) -> CodeShare:
    """Return the share of the items with any of some codes, and the agreement on it."""
    coders = codings.coders
    rows = codings.codes.values()
    votes = np.array(
        [[int(not wanted.isdisjoint(row[one])) if one in row else MISSING for one in coders] for row in rows]
    )
    having = int(np.sum(2 * (votes == 1).sum(axis=1) > (votes != MISSING).sum(axis=1)))
    labels = Labels("", list(codings.codes), coders, ["not given", "given"], [], votes, [])
    report = agreement_report(labels)
    return CodeShare(wilson(having, len(votes)), report.krippendorff_alpha, report.pairs)


def one_code_agreement(codings: Codings, codes: Collection[str]) -> AgreementReport:
    """Return the agreement of coders who give each item one of some codes; an item without a code is not coded."""
    order, votes = list(codes), []
    for of_item in codings.codes.values():
        own = [next(iter(of_item.get(coder, ())), None) for coder in codings.coders]
        votes.append([MISSING if code is None else order.index(code) for code in own])
    return agreement_report(Labels("", list(codings.codes), codings.coders, order, [], np.array(votes), []))
