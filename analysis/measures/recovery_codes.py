"""Why agents recovered after an intervention, or did not, as people coded it (Wink, RQ4): sheets, agreement, decisions.

Each coder has a sheet of their own, in an order of its own, and sees no other:

    item,outcome,code,note
    live-1-0007#0,recovered,recover_from_infinite_loops,
    live-1-0031#1,not_recovered,,unsure

What they settled together is in a log of its own; the last decision on an item holds:

    item,code,by,note,at
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

from msgspec import Struct

from misstep.analysis.labels.rows import LabelRows, read_rows
from misstep.analysis.measures.agreement import AgreementReport
from misstep.analysis.measures.coding import Codings, cells_of, one_code_agreement
from misstep.analysis.measures.shares import share
from misstep.analysis.stats.estimate import Estimate
from misstep.harness.errors import InputError
from misstep.harness.forms import toml_form
from misstep.harness.places import data_folder

Outcome = Literal["recovered", "not_recovered"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

SHEET = "sheet-{}.csv"
SHEET_COLUMNS = ("item", "outcome", "code", "note")
DECISIONS = "decisions.csv"
DECISION_COLUMNS = ("item", "code", "by", "note", "at")
_FORM = f"A sheet has the columns {','.join(SHEET_COLUMNS)}."
_LOG_FORM = f"The log has the columns {','.join(DECISION_COLUMNS)}."


class Code(Struct, frozen=True, forbid_unknown_fields=True):
    """A code: what it means, and the paper's figure of it."""

    printed: str
    meaning: str


class _Decision(Struct, frozen=True):
    item: str
    code: str
    by: str
    note: str = ""
    at: str = ""


class Coded(Struct, frozen=True):
    """Items as they were coded.

    - `outcomes`: Item → whether the agent recovered, as the coders were told.
    """

    outcomes: Mapping[str, Outcome]
    codings: Codings
    decisions: tuple[_Decision, ...] = ()

    def code_of(self, item: str) -> str:
        """The code of an item: as settled, else what more than half of its coders gave; empty where it is open."""
        settled = [one.code for one in self.decisions if one.item == item]
        if settled:
            return settled[-1]
        counts = Counter(code for codes in self.codings.codes.get(item, {}).values() for code in codes)
        code, times = max(counts.items(), key=lambda one: one[1], default=("", 0))
        return code if 2 * times > counts.total() else ""

    @property
    def open(self) -> list[str]:
        """Return the items whose coders do not agree and on which nothing is settled."""
        coded = [item for item in self.outcomes if any(self.codings.codes.get(item, {}).values())]
        return [item for item in coded if not self.code_of(item)]


class OutcomeCodes(Struct, frozen=True):
    """One outcome: code → the share of its items, how far the coders agree before they settle, and items left open."""

    outcome: Outcome
    shares: dict[str, Estimate]
    agreement: AgreementReport | None
    n: int
    open: int


@lru_cache(maxsize=1)
def code_book() -> dict[Outcome, dict[str, Code]]:
    """Outcome → code → what it means, in the order of the paper's table."""
    file = data_folder() / "codebooks" / "recovery_outcomes.toml"
    return toml_form(file.read_bytes(), dict[Outcome, dict[str, Code]], file, "The file says its form.")


def read_coded(folder: Path) -> Coded:
    """Return the sheets and decisions in a folder."""
    sheets = sorted(folder.glob(SHEET.format("*")))
    if not sheets:
        raise InputError("it has no sheet", "Draw a sample with `misstep experiment codes sample`.", file=folder)
    outcomes: dict[str, Outcome] = {}
    answers: dict[str, dict[str, frozenset[str]]] = {}
    for file in sheets:
        _read_sheet(file, outcomes, answers)
    decisions = tuple(_decisions(folder / DECISIONS, outcomes)) if (folder / DECISIONS).is_file() else ()
    return Coded(outcomes, Codings(answers), decisions)


def _read_sheet(file: Path, outcomes: dict[str, Outcome], answers: dict[str, dict[str, frozenset[str]]]) -> None:
    sheet = read_rows(file, "sheet", _FORM)
    coder = file.stem.removeprefix(SHEET.format("").removesuffix(".csv"))
    for row, (item, outcome, code) in enumerate(cells_of(sheet, SHEET_COLUMNS[:3], _FORM)):
        if outcome not in OUTCOMES or outcomes.setdefault(item, outcome) != outcome:
            raise sheet.error(
                row, f"the outcome {outcome!r}", f"Leave the column as it was drawn: {' or '.join(OUTCOMES)}."
            )
        _check_code(sheet, row, code, outcome)
        if coder in answers.setdefault(item, {}):
            raise sheet.error(row, f"{item!r} stands twice", "Keep one row.")
        if code:
            answers[item][coder] = frozenset({code})


def _decisions(file: Path, outcomes: Mapping[str, Outcome]) -> Sequence[_Decision]:
    sheet = read_rows(file, "decisions", _LOG_FORM)
    decisions = []
    for row, cells in enumerate(cells_of(sheet, DECISION_COLUMNS, _LOG_FORM)):
        decision = _Decision(*cells)
        if decision.item not in outcomes:
            raise sheet.error(row, f"no sheet has the item {decision.item!r}", "Correct the name.")
        _check_code(sheet, row, decision.code, outcomes[decision.item])
        decisions.append(decision)
    return decisions


def _check_code(sheet: LabelRows, row: int, code: str, outcome: Outcome) -> None:
    if code and code not in code_book()[outcome]:
        known = ", ".join(code_book()[outcome])
        raise sheet.error(row, f"unknown code {code!r} of the outcome {outcome}", f"Codes: {known}.", "code")


def outcome_codes(coded: Coded) -> list[OutcomeCodes]:
    """Return the figures of either outcome, in the order of the paper's table."""
    return [_of_outcome(coded, outcome) for outcome in OUTCOMES]


def _of_outcome(coded: Coded, outcome: Outcome) -> OutcomeCodes:
    items = [item for item, known in coded.outcomes.items() if known == outcome]
    codes = [code for item in items if (code := coded.code_of(item))]
    answers = {item: coded.codings.codes[item] for item in items if any(coded.codings.codes.get(item, {}).values())}
    agreement = one_code_agreement(Codings(answers), code_book()[outcome]) if answers else None
    reason = "no trajectory of this outcome has a code"
    shares = {code: share(codes.count(code), len(codes), reason) for code in code_book()[outcome]}
    return OutcomeCodes(outcome, shares, agreement, len(codes), sum(item in set(items) for item in coded.open))
