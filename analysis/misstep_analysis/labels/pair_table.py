"""A table of pairs: two outputs of one task and which of them people prefer.

A row is a pair, or an output of one system; in the second case a table of preferences may say which pairs people saw::

    task,system_a,output_a,system_b,output_b,winner
    Sort a list,small,"sorted(x)",large,"x.sort()",b

    task,system,output              task,system_a,system_b,winner
    Sort a list,small,"sorted(x)"   Sort a list,small,large,large
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from msgspec import Struct

from misstep_analysis.gold import GoldLabel
from misstep_analysis.labels.columns import RATER_NAMES, SYSTEMS
from misstep_analysis.labels.forms import column_named, columns_called
from misstep_analysis.labels.records import listed, trimmed
from misstep_analysis.labels.rows import LabelRows
from misstep_analysis.labels.source import read_source
from misstep_harness.errors import InputError

# fmt: off
_TEXTS = ("task", "instruction", "prompt", "question", "input", "query", "problem", "issue")
_TASKS = ("task_id", "question_id", "instance_id", "item_id", "item", *_TEXTS)
_WINNERS = ("winner", "preference", "preferred", "better", "choice", "label", "verdict")
_OUTPUTS = ("output", "response", "answer", "completion", "patch", "text", "result")
_PLACES = {"a": ("a", "1"), "b": ("b", "2")}
_TIES = frozenset({"tie", "tied", "draw", "equal", "same", "both", "neither", "tie (bothbad)", "1.5"})
# fmt: on

_SHAPES = "Give the columns task, system_a, output_a, system_b, output_b and winner, or task, system and output."
_WORDS = "Write a, b, tie or the name of a system; leave the cell empty if nobody chose."
_NAME_SHOWN = 40


class PairColumns(Struct, frozen=True):
    """The names of columns that a person gave; what is empty is recognised."""

    task: str = ""
    winner: str = ""


class OutputPair(Struct, frozen=True):
    """Two outputs of one task. `key` tells tasks apart; it is the task itself if the table has no other name of it."""

    id: str
    key: str
    task: str
    systems: tuple[str, str]
    outputs: tuple[str, str]


class PairTable(Struct, frozen=True):
    """The pairs of a table, with people's labels."""

    pairs: tuple[OutputPair, ...]
    gold: tuple[GoldLabel, ...]
    remarks: tuple[str, ...]


class _Row(Struct, frozen=True):
    """A pair as a row of a table says it; `winner` is as written, `place` and `column` are for an error in it."""

    place: int
    key: str
    task: str
    systems: tuple[str, str]
    outputs: tuple[str, str]
    winner: str = ""
    rater: str = ""
    column: str = ""


def read_pair_table(path: Path, preferences: Path | None, named: PairColumns) -> PairTable:
    """Read pairs from a table with a pair a row, or from one with an output a row and one of preferences."""
    source = read_source(path, what="pairs", shapes=_SHAPES)
    sheet = source.sheet
    wide = len(_sided(sheet, _OUTPUTS)) == 2
    if wide:
        if preferences is not None:
            raise InputError("each row is a pair already", "Leave out --labels.", file=sheet.file)
        return _table(sheet, _wide_rows(sheet, named), source.remarks)
    outputs = _outputs(sheet, named)
    if preferences is None:
        return _table(sheet, _every_pair(outputs), source.remarks)
    judged = read_source(preferences, what="preferences", shapes=_SHAPES)
    rows = _preferred(judged.sheet, outputs, sheet.file, named)
    return _table(judged.sheet, rows, (*source.remarks, *judged.remarks))


def _sided(sheet: LabelRows, names: Sequence[str]) -> dict[str, int]:
    """Return the columns of one kind in both places, by place; none unless both are there."""
    for name in names:
        for end_a, end_b in zip(*_PLACES.values(), strict=True):
            both = columns_called(sheet, [f"{name}_{end_a}"]), columns_called(sheet, [f"{name}_{end_b}"])
            if all(both):
                return {"a": both[0][0], "b": both[1][0]}
    return {}


def _named(sheet: LabelRows, name: str, option: str, words: Sequence[str]) -> int | None:
    return column_named(sheet, name, option) if name else next(iter(columns_called(sheet, words)), None)


def _tasks(sheet: LabelRows, named: PairColumns) -> tuple[int, int]:
    """Return the column that tells tasks apart and the one that has their texts."""
    key = _named(sheet, named.task, "--item", _TASKS)
    if key is None:
        advice = f"Add --item COLUMN. The columns: {listed(sheet.header)}."
        raise InputError("which column has the tasks?", advice, file=sheet.file, line=1)
    return key, next((at for at in columns_called(sheet, _TEXTS) if at != key), key)


def _wide_rows(sheet: LabelRows, named: PairColumns) -> Iterator[_Row]:
    key, task = _tasks(sheet, named)
    outputs, systems = _sided(sheet, _OUTPUTS), _sided(sheet, SYSTEMS)
    chosen = _choices(sheet, named)
    for row in range(len(sheet.columns[0])):
        system_a, system_b = (trimmed(sheet.columns[systems[place]][row]) if systems else "" for place in "ab")
        output_a, output_b = (sheet.columns[outputs[place]][row] for place in "ab")
        texts = trimmed(sheet.columns[key][row]), sheet.columns[task][row]
        yield _Row(row, *texts, (system_a, system_b), (output_a, output_b), *chosen(row))


