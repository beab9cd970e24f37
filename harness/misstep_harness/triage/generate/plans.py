"""Plan the commands of an agent's run, each with a thought, and what can happen to a run or a task of any family."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Literal

import msgspec
from msgspec import Struct


class _Wordings(Struct, frozen=True, forbid_unknown_fields=True):
    look: tuple[str, ...]
    write: tuple[str, ...]
    check: tuple[str, ...]
    again: tuple[str, ...]
    summary: tuple[str, ...]
    harness: tuple[str, ...]


@cache
def wordings() -> _Wordings:
    """Return the pools."""
    return msgspec.toml.decode((Path(__file__).parent / "wordings.toml").read_bytes(), type=_Wordings)


Kind = Literal["look", "write", "check", "again"]
Command = tuple[str, str]
"""Kind and shell line."""

SHORTEST, LONGEST = 20, 45
_ANYWHERE = (
    "pwd && ls",
    "ls -1A",
    "find . -type f | LC_ALL=C sort",
    "find . -type f | wc -l",
    "find . -type d | LC_ALL=C sort",
    "find . -name '*.md' -o -name '*.txt' | LC_ALL=C sort",
    "python -c 'import sys; print(sys.version_info[:2])'",
    "command -v python sh awk sed tar gzip | xargs -n1 basename",
)
_OF_FILE = (
    "head -n {few} {path}",
    "tail -n {few} {path}",
    "wc -l {path}",
    "wc -c {path}",
    "sed -n '{few},{more}p' {path}",
    "cat -A {path} | head -n {few}",
    "nl -ba {path} | head -n {more}",
    "tr -s ' ' '\\n' < {path} | wc -l",
    "grep -c . {path}",
    "cut -c1-{wide} {path} | head -n {more}",
    "awk 'length > {wide}' {path} | head -n {few}",
    "stat -c '%n %a' {path}",
    "od -c {path} | head -n 3",
    "LC_ALL=C sort {path} | head -n {few}",
)


class PlannedAction(Struct, frozen=True):
    """One turn of an agent: what it says, and the shell line that it runs."""

    kind: Kind
    thought: str
    command: str


def actions(work: Sequence[Command], files: Sequence[str], length: int, seed: str) -> tuple[PlannedAction, ...]:
    """Return a run of an agent."""
    random = Random(f"{seed}/looks")  # noqa: S311 (no secret)
    groups = [[("look", look)] for look in islice(_looks(files, random), length)]
    for _ in range(random.randint(1, 3)):
        groups.insert(random.randint(0, 6), list(_slip(random.choice(files), random)))
    places: list[list[Command]] = [[one] for one in work]
    missing = length - len(work)
    for group in groups:
        if missing <= 0:
            break
        missing -= len(group)
        places[int(random.random() * len(places))][0:0] = group
    return tuple(_spoken([one for place in places for one in place], seed))


def _looks(files: Sequence[str], random: Random) -> Iterator[str]:
    numbers: Mapping[str, int] = {"few": random.randint(2, 6), "more": random.randint(8, 14), "wide": 40}
    known = [look.format(path=path, **numbers) for path in files for look in _OF_FILE]
    while True:
        random.shuffle(known)
        yield from random.sample(_ANYWHERE, 4)
        yield from known


def _slip(path: str, random: Random) -> Iterator[Command]:
    folder, slash, name = path.rpartition("/")
    at = random.randrange(1, max(2, len(name.partition(".")[0])))
    yield "look", f"cat {folder}{slash}{name[:at]}{name[at + 1 :]}"
    yield "again", f"cat {path} | head -n 12"


def _spoken(commands: Sequence[Command], seed: str) -> Iterator[PlannedAction]:
    random = Random(f"{seed}/thoughts")  # noqa: S311 (no secret)
    pools = wordings()
    for kind, command in commands:
        if kind == "write":
            yield PlannedAction("write", random.choice(pools.write), command)
        elif kind == "check":
            yield PlannedAction("check", random.choice(pools.check), command)
        elif kind == "again":
            yield PlannedAction("again", random.choice(pools.again), command)
        else:
            yield PlannedAction("look", random.choice(pools.look), command)


def unsent_thought(seed: str) -> str:
    """Return what the agent says beside a command that it writes as a text."""
    return Random(f"{seed}/unsent").choice(wordings().write)  # noqa: S311 (no secret)


def summary(seed: str) -> str:
    """Return what the agent says at the end."""
    return Random(f"{seed}/summary").choice(wordings().summary)  # noqa: S311 (no secret)


_TEST = """import os
import random
import time
import unittest

random.seed(os.environ.get("TEST_SEED"))


def read():
    with open({result!r}) as stream:
        return list(dict.fromkeys(line.strip() for line in stream if line.strip()))


class Rows(unittest.TestCase):
    def {name}(self):
{body}


if __name__ == "__main__":
    unittest.main()
"""


class Flaky(Struct, frozen=True, forbid_unknown_fields=True):
    """A test whose verdict is drawn anew each time, and the same test made sound."""

    name: str
    unsound: str
    sound: str

    def script(self, result: str, sound: bool) -> str:
        """Return the test file, for a result of several lines."""
        return _TEST.format(result=result, name=self.name, body=(self.sound if sound else self.unsound).rstrip() + "\n")


class Mechanisms(Struct, frozen=True, forbid_unknown_fields=True):
    """The texts of `mechanisms.toml`."""

    spoils: tuple[str, ...]
    endless: tuple[str, ...]
    hungry: tuple[str, ...]
    tampering: tuple[str, ...]
    runners: tuple[str, ...]
    leaks: tuple[str, ...]
    flaky: tuple[Flaky, ...]


@cache
def mechanisms() -> Mechanisms:
    """Return the texts."""
    return msgspec.toml.decode((Path(__file__).parent / "mechanisms.toml").read_bytes(), type=Mechanisms)


def spoiled(work: list[Command], command: str) -> list[Command]:
    """Work before which the agent runs another command: what it sees of the file is the same from there on."""
    return [("write", command), *work]


def drawn(texts: tuple[str, ...], seed: str) -> str:
    """Return one of the texts."""
    return Random(f"{seed}/mechanism").choice(texts)  # noqa: S311 (no secret)
