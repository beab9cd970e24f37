"""Look at a path and propose the one line to run; nothing is run, written or sent.

What recognises a file or folder is what the commands read it with. Of a large folder only some files are looked at.
"""

import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal, TypeVar

from msgspec import Struct

from misstep_harness.errors import MisstepError
from misstep_harness.journal.records import MANIFEST, read_manifest
from misstep_harness.places import path_text
from misstep_harness.readers import all_readers, plan
from misstep_harness.readers.files import is_left_out

_MOST_NAMES, _MOST_FOLDERS, _MOST_FILES = 2_000, 1_000, 60
"""How many names and folders are listed, and how many files are read."""

_MOST_BYTES = 8 << 20
"""The size of a file that is read wholly where a folder is named; of JSON Lines the first lines tell."""

_JOB_DEPTH, _INSTEAD = 6, 3
"""A job with too many folders, counted to this depth, is known by so many of its own folders."""

_FORMATS_SHOWN, _ALSO = 3, 4
_JSON_LINES = ".jsonl"
_ENDINGS = frozenset((".csv", ".tsv", ".xlsx", ".json", _JSON_LINES))
_MADE_BY_TOOLS = frozenset(("node_modules", "__pycache__", "site-packages"))

_TableKind = Literal["judged", "attempts", "outputs", "labels"]


class _Contents(Struct, frozen=True):
    """What some files of a folder hold.

    - `formats`: Format of sessions → number of files.
    - `tables`: File → what its rows are.
    - `runs`: Folder of a run → its command.
    - `is_part`: Whether the folder has more files.
    """

    formats: Counter[str]
    tables: Mapping[Path, _TableKind]
    runs: Mapping[Path, str]
    is_part: bool


def _contents(path: Path) -> _Contents:
    """Return what a file holds, or some files of a folder."""
    names = list(islice(_below(path), _MOST_NAMES)) if path.is_dir() else [path]
    manifests = [name for name in names if name.name == MANIFEST]
    small = {name for name in names if name == path or name.stat().st_size <= _MOST_BYTES}
    files = [name for name in names if name not in manifests and (name in small or name.suffix == _JSON_LINES)]
    formats: Counter[str] = Counter()
    tables: dict[Path, _TableKind] = {}
    for file in files[:_MOST_FILES]:
        if name := _session_format(file):
            formats[name] += 1
        elif file in small and (kind := _table_kind(file)):
            tables[file] = kind
    commands = {file.parent: _command(file.parent) for file in manifests}
    runs = {folder: command for folder, command in commands.items() if command}
    return _Contents(formats, tables, runs, is_part=len(files) > _MOST_FILES or len(names) == _MOST_NAMES)


def _below(top: Path) -> Iterator[Path]:
    """Return the files of a folder, those that lie higher first; of a run its manifest alone."""
    pending = [top]
    for here in islice(pending, _MOST_FOLDERS):
        try:
            with os.scandir(here) as listing:
                entries = sorted(islice(listing, _MOST_NAMES), key=lambda entry: entry.name)
        except OSError:  # a folder that cannot be listed has nothing to propose
            continue
        if here != top and any(entry.name == MANIFEST for entry in entries):
            yield here / MANIFEST
            continue
        visible = [entry for entry in entries if not is_left_out(entry.name) and entry.name not in _MADE_BY_TOOLS]
        yield from (here / entry.name for entry in visible if _recognised(entry.is_file))
        pending += [here / entry.name for entry in visible if entry.is_dir(follow_symlinks=False)]


def _command(run: Path) -> str:
    manifest = _recognised(partial(read_manifest, run))
    return manifest.command if manifest is not None else ""


def _session_format(file: Path) -> str:
    """Return the format of the sessions in a file; empty if no reader knows it."""
    part = _recognised(lambda: next(plan(file, all_readers())))
    return part.format if part is not None else ""


def _table_kind(file: Path) -> _TableKind | None:
    """Return what the rows of a table are; `None` for any other file."""
    if file.suffix.casefold() not in _ENDINGS:
        return None
    return next((kind for kind, is_of_kind in _KINDS.items() if _recognised(partial(is_of_kind, file))), None)


def _is_judged(file: Path) -> bool:
    from misstep_analysis.labels.judged_table import JudgedColumns, read_judged_table

    return bool(read_judged_table(file, JudgedColumns(), {}).judges)


def _has_attempts(file: Path) -> bool:
    from misstep_analysis.passing.attempts import read_attempts

    return bool(read_attempts(file, file.stem).systems)


