"""Find what a trial's task has beside it: its tests and gold solution, and images that were exported.

A task is a folder that the job names and that is on this machine, else `tasks/NAME` in the job or beside it. An image
is a root file system (`docker export`), as a folder or tar: `rootfs/`, `rootfs.tar`, `image.tar.gz`. As the agent found
it it is in the task's folder or its `environment/`, or `images/NAME.tar` in the job or beside it; as it left it, in
the trial's folder.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from misstep_harness.beneath import without_links
from misstep_harness.triage.records import Part, exported_root
from misstep_harness.triage.runs.jobs.trials import text_of

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
