"""Attempts of systems at tasks, counted: passed, failed, and without an answer."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from misstep_analysis.labels.records import listed, number, trimmed
from misstep_analysis.labels.rows import STANDARD_INPUT, LabelRows, shown
from misstep_analysis.labels.source import read_source
from misstep_analysis.passing.paired_systems import Cell
from misstep_harness.errors import InputError, UsageError

Lack = Literal["missing", "unreadable"]
"""Why an attempt has no outcome: none is given, or what is given cannot be read as one."""

SHAPES = "Give the columns task,passed with one attempt a row, or task,n,c with the counts of one task a row."
NAMES: Mapping[str, tuple[str, ...]] = {
    "task": ("task", "task_id", "instance_id", "problem", "problem_id", "case"),
    "passed": ("passed", "outcome", "success", "solved", "resolved", "reward"),
    "system": ("system", "model", "agent", "policy"),
    "attempt": ("attempt", "trial", "sample"),
    "n": ("n",),
    "c": ("c",),
}
"""What each column may be called; under its first name it is taken whatever else there is."""

MOST_ATTEMPTS = 100_000
"""Attempts at one task, at most: the exact chances of more take too long."""

_OUTCOMES = {
    **dict.fromkeys(("yes", "true", "pass", "passed"), True),
    **dict.fromkeys(("no", "false", "fail", "failed"), False),
}
_WHOLE = re.compile(r"\d{1,9}", re.ASCII)


class TaskCounts(Struct, frozen=True):
    """The attempts of one system at one task; `unanswered` ones have no outcome, which is neither a pass nor a fail."""

    passed: int = 0
    failed: int = 0
    unanswered: int = 0

    @property
    def attempts(self) -> int:
        """Return all of them."""
        return self.passed + self.failed + self.unanswered

    @property
    def answered(self) -> Cell:
        """Return the attempts with an outcome, and how many of these passed."""
        return self.passed + self.failed, self.passed

    @property
    def all(self) -> Cell:
        """Return all attempts, those without an outcome as failed, and how many passed."""
        return self.attempts, self.passed

    def __add__(self, other: "TaskCounts") -> "TaskCounts":
        """Return the attempts of both."""
        return TaskCounts(self.passed + other.passed, self.failed + other.failed, self.unanswered + other.unanswered)


class Unanswered(Struct, frozen=True):
    """Attempts without an outcome: whose, at which task, where, and what is there instead."""

    system: str
    task: str
    where: str
    lack: Lack
    found: str = ""
    attempts: int = 1


class SystemAttempts(Struct, frozen=True):
    """What one system did: task → its attempts, and those without an outcome one by one.

    `evidence` is `generated` where the tasks were made with known faults.
    """

    name: str
    tasks: Mapping[str, TaskCounts]
    unanswered: tuple[Unanswered, ...] = ()
    evidence: Literal["generated", "real"] = "real"

    def lacking(self, lack: Lack) -> int:
        """Return how many attempts have no outcome for this reason."""
        return sum(one.attempts for one in self.unanswered if one.lack == lack)


class PassAttempts(Struct, frozen=True):
    """The attempts of one or several systems, and remarks on how they were read."""

    systems: tuple[SystemAttempts, ...]
    remarks: tuple[str, ...] = ()


def together(parts: Iterable[PassAttempts]) -> PassAttempts:
    """Attempts from several sources; those of a system in several are added up, and a remark says so."""
    systems: dict[str, SystemAttempts] = {}
    remarks: list[str] = []
    for part in parts:
        remarks += part.remarks
        for one in part.systems:
            before = systems.get(one.name)
            if before is None:
                systems[one.name] = one
                continue
            remarks.append(f"the attempts of {one.name} from several places are put together")
            tasks = dict(before.tasks)
            for task, counts in one.tasks.items():
                tasks[task] = tasks.get(task, TaskCounts()) + counts
            evidence = before.evidence if before.evidence == one.evidence else "real"
            systems[one.name] = SystemAttempts(one.name, tasks, before.unanswered + one.unanswered, evidence)
    return PassAttempts(tuple(systems.values()), tuple(dict.fromkeys(remarks)))


def read_attempts(path: Path, name: str, threshold: float | None = None) -> PassAttempts:
    """Return the attempts in a file."""
    source = read_source(path, what="attempts", shapes=SHAPES)
    if source.tool:
        raise InputError(f"an export of {source.tool}, which has labels and no attempts", SHAPES, file=shown(path))
    sheet = source.sheet
    columns = _columns(sheet)
    cells = {column: [trimmed(cell) for cell in sheet.columns[at]] for column, at in columns.items()}
    rows = _Rows(sheet, columns, cells, name, threshold)
    rest = [column for place, column in enumerate(sheet.header) if place not in columns.values()]
    remarks = [f"{sheet.file}: {remark}" for remark in source.remarks]
    if rest:
        remarks.append(f"{sheet.file}: columns that are not looked at: {listed(rest)}")
    return PassAttempts(rows.systems(), tuple(remarks))


def _columns(sheet: LabelRows) -> dict[str, int]:
    places = {re.sub(r"\W+", "_", trimmed(name).casefold()): at for at, name in enumerate(sheet.header)}
    columns: dict[str, int] = {}
    for column, names in NAMES.items():
        there = [name for name in names if name in places]
        if len(there) > 1 and there[0] != column:
            advice = f"Name the one that counts {column!r}."
            raise sheet.error(-1, f"{listed(there)} may each be the column {column!r}", advice)
        if there:
            columns[column] = places[there[0]]
    wide = "n" in columns and "c" in columns
    if "task" not in columns or not (wide or "passed" in columns):
        raise sheet.error(-1, f"no columns of attempts: {listed(sheet.header)}", SHAPES)
    if wide and "passed" in columns:
        raise sheet.error(-1, "both outcomes (passed) and counts (n, c)", SHAPES)
    used = ("task", "system", *(("n", "c") if wide else ("passed", "attempt")))
    return {column: at for column, at in columns.items() if column in used}


class _Rows(Struct, frozen=True):
    sheet: LabelRows
    columns: Mapping[str, int]
    cells: Mapping[str, Sequence[str]]
    name: str
    threshold: float | None

    def systems(self) -> tuple[SystemAttempts, ...]:
        attempts, wide = self.cells.get("attempt", ()), "n" in self.columns
        tasks: dict[str, dict[str, TaskCounts]] = {}
        unanswered: dict[str, list[Unanswered]] = {}
        lines = self.sheet.lines()
        rows: dict[tuple[str, str, str], int] = {}
        for row, (system, task) in enumerate(self._whose()):
            key = (system, task, attempts[row] if attempts else "")
            if key in rows and (wide or key[2]):
                raise self._twice(row, key, rows[key])
            rows[key] = row
            counts, cell = self._counts(row) if wide else self._attempt(row)
            own = tasks.setdefault(system, {})
            own[task] = own.get(task, TaskCounts()) + counts
            if counts.unanswered:
                where = f"{self.sheet.file}, {self.sheet.unit} {lines[row]}"
                one = Unanswered(system, task, where, "unreadable" if cell else "missing", cell, counts.unanswered)
                unanswered.setdefault(system, []).append(one)
        return tuple(SystemAttempts(name, own, tuple(unanswered.get(name, ()))) for name, own in tasks.items())

    def _twice(self, row: int, key: tuple[str, str, str], before: int) -> InputError:
        _, task, attempt = key
        what = f"attempt {attempt!r} at {task!r}" if attempt else f"the task {task!r}"
        advice = "Give each attempt one row." if attempt else "Give the counts of each task once."
        place = f"{what} stands {self.sheet.where(before)} already"
        return self.sheet.error(row, place, advice, self._called("attempt" if attempt else "task"))

    def _attempt(self, row: int) -> tuple[TaskCounts, str]:
        cell = self.cells["passed"][row]
        outcome = self._outcome(cell)
        if isinstance(outcome, InputError):
            raise self.sheet.error(row, outcome.found, outcome.advice, self._called("passed"))
        return TaskCounts(int(outcome is True), int(outcome is False), int(outcome is None)), cell

    def _counts(self, row: int) -> tuple[TaskCounts, str]:
        n, c = self.cells["n"][row], self.cells["c"][row]
        if not _WHOLE.fullmatch(n) or int(n) > MOST_ATTEMPTS:
            advice = f"Give the number of attempts, a whole number up to {MOST_ATTEMPTS:,}."
            raise self.sheet.error(row, f"{n!r} attempts", advice, self._called("n"))
        if not _WHOLE.fullmatch(c):
            return TaskCounts(unanswered=int(n)), c
        if int(c) > int(n):
            advice = "Give how many of the n passed."
            raise self.sheet.error(row, f"{c} of {n} attempts passed", advice, self._called("c"))
        return TaskCounts(int(c), int(n) - int(c)), c

    def _whose(self) -> list[tuple[str, str]]:
        for column in ("task", "system"):
            if "" in (named := self.cells.get(column, ())):
                advice = f"Name the {column} in each row."
                raise self.sheet.error(named.index(""), f"no {column}", advice, self._called(column))
        tasks = self.cells["task"]
        return list(zip(self.cells.get("system", [self.name] * len(tasks)), tasks, strict=True))

    def _called(self, column: str) -> str:
        return self.sheet.header[self.columns[column]]

    def _outcome(self, cell: str) -> bool | InputError | None:
        """Return an outcome, `None` for what is none, or what is wrong with a reward without a threshold."""
        outcome = _OUTCOMES.get(cell.casefold())
        value = number(cell)
        if outcome is not None or value is None or not 0 <= value <= 1:
            return outcome
        if self.threshold is not None:
            return value >= self.threshold
        if value in (0, 1):
            return value == 1
        return InputError(f"{cell} is a reward", "Say from which reward on an attempt passes: --threshold 0.5.")


def open_attempts(
    paths: Sequence[Path],
    threshold: float | None = None,
    attempts_of_runs: Callable[[Sequence[Path]], Iterable[PassAttempts]] = lambda _: (),
) -> PassAttempts:
    """Return the attempts in files, and in folders of runs; those of one system in several files are put together."""
    resolved = [path.resolve() for path in paths]
    twice = next((path for path in resolved if resolved.count(path) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice.name} is named twice", "Name each file and each run once.")
    folders = [path for path in paths if path.is_dir()]
    files = [path for path in paths if not path.is_dir()]
    parts = [read_attempts(file, name, threshold) for file, name in zip(files, _names(files), strict=True)]
    return together([*parts, *attempts_of_runs(folders)])


def described(paths: Sequence[Path]) -> list[str]:
    """Return the files read, as the foot of a page names them."""
    return [f"{path.resolve().name if path != STANDARD_INPUT else shown(path)}: attempts" for path in paths]


def _names(files: Sequence[Path]) -> list[str]:
    stems = ["standard input" if file == STANDARD_INPUT else file.name.split(".")[0] or file.name for file in files]
    return stems if len(set(stems)) == len(stems) else [shown(file) for file in files]
