"""Why agents recovered after an intervention, or did not, as people coded it (Wink, RQ4): sheets, agreement, decisions.

Each coder has a sheet of their own, in an order of its own, and sees no other:

    item,outcome,code,note
    live-1-0007#0,recovered,recover_from_infinite_loops,
    live-1-0031#1,not_recovered,,unsure

What they settled together is in `decisions.csv`; the last decision on an item holds:

    item,code,by,note
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from msgspec import Struct

from misstep_analysis.agreement import AgreementReport, agreement_report
from misstep_analysis.labels import Labels
from misstep_analysis.labels.rows import LabelRows, read_rows
from misstep_analysis.observer.recovery import heard_words
from misstep_analysis.published import load_paper, published_row
from misstep_analysis.sessions.prevalence import share
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.raters.patterns import MISSING
from misstep_analysis.tables import Row, Table, TableHead, estimate_row, made_by_this
from misstep_analysis.tables.wording import counted_text, with_interval
from misstep_harness.errors import InputError
from misstep_harness.forms import toml_form
from misstep_harness.live_session import LiveSession
from misstep_harness.places import data_folder

Outcome = Literal["recovered", "not_recovered"]

TITLES: dict[Outcome, str] = {"recovered": "Recovered", "not_recovered": "Not recovered"}

_BY_CATEGORY = {
    "infinite_loop": "recover_from_infinite_loops",
    "did_not_follow_instructions": "remind_original_task",
    "unrequested_changes": "ask_not_to_overdo",
    "tool_call_failure": "provide_right_tool_arguments",
}
"""Category → the effect of its guidance if the agent recovers."""


def planted_reasons(sessions: Iterable[LiveSession]) -> dict[Outcome, Counter[str]]:
    """Return outcome → code → interventions of live sessions, by the planted reason; no code is an empty one.

    A recovery has the code of its category. An agent that does not recover ignored guidance, or ended the task before
    the work was done.
    """
    reasons: dict[Outcome, Counter[str]] = {outcome: Counter() for outcome in OUTCOMES}
    for session in sessions:
        if session.observed is None:
            continue
        for number, recovered in heard_words(session).items():
            categories = session.observed.interventions[number].categories
            if recovered:
                # A change that was ruled out is of two categories: it is the change that the guidance takes back.
                known = [name for name in reversed(_BY_CATEGORY) if name in categories]
                reasons["recovered"][_BY_CATEGORY[known[0]] if known else ""] += 1
            else:
                reasons["not_recovered"][_why_not(session)] += 1
    return reasons


def _why_not(session: LiveSession) -> str:
    if session.heeds == "follows":
        return ""
    gave_up = session.ended == "exit" and any(one.ended == "session" for one in session.episodes)
    return "premature_termination" if gave_up else "ignored_instructions"


_RECOVERY_REASONS = TableHead("recovery_reasons", "wink", "Why agents recover after an intervention, and why not")


class Coded(Struct, frozen=True):
    """Items as they were coded.

    - `outcomes`: Item → whether the agent recovered, as the coders were told.
    - `codes`: Item → coder → code; a coder without one has not coded the item.
    - `settled`: Item → the code that the coders settled on together.
    """

    outcomes: Mapping[str, Outcome]
    codes: Mapping[str, Mapping[str, str]]
    settled: Mapping[str, str]

    @property
    def coders(self) -> list[str]:
        """Return every coder, by name."""
        return sorted({coder for of_item in self.codes.values() for coder in of_item})

    def code_of(self, item: str) -> str:
        """The code of an item: as settled, else what more than half of its coders gave; empty where it is open."""
        if item in self.settled:
            return self.settled[item]
        counts = Counter(self.codes[item].values())
        code, times = max(counts.items(), key=lambda one: one[1], default=("", 0))
        return code if 2 * times > counts.total() else ""

    @property
    def open(self) -> list[str]:
        """Return the items whose coders do not agree and on which nothing is settled."""
        return [item for item, codes in self.codes.items() if codes and not self.code_of(item)]


@made_by_this
def reasons_table(coded: Coded | None = None, live: Sequence[LiveSession] = (), source: str = "") -> Table:
    """Return table 6 in its kinds of evidence."""
    paper = load_paper("wink")
    planted = planted_reasons(live)
    by_people = {one.outcome: one for one in outcome_codes(coded)} if coded is not None else {}
    rows: list[Row] = []
    for outcome, codes in code_book().items():
        total = planted[outcome].total() - planted[outcome][""]
        for code, known in codes.items():
            printed = paper[known.printed]
            rows.append(published_row(printed, printed.row, group=TITLES[outcome]))
            shares = {"coded by people": by_people[outcome].shares[code]} if outcome in by_people else {}
            shares |= {source: wilson(planted[outcome][code], total)} if total else {}
            rows += [
                estimate_row(printed.row, share, "share", TITLES[outcome], of, "generated")
                for of, share in shares.items()
            ]
    return _RECOVERY_REASONS.table(_finding(by_people), rows, tuple(_notes(by_people, planted)))


class OutcomeCodes(Struct, frozen=True):
    """One outcome: code → the share of its items, how far the coders agree before they settle, and items left open."""

    outcome: Outcome
    shares: dict[str, Estimate]
    agreement: AgreementReport | None
    n: int
    open: int


def _finding(by_people: Mapping[Outcome, OutcomeCodes]) -> str:
    paper, sentences = load_paper("wink"), []
    for outcome, codes in code_book().items():
        most = max((paper[code.printed] for code in codes.values()), key=lambda figure: figure.number)
        sentence = f"{TITLES[outcome]}: the paper's most frequent reason is “{most.row}” ({most.printed}%)"
        coded = by_people.get(outcome)
        if coded is not None and coded.n:
            code, share = max(coded.shares.items(), key=lambda one: one[1].value or 0.0)
            name = paper[codes[code].printed].row
            sentence += f"; coded here most often is “{name}”: {with_interval(share, 'share')} of {coded.n:,}"
        sentences.append(sentence)
    return ". ".join(sentences) + "."


def _notes(by_people: Mapping[Outcome, OutcomeCodes], planted: Mapping[Outcome, Counter[str]]) -> Iterator[str]:
    yield "The paper prints no number of trajectories, so that its shares have no interval."
    for outcome, one in by_people.items():
        if one.agreement is not None:
            alpha = one.agreement.krippendorff_alpha
            known = with_interval(alpha, "coefficient") if alpha.value is not None else f"undefined: {alpha.reason}"
            left = f"; {counted_text(one.open, 'item')} left open" if one.open else ""
            yield f"{TITLES[outcome]}: Krippendorff's alpha of the coders before they settled is {known}{left}."
    if any(planted.values()):
        without = sum(counts[""] for counts in planted.values())
        fits = f" {counted_text(without, 'intervention')} fit no code." if without else ""
        yield (
            "Generated: interventions in live sessions of a scripted agent, whose reasons are known by construction; "
            f"they follow from what was planted, and confirm nothing of the paper.{fits}"
        )


OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

SHEET = "sheet-{}.csv"
SHEET_COLUMNS = ("item", "outcome", "code", "note")
DECISIONS = "decisions.csv"
DECISION_COLUMNS = ("item", "code", "by", "note")
_FORM = f"A sheet has the columns {','.join(SHEET_COLUMNS)}."
_LOG_FORM = f"The log has the columns {','.join(DECISION_COLUMNS)}."


class Code(Struct, frozen=True, forbid_unknown_fields=True):
    """A code: what it means, and the paper's figure of it."""

    printed: str
    meaning: str


