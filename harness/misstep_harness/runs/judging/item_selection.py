"""Select the items of a benchmark that a judge is asked about: all that can be asked, or a sample of them.

The whole `items.jsonl` is read before the first request, so that every error in it is reported before anything is sent.
A sample is drawn by a digest of seed and id: it does not depend on the order of the items, and a smaller sample is part
of a larger one.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from heapq import heappush, heappushpop
from pathlib import Path
from typing import Any

from msgspec import Struct

from misstep_harness.classifiers import categories
from misstep_harness.errors import InputError
from misstep_harness.items import (
    CATEGORY,
    Item,
    category_in,
    numbered_items,
    read_items,
    read_question,
    trajectory_file,
)
from misstep_harness.judges.runnable import RunnableJudge, offered

ANOTHER_CATEGORY = "they ask about another category"


class Categories(Struct, frozen=True):
    """The categories of a benchmark's items that a judge is asked about, and those that are not its to answer."""

    asked: frozenset[str]
    others: frozenset[str]


class _Named(Struct, frozen=True):
    id: str
    extra: dict[str, Any] = {}


def categories_for(judge: RunnableJudge, folder: Path) -> Categories:
    """Return what a judge is asked about of a benchmark folder that may ask about several categories.

    If no item names the judge's own, the word may sort the items instead: then the judge is asked about all.
    """
    named = frozenset(category_in(item.extra) for item in read_items(folder, _Named)) - {""}
    own = named & judge.own_categories
    # Categories are part of the question if judges are shown them, or if a rule has the name of one.
    if (
        not own
        and (judge.category or judge.covered)
        and (CATEGORY in read_question(folder).shown or not named.isdisjoint(categories()))
    ):
        own = named & judge.covered
    elif not own:
        return Categories(named, frozenset())
    return Categories(own, named - own)


def unsure_of(judge: RunnableJudge, chosen: Categories) -> str:
    """A sentence where a judge that cannot tell categories apart is asked about several; empty where all is well."""
    if len(chosen.asked) < 2 or judge.sees_category:
        return ""
    return (
        f"The items ask about {len(chosen.asked)} categories ({', '.join(sorted(chosen.asked))}), and {judge.name} "
        f"names none as its own: it is asked about all of them. A judge of one declares it as `{CATEGORY}`."
    )


class Sampling(Struct, frozen=True):
    """The size of a sample and its random seed."""

    size: int
    seed: int = 0


class Selection(Struct, frozen=True):
    """The items that a judge is asked about.

    - `n`, `n_all`: The number of items that are asked about, and of all in the benchmark.
    - `left_out`: Reason → number of items that cannot be asked about for that reason.
    - `sampling`, `last`: The sample's size and seed, and the digest of its last item; `None` without a sample.
    """

    judge: RunnableJudge
    folder: Path
    n: int
    n_all: int
    left_out: dict[str, int]
    categories: Categories
    sampling: Sampling | None = None
    last: int | None = None

    def items(self) -> Iterator[Item]:
        """Return the items, in the order of the benchmark, as a stream."""
        items = (item for item in read_items(self.folder) if not _skip_reason(self.judge, item, self.categories))
        sampling, last = self.sampling, self.last
        return (item for item in items if sampling is None or last is None or _digest(item, sampling) <= last)

    @property
    def sentence(self) -> str:
        """A sentence with the number of items that are not asked about and the reasons; empty if there are none."""
        parts = [f"{count:,} cannot be asked ({reason})" for reason, count in self.left_out.items()]
        left = self.n_all - sum(self.left_out.values()) - self.n
        if self.sampling is not None and left:
            parts.append(f"{left:,} are not in the sample (seed {self.sampling.seed})")
        sampled = f"{self.n:,} of {self.n_all:,} items are asked: {'; '.join(parts)}." if parts else ""
        return " ".join(filter(None, (sampled, unsure_of(self.judge, self.categories))))


def select_items(judge: RunnableJudge, folder: Path, sampling: Sampling | None = None) -> Selection:
    """Return the items of a benchmark that a judge is asked about."""
    n_all, n_askable = 0, 0
    left_out: Counter[str] = Counter()
    drawn: list[int] = []
    checked: set[str] = set()
    chosen = categories_for(judge, folder)
    for line, item in numbered_items(folder):
        n_all += 1
        if reason := _skip_reason(judge, item, chosen):
            left_out[reason] += 1
            continue
        n_askable += 1
        _check(judge, item, folder, line, checked)
        if sampling is not None:
            _draw(drawn, _digest(item, sampling), sampling.size)
    if not n_askable:
        raise _nothing_to_ask(folder, left_out)
    whole = sampling is None or n_askable <= sampling.size
    n = n_askable if whole or sampling is None else sampling.size
    last = None if whole else -drawn[0]
    return Selection(judge, folder, n, n_all, dict(left_out), chosen, sampling, last)


def _skip_reason(judge: RunnableJudge, item: Item, chosen: Categories) -> str:
    return ANOTHER_CATEGORY if category_in(item.extra) in chosen.others else judge.skip_reason(item)


def _digest(item: Item, sampling: Sampling) -> int:
    seeded = f"{sampling.seed}\0{item.id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(seeded).digest())


def _draw(drawn: list[int], digest: int, size: int) -> None:
    """Keep the `size` smallest digests, as a heap of their negatives: the largest of them comes first."""
    if len(drawn) < size:
        heappush(drawn, -digest)
    else:
        heappushpop(drawn, -digest)


def _check(judge: RunnableJudge, item: Item, folder: Path, line: int, checked: set[str]) -> None:
    field = "labels"
    try:
        offered(judge.labels, item)
        if isinstance(item.trajectory, str) and item.trajectory not in checked:
            field = "trajectory"
            trajectory_file(folder, item.trajectory)
            checked.add(item.trajectory)
    except InputError as error:
        raise InputError(error.found, error.advice, file=folder / "items.jsonl", line=line, field=field) from error


def _nothing_to_ask(folder: Path, left_out: Counter[str]) -> InputError:
    file = folder / "items.jsonl"
    if not left_out:
        return InputError("the file has no items", "Write one JSON object per line.", file=file)
    (reason, count), *_ = left_out.most_common(1)
    message = f"no item can be asked about: {reason} ({count:,} of {left_out.total():,} items)"
    return InputError(
        message, "A judge needs items with content. `misstep agreement` can still read gold.csv.", file=file
    )
