"""Read and write a `RepairCase`: a folder with the broken tree, the tests that show it, and the patch of people."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import tomli_w
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness import beneath
from misstep_harness.errors import InputError, UnsafePath, UsageError, writing
from misstep_harness.forms import misspelt, toml_form
from misstep_harness.places import recorded_path
from misstep_harness.trajectory import Evidence, noted
from misstep_harness.workspace import Toolchain
from misstep_harness.workspace.trees import regular_files

CASE = "case.toml"
BEFORE = "before"
GOLDEN = "golden.patch"
HELD_OUT = "held_out"
FAILURE = "failure"
"""Where `extra` of a case, and of a run's trajectory, has the failure that the task leaves out."""

INSTRUCTION = "instruction"
"""Where `extra` of a case has the instruction that its agent is given, of the kinds that it has."""

CHANGE_TESTS = "change_tests"
"""Where `extra` of a case says that its agent may change tests, and that its patch is scored with them."""

_MAY_CHANGE_TESTS = (
    "The test itself may be wrong. Where it contradicts what the program is for, you may change it, against the rule "
    "never to do so; never weaken, skip or delete it to make it pass, and say in your summary why it was wrong."
)

_FORM = "See `misstep help repair-case`."
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}")


class RepairCase(Struct, frozen=True, omit_defaults=True):
    """A repair case is a folder with `case.toml`, the broken tree in `before/` and, optionally, `golden.patch`.

    The patch is a unified diff that mends the tree; a case without one cannot be affirmed. A benchmark is a folder of
    such folders. A folder `held_out/` has further tests by their paths in the tree: no agent sees them, and a patch
    with which the oracle passes is tried on them, to show one that passes by accident.

    - `id`: The case's name: letters, digits, `.`, `_` and `-`.
    - `language`: The language of the broken code, such as `python`; it decides the static analysis.
    - `task`: The task that the agent is told: the failure with its trace.
    - `test_command`: The shell line that runs the tests. `{tests}` is where chosen tests go, by default its end;
      `{junit}` is the file to which it writes JUnit XML. pytest and unittest need neither.
    - `oracle`: The tests that fail before and pass after: ids or files, as the command takes them; an empty one stands
      for the whole command, where that names no test.
    - `timeout_seconds`: The longest time that one run of the oracle may take.
    - `diffs`: A table of changes by number: what the agent may look up, and what a revert is compared with.
    - `evidence`: The kind of evidence: `real`, or `generated` if the fault was planted.
    - `extra`: A table with any other data. `static_analysis` in it is a shell line with `{files}`; `file` and a table
      `instructions` (`high_level`, `detailed`) are for `--instructions`; `change_tests = true` is `--change-tests`.
    - `alone`: The oracle's tests are run alone; with false the whole command is run and they are looked at.

    Examples
    --------
        id = "planted-7"
        language = "python"
        task = "1 failure: tests/test_price.py::test_total"
        test_command = "python -m pytest -q"
        oracle = ["tests/test_price.py::test_total"]
    """

    id: str
    language: str
    task: str
    test_command: str
    oracle: tuple[str, ...]
    timeout_seconds: float = 60.0
    diffs: dict[str, str] = {}
    extra: dict[str, Any] = {}
    alone: bool = True
    evidence: Evidence = "real"


class CaseFolder(Struct, frozen=True):
    """A case and the folder it is in.

    - `toolchain`: What the run found of the project that the case is of. The case's own file names no place of the
      machine that is believed.
    """

    case: RepairCase
    folder: Path
    toolchain: Toolchain | None = None

    @property
    def before(self) -> Path:
        """Return the broken tree."""
        return self.folder / BEFORE

    def golden(self) -> str | None:
        """Return the patch that people wrote, if there is one."""
        content = beneath.file_of(self.folder, GOLDEN)
        return None if content is None else content.decode("utf-8", "surrogateescape")

    def held_out(self) -> dict[str, bytes]:
        """Return the tests that no agent sees, with what they need, by their paths in the tree."""
        root = beneath.folder_of(self.folder, HELD_OUT)
        return {} if root is None else {path: beneath.read_file(root, path) for path in sorted(regular_files(root))}

    def text(self, path: str) -> bytes | None:
        """Return the content of a file of the broken tree; none if there is none, or a link in its place."""
        with suppress(OSError, UnsafePath, UnicodeEncodeError):
            return beneath.read_file(self.before, beneath.relative(path))
        return None


