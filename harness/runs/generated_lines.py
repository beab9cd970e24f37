"""Generated cases as lines of the files that a folder of them has, and what they come to."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct, field, structs

from misstep.harness.datasets.benchmark import Gold, GoldError, Item
from misstep.harness.generate.session import CATEGORIES
from misstep.harness.generate.sessions import Case
from misstep.harness.journal.records import encode
from misstep.harness.readers.interchange.atif import to_atif

RATER = "construction"
TRAJECTORIES, ITEMS, GOLD = "trajectories.jsonl", "items.jsonl", "gold.csv"
ERRORS, VARIANTS = "gold_errors.jsonl", "gold_variants.csv"
SESSIONS, EPISODES = "sessions.csv", "gold_episodes.csv"
FILES = (TRAJECTORIES, ITEMS, GOLD, ERRORS, VARIANTS)
STUDY_FILES = (*FILES, SESSIONS, EPISODES)

HEADS: dict[str, tuple[str, ...]] = {
    GOLD: Gold.__struct_fields__,
    VARIANTS: ("trajectory", "variant"),
    SESSIONS: ("item", "version", "started", "week", "liked"),
    EPISODES: ("item", "category", "onset", "last", "ended_by_itself", "version", "week", "liked", "kind"),
}
"""File → the names of its columns."""


class Counted(Struct):
    """What was written: trajectories, bytes, clean ones, how many plant each category and have each variant."""

    n: int = 0
    bytes: int = 0
    clean: int = 0
    categories: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CATEGORIES, 0))
    variants: Counter[str] = field(default_factory=Counter)
    plants: dict[str, list[str]] = field(default_factory=dict)

    def add(self, case: Case) -> None:
        """Count one case."""
        planted = [category for category in CATEGORIES if case.truth[category]]
        self.n += 1
        self.clean += not planted
        for category in planted:
            self.categories[category] += 1
        for variant in case.variant.split("+"):
            self.variants[variant] += 1
            self._note(variant, planted)

    def take(self, other: "Counted") -> None:
        """Count what another has counted."""
        self.n += other.n
        self.bytes += other.bytes
        self.clean += other.clean
        for category, count in other.categories.items():
            self.categories[category] += count
        self.variants.update(other.variants)
        for variant, planted in other.plants.items():
            self._note(variant, planted)

    def _note(self, variant: str, planted: list[str]) -> None:
        """What a part of sessions plants is what is planted wherever it is."""
        self.plants[variant] = [name for name in self.plants.get(variant, planted) if name in planted]


class Lines(Struct):
    """Some cases as the bytes that each file has of them, and what they come to."""

    files: dict[str, bytes]
    counted: Counted


def lines_of(cases: Iterable[Case]) -> Lines:
    """Return cases as lines of all files; a study has the last two."""
    lines: dict[str, list[bytes]] = {name: [] for name in (TRAJECTORIES, ITEMS, ERRORS)}
    rows: dict[str, list[Sequence[object]]] = {name: [] for name in HEADS}
    counted = Counted()
    for case in cases:
        lines[TRAJECTORIES].append(encode(to_atif(case.trajectory)))
        lines[ITEMS] += map(encode, _items(case))
        lines[ERRORS] += map(encode, _errors(case))
        rows[GOLD] += map(structs.astuple, _gold(case))
        rows[VARIANTS].append((case.trajectory.id, case.variant))
        rows[SESSIONS].append(_session(case))
        rows[EPISODES] += _episodes(case)
        counted.add(case)
    files = {name: b"".join(line + b"\n" for line in of_file) for name, of_file in lines.items()}
    files |= {name: _csv(of_file) for name, of_file in rows.items()}
    counted.bytes = len(files[TRAJECTORIES])
    return Lines(files, counted)


def head_of(name: str) -> bytes:
    """Return the first line of a file: the names of its columns, where it has any."""
    return _csv([HEADS[name]]) if name in HEADS else b""


def _csv(rows: Iterable[Sequence[object]]) -> bytes:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue().encode()


def _items(case: Case) -> list[Item]:
    name = case.trajectory.id
    return [
        Item(f"{name}/{category}", "misbehaviour", TRAJECTORIES, name, extra={"category": category})
        for category in CATEGORIES
    ]


def _gold(case: Case) -> list[Gold]:
    name = case.trajectory.id
    return [Gold(f"{name}/{category}", RATER, "yes" if planted else "no") for category, planted in case.truth.items()]


def _errors(case: Case) -> list[GoldError]:
    return [
        GoldError(case.trajectory.id, category, step, reason=case.variant)
        for category, steps in case.evidence.items()
        for step in steps
    ]


def _session(case: Case) -> tuple[object, ...]:
    return case.trajectory.id, case.trajectory.model, case.started, case.week, _yes(case.liked)


def _episodes(case: Case) -> list[tuple[object, ...]]:
    about = case.trajectory.model, case.week, _yes(case.liked)
    return [
        (case.trajectory.id, one.category, one.onset, one.last, _yes(one.ended_by_itself), *about, one.kind)
        for one in case.episodes
    ]


def _yes(known: bool | None) -> str:
    return "" if known is None else "yes" if known else "no"
