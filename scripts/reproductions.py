"""Compare what two runs of `make reproduce` printed and wrote: one as a fresh clone does it, one with the public sets.

    python -m scripts.reproductions CLONE.log CLONE WITH_SETS

The README's lines are those of the clone, and a figure that both folders have is the same in both.
"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
_NAMES = ("evidence", "group", "quantity", "source")
_FIGURE = ("value", "low", "high", "n", "printed", "status")


def not_printed(readme: str, printed: str) -> list[str]:
    """List the README's lines of the end of `make reproduce` that it did not print."""
    (block,) = re.findall(r"^`make reproduce` runs.*?```text\n(.*?)```", readme, re.DOTALL | re.MULTILINE)
    return [line for line in block.splitlines() if line != "…" and line not in printed.splitlines()]


def differing(one: Path, other: Path) -> list[str]:
    """Name the figures that both folders have and that are not the same."""
    first, second = _figures(one), _figures(other)
    return [" · ".join(key) for key in first.keys() & second.keys() if first[key] != second[key]]


def _figures(reports: Path) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    figures: dict[tuple[str, ...], list[tuple[str, ...]]] = defaultdict(list)
    for table in sorted((reports / "tables").glob("*/*.json")):
        for row in json.loads(table.read_bytes())["rows"]:
            key = (f"{table.parent.name}/{table.stem}", *(str(row[name]) for name in _NAMES))
            figures[key].append(tuple(str(row[name]) for name in _FIGURE))
    return figures


if __name__ == "__main__":
    log, clone, with_sets = map(Path, sys.argv[1:])
    wrong = [f"README.md: not printed in a clone: {line}" for line in not_printed(README.read_text(), log.read_text())]
    wrong += [f"not the same with the sets: {name}" for name in sorted(differing(clone, with_sets))]
    sys.exit("\n".join(wrong) or 0)
