"""Classify trajectories in stretches: the work of one worker, and the merging of the results.

A worker judges a stretch of the inputs on its own (`judge`). `VerdictMerger` adds the stretches in order: an id that
an earlier trajectory has taken becomes `id~2`. `summarise` counts from the journal's entries of the stretches alone
(`Entry`), whatever the number of trajectories.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import msgspec
from msgspec import Struct

from harness.journal.records import encode_lines
from harness.trajectory import Placed, Skipped, Trajectory, Unreadable
from harness.verdict import Verdict

Classify = Callable[[Trajectory], list[Verdict]]
"""One verdict a category, always in the same order."""

Labels = tuple[str | None, ...]
"""The labels of a trajectory, one per category; `None` if the classifier abstained or failed."""

EXAMPLES = 3
"""The number of trajectories that are named for each category."""


class Example(Struct, frozen=True):
    """A trajectory that shows a category, with its file and line, the evidence steps and the reason."""

    item: str
    category: str
    file: str
    line: int | None
    steps: tuple[int, ...]
    rationale: str


class Failed(Struct, frozen=True):
    """A category whose classifier failed: the number of trajectories, and the first error."""

    category: str
    count: int
    error: str


class Judged(Struct, frozen=True):
    """The result of one stretch of the inputs.

    `lines` has the verdicts as JSON lines. `items` has the ids of the trajectories before renaming, each with the
    length of its lines in bytes. `examples` refers to positions in `items`. `patterns` counts the trajectories with the
    same labels.
    """

    lines: bytes
    items: list[tuple[str, int]]
    patterns: dict[Labels, int]
    examples: list[tuple[int, Example]]
    unreadable: list[Unreadable]
    skipped: list[Skipped]
    failed: list[Failed] = []


class Entry(Struct, frozen=True):
    """The journal's entry for one stretch of the inputs; `renamed` counts the ids that were already taken."""

    patterns: list[tuple[Labels, int]]
    examples: list[Example]
    unreadable: list[Unreadable]
    skipped: list[Skipped]
    renamed: int
    failed: list[Failed] = []


class Summary(Struct, frozen=True):
    """The results of all inputs."""

    patterns: dict[Labels, int]
    examples: list[Example]
    unreadable: list[Unreadable]
    skipped: list[Skipped]
    renamed: int
    failed: list[Failed] = []

    @property
    def n(self) -> int:
        """The number of trajectories that were read."""
        return sum(self.patterns.values())


class PlacedVerdict(Verdict, frozen=True, gc=False):
    """A verdict with the file of its trajectory, and the line if the file has many."""

    file: str = ""
    line: int | None = None


def judge(
    things: Iterable[Placed | Trajectory | Unreadable | Skipped], classify: Classify, *, keep_lines: bool
) -> Judged:
    """Judge one stretch of the inputs.

    Parameters
    ----------
    things
        The contents of the stretch, in order; a trajectory without a place has that of its source.
    classify
        The function that returns the verdicts on one trajectory.
    keep_lines
        Whether to keep the verdicts, or only their counts.
    """
    lines: list[bytes] = []
    items: list[tuple[str, int]] = []
    patterns: Counter[Labels] = Counter()
    examples: list[tuple[int, Example]] = []
    unreadable: list[Unreadable] = []
    skipped: list[Skipped] = []
    failed: list[Failed] = []
    shown: Counter[str] = Counter()
    for one in things:
        placed = Placed(one, one.source.file, one.source.line) if isinstance(one, Trajectory) else one
        thing = placed.found if isinstance(placed, Placed) else placed
        if isinstance(thing, Unreadable):
            unreadable.append(thing)
        elif isinstance(thing, Skipped):
            skipped.append(thing)
        elif isinstance(placed, Placed):
            verdicts = classify(thing)
            labels = tuple([verdict.label for verdict in verdicts])
            patterns[labels] += 1
            if None in labels:
                failed += [Failed(one.judge, 1, one.error or "") for one in verdicts if one.status == "failed"]
            if "yes" in labels:
                for verdict in verdicts:
                    if verdict.label == "yes" and shown[verdict.judge] < EXAMPLES:
                        shown[verdict.judge] += 1
                        examples.append((len(items), _example(verdict, placed)))
            written = encode_lines(_at(verdict, placed) for verdict in verdicts) if keep_lines else b""
            lines.append(written)
            items.append((thing.id, len(written)))
    return Judged(b"".join(lines), items, dict(patterns), examples, unreadable, skipped, together(failed))