def read_case(folder: Path) -> CaseFolder:
    """Return the case in a folder."""
    file, data = folder / CASE, beneath.file_of(folder, CASE)
    if data is None:
        raise InputError(f"no {CASE}", _FORM, file=folder)
    case = toml_form(data, RepairCase, file, _FORM)
    misspelt(data, RepairCase.__struct_fields__, file, _FORM)
    if not _ID.fullmatch(case.id):
        advice = "Use letters, digits, '.', '_' and '-'."
        raise InputError(f"the id {case.id!r} is not a file name", advice, file=file, field="id")
    if not case.oracle:
        raise InputError("the oracle names no test", _FORM, file=file, field="oracle")
    if not case.test_command.strip():
        raise InputError("the test command is empty", _FORM, file=file, field="test_command")
    if beneath.folder_of(folder, BEFORE) is None:
        raise InputError(f"no folder {BEFORE}/ with the broken tree", _FORM, file=folder)
    return CaseFolder(case, folder)


def read_cases(folder: Path) -> Iterator[CaseFolder]:
    """Return the case in a folder, or those in the folders of it, by name."""
    if (folder / CASE).is_file():
        yield read_case(folder)
        return
    seen: dict[str, Path] = {}
    for inner in beneath.folders_with(folder, CASE):
        case = read_case(inner)
        if before := seen.get(name := case.case.id):
            raise InputError(f"the id {name!r} is that of {before} too", _FORM, file=inner / CASE, field="id")
        seen[name] = inner
        yield case
    if not seen:
        advice = f"A case is a folder with {CASE} and {BEFORE}/. {_FORM}"
        raise InputError("no repair case in this folder", advice, file=folder)


def sampled_cases(cases: list[CaseFolder], n: int | None, seed: int) -> list[CaseFolder]:
    """Return all of them, or `n` by chance, in their order."""
    if n is None or n >= len(cases):
        return cases
    chosen = Random(seed).sample(range(len(cases)), n)  # noqa: S311 -- no secret
    return [cases[place] for place in sorted(chosen)]


def instructed(folder: CaseFolder, kind: str) -> CaseFolder:
    """Return a case whose agent is told what to change (5.1), not how the tests fail: `extra` has that for a judge."""
    case = folder.case
    file, texts = case.extra.get("file"), case.extra.get("instructions")
    text = texts.get(kind.replace("-", "_")) if isinstance(texts, dict) else None
    if not (isinstance(file, str) and isinstance(text, str)):
        advice = "Leave out --instructions, or make such cases with `misstep repair build --set patchgen`."
        raise UsageError(f"the case {case.id} has no {kind} instructions", advice)
    task = f"Change the file {file} as follows.\n\n{text}\n"
    extra = {**case.extra, FAILURE: case.task, INSTRUCTION: text}
    return replace(folder, case=replace(case, task=task, extra=extra))


def with_test_changes(folder: CaseFolder) -> CaseFolder:
    """Return a case whose agent may change tests, and is told so: a test may be what is wrong (section 11)."""
    case = folder.case
    task = f"{case.task.rstrip()}\n\n{_MAY_CHANGE_TESTS}\n"
    return replace(folder, case=replace(case, task=task, extra={**case.extra, CHANGE_TESTS: True}))


def instruction_of(case: RepairCase) -> tuple[str, str]:
    """Return the file and the instruction of a case that `instructed` gives."""
    file, text = case.extra.get("file"), case.extra.get(INSTRUCTION)
    if not (isinstance(file, str) and isinstance(text, str)):
        raise UsageError(f"the case {case.id} has no instruction for a patcher", "Name the kind with --instructions.")
    return file, text


def environment_of(repository: Path, python: Path | None) -> dict[str, str]:
    """Return what `extra` of a case says of its project: it is believed only where the user shows that folder."""
    places = {"checkout": repository.resolve()} | ({"python": python.absolute()} if python else {})
    return {name: recorded_path(place) for name, place in places.items()}


def write_case(case: RepairCase, folder: Path, golden: str | None = None) -> None:
    """Write a case's files beside its tree, which is there already."""
    file = folder / CASE
    with writing(file):
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(
            tomli_w.dumps(msgspec.to_builtins(case) | noted(case.evidence), multiline_strings=True), encoding="utf-8"
        )
        if golden is not None:
            (folder / GOLDEN).write_bytes(golden.encode("utf-8", "surrogateescape"))
