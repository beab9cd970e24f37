"""A trial of a public harness, its task's tests, gold solution and images, and the case that is written of it.

A task is a folder that the job names and that is on this machine, else `tasks/NAME` in the job or beside it. An image
is a root file system (`docker export`), as a folder or tar: `rootfs/`, `rootfs.tar`, `image.tar.gz`. As the agent found
it it is in the task's folder or its `environment/`, or `images/NAME.tar` in the job or beside it; as it left it, in
the trial's folder.
"""

import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import tomli_w
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness import beneath
from misstep_harness.beneath import without_links
from misstep_harness.errors import InputError, MisstepError, UnsafePath
from misstep_harness.journal.records import encode
from misstep_harness.readers import read_file
from misstep_harness.trajectory import Outcome as RunOutcome
from misstep_harness.trajectory import Trajectory
from misstep_harness.triage.records import CASE, Outcome, Part, TriageCase, exported_root, read_triage_case
from misstep_harness.triage.texts import INSTRUCTION, TRAJECTORY

_SETTINGS = ("task.toml", "task.yaml")
"""What a folder must have that a job names by its path: a stranger's job may name any folder of this machine."""

_LEVELS = 6
"""Folders above a trial that may be the job or the folder of jobs."""

Roots = Mapping[str, Path]


def task_folder(trial: Path, name: str, recorded: Iterable[object] = ()) -> Path | None:
    """Return the folder of a trial's task; `None` if it is not on this machine."""
    above = list(_above(trial))
    named = [Path(one) for one in recorded if isinstance(one, str) and one]
    for place in (folder / one for one in named for folder in above):
        if any((place / sign).is_file() for sign in _SETTINGS):
            return place.resolve()
    beside = (folder / "tasks" / _last(name) for folder in above)
    return next((place for place in beside if _is_task(place)), None)


def _is_task(place: Path) -> bool:
    return any((place / sign).exists() for sign in (*_SETTINGS, "instruction.md", "tests")) and without_links(place)


def exported(trial: Path, name: str, task: Path | None) -> Roots:
    """Return the images of a trial: part → place."""
    within = [trial / "environment", *([task, task / "environment"] if task is not None else [])]
    left = exported_root(trial, trial / "workspace")
    named = (folder / "images" / f"{_last(name)}{ending}" for folder in _above(trial) for ending in _ENDINGS)
    root = exported_root(*within) or next((place for place in named if place.exists() and without_links(place)), None)
    roots = {"environment": root, "workspace": left}
    return {part: place for part, place in roots.items() if place is not None}


def task_parts(*folders: Path | None) -> dict[Part, Path]:
    """Return the tests and the gold solution of the first folder that has them."""
    parts: tuple[Part, ...] = ("tests", "solution")
    folders_of = {part: next((one / part for one in folders if one and (one / part).is_dir()), None) for part in parts}
    return {part: place for part, place in folders_of.items() if place is not None}


_DOCKERFILE_FOLDER = re.compile(r"^[ \t]*WORKDIR[ \t]+(/\S*)[ \t]*$", re.MULTILINE | re.IGNORECASE)


def workdir_of(*dockerfiles: Path) -> str:
    """Return the last working folder that a Dockerfile names; `docker export` does not keep it."""
    texts = (text_of(file) for file in dockerfiles)
    return next((places[-1] for text in texts if (places := _DOCKERFILE_FOLDER.findall(text))), "")


_ENDINGS = ("", ".tar", ".tar.gz", ".tgz")


def _above(trial: Path) -> Iterator[Path]:
    yield from list(trial.resolve().parents)[:_LEVELS]


def _last(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2]


MOST_BYTES = 64 << 20
_MOST_LOG = 1 << 20
_MOST_CANDIDATES = 200
_SESSION_ENDINGS = (".json", ".jsonl", ".txt", ".log", ".traj")
_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9._+@:=-]+")
_LONGEST_ID = 160

T = TypeVar("T", bound=Struct)


class RunBy(Struct, frozen=True):
    """How the tests of a trial are run again in its image; `setup` may define what the command names."""

    test_command: str
    workdir: str = ""
    setup: str = ""
    seconds: float = 900.0


class JobTrial(Struct, frozen=True):
    """One attempt at a task, as a harness left it.

    - `parts`: The folder of each part of a case.
    - `files`: Path in the case → text of further files, such as a script that runs the tests.
    - `roots`: The images that were exported: part → place.
    - `run_by`: The test command, and the folder in which it is run.
    """

    id: str
    task: str = ""
    instruction: str = ""
    outcome: Outcome | None = None
    run: Trajectory | None = None
    logs: Mapping[str, str] = {}
    parts: Mapping[Part, Path] = {}
    files: Mapping[str, str] = {}
    roots: Mapping[str, Path] = {}
    run_by: RunBy | None = None


_RUN_LIMITS = {"memory_mb": 4096, "disk_mb": 4096, "processes": 512}
"""Limits of a command in an image; a harness's own are not recorded in a form that all have."""


