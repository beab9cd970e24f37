"""Group failures of one root cause into tasks, keep these in an SQLite file, and write a task as a repair case.

Before any bisection a cause is recognised by the message without what differs from run to run, and by the innermost
frame in the project's own code. Groups with one blamed change are joined (section 3). Several processes may use the
file.
"""

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.agent.code_index import language_of
from misstep_harness.errors import InputError, UsageError, writing
from misstep_harness.repair.case import BEFORE, RepairCase, environment_of, write_case
from misstep_harness.repair.records import BEGAN
from misstep_harness.repair.validators import file_of
from misstep_harness.workspace import Limits
from misstep_harness.workspace.repository import Commit, Repository
from misstep_harness.workspace.suite.report import FailedTest

_INSIDE = "/ws/"
_NATIVE = re.compile(r'File "([^"\n]{1,400})", line (\d{1,9}), in (\S{1,200})')
_PLAIN = re.compile(r"(?<![\w./-])([\w./-]{1,400}\.\w{1,10}):(\d{1,9})(?!\d)")
_INNER_FIRST = re.compile(r"(?<![\w./@-])([\w./@+$\[\]-]{1,400}\.\w{1,10}):(\d{1,9}):\d{1,9}\)?\s*$", re.MULTILINE)
"""A frame of node, by line and column at the end of its line; of its frames the first is the innermost."""
_VARYING = (
    (re.compile(r"0x[0-9a-fA-F]{1,40}"), "<address>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"(?<![\w/.])/[\w./+-]{1,400}"), "<path>"),
    (re.compile(r"(?<![\w.])\d{1,40}(?:\.\d{1,40})?(?![\w.])"), "<number>"),
)
_LONGEST = 300
_MOST_COMPARED = 1_000

_TEMPORARY = (
    *_VARYING[:2],
    (re.compile(r"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm|run/user)/[\w./+-]{1,400}"), "<path>"),
    (
        re.compile(r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"),
        "<time>",
    ),
    (re.compile(r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?\b"), "<time>"),
    (re.compile(r"(?<![\w.])\d{1,9}(?:\.\d{1,20})?(?= ?(?:ns|µs|us|ms|s|sec|secs|seconds?|minutes?)\b)"), "<time>"),
    (re.compile(r"(?<=127\.0\.0\.1:)\d{2,5}|(?<=localhost:)\d{2,5}|(?<=\bpid )\d{1,9}|(?<=\bpid=)\d{1,9}"), "<number>"),
    (re.compile(r"(\.[A-Za-z]{1,5}):\d{1,9}(?::\d{1,9})?"), r"\1:<line>"),
    (re.compile(r"(?<=\bline )\d{1,9}"), "<line>"),
)
"""What differs from run to run, and by the lines that a change adds; the numbers of an assertion are kept."""
_SAYS_NOTHING = re.compile(r"collection failure|failed on (?:setup|teardown) with|Process completed|exit status \d+|$")
_RAISED = re.compile(
    r"^(?:E\s+)?((?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|NotFound)\b.*)$", re.MULTILINE
)


class Frame(Struct, frozen=True, order=True):
    """A place in the project's code that a trace names; the function is empty where the trace does not say it."""

    path: str
    line: int
    function: str = ""


def frames(trace: str, paths: Collection[str]) -> list[Frame]:
    """Return the places in the project's code that a trace of Python, pytest, node, Go or C names, in order."""
    matches = sorted([*_NATIVE.finditer(trace), *_PLAIN.finditer(trace)], key=lambda match: match.start())
    named = ((match[1].removeprefix(_INSIDE).removeprefix("./"), *match.groups()[1:]) for match in matches)
    return [Frame(path, int(line), *function) for path, line, *function in named if path in paths]


def innermost(trace: str, paths: Collection[str]) -> Frame | None:
    """Return the last place in the project's code that a trace names, as a chain of causes ends; of node the first."""
    named = ((match[1].removeprefix("//").removeprefix(_INSIDE), match[2]) for match in _INNER_FIRST.finditer(trace))
    first = next((Frame(path, int(line)) for path, line in named if path in paths), None)
    return first or next(reversed(frames(trace, paths)), None)


def normalised(message: str) -> str:
    """Return the first line of a message without addresses, numbers, paths and what else differs from run to run."""
    text = next((line.strip() for line in message.splitlines() if line.strip()), "")[:_LONGEST]
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    return text


def failure_of(test: FailedTest) -> str:
    """Return what a test failed with, to compare it with another run: the message, or what its trace ends with."""
    text = test.message.strip()
    if _SAYS_NOTHING.match(text) and (raised := _RAISED.findall(test.trace)):
        text = f"{text}\n{raised[-1]}"
    lines = (" ".join(line.split()) for line in text.splitlines())
    text = "\n".join(filter(None, lines))[:_MOST_COMPARED]
    for pattern, word in _TEMPORARY:
        text = pattern.sub(word, text)
    return text


class SameFailure:
    """Tell whether a failure is that of some runs at one commit, by what its message keeps there."""

    def __init__(self, tests: Iterable[FailedTest]) -> None:
        seen = list(tests)
        exact, first_lines = set(map(failure_of, seen)), {normalised(failure_of(test)) for test in seen}
        self._exact = exact if len(exact) == 1 else None
        self._first_line = first_lines if len(first_lines) == 1 else None

    def __call__(self, test: FailedTest) -> bool:
        """Return whether a test failed in the same way; a message that differs at one commit tells nothing."""
        if self._exact is not None:
            return failure_of(test) in self._exact
        return self._first_line is None or normalised(failure_of(test)) in self._first_line


def group_failures(failures: Iterable[FailedTest], paths: Collection[str]) -> list[tuple[FailedTest, ...]]:
    """Group failures of the same message at the same place, in the order in which they came."""
    of: defaultdict[tuple[str, str, int], list[FailedTest]] = defaultdict(list)
    known = set(paths)
    for failure in failures:
        frame = innermost(failure.trace, known)
        message = normalised(failure.message or failure.trace)
        of[message, frame.path if frame else "", frame.line if frame else 0].append(failure)
    return [tuple(members) for members in of.values()]


def joined(groups: Sequence[tuple[FailedTest, ...]], blamed: Sequence[str]) -> list[tuple[FailedTest, ...]]:
    """Return the groups, those with one blamed change joined."""
    of: defaultdict[str, list[FailedTest]] = defaultdict(list)
    for place, (group, change) in enumerate(zip(groups, blamed, strict=True)):
        of[change or f"{place}"] += group
    return [tuple(members) for members in of.values()]


BLAME = "blame"
"""Where `extra` of a case has what its task says of the blamed change."""

TaskState = Literal["open", "landed", "rejected"]
"""`landed`: a patch is on the main branch and the tests pass; `rejected`: people want no patch for it."""

_KIND = 0x6D735462
_WAIT_SECONDS = 30.0
_TABLE = """
CREATE TABLE IF NOT EXISTS task (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, state TEXT NOT NULL, created TEXT NOT NULL, content BLOB NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS one_open ON task (key) WHERE state = 'open';
"""
_FAILED_AS_WHOLE = "The test command failed; it names no test."


class RejectedPatch(Struct, frozen=True):
    """A patch that reviewers did not want, and their comment."""

    diff: str
    comment: str = ""


class RepairTask(Struct, frozen=True, omit_defaults=True):
    """A failure that somebody is to mend.

    - `tests`: The tests that fail by the one cause, as their runner names them; the first stands for them.
    - `message`, `trace`: Those of the first test.
    - `commit`: The commit at which they fail.
    - `blame`, `blame_posterior`, `diff`: The id of the change that they began with, its probability, and the change.
    - `blame_note`: What that probability assumes, or why no change is blamed.
    - `never_passed`: Whether its first test passed at no commit of a whole history; nobody is blamed.
    - `earlier`: The id of the change with which its first test began to fail with another message, if there is one.
    - `alone`: Whether its tests can be run alone; otherwise they are run with all others.
    - `flakiness`: The posterior that the first test is flaky, after so many `runs` with so many `failures`.
    - `searched_from`: The id of the oldest commit that the search for the change could reach.
    - `attached_diff`: A patch for it, as a unified diff.
    - `rejected`: The patches that reviewers rejected: an agent is shown them, and none is attached again by itself.
    """

    tests: tuple[str, ...]
    command: str
    message: str
    trace: str
    commit: str
    repository: str = ""
    blame: str = ""
    blame_posterior: float = 0.0
    blame_note: str = ""
    never_passed: bool = False
    earlier: str = ""
    diff: str = ""
    owner: str = ""
    owner_reason: str = ""
    alone: bool = True
    flakiness: float = 0.0
    runs: int = 0
    failures: int = 0
    searched_from: str = ""
    attached_diff: str = ""
    rejected: tuple[RejectedPatch, ...] = ()
    state: TaskState = "open"
    id: int = 0
    created: str = ""

    @property
    def key(self) -> str:
        """Return what tells whether two tasks are about one failure."""
        return _sendable_text("\0".join((self.repository, self.blame or f"{self.tests[0]}\0{self.message}")))

    def rejects(self, diff: str) -> bool:
        """Return whether reviewers rejected a patch that makes the same change, at whichever lines."""
        return any(_changes(one.diff) == _changes(diff) for one in self.rejected)


class TaskStore:
    """The open file of tasks."""

    def __init__(self, file: Path) -> None:
        self.file = file
        with writing(file), self._usable():
            file.parent.mkdir(parents=True, exist_ok=True)
            self._rows = sqlite3.connect(file, timeout=_WAIT_SECONDS, isolation_level=None)
            with self._at_once():
                (kind,) = self._rows.execute("PRAGMA application_id").fetchone()
                (tables,) = self._rows.execute("SELECT count(*) FROM sqlite_master").fetchone()
                if kind != _KIND and tables:
                    raise InputError("it holds something else than tasks", "Name another file.", file=file)
                for statement in filter(str.strip, _TABLE.split(";")):
                    self._rows.execute(statement)
                self._rows.execute(f"PRAGMA application_id = {_KIND}")

    def close(self) -> None:
        """Close the file."""
        self._rows.close()

    def file_task(self, task: RepairTask) -> RepairTask:
        """Keep a new task with an id, or bring an open or rejected one about the same failure up to date."""
        created = task.created or datetime.now(UTC).isoformat(timespec="seconds")
        with self._usable(), self._at_once():
            rows = self._rows.execute(
                "SELECT id, state, content FROM task WHERE key = ? AND state != 'landed' ORDER BY state", (task.key,)
            )
            row = rows.fetchone()
            if row is not None:
                before = _task(row)
                attached = task.attached_diff or before.attached_diff
                known = replace(
                    task, id=before.id, created=before.created, state=before.state, rejected=before.rejected
                )
                return self._write(replace(known, attached_diff=attached))
            cursor = self._rows.execute(
                "INSERT INTO task (key, state, created, content) VALUES (?, ?, ?, '')",
                (task.key, task.state, created),
            )
            return self._write(replace(task, id=int(cursor.lastrowid or 0), created=created))

    def _write(self, task: RepairTask) -> RepairTask:
        # Halves of characters are replaced: no file of UTF-8 takes them.
        values = {name: getattr(task, name) for name in task.__struct_fields__}
        texts = {name: _sendable_text(value) for name, value in values.items() if isinstance(value, str)}
        stored = replace(task, **texts, id=0, tests=tuple(map(_sendable_text, task.tests)))
        content = msgspec.json.encode(stored)
        self._rows.execute("UPDATE task SET content = ? WHERE id = ?", (content, task.id))
        return task

    def tasks(self) -> list[RepairTask]:
        """Return all tasks in the order of their ids."""
        with self._usable():
            return [_task(row) for row in self._rows.execute("SELECT id, state, content FROM task ORDER BY id")]

    def task(self, number: int) -> RepairTask:
        """Return a task by its number; a `UsageError` if there is none."""
        with self._usable():
            # As text: a number may be longer than those of SQLite.
            row = self._rows.execute("SELECT id, state, content FROM task WHERE id = ?", (str(number),)).fetchone()
            if row is None:
                raise UsageError(f"no task {number} in {self.file}", "`misstep repair tasks REPO` names them.")
            return _task(row)

    def end(self, number: int, state: Literal["landed", "rejected"]) -> RepairTask:
        """Close a task: a patch for it has landed, or people want none."""
        with self._usable(), self._at_once():
            task = replace(self.task(number), state=state)
            self._rows.execute("UPDATE task SET state = ? WHERE id = ?", (state, number))
        return task

    def offer(self, number: int, diff: str) -> RepairTask:
        """Attach a patch of an agent, unless the task has one, is closed, or reviewers rejected this one."""
        with self._usable(), self._at_once():
            task = self.task(number)
            refused = task.attached_diff or task.state != "open" or task.rejects(diff)
            return task if refused else self._write(replace(task, attached_diff=diff))

    def reject(self, number: int, diff: str, comment: str = "") -> RepairTask:
        """Note that reviewers rejected a patch for a task, and take it away if it is the one that is attached."""
        with self._usable(), self._at_once():
            task = self.task(number)
            attached = "" if task.attached_diff == diff else task.attached_diff
            rejected = () if task.rejects(diff) else (RejectedPatch(diff, comment),)
            return self._write(replace(task, attached_diff=attached, rejected=(*task.rejected, *rejected)))

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        self._rows.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with suppress(sqlite3.Error):
                self._rows.execute("ROLLBACK")
            raise
        self._rows.execute("COMMIT")

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, msgspec.MsgspecError) as error:
            raise InputError(f"the file of tasks cannot be used: {error}", "Name another.", file=self.file) from error


def _task(row: tuple[int, TaskState, bytes]) -> RepairTask:
    number, state, content = row
    return replace(msgspec.json.decode(content, type=RepairTask), id=number, state=state)


def _changes(diff: str) -> list[str]:
    return [line for line in diff.splitlines() if line.startswith(("+", "-"))]


def _sendable_text(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def task_text(task: RepairTask, change: Commit | None = None) -> str:
    """Return what an agent is told of a task: the failure, its trace, and the change that it began with."""
    number = len(task.tests)
    named = f"{number} test{'s' * (number > 1)} failed: {', '.join(task.tests)}"
    parts = [named if all(task.tests) else _FAILED_AS_WHOLE, task.message, task.trace.rstrip()]
    if task.blame:
        subject = f" ({change.subject}, by {change.author})" if change else ""
        posterior = f" Posterior {task.blame_posterior:.0%}." if task.blame_note else ""
        parts.append(f"{BEGAN} {diff_number(task)}{subject}.{posterior} {task.blame_note}".rstrip())
    elif task.never_passed:
        parts.append(task.blame_note[:1].upper() + task.blame_note[1:])
    for one in task.rejected:
        why = f": {one.comment}" if one.comment else ""
        parts.append(f"Reviewers rejected this patch, so find another{why}\n\n{one.diff.rstrip()}")
    return "\n\n".join(parts).strip() + "\n"


def blame_of(task: RepairTask, change: Commit) -> dict[str, str | float]:
    """Return whom a task blames, how sure that is, and what it assumes, for the case and for scripts."""
    named = {"commit": task.blame, "subject": change.subject, "author": f"{change.author} <{change.email}>"}
    earlier = {"earlier": task.earlier} if task.earlier else {}
    return {**named, **earlier, "posterior": task.blame_posterior, "assumes": task.blame_note}


def diff_number(task: RepairTask) -> str:
    """Return what `get_diff_details` calls the blamed change."""
    return task.blame[:10]


def write_task_case(
    task: RepairTask,
    folder: Path,
    case_folder: Path,
    *,
    seconds: float = Limits().seconds,
    uncommitted: bool = False,
    python: Path | None = None,
) -> RepairCase:
    """Write a task as a repair case: the tree at its commit, the failing tests as oracle, the blamed change as diff."""
    with Repository(folder, uncommitted=uncommitted) as repository:
        change = repository.commit(task.blame) if task.blame else None
        named = [repository.commit(name) for name in (task.blame, task.earlier) if name]
        described = {each.short: repository.described(each) for each in named}
        repository.export(task.commit, case_folder / BEFORE)
        paths = set(repository.paths(task.commit))
    places = [file_of(task.tests[0], paths), *(frame.path for frame in reversed(frames(task.trace, paths)))]
    commonest = Counter(filter(None, map(language_of, sorted(paths)))).most_common(1)
    languages = [*filter(None, map(language_of, filter(None, places))), *(name for name, _ in commonest), "unknown"]
    case = RepairCase(
        id=case_folder.name,
        language=languages[0],
        task=task_text(task, change),
        test_command=task.command,
        oracle=task.tests,
        timeout_seconds=seconds,
        alone=task.alone,
        diffs=described,
        extra={
            "commit": task.commit,
            **({BLAME: blame_of(task, change)} if change else {}),
            **environment_of(folder, python),
        },
    )
    write_case(case, case_folder)
    return case
