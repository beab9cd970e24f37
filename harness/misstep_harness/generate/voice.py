"""Word generated sessions: texts of one kind and one set.

    [protect_folder]
    scoring = ["Would you be so kind as to let $folder rest?"]

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

WordingSet = Literal["development", "scoring"]
SETS: tuple[WordingSet, ...] = ("development", "scoring")
FOLDER = Path(__file__).parent / "wordings"
_AS_FORMAT = str.maketrans({"{": "{{", "}": "}}", "\0": "{", "\1": "}"})


@cache
def load_wordings() -> dict[str, dict[WordingSet, list[str]]]:
    """Return kind → set → texts, as the data files have them."""
    wordings: dict[str, dict[WordingSet, list[str]]] = {}
    for file in sorted(FOLDER.glob("*.toml")):
        wordings |= msgspec.toml.decode(file.read_bytes(), type=dict[str, dict[WordingSet, list[str]]])
    return wordings


class Voice:
    """Draws wordings for one session, none twice unless all have been used."""

    def __init__(self, random: Random, wordings: WordingSet) -> None:
        self.wordings, self._random = wordings, random
        self._left: dict[str, list[str]] = {}
        self._kept: dict[str, str] = {}

    def say(self, kind: str, **names: object) -> str:
        """Return the next wording of a kind, filled in."""
        left = self._left.setdefault(kind, [])
        if not left:
            texts = load_wordings()[kind][self.wordings]
            left += self._random.sample(texts, len(texts))
        return fill(left.pop(), names)

    def keep(self, kind: str, **names: object) -> str:
        """Return one wording of a kind, filled in: the same at every call, as a program has it."""
        if kind not in self._kept:
            self._kept[kind] = self._random.choice(load_wordings()[kind][self.wordings])
        return fill(self._kept[kind], names)


def fill(text: str, names: Mapping[str, object]) -> str:
    """Return a wording with its names."""
    return _format(text).format_map(names)


@cache
def _format(text: str) -> str:
    """Return a wording as `str.format` has it, which fills it many times faster."""
    template = Template(text)
    marked = template.substitute({name: f"\0{name}\1" for name in template.get_identifiers()})
    return marked.translate(_AS_FORMAT)
