"""Records of triage: a judge's verdict with its evidence, and the folder of a triage case.

A case has all that a judge may need to say whose fault a run was:

    case.toml           `CaseFile`
    instruction.md      what the agent was asked to do
    environment/        the files that the agent found
    tests/              the tests, which are in `tests/` of the folder in which they are run
    solution/           the gold solution: files laid over `environment/`, or `solve.sh`, run in a copy of it
    workspace/          the files as the agent left them, without the tests
    trajectory.json     the run, in any known format
    logs/               `tests.log` and `harness.log`

An image that was exported (`docker export`) is `rootfs/` or `image/`, or such a tar, `rootfs.tar` or `image.tar.gz`: in
the case's folder or in `environment/` as the agent found it, in `workspace/` as the agent left it. Commands run in it.

Only `case.toml` must be there. Several cases lie in one folder, whose `gold.csv` may have their labels; nothing here
reads those.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, get_args

from msgspec import Struct

from misstep_harness import beneath
from misstep_harness.errors import InputError
from misstep_harness.forms import misspelt, toml_form
from misstep_harness.journal.records import VERDICTS, Records, read_records
from misstep_harness.trajectory import Evidence as Origin
from misstep_harness.verdict import Verdict

Access = Literal["text", "read-only", "sandbox"]
"""A judge's material: texts alone; also the files of the run, the tests and the solution; also running them."""
ACCESSES: tuple[Access, ...] = get_args(Access)

EvidenceKind = Literal["step", "log", "file", "command", "assertion", "difference", "record"]


class Evidence(Struct, frozen=True, omit_defaults=True):
    """One piece of evidence.

    - `kind`: What it is: a `step` of the run, a line of a `log`, a place in a `file`, a `command` that was run, an
      `assertion` of a test, a `difference` between two results, or what the `record` of the run says.
    - `where`: The place: a step's number, `path:line`, or the command as it was run.
    - `text`: The text there, or the output of the command, cut to a few lines.
    """

    kind: EvidenceKind
    where: str
    text: str


class TriageVerdict(Verdict, frozen=True, gc=False):
    """A verdict on a run: its label is one of `fault_mappings.FAULTS`, or missing as in any verdict.

    - `subcategory`: The subcategory of the label, where the judge names one.
    - `evidence`: What the verdict rests on.
    - `access`: What the judge could use.

    Examples
    --------
        {"item": "case-7", "judge": "triage@rules", "label": "agent", "subcategory": "logical_failure", "evidence": []}
    """

    subcategory: str = ""
    evidence: tuple[Evidence, ...] = ()
    access: str = ""


_TRIAGE_RECORDS = Records(TriageVerdict, VERDICTS, "verdict")


def read_triage_verdicts(path: Path, *, unfinished: bool = False) -> Iterator[TriageVerdict]:
    """Return the verdicts of a judge of triage, with their evidence."""
    return read_records(path, _TRIAGE_RECORDS, unfinished=unfinished)


CASE = "case.toml"
Part = Literal["environment", "tests", "solution", "workspace", "logs"]
Outcome = Literal["passed", "failed"]

PATCH = "workspace.patch"
"""The agent's result as a patch of an exported image, for `git apply` in the folder of the run."""

SOLVE = "solve.sh"
"""In `solution/`: the script that makes the gold result, run by `sh` in a copy of the environment."""

OUTCOME_FORM = 'Write `outcome = "passed"` or `outcome = "failed"` into its case.toml.'
"""The advice if nothing says whether a run passed."""

_FORM = "See `misstep help triage-case`."
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+@:=-]{0,199}")


