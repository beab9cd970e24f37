"""The tables of the records of a run; trajectories are in none of them: `misstep pack` writes those."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from misstep.analysis.gold import GoldLabel
from misstep.analysis.measures.observed import ObservedIntervention, interventions_of
from misstep.analysis.measures.reflexive.work import WorkedRun
from misstep.analysis.measures.triage.curation import ACTIONS
from misstep.analysis.pages.data_card import RUNS, CuratedRun
from misstep.analysis.tables import Table
from misstep.analysis.tables.figures import Figure, figures_of
from misstep.harness.journal.classified import PlacedVerdict
from misstep.harness.journal.inputs import FileState
from misstep.harness.journal.records import (
    ATTEMPT_RECORDS,
    FILES,
    LIVE_RECORDS,
    LOOP_RECORDS,
    OBSERVED_RECORDS,
    SCORES,
    SESSION_RECORDS,
    VERDICTS,
    Records,
    read_records,
)
from misstep.harness.records.attribution import TriageVerdict
from misstep.harness.records.intervention import Invocation, ObservedRun
from misstep.harness.records.live_session import Episode, LiveSession
from misstep.harness.records.loop_events import LoopEvent
from misstep.harness.records.repair_attempt import RepairAttempt
from misstep.harness.records.session import Session
from misstep.harness.verdict import Verdict
from misstep.studies.exports.columns import Column, ExportedTable, Values, json_text, table_of
from misstep.studies.judged_runs import JudgedRun
from misstep.studies.repair_runs import attempts_in

PLACED_RECORDS = Records(PlacedVerdict, VERDICTS, "verdict")
_FILE_STATES = Records(FileState, FILES, "file")

Rows = Callable[[], Iterator[Any]]


def _records(folder: Path, records: Records[Any], *, unfinished: bool = False) -> Rows:
    return lambda: read_records(folder, records, unfinished=unfinished)


def classified_tables(folder: Path) -> tuple[ExportedTable, ...]:
    """The verdicts, sessions and files of a run of `misstep classify`."""
    verdicts = table_of("verdicts", VERDICTS, PlacedVerdict, _records(folder, PLACED_RECORDS), key=("item", "judge"))
    files = table_of("files", FILES, FileState, _records(folder, _FILE_STATES), key=("file",))
    return (verdicts, session_table(folder), *([files] if (folder / FILES).is_file() else []))


def session_table(folder: Path) -> ExportedTable:
    """The sessions of a run, without what a page shows of them."""
    sessions = _records(folder, SESSION_RECORDS)
    return table_of("sessions", SESSION_RECORDS.file, Session, sessions, key=("item",), without=("shown",))


def judged_tables(run: JudgedRun, *, gold: bool) -> tuple[ExportedTable, ...]:
    """The verdicts of a judge's run, one an item; where it is asked for, also what people said of the items."""
    kind = TriageVerdict if run.is_triage else Verdict
    verdicts = table_of("verdicts", VERDICTS, kind, lambda: iter(run.verdicts), key=("item",))
    labels = table_of("gold", "gold.csv", GoldLabel, lambda: iter(run.gold), key=("item", "rater"))
    return (verdicts, labels) if gold else (verdicts,)


def curated_tables(folder: Path) -> tuple[ExportedTable, ...]:
    """The curated runs, and those of each action that any has."""
    files = [name for name in (RUNS, *(f"{action}.jsonl" for action in ACTIONS)) if (folder / name).is_file()]
    return tuple(
        table_of(Path(name).stem, name, CuratedRun, _records(folder, Records(CuratedRun, name, "run")), key=("id",))
        for name in files
    )


def observed_tables(folder: Path) -> tuple[ExportedTable, ...]:
    """The runs, invocations, interventions and sessions of a run of `misstep observe`."""
    file, runs = OBSERVED_RECORDS.file, _records(folder, OBSERVED_RECORDS)
    inside = ("invocations", "interventions")
    own = table_of("runs", file, ObservedRun, runs, key=("item",), without=inside)
    return (own, *_observer_tables(file, runs), session_table(folder))


class _Asked(Struct, frozen=True):
    """One question to the detector of an observer."""

    item: str
    step: int
    status: str
    flagged: bool
    categories: tuple[str, ...]
    answered_at: int | None
    seconds: float | None
    error: str