def _has_outputs(file: Path) -> bool:
    from misstep_analysis.labels.pair_table import PairColumns, read_pair_table

    return bool(read_pair_table(file, None, PairColumns()).pairs)


def _has_labels(file: Path) -> bool:
    """Return whether raters have a label in common: any table of text has two columns and could be taken for labels."""
    from misstep_analysis.labels import Reading, read_questions
    from misstep_analysis.labels.source import read_source

    if file.suffix.casefold().startswith(".json") and not read_source(file).tool:
        return False
    for question in read_questions(file, Reading()).labels.values():
        given = [set(column[column >= 0].tolist()) for column in question.codes.T]
        if sum(map(len, given)) > len(set().union(*given)):
            return True
    return False


_KINDS: Mapping[_TableKind, Callable[[Path], bool]] = {
    "judged": _is_judged,
    "attempts": _has_attempts,
    "outputs": _has_outputs,
    "labels": _has_labels,
}


def _test_command(repository: Path) -> str:
    """Return the line that runs the tests of a repository, by its files; empty if none of them tells."""
    for pattern, text, line in _TEST_COMMANDS:
        file = next(repository.glob(pattern), None)
        if file is not None and (not text or text in file.read_text("utf-8", "replace")):
            return line
    return ""


_TEST_COMMANDS = (
    ("pyproject.toml", "[tool.pytest", "python -m pytest"),
    ("pytest.ini", "", "python -m pytest"),
    ("test_*.py", "", "python -m pytest"),
    ("test*/test_*.py", "", "python -m pytest"),
    ("test*/*/test_*.py", "", "python -m pytest"),
    ("package.json", '"test":', "npm test"),
    ("Cargo.toml", "", "cargo test"),
    ("go.mod", "", "go test ./..."),
)
"""Pattern of a file in a repository, what it has to hold, and the line that runs the tests then."""


T = TypeVar("T")


def _recognised(read: Callable[[], T]) -> T | None:
    """Return what reading gives; `None` if the file or folder is not of its kind."""
    try:
        return read()
    except (MisstepError, OSError):
        return None


_READS = """It reads sessions of coding agents, tables of labels, of verdicts and of attempts, the folders that its own
commands write, jobs of benchmark harnesses, and git repositories with tests.

  misstep generate trajectories --n 20 --out sessions    makes sessions to try
  misstep --help                                         lists the commands"""

_OF_TABLES: dict[_TableKind, tuple[str, tuple[str, ...]]] = {
    "judged": ("labels of people and of judges", ("judge", "check")),
    "attempts": ("attempts at tasks", ("pass",)),
    "labels": ("labels of several raters", ("agreement",)),
    "outputs": ("outputs of several systems", ("benchmark", "make", "--kind", "pair", "--out", "pairs")),
}
"""Kind of a table → what its rows are, and the command that reads it."""


class _Proposal(Struct, frozen=True):
    """What is there, and the words of the line that is about it."""

    content: str
    line: Sequence[str]


def proposal_text(path: Path) -> str:
    """Return what is at a path and the line to run, or what Misstep reads if it recognises nothing."""
    proposals = list(_proposals(path))
    shown = "This folder" if path == Path() else path_text(path)
    if not proposals:
        is_empty = path.is_dir() and next(path.iterdir(), None) is None
        return f"{shown} {'is empty' if is_empty else 'has nothing that Misstep recognises'}.\n\n{_READS}"
    first, *others = proposals
    also = ", ".join(other.content for other in others[:_ALSO])
    more = f"\n\nAlso here: {also}. `misstep PATH` says what to run on one." if also else ""
    commands = "\n\n`misstep --help` lists the commands." if path == Path() else ""
    return f"{shown}: {first.content}.\n\n  {shlex.join(first.line)}{more}{commands}"


def _proposals(path: Path) -> Iterator[_Proposal]:
    """Return what is at a path, the likeliest to be meant first."""
    for recognise in (_run, _benchmark, _cases):
        if path.is_dir() and (whole := recognise(path)) is not None:
            yield whole
            return
    if (repository := _repository(path)) is not None:
        yield repository
    elif (job := _job_name(path.resolve())) != "":
        yield _Proposal(job, ["misstep", "triage", path_text(path)])
        return
    yield from _of_contents(path, _contents(path))