class RunLimits(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The limits of one command of the agent or of the tests.

    - `seconds`: The longest time.
    - `memory_mb`: The memory of all its processes together, in MiB.
    - `disk_mb`: The most that it may write, in MiB.
    - `processes`: The number of its processes at a time.
    """

    seconds: float = 60.0
    memory_mb: int = 1024
    disk_mb: int = 256
    processes: int = 64


class CaseFile(Struct, frozen=True, omit_defaults=True):
    """A triage case is a folder with `case.toml`, `instruction.md`, `tests/`, `workspace/`, `trajectory.json`, `logs/`.

    `environment/` has the files that the agent found, `solution/` the gold solution: files, or `solve.sh`. What is not
    there is not used. `tests/` is put into the workspace when the tests are run. `requirements.txt` is installed from
    `wheels/`, without a network. An image that was exported by `docker export` is `rootfs/` or `rootfs.tar`, also
    `.gz`: in the case or in `environment/` as the agent found it, in `workspace/` as the agent left it. Commands run
    in it then, and tests are in `/tests` if the test command names that folder.

    - `id`: The case's name: letters, digits, `.`, `_` and `-`.
    - `test_command`: The shell line that runs the tests, in a folder with the result and `tests/`; its exit code is the
      verdict.
    - `run_command`: A shell line that runs the result, if there is something to run.
    - `setup_command`: A shell line that starts what commands need, such as a service; it is run before each of them.
    - `workdir`: The folder in which commands run in an image of the case that was exported.
    - `outcome`: `passed` or `failed`, as the harness recorded it; by default what the trajectory says, then what the
      harness wrote into `logs/`, such as `result: passed` or `reward=1`. Without any of these a run is undecided.
    - `task`: The name of the task; several runs of one task have one name.
    - `evidence`: The kind of evidence: `real`, or `generated` if the run and its cause were made.
    - `limits`: A table with `seconds`, `memory_mb`, `disk_mb` and `processes`: what one command could take.

    Examples
    --------
        id = "case-7"
        test_command = "python -m unittest discover -s tests"
        outcome = "failed"
    """

    id: str
    test_command: str = ""
    run_command: str = ""
    setup_command: str = ""
    workdir: str = ""
    outcome: Outcome | None = None
    task: str = ""
    evidence: Origin = "real"
    limits: RunLimits = RunLimits()


class TriageCase(Struct, frozen=True):
    """A case and its folder.

    - `roots`: The exported images, `environment` as the agent found it, `workspace` as the agent left it: files outside
      of the case's folder if it was made of a job.
    - `views`: The folders that are parts of the case in the place of its own, `None` for a part that it has not.
    - `of_job`: Whether it was made of a harness's job, others of which can be run in their images.
    """

    file: CaseFile
    folder: Path
    roots: Mapping[str, Path] = {}
    views: Mapping[str, Path | None] = {}
    of_job: bool = False

    @property
    def id(self) -> str:
        """Return the case's name."""
        return self.file.id

    def part(self, name: Part) -> Path | None:
        """Return a folder of the case; `None` where it has none, or a link in its place, which might lead anywhere."""
        if name in self.views:
            return self.views[name]
        folder = self.folder / name
        return folder if folder.is_dir() and not folder.is_symlink() else None


def read_triage_case(folder: Path) -> TriageCase:
    """Return the case in a folder."""
    file, data = folder / CASE, beneath.file_of(folder, CASE)
    if data is None:
        raise InputError(f"no {CASE}", _FORM, file=folder)
    case = toml_form(data, CaseFile, file, _FORM)
    misspelt(data, CaseFile.__struct_fields__, file, _FORM)
    if not _ID.fullmatch(case.id):
        message = f"the id {case.id!r} is not a file name"
        raise InputError(message, "Use letters, digits, '.', '_' and '-'.", file=file, field="id")
    places = {"environment": (folder / "environment", folder), "workspace": (folder / "workspace",)}
    roots = {part: root for part, within in places.items() if (root := exported_root(*within)) is not None}
    return TriageCase(case, folder, roots)


_ROOTS = tuple(f"{name}{ending}" for name in ("rootfs", "image") for ending in ("", ".tar", ".tar.gz", ".tgz"))


def exported_root(*folders: Path) -> Path | None:
    """Return the first root file system that was exported into one of some folders, as a folder or tar."""
    places = (folder / name for folder in folders for name in _ROOTS if not folder.is_symlink())
    return next((place for place in places if place.exists() and not place.is_symlink()), None)


def read_triage_cases(folder: Path) -> Iterator[TriageCase]:
    """Return the case in a folder, or those in the folders of it, by name; none if there is none."""
    if (folder / CASE).is_file():
        yield read_triage_case(folder)
        return
    seen: dict[str, Path] = {}
    for inner in beneath.folders_with(folder, CASE):
        case = read_triage_case(inner)
        if case.id in seen:
            raise InputError(f"the id {case.id!r} is that of {seen[case.id]} too", _FORM, file=inner / CASE, field="id")
        seen[case.id] = inner
        yield case
