"""What the classifiers find in files and folders: as a stream, or for a run that keeps it.

Find the instructions of a project, such as its CLAUDE.md: a judge reads their text with a session's task.

They come from files that the user names, and from the folder that the agent worked in and those above it up to the
repository's top, where that is on this machine.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from misstep_harness.errors import InputError
from misstep_harness.journal.classified import (
    BatchEntry,
    Judged,
    LabelledSession,
    Show,
    Summary,
    VerdictMerger,
    judge,
    summarise,
)
from misstep_harness.places import path_text
from misstep_harness.progress import Progress
from misstep_harness.runs.inputs import (
    EVER,
    Batch,
    Changed,
    batches,
    check_named,
    describe,
    files_changed,
    found_files,
    no_trajectory,
    placed_in,
    total_bytes,
)
from misstep_harness.runs.spread import BY_SIZE, Spread, in_order
from misstep_harness.session import folder_of_work
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict

NAMES = ("CLAUDE.md", "AGENTS.md")
"""The files of rules that are found by themselves."""

MOST_BYTES = 64 << 10
"""The most of a file of rules that is read; agents advise a few hundred lines."""

_MOST_FILES = 8


class ProjectInstructions(Struct, frozen=True, gc=False):
    """A file of rules that hold for every run in a project: its path, and its text."""

    file: str
    text: str


class InstructionSources(Struct, frozen=True):
    """Which project instructions count: those of these files, and, if `find`, those found beside the sessions."""

    files: tuple[ProjectInstructions, ...] = ()
    find: bool = True

    def settings(self) -> dict[str, Any]:
        """Return what a run notes of it; that rules are found by themselves goes without saying."""
        files = [one.file for one in self.files]
        return {**({"rules": files} if files else {}), **({} if self.find else {"find_rules": False})}

    def digests(self) -> dict[str, str]:
        """Return a digest of each file that was named: judges read its text."""
        return {one.file: hashlib.sha256(one.text.encode()).hexdigest()[:12] for one in self.files}

    def text_for(self, run: Trajectory) -> str:
        """Return the rules that hold for a session, each file behind its path; empty for none."""
        found = rules_of_folder(folder_of_work(run)) if self.find else ()
        files: dict[str, str] = {}
        for one in (*self.files, *found):
            if text := one.text.strip():
                files.setdefault(text, one.file)
        return "\n\n".join(f"{file}:\n{text}" for text, file in [*files.items()][:_MOST_FILES])


FIND_RULES = InstructionSources()


def read_rules(files: Sequence[Path]) -> tuple[ProjectInstructions, ...]:
    """Return the rules of the files that the user names."""
    rules = []
    for file in files:
        advice = "Name a text file of rules, such as CLAUDE.md."
        try:
            with file.open("rb") as stream:
                data = stream.read(MOST_BYTES + 1)
            text = data.decode()
        except OSError as error:
            raise InputError(f"cannot open: {error.strerror}", advice, file=file) from error
        except UnicodeDecodeError as error:
            raise InputError("the file is not text in UTF-8", advice, file=file) from error
        if len(data) > MOST_BYTES:
            raise InputError(f"the file is longer than {MOST_BYTES >> 10} KiB", "Name a shorter one.", file=file)
        rules.append(ProjectInstructions(path_text(file), text.removeprefix("\ufeff")))
    return tuple(rules)


@lru_cache(maxsize=4096)
def rules_of_folder(folder: str) -> tuple[ProjectInstructions, ...]:
    """Return the rules in a folder and those above it up to the repository's top; none where it is not here."""
    try:
        place = Path(folder)
        if not (folder and place.is_absolute() and place.is_dir()):
            return ()
        above = [place, *place.parents]
        top = next((number for number, one in enumerate(above) if (one / ".git").exists()), 0)
        rules = (_rules_in(one / name, above[top]) for one in above[: top + 1] for name in NAMES)
        return tuple(one for one in rules if one is not None)
    except (OSError, ValueError):
        return ()


def _rules_in(file: Path, top: Path) -> ProjectInstructions | None:
    """Return the rules in a file; `None` if it leads out of the project or is not text."""
    try:
        if not (file.is_file() and file.resolve().is_relative_to(top.resolve())):
            return None
        with file.open("rb") as stream:
            return ProjectInstructions(path_text(file), stream.read(MOST_BYTES).decode(errors="ignore"))
    except OSError:
        return None


ClassifyAs = Callable[[Trajectory, Sequence[str]], list[Verdict]]
"""A trajectory and the categories to look for → one verdict a category, in their order."""


class ClassifyPlan(Struct, frozen=True):
    """What is looked for, and in which files.

    - `arguments`: The command line, for the manifest.
    - `spread`: Where it is done.
    """

    categories: Sequence[str]
    classify: ClassifyAs
    arguments: Sequence[str] = ()
    changed: Changed = EVER
    rules: InstructionSources = FIND_RULES
    spread: Spread = BY_SIZE


def classify_stream(paths: Sequence[Path], plan: ClassifyPlan) -> Summary:
    """Classify all trajectories of the files and folders `paths`, of which no record is kept."""
    check_named(paths)
    files = partial(files_changed, changed=plan.changed)
    spread = plan.spread.for_bytes(total_bytes(files(found_files(paths))))
    work = partial(judge_batch, categories=tuple(plan.categories), classify=plan.classify, keep_lines=False)
    merger = VerdictMerger()
    costly: list[LabelledSession] = []

    def entries() -> Iterator[BatchEntry]:
        with Progress("sessions") as progress:
            for judged in in_order(work, batches(files(found_files(paths))), spread, describe):
                progress.advance(len(judged.items))
                named, entry = merger.add(judged)
                costly.extend(session for _, session in named.costly)
                yield entry

    summary = structs.replace(summarise(entries()), costly=costly)
    expect_some(summary, paths, plan.changed)
    return summary


def judge_batch(
    batch: Batch,
    categories: tuple[str, ...],
    classify: ClassifyAs,
    *,
    keep_lines: bool,
    show: Show | None = None,
) -> Judged:
    """Classify one batch; for a run with the lines of its records."""
    return judge(placed_in(batch), lambda one: classify(one, categories), keep_lines=keep_lines, show=show)


def expect_some(summary: Summary, paths: Sequence[Path | str], changed: Changed) -> None:
    """Raise `NoTrajectory` if there was nothing to read."""
    if summary.empty:
        raise no_trajectory(paths, len(summary.skipped), changed)
