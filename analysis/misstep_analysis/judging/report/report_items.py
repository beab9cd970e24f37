"""List the items of runs of judges for a report's item browser: what judges and people said, and what it is about.

Texts and runs are read as a stream and shortened as they come; what does not fit into the page is left out, right
answers first, and said.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from misstep_analysis.judging.page import ItemBrowser, JudgedBy, item_index, rank, wrong_answers
from misstep_analysis.judging.sample import Reference
from misstep_analysis.pages.browser import Pieces, embedded, shown_run
from misstep_analysis.pages.trajectory import Passage, passage
from misstep_harness.benchmarks.trajectories import FoundRun, run_in, runs_in
from misstep_harness.escaping import one_line, plain
from misstep_harness.items import Item, read_items
from misstep_harness.values import as_json

PAGE_CHARACTERS = 18_000_000
"""How large all texts and runs in a page may be together, as they are in it."""

ITEMS_LISTED = 50_000
"""How many items a section lists at most, wrong answers first."""

_COMPRESSED = 4
"""About how many characters of texts and runs one character in the page holds."""

_RUN_SHOWN = (3_000, 120_000)
_TEXT_SHOWN = (600, 20_000)
_EXCERPT = 160
_FACT_SHOWN = 400
_OWN_TEXTS = ("task", "text", "patch", "output_a", "output_b")
_BLOCK = 40
_WRONG = 2
"""The rank from which an item is a wrong answer or none."""


class _Material(Struct, frozen=True, omit_defaults=True):
    """An item's own text, as the browser opens it."""

    task: Passage = Passage()
    text: Passage = Passage()
    patch: Passage = Passage()
    output_a: Passage = Passage()
    output_b: Passage = Passage()
    facts: tuple[tuple[str, str], ...] = ()


class _Building:
    """What the browser of one section is being made of."""

    def __init__(self, ranks: Mapping[str, int], evidence: Mapping[str, set[int]], room: int) -> None:
        self.ranks = ranks
        self.evidence = evidence
        self.pieces = Pieces(room)
        self.excerpts: dict[str, str] = {}
        self.piece_of: dict[str, str] = {}
        self.run_of: dict[str, str] = {}
        self.absent: dict[str, str] = {}
        self.view_of: dict[str, str] = {}
        self._blocks: dict[bool, list[tuple[str, _Material]]] = {True: [], False: []}
        self._n_blocks = 0

    def add_text(self, item: Item, most: int) -> None:
        """What an item itself says; items of one importance stand together in blocks, which compress well."""
        text = item.text or item.task or item.patch or item.output_a
        self.excerpts[item.id] = _excerpt(text)
        if item.unaskable and not text and item.trajectory is None:
            self.absent[item.id] = f"Neither a run nor a text can be shown: {plain(item.unaskable)}."
        own = {name: passage(getattr(item, name), most) for name in _OWN_TEXTS}
        material = _Material(**own, facts=tuple(_facts(item)))
        if material == _Material():
            return
        block = self._blocks[self.ranks[item.id] >= _WRONG]
        block.append((item.id, material))
        if len(block) == _BLOCK:
            self._close(block)

    def close_blocks(self) -> None:
        for block in self._blocks.values():
            if block:
                self._close(block)

    def _close(self, block: list[tuple[str, _Material]]) -> None:
        name = f"text-{self._n_blocks}"
        self._n_blocks += 1
        self.piece_of |= {item: f"{name}/{place}" for place, (item, _) in enumerate(block)}
        self.pieces.add(name, max(self.ranks[item] for item, _ in block), [material for _, material in block])
        block.clear()

    def add_run(self, match: FoundRun, name: str, file: str, most: int) -> None:
        if match.run is None:
            self.absent |= dict.fromkeys(match.items, f"The run cannot be shown: {plain(match.reason).rstrip('.')}.")
            return
        view = shlex.join(["misstep", "view", file, "--id", match.run.id]) if file else ""
        for item in match.items:
            self.excerpts[item] = self.excerpts.get(item) or _excerpt(match.run.task)
            self.run_of[item] = name
            self.view_of[item] = view
        importance = max(self.ranks[item] for item in match.items)
        if self.pieces.wants(importance):
            steps = set().union(*(self.evidence[item] for item in match.items))
            self.pieces.add(name, importance, shown_run(match.run, steps, most, view))

    def settle(self) -> dict[str, str]:
        """Return the parts that fit; of items whose parts do not, it is noted why they are absent."""
        pieces = self.pieces.contents()
        for item, name in [*self.run_of.items(), *self.piece_of.items()]:
            if name.partition("/")[0] not in pieces:
                view = self.view_of.get(item, "")
                how = f" In the benchmark's folder, this shows its run: {view}" if view else ""
                self.absent[item] = f"What this item is about did not fit into the page.{how}"
        self.run_of = {item: name for item, name in self.run_of.items() if name in pieces}
        self.piece_of = {item: name for item, name in self.piece_of.items() if name.partition("/")[0] in pieces}
        return pieces


