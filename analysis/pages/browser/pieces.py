"""The parts of a page that are read when somebody opens them: the most wanted ones, within a bound."""

import heapq
from typing import Any

from misstep.analysis.pages.browser.embedding import embedded


class Pieces:
    """Parts of a page by name; the least wanted go when all together are larger than `most_bytes` in the page.

    No more than the bound is held at once.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._size = 0
        self._count = 0
        self._lost = -1
        self._kept: list[tuple[int, int, str, str]] = []

    def wants(self, rank: int) -> bool:
        """Return whether a part of this rank may be kept: not if the bound has cost a part that ranks as high."""
        return rank > self._lost

    def add(self, name: str, rank: int, value: Any) -> None:
        """Keep a part; of those that do not fit, the latest of the lowest rank goes."""
        self.add_embedded(name, rank, embedded(value))

    def add_embedded(self, name: str, rank: int, text: str) -> None:
        """Keep a part that is the content of a script element already."""
        heapq.heappush(self._kept, (rank, -self._count, name, text))
        self._count += 1
        self._size += len(text.encode())
        while self._size > self._most and self._kept:
            rank, _, _, gone = heapq.heappop(self._kept)
            self._size -= len(gone.encode())
            self._lost = max(self._lost, rank)

    def kept(self) -> dict[str, str]:
        """Return the kept parts in the order in which they came: name → the content of its script element."""
        return {name: text for _, _, name, text in sorted(self._kept, key=lambda one: -one[1])}
