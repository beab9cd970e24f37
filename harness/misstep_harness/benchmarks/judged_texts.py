"""What a judge saw of each item of a benchmark, as a digest: equal digests are equal texts, whatever the items' ids.

It covers the item's texts, its step, its category and what else of it the benchmark shows, and the run as text; not the
prompt, the labels or the model, so that two judges on one text can be compared.
"""

import json
from collections.abc import Collection, Iterator
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from misstep_harness.benchmarks.trajectories import BenchmarkRuns
from misstep_harness.errors import opening
from misstep_harness.forms import json_form
from misstep_harness.items import (
    CATEGORY,
    Item,
    Question,
    category_in,
    read_items,
    read_question,
)
from misstep_harness.journal.records import encode_lines
from misstep_harness.judges.context import shown_step
from misstep_harness.trajectory import Trajectory

ANCHOR = "anchor"
"""The field of an anchor's `extra` that has the digest of its text, and what its id begins with."""


def judged_texts(folder: Path, ids: Collection[str]) -> dict[str, str]:
    """Item → the digest of what a judge saw of it, for the items that were asked about.

    An item's category counts if these items have several. Of an item that nobody can be asked about, such as one of a
    recording, its name in its benchmark stands for the text.
    """
    question, texts, place, run_text = read_question(folder), {}, object(), ""
    several = len({category_in(item.extra) for item in read_items(folder) if item.id in ids}) > 1
    for item, run in _with_runs(folder, ids):
        # Items about one run follow each other, and a run is long.
        if (item.trajectory, run and run.id) != place:
            place, run_text = (item.trajectory, run and run.id), _run_text(run)
        shown = [question.name, item.id] if item.skip_reason else _shown_text(item, question, several)
        texts[item.id] = sha256(json.dumps([shown, run_text]).encode(errors="replace")).hexdigest()
    return texts


def anchor_lines(folder: Path, ids: Collection[str], chosen: Collection[str]) -> bytes:
    """Return items as lines of an `items.jsonl`, each with its run in it, so that they need no other file."""
    texts, lines = judged_texts(folder, ids), []
    for item, run in _with_runs(folder, chosen):
        inline, extra = None if run is None else msgspec.to_builtins(run), item.extra | {ANCHOR: texts[item.id]}
        lines.append(structs.replace(item, id=f"{ANCHOR}:{item.id}", trajectory=inline, extra=extra))
    return encode_lines(lines)


def texts_in(file: Path) -> frozenset[str]:
    """Return the digests of the texts of anchors in a file."""
    form, decoder = "Make the file with `misstep judge drift RUN --draw N --out FILE`.", msgspec.json.Decoder(_Anchor)
    with opening(file, form):
        lines = file.read_bytes().splitlines()
    items = (json_form(line, decoder, file, number, form) for number, line in enumerate(lines, 1) if line.strip())
    return frozenset(one.extra.anchor for one in items)


class _Marked(Struct, frozen=True):
    anchor: str


class _Anchor(Struct, frozen=True):
    extra: _Marked


def _with_runs(folder: Path, chosen: Collection[str]) -> Iterator[tuple[Item, Trajectory | None]]:
    runs = BenchmarkRuns(folder)
    return ((item, runs.of(item)) for item in read_items(folder) if item.id in chosen)


def _shown_text(item: Item, question: Question, several: bool) -> str:
    """Return what a judge sees of an item besides its run."""
    shown = {*question.shown, CATEGORY} if several else {*question.shown} - {CATEGORY}
    extra = {name: item.extra[name] for name in sorted(shown) if name in item.extra}
    unseen = {"id": "", "trajectory": None, "trajectory_id": None, "labels": (), "unaskable": ""}
    return msgspec.json.encode(structs.replace(item, extra=extra, **unseen)).decode()


def _run_text(run: Trajectory | None) -> str:
    if run is None:
        return ""
    return "\n\n".join([run.task, *(shown_step(step, place) for place, step in enumerate(run.steps))])
