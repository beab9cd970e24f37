"""Draw the items that are judged again: at random within each label that a judge gave, in proportion."""

from collections import defaultdict
from pathlib import Path

import numpy as np
from msgspec import Struct

from misstep_analysis.gold import item_ids
from misstep_analysis.judging.judged_runs import open_run
from misstep_analysis.tables.wording import counted_text
from misstep_harness.errors import UsageError
from misstep_harness.journal.records import MANIFEST
from misstep_harness.runs.judging.benchmarks import benchmark_named
from misstep_harness.runs.judging.judged_texts import anchor_lines


class Anchors(Struct, frozen=True):
    """Anchors as lines of an `items.jsonl`, and how many there are of each label."""

    lines: bytes
    sentence: str


def drawn_anchors(source: str, n: int, seed: int, data: Path | None = None) -> Anchors:
    """Return anchors drawn from the answered items of a run, or from all items of a benchmark."""
    if (Path(source) / MANIFEST).is_file():
        run = open_run(Path(source), data=data)
        folder = run.benchmark
        label_of = {one.item: one.label for one in run.verdicts if one.label is not None}
    else:
        folder = benchmark_named(source, data)
        label_of = dict.fromkeys(sorted(item_ids(folder)), "")
    if n > len(label_of):
        raise UsageError(f"{n:,} anchors are asked for, of {counted_text(len(label_of), 'item')}", "Ask for fewer.")
    chosen = stratified(label_of, n, seed)
    counts = [f"{len(items):,} “{label}”" for label, items in chosen.items() if label]
    of = f"{counted_text(n, 'anchor')} of {counted_text(len(label_of), 'item')}"
    lines = anchor_lines(folder, label_of, {item for items in chosen.values() for item in items})
    return Anchors(lines, of + (f": {', '.join(counts)}" if counts else ""))


def stratified(label_of: dict[str, str], n: int, seed: int) -> dict[str, list[str]]:
    """Label → items drawn at random, so many of each that they are in proportion, and at least one if `n` allows it.

    Largest remainders (Hamilton's method) decide which label gets one more.
    """
    items: dict[str, list[str]] = defaultdict(list)
    for item, label in sorted(label_of.items()):
        items[label].append(item)
    exact = {label: n * len(of) / len(label_of) for label, of in items.items()}
    quota = {label: max(int(share), min(1, n // len(items))) for label, share in exact.items()}
    while sum(quota.values()) > n:
        most = max(quota, key=lambda label: quota[label] - exact[label] if quota[label] > 1 else -n)
        quota[most] -= 1
    for label in sorted(exact, key=lambda label: quota[label] - exact[label])[: n - sum(quota.values())]:
        quota[label] += 1
    rng = np.random.default_rng(seed)
    return {label: sorted(rng.choice(of, quota[label], replace=False).tolist()) for label, of in items.items()}
