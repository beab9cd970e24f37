"""Records of the repair agent: attempts, instructions, and the review log."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from misstep_harness import beneath
from misstep_harness.errors import InputError
from misstep_harness.forms import toml_form
from misstep_harness.intervention import ObservedRun
from misstep_harness.journal.records import Records
from misstep_harness.trajectory import Trajectory

NOT_AFFIRMED, FLAKY = "not_affirmed", "flaky"
"""How an attempt ended whose case does not hold, or whose oracle does not answer alike each time."""

SUITE, HELD_OUT_TESTS = "suite", "held_out"
"""The validators that ask tests beside the oracle's: those of the tree, and those that no agent sees."""

UNCHANGED_TESTS = "unchanged_tests"
"""The validator that asks the oracle's tests as they were, of a patch that changes them."""

PATCH_JUDGE = "patch_judge"
"""The validator that is a judge of patches."""

REVERT = "revert"
"""The validator that compares a patch with the blamed change: a remark to a reviewer, as a right patch may undo it."""


class Signal(Struct, frozen=True, omit_defaults=True):
    """The answer of one validator about a patch.

    `passed` is `None` where it could not tell; `score` is between 0 and 1 where it measures; `text` says why.
    """

    validator: str
    passed: bool | None
    text: str = ""
    score: float | None = None

    @property
    def answer(self) -> str:
        """Return the answer in words."""
        if self.passed is None:
            return "could not tell"
        return "passed" if self.passed else failed_word(self.validator)


def failed_word(validator: str) -> str:
    """Return the objection of a validator that does not pass a patch."""
    return "undoes the change" if validator == REVERT else "failed"


def signal_line(signal: Signal, most: int = 2_000) -> str:
    """Return a signal on one line: the validator, its answer, its score, and at most so many characters of its text."""
    text = " ".join(signal.text.split())
    shown = f" ({text if len(text) <= most else f'{text[:most]}…'})" if text else ""
    score = "" if signal.score is None else f", {signal.score:.2f}"
    return f"{signal.validator}: {signal.answer}{score}{shown}"


class RepairAttempt(Struct, frozen=True, omit_defaults=True):
    """The result of one attempt.

    - `case`, `policy`, `setting`, `format`, `sample`: Which case, who decided, with which feedback, in which edit
      format, and which of several runs it is.
    - `solved`: Whether the oracle's tests pass with the patch each time; `None` where the case could not be affirmed or
      scored.
    - `patched`: Whether the agent wrote a patch at all, applied or not (the paper's patch generation rate).
    - `error`: Why the run or the scoring broke; empty where it did not.
    - `iterations`, `seconds`, `input_tokens`, `output_tokens`, `cost_usd`: What it took; tokens are `None` where no
      model was asked.
    - `ended`: How the run ended: `exit`, `iterations`, `seconds`, `stopped`; `not_affirmed` and `flaky` are of its
      case.
    - `patch`: The change as a unified diff.
    - `rules`: By which rule each edit was applied; `refused` is how many were not.
    - `signals`: What the validators say.
    - `observed`: What an observer beside the agent did; `None` without one.
    """

    case: str
    policy: str
    setting: str
    format: str
    sample: int = 0
    solved: bool | None = None
    patched: bool = False
    error: str = ""
    iterations: int = 0
    seconds: float = 0.0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    ended: str = ""
    patch: str = ""
    rules: tuple[str, ...] = ()
    refused: int = 0
    signals: tuple[Signal, ...] = ()
    trajectory: Trajectory | None = None
    observed: ObservedRun | None = None

    @property
    def id(self) -> str:
        """Return the name of the attempt in a run."""
        return attempt_id(self.case, self.policy, self.setting, self.format, self.sample)


def attempt_id(case: str, policy: str, setting: str, edit_format: str, sample: int) -> str:
    """Return the name of an attempt: its case and settings, and its number among several."""
    return f"{case}/{policy}/{setting}/{edit_format}/{sample}"


ATTEMPT_RECORDS = Records(RepairAttempt, "attempts.jsonl", "attempt")


BEGAN = "The failure began with the change"
"""The words in the text of a task after which it speaks of the blamed change."""


