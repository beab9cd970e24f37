"""Tiny git repositories for the tests, made without any setting of the user's."""

import os
import subprocess
from pathlib import Path

PERSON = ("Ann", "ann@example.org")


class MadeRepository:
    """A repository whose commits are a day apart."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._day, self._person = folder, 0, PERSON
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        name, email = self._person
        stamp = f"{1_767_225_600 + 86_400 * self._day} +0000"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{role}_NAME": name for role in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{role}_EMAIL": email for role in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{role}_DATE": stamp for role in ("AUTHOR", "COMMITTER")},
        }
        done = subprocess.run(["git", *arguments], cwd=self.folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(
        self, files: dict[str, str | None], subject: str = "a change", person: tuple[str, str] = PERSON, days: int = 1
    ) -> str:
        """Commit files, `None` for one that is removed; gives the id."""
        self._day += days
        self._person = person
        for path, text in files.items():
            file = self.folder / path
            if text is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        return self.git("rev-parse", "HEAD")


PRICE = "def total(prices):\n    return sum(prices)\n"
BROKEN = "def total(prices):\n    return sum(prices[1:])\n"
TESTS = """import unittest
from price import total

class Price(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2]), 3)

    def test_nothing(self):
        self.assertEqual(total([]), 0)
"""
COMMAND = "python -m unittest -q"
TEST = "test_price.Price.test_total"


def broken_at(folder: Path, place: int, count: int) -> tuple[MadeRepository, list[str]]:
    """A repository of so many commits, of which the one at a place broke `test_total`."""
    repository = MadeRepository(folder)
    ids = []
    for number in range(count):
        files: dict[str, str | None] = {"notes.txt": f"{number}\n"}
        if number == 0:
            files |= {"price.py": PRICE, "test_price.py": TESTS}
        if number == place:
            files |= {"price.py": BROKEN}
        person = ("Ben", "ben@example.org") if number == place else PERSON
        ids.append(repository.commit(files, f"commit {number}", person))
    return repository, ids
