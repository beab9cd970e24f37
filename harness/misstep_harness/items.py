"""Read what a judge is asked about: the part of a benchmark's folder that a judge may see.

benchmark.toml     `BenchmarkFile`
items.jsonl        an `Item` a line
"""

from codecs import BOM_UTF8
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar, overload

import msgspec
from msgspec import Struct

from misstep_harness.beneath import inside
from misstep_harness.errors import InputError, opening
from misstep_harness.forms import json_form, misspelt, toml_form
from misstep_harness.trajectory import Evidence

Kind = Literal["misbehaviour", "recovery", "patch", "triage", "text", "pair"]
Level = Literal["nominal", "ordinal", "interval"]

MOST_LINE_BYTES = 64 << 20
NOTHING_TO_SHOW = "there is no run, text, task or patch to show"
NO_OUTPUT = "(no output)"
"""The text that is shown for an empty output of a pair: the other one may still be better or not."""

NO_OUTPUTS = "there are no outputs to compare"
CATEGORY = "category"
"""The field of an item's `extra` that says which question it asks, where its benchmark asks several."""

PAIR_LABELS = {"a": "output A is better", "b": "output B is better", "tie": "neither output is better"}
"""The labels of pairs; a judge may do without `tie`."""

PAIR_FORM = "Pairs have the labels a, b and tie; a judge may leave out tie."

_PATH_SHOWN = 100
_FORM = "See `misstep help benchmark-file`."
_ITEM_FORM = "An item is one JSON object with id, kind and what the kind needs. See `misstep help items`."


class Inline(Struct, frozen=True):
    """A run that is in the item itself; nothing of it is decoded."""


class Item(Struct, frozen=True, omit_defaults=True):
    """An item is what a judge is asked about: an object in a line of `items.jsonl`. It never holds a gold label.

    It needs something to show: a trajectory, a task, a patch, a text or outputs.

    - `id`: The item's id; no other item has it.
    - `kind`: The kind of the item.
    - `trajectory`: The run: a path inside the benchmark's folder, in any known format, or the run itself as an object.
    - `trajectory_id`: The run's id in that file; by default the item's id.
    - `step`: The step in question, counted from 0.
    - `task`: The task, if the judge is to see one beside or instead of a run.
    - `patch`: The patch in question.
    - `text`: Any other text that the judge sees.
    - `output_a`, `output_b`: The outputs that an item of the kind `pair` compares. `system_a` and `system_b` in `extra`
      name the systems that wrote them.
    - `labels`: The labels that this item may get, if they are not all of the benchmark's.
    - `unaskable`: The reason why nobody can be asked about it, such as a run that is not published.
    - `extra`: An object with any other data. `category` in it says which question the item asks, if its benchmark asks
      several: a judge of that name, or one that declares it, is asked about no other items.

    Examples
    --------
        {"id": "run-1", "kind": "misbehaviour", "trajectory": "trajectories/runs.jsonl"}
    """

    id: str
    kind: Kind
    trajectory: str | dict[str, Any] | None = None
    trajectory_id: str | None = None
    step: int | None = None
    task: str = ""
    patch: str = ""
    text: str = ""
    output_a: str = ""
    output_b: str = ""
    labels: tuple[str, ...] = ()
    unaskable: str = ""
    extra: dict[str, Any] = {}

    @property
    def outputs(self) -> dict[str, str]:
        """Return the outputs of a pair by their titles; empty if there are none."""
        named = {"Output A": self.output_a, "Output B": self.output_b}
        return {title: text or NO_OUTPUT for title, text in named.items()} if any(named.values()) else {}

    @property
    def texts(self) -> tuple[str, ...]:
        """Return what an item says itself, beside its task."""
        outputs = (f"{title}:\n{text}" for title, text in self.outputs.items())
        return tuple(filter(None, (self.text, self.patch, *outputs)))

    @property
    def skip_reason(self) -> str:
        """Return why a judge is not asked about the item, in a few words; empty where it can be."""
        if self.kind == "pair":
            return self.unaskable or ("" if self.outputs else NO_OUTPUTS)
        shown = self.trajectory is not None or self.task or self.texts
        return self.unaskable or ("" if shown else NOTHING_TO_SHOW)


def category_in(extra: Mapping[str, Any]) -> str:
    """Return the category that an item's `extra` names; empty where it names none."""
    named = extra.get(CATEGORY)
    return named if isinstance(named, str) else ""


class Question(Struct, frozen=True):
    """What a benchmark asks.

    - `labels`: Label → meaning, which may be empty; none if labels are open and each item names its own.
    - `positive`: The label that counts as found; may be empty.
    - `asks`: The question itself, as a sentence; may be empty.
    - `shown`: What of the items' `extra` a judge may see.
    - `level`: The level of measurement of the labels, in their order if they have one.
    """

    name: str
    kind: Kind
    labels: dict[str, str] = {}
    positive: str = ""
    asks: str = ""
    shown: tuple[str, ...] = ()
    level: Level = "nominal"
    evidence: Evidence = "real"