@lru_cache(maxsize=1)
def code_book() -> dict[Outcome, dict[str, Code]]:
    """Outcome → code → what it means, in the order of the paper's table."""
    file = data_folder() / "codebooks" / "recovery_outcomes.toml"
    return toml_form(file.read_bytes(), dict[Outcome, dict[str, Code]], file, "The file says its form.")


def read_coded(folder: Path) -> Coded:
    """Return the sheets and decisions in a folder."""
    sheets = sorted(folder.glob(SHEET.format("*")))
    if not sheets:
        raise InputError(
            "it has no sheet", "Draw some with `misstep experiment codes RUN --coders A,B --out DIR`.", file=folder
        )
    outcomes: dict[str, Outcome] = {}
    codes: dict[str, dict[str, str]] = {}
    for file in sheets:
        _read_sheet(file, outcomes, codes)
    settled = _settled(folder / DECISIONS, outcomes) if (folder / DECISIONS).is_file() else {}
    return Coded(outcomes, codes, settled)


def _read_sheet(file: Path, outcomes: dict[str, Outcome], codes: dict[str, dict[str, str]]) -> None:
    sheet = read_rows(file, "sheet", _FORM)
    coder = file.stem.removeprefix(SHEET.format("").removesuffix(".csv"))
    seen: set[str] = set()
    for row, (item, outcome, code) in enumerate(_cells_of(sheet, SHEET_COLUMNS[:3], _FORM)):
        if outcome not in OUTCOMES or outcomes.setdefault(item, outcome) != outcome:
            raise sheet.error(
                row, f"the outcome {outcome!r}", f"Leave the column as it was drawn: {' or '.join(OUTCOMES)}."
            )
        _check_code(sheet, row, code, outcome)
        if item in seen:
            raise sheet.error(row, f"{item!r} stands twice", "Keep one row.")
        seen.add(item)
        of_item = codes.setdefault(item, {})
        if code:
            of_item[coder] = code


def _settled(file: Path, outcomes: Mapping[str, Outcome]) -> dict[str, str]:
    sheet = read_rows(file, "decisions", _LOG_FORM)
    settled = {}
    for row, (item, code) in enumerate(_cells_of(sheet, DECISION_COLUMNS[:2], _LOG_FORM)):
        if item not in outcomes:
            raise sheet.error(row, f"no sheet has the item {item!r}", "Correct the name.")
        _check_code(sheet, row, code, outcomes[item])
        settled[item] = code
    return settled


def _cells_of(sheet: LabelRows, names: tuple[str, ...], form: str) -> list[tuple[str, ...]]:
    """Return the cells of some columns, row by row, without blanks around them."""
    if missing := [name for name in names if name not in sheet.header]:
        raise sheet.error(-1, f"no column {missing[0]}", form)
    columns = [map(str.strip, sheet.columns[sheet.header.index(name)]) for name in names]
    return list(zip(*columns, strict=True))


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
    answers = {item: coded.codes[item] for item in items if coded.codes[item]}
    agreement = _agreement(answers, list(code_book()[outcome])) if answers else None
    reason = "no trajectory of this outcome has a code"
    shares = {code: share(codes.count(code), len(codes), reason) for code in code_book()[outcome]}
    return OutcomeCodes(outcome, shares, agreement, len(codes), sum(item in set(items) for item in coded.open))


def _agreement(codes: Mapping[str, Mapping[str, str]], known: list[str]) -> AgreementReport:
    """Return how far coders agree who give each item one of the known codes."""
    coders = sorted({coder for of_item in codes.values() for coder in of_item})
    votes = [[known.index(row[one]) if one in row else MISSING for one in coders] for row in codes.values()]
    return agreement_report(Labels("", list(codes), coders, known, [], np.array(votes), []))