def _choices(sheet: LabelRows, named: PairColumns) -> Callable[[int], tuple[str, str, str]]:
    """Return what gives the winner and the rater of a row, and the column of winners."""
    winner = _named(sheet, named.winner, "--label", _WINNERS)
    rater = next(iter(columns_called(sheet, RATER_NAMES)), None)

    def chosen(row: int) -> tuple[str, str, str]:
        text, who = ("" if at is None else trimmed(sheet.columns[at][row]) for at in (winner, rater))
        return text, who, "" if winner is None else sheet.header[winner]

    return chosen


class _Output(Struct, frozen=True):
    task: str
    text: str


def _outputs(sheet: LabelRows, named: PairColumns) -> dict[str, dict[str, _Output]]:
    """Return each task's outputs by system, from a table with an output a row."""
    key, task = _tasks(sheet, named)
    system, output = (next(iter(columns_called(sheet, names)), None) for names in (SYSTEMS, _OUTPUTS))
    if system is None or output is None:
        problem = f"the table has neither two outputs a row nor a system and an output: {listed(sheet.header)}"
        raise InputError(problem, _SHAPES, file=sheet.file, line=1)
    by_task: dict[str, dict[str, _Output]] = {}
    for row in range(len(sheet.columns[0])):
        of_task = by_task.setdefault(trimmed(sheet.columns[key][row]), {})
        name = trimmed(sheet.columns[system][row])
        if name in of_task:
            problem = f"a second output of {name!r} for this task"
            raise sheet.error(row, problem, "Keep one output a task and system.", sheet.header[system])
        of_task[name] = _Output(sheet.columns[task][row], sheet.columns[output][row])
    return by_task


def _every_pair(outputs: Mapping[str, Mapping[str, _Output]]) -> Iterator[_Row]:
    for key, of_task in outputs.items():
        for (a, first), (b, second) in combinations(of_task.items(), 2):
            yield _Row(0, key, first.task, (a, b), (first.text, second.text))


def _preferred(
    sheet: LabelRows, outputs: Mapping[str, Mapping[str, _Output]], file: str, named: PairColumns
) -> Iterator[_Row]:
    key, _ = _tasks(sheet, named)
    systems, chosen = _sided(sheet, SYSTEMS), _choices(sheet, named)
    if not systems:
        raise InputError("no columns system_a and system_b", _SHAPES, file=sheet.file, line=1)
    for row in range(len(sheet.columns[0])):
        of_task = outputs.get(trimmed(sheet.columns[key][row]), {})
        a, b = (trimmed(sheet.columns[systems[place]][row]) for place in "ab")
        lacking = next((place for place, name in zip("ab", (a, b), strict=True) if name not in of_task), None)
        if lacking is not None:
            name = a if lacking == "a" else b
            problem = f"{file} has no output of {name!r} for this task"
            raise sheet.error(row, problem, "Add the output, or take the row out.", sheet.header[systems[lacking]])
        texts = of_task[a].text, of_task[b].text
        yield _Row(row, trimmed(sheet.columns[key][row]), of_task[a].task, (a, b), texts, *chosen(row))


def _table(sheet: LabelRows, rows: Iterator[_Row], remarks: Sequence[str]) -> PairTable:
    """Return the pairs, one for all rows on the same outputs, in whichever order a row has them."""
    pairs: dict[tuple[object, ...], OutputPair] = {}
    ids: Counter[str] = Counter()
    tasks: dict[str, int] = {}
    gold: dict[tuple[str, str], str] = {}
    labelled: Counter[str] = Counter()
    for row in rows:
        key, turned = (
            (row.key, row.systems[::step], row.outputs[::step]) for step in (1, -1)
        )  # people often see a pair in both orders
        is_turned = turned in pairs and key not in pairs
        if key not in pairs and not is_turned:
            number = tasks.setdefault(row.key, len(tasks) + 1)
            pairs[key] = OutputPair(_id(row, number, ids), row.key, row.task, row.systems, row.outputs)
        pair = pairs[turned if is_turned else key]
        label = _label(sheet, row)
        if label is None:
            continue
        label = {"a": "b", "b": "a"}.get(label, label) if is_turned else label
        labelled[pair.id] += 1
        rater = row.rater or f"label {labelled[pair.id]}"
        if gold.setdefault((pair.id, rater), label) != label:
            raise sheet.error(row.place, f"{rater!r} prefers both outputs of this pair", "Keep one row a rater.")
    if not pairs:
        raise InputError("no pairs: no task has outputs of two systems", _SHAPES, file=sheet.file)
    labels = tuple(GoldLabel(*at, label) for at, label in gold.items())
    return PairTable(tuple(pairs.values()), labels, tuple(remarks))


def _id(row: _Row, number: int, ids: Counter[str]) -> str:
    short = len(row.key) <= _NAME_SHOWN and row.key.isprintable() and row.key
    name = "/".join(filter(None, (row.key if short else f"task {number}", *row.systems)))
    ids[name] += 1
    return name if ids[name] == 1 else f"{name} {ids[name]}"


def _label(sheet: LabelRows, row: _Row) -> str | None:
    """Return the label that a cell means; `None` if it is empty."""
    winner = row.winner.casefold()
    if not winner:
        return None
    a, b = (name.casefold() for name in row.systems)
    if a != b and winner in (a, b):
        return "a" if winner == a else "b"
    if winner in _TIES:
        return "tie"
    end = re.sub(r"\.0$", "", winner).rpartition("_")[2]
    if end in _PLACES["a"]:
        return "a"
    if end in _PLACES["b"]:
        return "b"
    problem = f"the winner {row.winner[:_NAME_SHOWN]!r} is none of the two"
    raise sheet.error(row.place, problem, _WORDS, row.column)
