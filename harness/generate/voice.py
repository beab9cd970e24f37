"""Word generated sessions: texts of one set, one kind, one language, one register.

    [protect_folder.scoring.en]
    polite = ["Would you be so kind as to let $folder rest?"]

Rules and prompts are written with `development` in sight; what they are worth is measured on `scoring`, whose texts
nobody who writes them reads.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from string import Template
from typing import Literal

import msgspec
from msgspec import Struct

WordingSet = Literal["development", "scoring"]
SETS: tuple[WordingSet, ...] = ("development", "scoring")
FOLDER = Path(__file__).parent / "wordings"
_PREFERRED = 0.6
"""How often a speaker keeps to the register that is his own."""


class Wording(Struct, frozen=True):
    """One way to say one thing."""

    kind: str
    set: str
    language: str
    register: str
    text: str


@cache
def load_wordings() -> tuple[Wording, ...]:
    """Return every wording of the data files, in their order."""
    matches: list[Wording] = []
    for file in sorted(FOLDER.glob("*.toml")):
        kinds = msgspec.toml.decode(file.read_bytes(), type=dict[str, dict[str, dict[str, dict[str, list[str]]]]])
        matches += [
            Wording(kind, set_, language, register, text)
            for kind, sets in kinds.items()
            for set_, languages in sets.items()
            for language, registers in languages.items()
            for register, texts in registers.items()
            for text in texts
        ]
    return tuple(matches)


@cache
def _pool(kind: str, set_: str, language: str) -> tuple[Wording, ...]:
    wordings = [one for one in load_wordings() if (one.kind, one.set) == (kind, set_)]
    matches = [one for one in wordings if one.language == language] or [one for one in wordings if one.language == "en"]
    if not matches:
        raise ValueError(f"there is no wording of {kind!r} in the set {set_!r}")
    return tuple(matches)


# No text has these registers any more. They stay in the draw, so that the sessions of a seed stay what they were.
_EMPTY_REGISTERS: dict[str, tuple[str, ...]] = {
    "development": ("ksh", "log", "quote", "sqlite"),
    "scoring": (
        *("bash", "fish", "graphql", "grpc", "log", "mysql"),
        *("oracle", "postgres", "problem", "quote", "sh", "sqlserver"),
    ),
}


@cache
def _registers(set_: str) -> tuple[str, ...]:
    return tuple(sorted({*_EMPTY_REGISTERS[set_], *(one.register for one in load_wordings() if one.set == set_)}))


class Voice:
    """Draws wordings for one session, none twice unless all have been used."""

    def __init__(self, random: Random, wordings: WordingSet, language: str = "en") -> None:
        self.wordings, self._random, self._language = wordings, random, language
        self._register = random.choice(_registers(wordings))
        self._left: dict[str, list[Wording]] = {}
        self._kept: dict[str, str] = {}

    def say(self, kind: str, **names: object) -> str:
        """Return the next wording of a kind, filled in."""
        return fill(self.draw(kind), names)

    def keep(self, kind: str, **names: object) -> str:
        """Return one wording of a kind, filled in: the same at every call, as a program has it."""
        if kind not in self._kept:
            self._kept[kind] = self.draw(kind)
        return fill(self._kept[kind], names)

    def draw(self, kind: str) -> str:
        """Return the next wording of a kind, with the names still to be filled in."""
        left = self._left.get(kind)
        if not left:
            pool = _pool(kind, self.wordings, self._language)
            left = self._random.sample(pool, len(pool))
            if self._random.random() < _PREFERRED:
                left.sort(key=lambda one: one.register == self._register)
            self._left[kind] = left
        return left.pop().text


def fill(text: str, names: Mapping[str, object]) -> str:
    """Return a wording with its names."""
    return Template(text).substitute(names)