def _run(path: Path) -> _Proposal | None:
    if (manifest := _recognised(partial(read_manifest, path))) is None:
        return None
    command = "annotate" if manifest.command == "annotate" else "show"
    state = "" if manifest.finished else ", not finished"
    return _Proposal(f"a run of `misstep {manifest.command}`{state}", ["misstep", command, path_text(path)])


def _benchmark(path: Path) -> _Proposal | None:
    from misstep_harness.items import read_question
    from misstep_harness.judges import read_known, shipped_judges

    if not all((path / name).is_file() for name in ("benchmark.toml", "items.jsonl")):
        return None
    kind = read_question(path).kind
    if kind == "triage":
        return _Proposal("a benchmark of triage", ["misstep", "triage", path_text(path)])
    judges = [name for name in shipped_judges() if read_known(name).kind == kind]
    line = ["judge", "run", next(iter(judges), "benchmark_question"), "--benchmark", path_text(path)]
    options = ["--model", "MODEL", "--out", _new_folder("judged", path)]
    return _Proposal(f"a benchmark for judges ({kind})", ["misstep", *line, *options])


def _cases(path: Path) -> _Proposal | None:
    from misstep_harness.repair.case import read_cases
    from misstep_harness.triage.records import read_triage_cases

    if _recognised(partial(_first, read_triage_cases(path))):
        return _Proposal("triage cases", ["misstep", "triage", path_text(path)])
    if _recognised(partial(_first, read_cases(path))):
        line = ["misstep", "repair", "run", path_text(path), "--out", _new_folder("repairs", path)]
        return _Proposal("repair cases", line)
    return None


def _first(cases: Iterator[object]) -> bool:
    return next(cases, None) is not None


def _repository(path: Path) -> _Proposal | None:
    if not (path / ".git").exists() or not (tests := _test_command(path)):
        return None
    options = ["--test-command", tests, "--out", _new_folder("repairs", path)]
    return _Proposal("a git repository with tests", ["misstep", "repair", "run", path_text(path), *options])


def _job_name(path: Path, levels: int = 2) -> str:
    """Return what a public harness calls its job; of a folder with very many folders some are looked at instead."""
    from misstep_harness.triage.runs.jobs import JOBS
    from misstep_harness.triage.runs.jobs.trials import folders_within

    if sum(1 for _ in islice(folders_within(path, _JOB_DEPTH), _MOST_FOLDERS)) < _MOST_FOLDERS:
        readers = map(JOBS.load, JOBS.names())
        return next((reader.NAME for reader in readers if reader.is_job(path)), "")
    inner = islice((folder for folder in sorted(path.iterdir()) if folder.is_dir()), _INSTEAD if levels else 0)
    return next(filter(None, (_job_name(folder, levels - 1) for folder in inner)), "")


def _of_contents(path: Path, contents: _Contents) -> Iterator[_Proposal]:
    if sessions := contents.formats.total():
        formats = ", ".join(name for name, _ in contents.formats.most_common(_FORMATS_SHOWN))
        number = f"{sessions:,}{' or more' if contents.is_part else ''} file{'' if sessions == 1 else 's'}"
        line = ["misstep", "classify", path_text(path), "--out", _new_folder("findings", path)]
        yield _Proposal(f"{number} with sessions ({formats})", line)
    judged = next((run for run, command in contents.runs.items() if command == "judge run"), None)
    for kind, (what, command) in _OF_TABLES.items():
        files = [file for file, its_kind in contents.tables.items() if its_kind == kind]
        if not files:
            continue
        line = [*command, path_text(files[0])]
        if kind == "labels" and judged is not None:
            what, line = f"verdicts, {what}", ["judge", "check", path_text(judged), "--labels", path_text(files[0])]
        where = "" if files[0] == path else f" in {path_text(files[0])}"
        yield _Proposal(f"{what}{where}{f' and {len(files) - 1:,} more' if files[1:] else ''}", ["misstep", *line])
    if contents.runs:
        newest = max(contents.runs, key=lambda run: run.stat().st_mtime)
        number = f"{len(contents.runs):,} run{'' if len(contents.runs) == 1 else 's'} of Misstep"
        yield _Proposal(number, ["misstep", "show", path_text(newest)])


def _new_folder(name: str, path: Path) -> str:
    """Return a folder for what a command writes: one that does not exist, and outside of what is read."""
    above = Path("..") if path.is_dir() and Path.cwd().is_relative_to(path.resolve()) else Path()
    names = (name, *(f"{name}_{number}" for number in range(2, 100)))
    return str(next((above / one for one in names if not (above / one).exists()), above / name))
