"""What can happen to a run or a task of any family: the texts of `mechanisms.toml`, and what is made of them."""

from functools import cache
from pathlib import Path
from random import Random

import msgspec
from msgspec import Struct

from misstep.harness.generate.triage.plans import Command

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