def together(failed: Iterable[Failed]) -> list[Failed]:
    """One entry per category, with the first error."""
    counts: Counter[str] = Counter()
    errors: dict[str, str] = {}
    for one in failed:
        counts[one.category] += one.count
        errors.setdefault(one.category, one.error)
    return [Failed(category, counts[category], error) for category, error in errors.items()]


def _at(verdict: Verdict, placed: Placed) -> PlacedVerdict:
    return PlacedVerdict(**msgspec.structs.asdict(verdict), file=placed.file, line=placed.line)


def _example(verdict: Verdict, placed: Placed) -> Example:
    return Example(verdict.item, verdict.judge, placed.file, placed.line, verdict.steps, verdict.rationale)


class Names:
    """Unique ids for the trajectories of a run.

    Parameters
    ----------
    taken
        The ids that are already in use.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._last: dict[str, int] = {}

    def give(self, wanted: str) -> str:
        """Give `wanted` where it is free, else the first of `wanted~2`, `wanted~3` and so on that is."""
        name = wanted
        while name in self._taken:
            self._last[wanted] = self._last.get(wanted, 1) + 1
            name = f"{wanted}~{self._last[wanted]}"
        self._taken.add(name)
        return name


class VerdictMerger:
    """Adds stretches in order: it gives each trajectory an id of its own and keeps the first examples of a category.

    Parameters
    ----------
    entries
        The journal's entries of the stretches that are done.
    items
        The ids in their verdicts.
    """

    def __init__(self, entries: Iterable[Entry] = (), items: Iterable[str] = ()) -> None:
        self._names = Names(items)
        self._shown = Counter(example.category for entry in entries for example in entry.examples)

    def add(self, judged: Judged) -> tuple[bytes, Entry]:
        """The lines of one more stretch, with unique ids, and its entry for the journal."""
        names = [self._names.give(wanted) for wanted, _ in judged.items]
        renamed = {
            position: name
            for position, (name, (wanted, _)) in enumerate(zip(names, judged.items, strict=True))
            if name != wanted
        }
        examples = []
        for position, example in judged.examples:
            if self._shown[example.category] < EXAMPLES:
                self._shown[example.category] += 1
                examples.append(msgspec.structs.replace(example, item=names[position]))
        lines = b"".join(_renamed_lines(judged, renamed)) if renamed else judged.lines
        patterns = list(judged.patterns.items())
        return lines, Entry(patterns, examples, judged.unreadable, judged.skipped, len(renamed), judged.failed)


_verdict = msgspec.json.Decoder(PlacedVerdict)


def _renamed_lines(judged: Judged, renamed: dict[int, str]) -> Iterator[bytes]:
    start = 0
    for position, (_, length) in enumerate(judged.items):
        own = judged.lines[start : start + length]
        start += length
        if position in renamed:
            verdicts = _verdict.decode_lines(own)
            own = encode_lines(msgspec.structs.replace(verdict, item=renamed[position]) for verdict in verdicts)
        yield own


def summarise(entries: Iterable[Entry]) -> Summary:
    """The summary of all journal entries."""
    patterns: Counter[Labels] = Counter()
    examples: list[Example] = []
    unreadable: list[Unreadable] = []
    skipped: list[Skipped] = []
    failed: list[Failed] = []
    renamed = 0
    for entry in entries:
        patterns.update(dict(entry.patterns))
        examples.extend(entry.examples)
        unreadable.extend(entry.unreadable)
        skipped.extend(entry.skipped)
        failed.extend(entry.failed)
        renamed += entry.renamed
    return Summary(dict(patterns), examples, unreadable, skipped, renamed, together(failed))
