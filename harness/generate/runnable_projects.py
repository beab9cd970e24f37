"""Small tasks on made-up Python projects that really run: files, the request for one change, the test that it mends."""

from functools import cache
from random import Random

import msgspec
from msgspec import Struct

from misstep.harness.generate.projects import (
    Language,
    Project,
    ProjectChange,
    ProjectFunction,
    change_comparison,
    change_limit,
    make_project,
)
from misstep.harness.generate.voice import FOLDER, Voice, fill

TEST_COMMAND = "python -m unittest discover -s tests"
LIMITS = ("only_path", "protect_folder", "ban_tool", "no_comments")
"""What a user may rule out beside the change: other files, the tests, one of the agent's tools, comments."""


class RunnableTask(Struct, frozen=True):
    """A project in which one test fails, and the request for the change that mends it.

    - `limit`, `forbidden`: What the user rules out beside it, one of `LIMITS`, and the file, folder or tool that is
      meant; both may be empty.
    """

    project: Project
    change: ProjectChange
    function: ProjectFunction
    request: str
    limit: str = ""
    forbidden: str = ""

    @property
    def files(self) -> dict[str, str]:
        """Return the project's files as texts."""
        return {path: f"{self.project.text(path)}\n" for path in self.project.files}

    @property
    def solved_files(self) -> dict[str, str]:
        """Return the files with the change and nothing else."""
        text = self.files[self.change.path].replace(self.change.old, self.change.new)
        return self.files | {self.change.path: text}


@cache
def _runnable_language() -> Language:
    return msgspec.toml.decode((FOLDER.parent / "runnable.toml").read_bytes(), type=Language)


@cache
def _plain_limits() -> dict[str, list[str]]:
    return msgspec.toml.decode((FOLDER.parent / "plain_limits.toml").read_bytes(), type=dict[str, list[str]])


def make_runnable_task(
    random: Random, voice: Voice, limit: str, tools: tuple[str, ...], *, plain: bool = False
) -> RunnableTask:
    """Return a task of a seed."""
    project = make_project(random, language=_runnable_language())
    for test, source in zip(project.tests, project.sources, strict=False):
        module = source.rpartition("/")[2].removesuffix(".py")
        imports = ["import sys", "import unittest", f"sys.path.insert(0, {project.folder()!r})"]
        project.files[test] = [*imports, f"from {module} import *", "", *project.files[test]]
    function = random.choice(project.functions[random.choice(project.sources[:3])])
    change, expected = _wanted(random, function)
    test = project.tests[project.sources.index(function.path)]
    was, wanted = (f"({function.name}(range(200))), {number})" for number in (function.number, expected))
    project.replace(test, was, wanted)
    names = {"path": change.path, "folder": project.test_folder(), "tool": random.choice(tools)}
    forbidden = {"only_path": names["path"], "protect_folder": names["folder"], "ban_tool": names["tool"]}
    sentences = [voice.say(change.wish, **change.names)]
    if limit:
        sentences.append(fill(random.choice(_plain_limits()[limit]), names) if plain else voice.say(limit, **names))
    if random.random() < _LIMIT_FIRST:
        sentences.reverse()
    request = ("\n\n" if any("\n" in one for one in sentences) else " ").join(sentences)
    return RunnableTask(project, change, function, request, limit, forbidden.get(limit, ""))


_LIMIT_FIRST = 0.2
"""How often a user says what is ruled out before what is wanted."""


def _wanted(random: Random, function: ProjectFunction) -> tuple[ProjectChange, int]:
    if random.random() < 0.5:
        change = change_limit(random, function)
        return change, int(change.names["new"])
    return change_comparison(function), function.number - 1
