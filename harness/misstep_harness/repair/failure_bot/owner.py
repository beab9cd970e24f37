"""Who a failing test is given to, and why.

First the blamed change's author, then the code owners of the test and of the file in which its failure ends, then who
wrote the line that failed, then who changed these files last.
"""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import takewhile

from msgspec import Struct

from misstep_harness.repair.failure_bot.tasks import Frame
from misstep_harness.workspace.repository import Commit, Repository

CODEOWNERS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
_BOT = re.compile(
    r"\[bot\]|(?:^|[^a-z])(?:dependabot|renovate|github-actions|pre-commit-ci|greenkeeper|snyk-bot|codegen)",
    re.IGNORECASE,
)
_LONGEST_LINE = 2_000
_SECTION = re.compile(r"\s*\^?\[([^\]]+)\](?:\[\d*\])?(?:\s+(.*))?$")
"""A section of GitLab: its name, and who owns what a line in it names without owners."""
_FIELD = re.compile(r"(?:\\.|[^\s\\])+")


class Owner(Struct, frozen=True):
    """One who may mend a failure, and why."""

    name: str
    reason: str


class OwnedPattern(Struct, frozen=True):
    """A line of CODEOWNERS; without owners it says that nobody owns what it matches."""

    pattern: str
    owners: tuple[str, ...]
    line: int
    section: str = ""

    def matches(self, path: str) -> bool:
        """Return whether it matches a path from the root: as in gitignore, but `folder/*` has no inner folders."""
        steps = self.pattern.strip("/").split("/")
        if "/" not in self.pattern.removesuffix("/"):
            steps = ["**", *steps]  # a name alone is looked for in every folder
        if steps[-1] == "**":
            steps.append("*")
        names = path.split("/")
        reached = {0}  # how many names of the path the steps so far may stand for
        for step in steps:
            if step == "**":
                reached = set(range(min(reached), len(names) + 1)) if reached else reached
            else:
                reached = {at + 1 for at in reached if at < len(names) and fnmatchcase(names[at], step)}
        if self.pattern.endswith("/*"):
            return len(names) in reached
        return any(at < len(names) for at in reached) if self.pattern.endswith("/") else bool(reached)


def parse_codeowners(text: str) -> tuple[OwnedPattern, ...]:
    """Return the lines of a CODEOWNERS file, without those that GitHub passes over (`!`, `[`, an escaped `#`)."""
    patterns = []
    section, default = "", []
    for number, line in enumerate(text.splitlines(), 1):
        if heading := _SECTION.match(line[:_LONGEST_LINE]):
            section, default = heading[1].casefold(), _words(heading[2] or "")
            continue
        words = _words(line[:_LONGEST_LINE])
        if words and not words[0].startswith(("!", "\\#")) and "[" not in words[0]:
            names = tuple(words[1:] or default)
            patterns.append(OwnedPattern(words[0].replace("\\ ", " "), names, number, section))
    return tuple(patterns)


def _words(line: str) -> list[str]:
    return list(takewhile(lambda word: not word.startswith("#"), _FIELD.findall(line)))


def code_owners(patterns: tuple[OwnedPattern, ...], path: str) -> tuple[OwnedPattern, ...]:
    """Return the lines that say who owns a file: the last that matches it, in each section of GitLab."""
    return tuple({pattern.section: pattern for pattern in patterns if pattern.matches(path)}.values())


def is_bot(commit: Commit) -> bool:
    """Return whether a program made a commit, by the name and address of its author."""
    return _BOT.search(commit.author) is not None or _BOT.search(commit.email) is not None


def owners(
    repository: Repository, commit: str, file: str, change: Commit | None, at: Frame | None = None
) -> tuple[Owner, ...]:
    """Who answers for a failing test, the nearest first, each once; `at` is where its failure ends."""
    files = list(dict.fromkeys(filter(None, (file, at.path if at else ""))))
    by_name: dict[str, Owner] = {}
    for owner in _owners(repository, commit, files, change, at):
        by_name.setdefault(owner.name, owner)
    return tuple(by_name.values())


def _owners(
    repository: Repository, commit: str, files: Sequence[str], change: Commit | None, at: Frame | None
) -> Iterator[Owner]:
    if change is not None and not is_bot(change):
        yield Owner(_person(change), f"wrote the blamed change {change.short}")
    place = next((each for each in CODEOWNERS if files and repository.text(commit, each) is not None), "")
    patterns = parse_codeowners(repository.text(commit, place) or "") if place else ()
    for file in files:
        for line in code_owners(patterns, file):
            yield from (Owner(name, f"owns {file} by line {line.line} of {place}") for name in line.owners)
    author = repository.line_author(commit, at.path, at.line) if at else None
    if at and author and not is_bot(author):
        yield Owner(_person(author), f"wrote line {at.line} of {at.path}, where it fails, in {author.short}")
    for file in files:
        if last := next((one for one in repository.authors(commit, file) if not is_bot(one)), None):
            yield Owner(_person(last), f"changed {file} last, in {last.short}")


def _person(commit: Commit) -> str:
    return f"{commit.author} <{commit.email}>"