class Blame(Struct, frozen=True):
    """The change that a failure is blamed on, how likely that is, and what this assumes."""

    commit: str
    subject: str
    author: str
    posterior: float
    assumes: str = ""

    @property
    def short(self) -> str:
        """Return the short name of the commit."""
        return self.commit[:7]


class CaseOrigin(Struct, frozen=True):
    """Where a case comes from: its repository and the blamed change, as far as they are known."""

    checkout: str = ""
    blame: Blame | None = None


class CaseNotes(Struct, frozen=True):
    """What reports tell of a case: its task, the tests that fail, and where they come from."""

    id: str = ""
    task: str = ""
    oracle: tuple[str, ...] = ()
    extra: CaseOrigin = CaseOrigin()


def case_notes(run: Path, benchmark: str, case: str) -> CaseNotes:
    """Return the notes of a case from a run's folder or its benchmark's; empty ones if it is gone."""
    for folder, path in ((run, f"cases/{case}"), (Path(benchmark), case), (Path(benchmark), ".")):
        file = f"{path}/case.toml"
        if benchmark and (data := beneath.file_of(folder, file)) is not None:
            notes = toml_form(data, CaseNotes, folder / file, "See `misstep help repair-case`.")
            if notes.id == case:
                return notes
    return CaseNotes()


class CaseInstructions(Struct, frozen=True, omit_defaults=True):
    """A model's description of the fix of one case.

    - `case`, `file`: Which case, and the file that its fix changes.
    - `texts`: Kind → text, of `high_level` and `detailed`.
    - `refused`: Kind → why no text of it counts, such as the line of the fix that every answer held.
    - `error`: Why the model gave no answer at all; such a case is asked again.
    - `asked`: How many answers it took.
    - `cost_usd`: What they cost; `None` where no price is known.
    """

    case: str
    file: str
    texts: Mapping[str, str] = {}
    refused: Mapping[str, str] = {}
    error: str = ""
    asked: int = 0
    cost_usd: float | None = None


INSTRUCTION_RECORDS = Records(CaseInstructions, "instructions.jsonl", "case")

REVIEWS = "reviews.csv"
"""The review log in the folder of a run."""

Event = Literal["generated", "published", "reviewed", "accepted", "changes_requested", "rejected", "landed"]
EVENTS: tuple[Event, ...] = get_args(Event)


class ReviewEvent(Struct, frozen=True):
    """One event of one patch."""

    attempt: str
    event: Event
    when: str = ""
    by: str = ""
    comment: str = ""


COLUMNS = ReviewEvent.__struct_fields__

_FORM = f"A review log has the columns {', '.join(COLUMNS)}, and one row an event: {', '.join(EVENTS)}."


def read_reviews(file: Path) -> tuple[ReviewEvent, ...]:
    """Return the events of a review log, in order."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.reader(stream, strict=True)
            header = next(rows, [])
            if tuple(header) != COLUMNS:
                columns = ", ".join(header) or "none"
                raise InputError(f"the columns are not those of a review log: {columns}", _FORM, file=file, line=1)
            return tuple(_event(row, file, rows.line_num) for row in rows if row)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot be read: {error}", _FORM, file=file) from error


def _event(row: list[str], file: Path, line: int) -> ReviewEvent:
    if len(row) != len(COLUMNS):
        raise InputError(f"the row has {len(row)} cells", _FORM, file=file, line=line)
    cells = dict(zip(COLUMNS, map(str.strip, row), strict=True))
    if not cells["attempt"]:
        raise InputError("the event names no attempt", _FORM, file=file, line=line)
    try:
        return msgspec.convert(cells, ReviewEvent)
    except msgspec.ValidationError as error:
        raise InputError(f"unknown event {cells['event']!r}", _FORM, file=file, line=line) from error


def review_lines(events: Iterable[ReviewEvent], *, header: bool = True) -> bytes:
    """Events as rows of a review log, below its header or to be added to one."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if header:
        writer.writerow(COLUMNS)
    writer.writerows(msgspec.structs.astuple(event) for event in events)
    return text.getvalue().encode()