def _observer_tables(file: str, runs: Rows) -> tuple[ExportedTable, ExportedTable]:
    """What an observer asked and what it said."""

    def asked() -> Iterator[_Asked]:
        return (_asked(run.item, one) for run in runs() for one in run.invocations)

    def said() -> Iterator[ObservedIntervention]:
        return (one for run in runs() for one in interventions_of(run))

    return (
        table_of("invocations", file, _Asked, asked, key=("item", "step")),
        table_of("interventions", file, ObservedIntervention, said, key=("item", "detected_at")),
    )


def _asked(item: str, one: Invocation) -> _Asked:
    categories = tuple(dict.fromkeys(found.category for found in one.misbehaviours))
    return _Asked(item, one.step, one.status, bool(categories), categories, one.answered_at, one.seconds, one.error)


class _Said(Struct, frozen=True):
    """What one validator says of the patch of an attempt."""

    attempt: str
    validator: str
    passed: bool | None
    text: str
    score: float | None


def repaired_tables(folder: Path) -> tuple[ExportedTable, ...]:
    """The attempts of a run of repairs, each once, and what validators say of their patches."""

    def attempts() -> Iterator[RepairAttempt]:
        return iter({attempt.id: attempt for attempt in attempts_in(folder)}.values())

    def said() -> Iterator[_Said]:
        return (_Said(one.id, **structs.asdict(signal)) for one in attempts() for signal in one.signals)

    file, inside = ATTEMPT_RECORDS.file, ("signals", "trajectory")
    name = Column("id", str, "The name of the attempt in the run.")
    return (
        table_of("attempts", file, RepairAttempt, attempts, key=("id",), without=inside, first=name),
        table_of("signals", file, _Said, said, key=("attempt", "validator")),
    )


class _Item(Struct, frozen=True):
    """One item that the loop worked on, with its end where it has one."""

    id: str
    category: str
    end: str | None
    reason: str | None
    attempts: int
    seconds: float
    solved: bool


def reflected_tables(folder: Path, work: WorkedRun, *, unfinished: bool = False) -> tuple[ExportedTable, ...]:
    """The items of a run of the reflexive loop, and its log with the fields of each event as JSON text."""
    items = [
        _Item(
            one.item.id,
            one.item.category,
            one.ending.end if one.ending else None,
            one.ending.reason if one.ending else None,
            len(one.attempts),
            one.seconds,
            one.solved,
        )
        for one in work.items
    ]
    file, events = LOOP_RECORDS.file, _records(folder, LOOP_RECORDS, unfinished=unfinished)
    log = table_of("events", file, LoopEvent, events, key=("number",), without=("happened",))
    name = Column("event", str, "The name of what happened.")
    fields = Column("happened", dict[str, Any], "What happened, as JSON text.")

    def rows() -> Iterator[Values]:
        for row, record in zip(log.rows(), events(), strict=True):
            tag = record.happened.__struct_config__.tag
            yield row | {"event": tag, "happened": json_text(record.happened)}

    return (
        table_of("items", file, _Item, lambda: iter(items), key=("id",)),
        structs.replace(log, columns=(*log.columns, name, fields), rows=rows),
    )


class _Planted(Struct, frozen=True):
    """One planted misbehaviour of a session as it took place."""

    item: str
    category: str
    onset: int
    last: int
    ended: str
    would_last: int | None
    relapse: bool


def experiment_tables(folder: Path, *, gold: bool, unfinished: bool = False) -> tuple[ExportedTable, ...]:
    """The sessions of an experiment with what its observer did; where it is asked for, also what was planted."""
    file, sessions = LIVE_RECORDS.file, _records(folder, LIVE_RECORDS, unfinished=unfinished)

    def observed() -> Iterator[ObservedRun]:
        return (one.observed for one in sessions() if one.observed is not None)

    def planted() -> Iterator[_Planted]:
        return (_planted(one.item, each) for one in sessions() for each in one.episodes)

    inside = ("episodes", "observed", "trajectory")
    own = table_of("sessions", file, LiveSession, sessions, key=("item",), without=inside)
    truth = table_of("episodes", file, _Planted, planted, key=("item", "onset"))
    return (own, *_observer_tables(file, observed), *([truth] if gold else []))


def _planted(item: str, one: Episode) -> _Planted:
    return _Planted(item, **structs.asdict(one))


def score_table(figures: Sequence[Table]) -> ExportedTable:
    """The figures of a run, a row each, as its own page has them."""
    return table_of("scores", SCORES, Figure, lambda: figures_of(figures), key=("table", "group", "quantity"))