def written_trials(trials: Iterable[JobTrial], folder: Path) -> list[TriageCase]:
    """Return the trials as cases in a folder, each under a name that no other has."""
    cases: dict[str, TriageCase] = {}
    for trial in trials:
        base = _NOT_IN_AN_ID.sub("-", trial.id)[:_LONGEST_ID].strip("-.") or "trial"
        base = base if base[0].isalnum() else f"t{base}"
        names = chain([base], (f"{base}-{number}" for number in count(2)))
        name = next(one for one in names if one not in cases)
        cases[name] = _case_of(trial, name, folder / name)
    return list(cases.values())


def _case_of(trial: JobTrial, name: str, folder: Path) -> TriageCase:
    folder.mkdir(parents=True)
    described: dict[str, Any] = {"id": name, "task": trial.task, "outcome": trial.outcome}
    if trial.run_by is not None:
        described |= {"test_command": trial.run_by.test_command, "workdir": trial.run_by.workdir}
        described |= {"setup_command": trial.run_by.setup}
        described["limits"] = {"seconds": trial.run_by.seconds, **_RUN_LIMITS}
    (folder / CASE).write_text(tomli_w.dumps({key: value for key, value in described.items() if value}))
    instruction = trial.instruction or (trial.run.task if trial.run is not None else "")
    if instruction:
        (folder / INSTRUCTION).write_text(instruction, errors="replace")
    if trial.run is not None:
        outcome = RunOutcome(trial.outcome) if trial.outcome is not None else trial.run.outcome
        run = replace(trial.run, id=name, outcome=replace(outcome, reward=trial.run.outcome.reward))
        (folder / TRAJECTORY).write_bytes(encode(run))
    for log, text in trial.logs.items():
        if text.strip():
            (folder / "logs").mkdir(exist_ok=True)
            (folder / "logs" / log).write_text(text, errors="replace")
    for part, source in trial.parts.items():
        if not beneath.without_links(source):
            continue
        shutil.copytree(source, folder / part, symlinks=True, ignore=_no_regular_files)
    for path, text in trial.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, errors="replace")
    return replace(read_triage_case(folder), roots=trial.roots if trial.run_by is not None else {})


def _no_regular_files(folder: str, names: Sequence[str]) -> list[str]:
    modes = {name: (Path(folder) / name).lstat().st_mode for name in names}
    return [name for name, mode in modes.items() if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))]


def folders_within(path: Path, depth: int) -> Iterator[Path]:
    """Return a folder and those below it, by name, up to a depth; hidden ones and links are left out."""
    if not path.is_dir() or not beneath.without_links(path):
        return
    yield path
    if depth:
        for child in sorted(path.iterdir()):
            if not child.name.startswith("."):
                yield from folders_within(child, depth - 1)


def json_file(file: Path, type_: type[T], form: str) -> T:
    """Return a JSON file as a struct."""
    content = content_of(file)
    if content is None:
        raise InputError(f"is no regular file of at most {MOST_BYTES >> 20} MiB", form, file=file)
    try:
        return msgspec.json.decode(content, type=type_)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"not as this harness writes it: {error}", form, file=file) from error


def json_value(file: Path) -> Any:
    """Return the value of a small JSON file; `None` if there is none that can be read."""
    content = content_of(file)
    return None if content is None else decoded(content)


def content_of(file: Path) -> bytes | None:
    """Return the bytes of a file of a job; `None` if it is none, a link leads to it, or it is longer than a limit."""
    with suppress(OSError, UnsafePath):
        return beneath.read_file(file.parent, file.name, MOST_BYTES) if beneath.without_links(file) else None
    return None


def decoded(content: bytes | str) -> Any:
    """Return the value of some JSON; `None` where it is broken."""
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return msgspec.json.decode(content)
    return None


def text_of(file: Path) -> str:
    """Return the text of a log, its middle left out where it is long; empty if there is none."""
    try:
        if not stat.S_ISREG(file.lstat().st_mode) or not beneath.without_links(file):
            return ""
        with file.open("rb") as stream:
            size = file.stat().st_size
            if size <= _MOST_LOG:
                return stream.read().decode(errors="replace")
            head = stream.read(_MOST_LOG // 2).decode(errors="replace")
            stream.seek(size - _MOST_LOG // 2)
            return f"{head}\n[{size - _MOST_LOG:,} bytes are left out]\n{stream.read().decode(errors='replace')}"
    except OSError:
        return ""


def first_run(*places: Path) -> Trajectory | None:
    """Return the first run that can be read in some files or folders, whichever known format it has."""
    for file in (file for place in places for file in _candidates(place)):
        with suppress(MisstepError):  # unknown format: another file may be known
            runs = (run for run in read_file(file) if isinstance(run, Trajectory) and run.steps)
            if (first := next(runs, None)) is not None:
                return first
    return None


def _candidates(place: Path) -> list[Path]:
    if place.is_file():
        return [place] if beneath.without_links(place) else []
    files = (file for folder in folders_within(place, 4) for file in sorted(folder.iterdir()) if file.is_file())
    return [file for file in files if file.suffix in _SESSION_ENDINGS and not file.is_symlink()][:_MOST_CANDIDATES]