def item_browser(
    folder: Path,
    labels: Sequence[str],
    reference: Reference,
    runs: Sequence[JudgedBy],
    room: int = PAGE_CHARACTERS,
    subcategories: Mapping[str, str] = {},
) -> ItemBrowser:
    """Return the browser of the items that any of some runs on one benchmark was asked about."""
    items = {item for run in runs for item in run.verdicts}
    ranks = {item: rank(item, reference, runs) for item in items}
    listed = set(sorted(ranks, key=lambda item: (-ranks[item], item))[:ITEMS_LISTED])
    evidence: dict[str, set[int]] = {item: set() for item in listed}
    for run in runs:
        for item in listed & run.verdicts.keys():
            evidence[item].update(run.verdicts[item].steps)
    building = _Building(ranks, evidence, room)
    ids = _read(folder, listed, building, room)
    data = building.settle()
    index = item_index(
        ids,
        labels,
        reference,
        runs,
        excerpts=building.excerpts,
        piece_of=building.piece_of,
        run_of=building.run_of,
        absent=building.absent,
        subcategories=subcategories,
    )
    wrong, title = wrong_answers(ids, reference, runs)
    note = f"{len(listed):,} of {len(items):,} items are listed, wrong and missing answers first."
    notes = (note,) if len(listed) < len(items) else ()
    return ItemBrowser({"index": embedded(index), **data}, wrong, title, len(runs) > 1, notes)


def _read(folder: Path, listed: set[str], building: _Building, room: int) -> list[str]:
    ids: list[str] = []
    in_files: dict[str, list[tuple[str, str | None]]] = {}
    most = _share(room, len(listed), _TEXT_SHOWN)
    n_inline = 0
    for item in read_items(folder):
        if item.id not in listed:
            continue
        ids.append(item.id)
        building.add_text(item, most)
        if item.step is not None:
            building.evidence[item.id].add(item.step)
        if isinstance(item.trajectory, str):
            in_files.setdefault(item.trajectory, []).append((item.id, item.trajectory_id))
        elif item.trajectory is not None:
            building.add_run(run_in(item), f"inline-{n_inline}", "", _share(room, len(listed), _RUN_SHOWN))
            n_inline += 1
    building.close_blocks()
    n_runs = len({(path, run or item) for path, wanted in in_files.items() for item, run in wanted})
    most = _share(room, n_runs, _RUN_SHOWN)
    number = 0
    for path, wanted in in_files.items():
        wanted.sort(key=lambda one: -building.ranks[one[0]])
        for match in runs_in(folder, path, wanted):
            building.add_run(match, f"run-{number}", path, most)
            number += 1
    return ids


def _share(room: int, count: int, bounds: tuple[int, int]) -> int:
    least, most = bounds
    return max(least, min(most, _COMPRESSED * room // max(count, 1)))


def _excerpt(text: str) -> str:
    return one_line(text[: 4 * _EXCERPT])[:_EXCERPT]


def _facts(item: Item) -> Iterable[tuple[str, str]]:
    if item.step is not None:
        yield "Asked about", f"step {item.step}"
    for name, value in item.extra.items():
        text = value if isinstance(value, str) else as_json(value, indented=False)
        yield name, text if len(text) <= _FACT_SHOWN else f"{text[:_FACT_SHOWN]} …"
