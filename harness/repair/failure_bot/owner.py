"""Who a failing test is given to, and why: the blamed change's author, the code owners of the test, its last author."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import takewhile

from msgspec import Struct

from misstep.harness.repair.failure_bot.repository import Commit, Repository

CODEOWNERS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
_BOT = re.compile(
    r"\[bot\]|(?:^|[^a-z])(?:dependabot|renovate|github-actions|pre-commit-ci|greenkeeper|snyk-bot|codegen)",
    re.IGNORECASE,
)
_LONGEST_LINE = 2_000
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
    for number, line in enumerate(text.splitlines(), 1):
        words = list(takewhile(lambda word: not word.startswith("#"), _FIELD.findall(line[:_LONGEST_LINE])))
        if words and not words[0].startswith(("!", "\\#")) and "[" not in words[0]:
            patterns.append(OwnedPattern(words[0].replace("\\ ", " "), tuple(words[1:]), number))
    return tuple(patterns)


def code_owners(patterns: tuple[OwnedPattern, ...], path: str) -> OwnedPattern | None:
    """Return the line that says who owns a file: the last that matches it."""
    return next((one for one in reversed(patterns) if one.matches(path)), None)


def is_bot(commit: Commit) -> bool:
    """Return whether a program made a commit, by the name and address of its author."""
    return _BOT.search(commit.author) is not None or _BOT.search(commit.email) is not None


def owners(repository: Repository, commit: str, file: str, change: Commit | None) -> tuple[Owner, ...]:
    """Who answers for a failing test, the nearest first, each once."""
    by_name: dict[str, Owner] = {}
    for owner in _owners(repository, commit, file, change):
        by_name.setdefault(owner.name, owner)
    return tuple(by_name.values())


def _owners(repository: Repository, commit: str, file: str, change: Commit | None) -> Iterator[Owner]:
    if change is not None and not is_bot(change):
        yield Owner(_person(change), f"wrote the blamed change {change.short}")
    for place in CODEOWNERS if file else ():
        text = repository.text(commit, place)
        if text is None:
            continue
        line = code_owners(parse_codeowners(text), file)
        for name in line.owners if line else ():
            yield Owner(name, f"owns {file} by line {line.line if line else 0} of {place}")
        break
    for author in repository.authors(commit, file) if file else ():
        if not is_bot(author):
            yield Owner(_person(author), f"changed {file} last, in {author.short}")
            return


def _person(commit: Commit) -> str:
    return f"{commit.author} <{commit.email}>"