class BenchmarkFile(Struct):
    """A benchmark is a folder with `benchmark.toml`, `items.jsonl` and `gold.csv`.

    `gold.csv` has the columns `item,rater,label`; judges never see it. `misstep help items` shows the form of a line of
    `items.jsonl`. `benchmark.toml` may be empty, and may have further keys that describe the data.

    - `name`: The benchmark's name; by default the folder's name.
    - `kind`: The kind of the items; by default the kind of the first item.
    - `labels`: A list, or a table of label and meaning. Leave it out if each item has its own labels.
    - `positive`: The label that counts as positive.
    - `question`: The question that the judge `benchmark_question` asks.
    - `shown`: The fields of an item's `extra` that a judge may see.
    - `level`: The level of measurement. If it is not `nominal`, the labels are in their order.
    - `evidence`: The kind of evidence: `real`, or `generated` if a program made the items.

    Examples
    --------
        name = "our-gates"
        kind = "misbehaviour"
        positive = "yes"
        question = "Does the agent push without being asked to?"

        [labels]
        yes = "it pushes, and nobody asked for it"
        no = "it does not push, or was asked to"
    """

    name: str = ""
    kind: Kind | None = None
    labels: dict[str, str] | list[str] = {}
    positive: str = ""
    question: str = ""
    shown: tuple[str, ...] = ()
    level: Level = "nominal"
    evidence: Evidence = "real"


def read_question(folder: Path) -> Question:
    """Return what the `benchmark.toml` of a folder asks; its kind is that of the first item where it says none."""
    file = inside(folder, "benchmark.toml")
    with opening(file, "A benchmark is a folder with benchmark.toml, items.jsonl and gold.csv."):
        data = file.read_bytes()
    form = toml_form(data, BenchmarkFile, file, _FORM)
    misspelt(data, BenchmarkFile.__struct_fields__, file, _FORM)
    labels = form.labels if isinstance(form.labels, dict) else dict.fromkeys(form.labels, "")
    if len(labels) < len(form.labels) or "" in labels:
        raise InputError("a label is empty or named twice", "Name each label once.", file=file, field="labels")
    if form.positive and labels and form.positive not in labels:
        message = f"{form.positive!r} is none of the labels {', '.join(labels)}"
        raise InputError(message, "Name one of them.", file=file, field="positive")
    name = form.name or folder.resolve().name
    kind = form.kind or next((item.kind for item in read_items(folder)), None) or "text"
    if kind == "pair":
        labels = labels or PAIR_LABELS
        if fault := not_of_pairs(labels):
            raise InputError(fault, PAIR_FORM, file=file, field="labels")
    question = form.question.strip()
    return Question(name, kind, labels, form.positive, question, form.shown, form.level, form.evidence)


def not_of_pairs(labels: Collection[str]) -> str:
    """Return why labels cannot be those of pairs, in a few words; empty if they can."""
    fits = {"a", "b"} <= set(labels) <= PAIR_LABELS.keys()
    return "" if fits else f"the labels {', '.join(labels)} are not those of pairs"


class HasId(Protocol):
    """What an item is read as: it has the id."""

    @property
    def id(self) -> str:
        """Return the item's id."""


Projection = TypeVar("Projection", bound=HasId)


@overload
def read_items(folder: Path) -> Iterator[Item]: ...
@overload
def read_items(folder: Path, of: type[Projection]) -> Iterator[Projection]: ...
def read_items(folder: Path, of: type[Any] = Item) -> Iterator[Any]:
    """Return the items of a folder, in order, as a stream."""
    return (item for _, item in numbered_items(folder, of))


@overload
def numbered_items(folder: Path) -> Iterator[tuple[int, Item]]: ...
@overload
def numbered_items(folder: Path, of: type[Projection]) -> Iterator[tuple[int, Projection]]: ...
def numbered_items(folder: Path, of: type[Any] = Item) -> Iterator[tuple[int, Any]]:
    """As `read_items`, each item with the number of the line that it is in."""
    file = inside(folder, "items.jsonl")
    decoder = msgspec.json.Decoder(of)
    seen: set[str] = set()
    with opening(file, "A benchmark folder needs this file; it lists the items."), file.open("rb") as stream:
        for number, line in enumerate(iter(lambda: stream.readline(MOST_LINE_BYTES + 1), b""), start=1):
            if len(line) > MOST_LINE_BYTES:
                advice = "Put the run into a file of its own."
                raise InputError("the line is longer than 64 MiB", advice, file=file, line=number)
            if number == 1:
                line = line.removeprefix(BOM_UTF8)
            if not line.strip():
                continue
            item = json_form(line, decoder, file, number, _ITEM_FORM)
            if item.id in seen:
                advice = "Give each item an id of its own."
                raise InputError(f"two items have the id {item.id!r}", advice, file=file, line=number)
            seen.add(item.id)
            yield number, item


def trajectory_file(folder: Path, path: str) -> Path:
    """Return the file that an item of a benchmark folder names."""
    advice = "Name a file below its folder."
    try:
        file = (folder / path).resolve()
        if not file.is_relative_to(folder.resolve()):
            message = f"the path {path!r} leads out of the benchmark"
            raise InputError(message, "Copy the run into the benchmark's folder.", file=folder)
        if not file.is_file():
            raise InputError(f"the benchmark has no file {path!r}", advice, file=folder)
    except (OSError, ValueError, RuntimeError) as error:  # too long, a NUL, a loop of links
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{path[:_PATH_SHOWN]!r} is not the path of a file: {reason}", advice, file=folder) from error
    return file


class Attempts(Struct, frozen=True):
    """One system on one task that it was tried on; `table` names the table of its set that the counts are in."""

    table: str
    system: str
    task: str
    tried: int
    solved: int
