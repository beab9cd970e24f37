"""Read the cases of an annotation study: triage cases, items of a benchmark or of a judge's run. No gold is read."""

import stat
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from msgspec import structs

from misstep_analysis.annotation.page import Material, MaterialPart, Meaning, TextFile
from misstep_analysis.judging.judged_runs import JudgedRun, open_run
from misstep_analysis.tables.files import csv_of
from misstep_harness.benchmarks.inputs import inputs_of
from misstep_harness.benchmarks.trajectories import BenchmarkRuns
from misstep_harness.errors import InputError, MisstepError, UsageError
from misstep_harness.fault_mappings import FAULTS, Category, taxonomy
from misstep_harness.items import Item, Question, read_items, read_question
from misstep_harness.journal.inputs import file_state, inputs_of_files
from misstep_harness.journal.records import Inputs, read_manifest
from misstep_harness.judges import read_known, shipped_judges
from misstep_harness.judges.context import fitted_steps
from misstep_harness.triage.records import Part as PartName
from misstep_harness.triage.records import TriageCase, read_triage_cases
from misstep_harness.triage.texts import LARGEST_FILE, TextsOfCase
from misstep_harness.workspace.differences import file_diff
from misstep_harness.workspace.nodes import GIT, Node, node_at, same
from misstep_harness.workspace.trees import walk

QUESTION = "Whose fault is it?"

_Outcome = Literal["passed", "failed", "unknown"]
_GOLD = frozenset({"gold.csv", "gold_subcategories.csv", "gold_construction.csv", "proofs.jsonl"})
"""Files with gold labels, which may be beside a single case; they are not part of what is labelled."""

_TITLES: dict[PartName, str] = {
    "logs": "Logs",
    "tests": "Tests",
    "workspace": "Changes to the workspace",
    "solution": "Gold solution",
    "environment": "Environment at the start",
}
_MOST_FILES = 100
_ROOM = 30_000
"""The characters of a session in a task; a cell of a workbook holds 32,767."""

_MADE_BY_TOOLS = frozenset({GIT, "__pycache__", ".pytest_cache"})


def open_cases(folder: Path, benchmark: str = "") -> "Cases":
    """Return the cases in a folder: triage cases, the items of a benchmark, or those that a judge was asked about."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", "Name a folder of triage cases, or a benchmark.")
    cases = {case.id: case for case in read_triage_cases(folder)}
    if cases:
        return TriageCases(folder, cases)
    if (folder / "items.jsonl").is_file():
        return BenchmarkItems(folder, read_question(folder))
    if read_manifest(folder) is not None:
        return _judged_items(open_run(folder, benchmark))
    found = f"{folder} holds neither triage cases nor a benchmark, and is not a run of a judge"
    raise UsageError(found, "See `misstep help triage-case`.")


def _judged_items(run: JudgedRun) -> "BenchmarkItems":
    """Return the items that a judge was asked about; its prompt says what labels mean where the benchmark does not."""
    question, category = run.question, run.judge.partition("@")[0]
    if not any(question.labels.values()) and category in shipped_judges():
        meanings = read_known(category).labels
        question = structs.replace(question, labels={name: meanings.get(name, "") for name in question.labels})
    if not question.asks:
        asks = f"{category.replace('_', ' ').capitalize()}: which label is right?"
        question = structs.replace(question, asks=asks)
    return BenchmarkItems(run.benchmark, question, {verdict.item for verdict in run.verdicts})


class TriageCases:
    """Triage cases, each with what its folder has."""

    def __init__(self, folder: Path, cases: Mapping[str, TriageCase]) -> None:
        self.folder, self._cases = folder, cases
        self.ids: tuple[str, ...] = tuple(cases)
        self.labels: tuple[str, ...] = FAULTS

    def inputs(self) -> Inputs:
        """Return the files of all cases, by content."""
        folders = [case.folder for case in self._cases.values()]
        nodes = ((folder, path, node) for folder in folders for path, node in sorted(_nodes(folder).items()))
        files = [folder / path for folder, path, node in nodes if node.kind == "file" and path not in _GOLD]
        return inputs_of_files(file_state(file) for file in files)

    def material(self, case: str) -> Material:
        """Return the parts of a case that a rater sees."""
        known = self._cases[case]
        texts, run, problem = TextsOfCase(known), None, ""
        try:
            run = texts.trajectory
        except InputError as error:
            problem = f"trajectory.json: {error.found}."  # a rater cannot use its place
        outcome: _Outcome = known.file.outcome or (run.outcome.status if run else "unknown")
        instruction = texts.instruction or (run.task if run else "")
        commands = (("Test command", known.file.test_command), ("Run command", known.file.run_command))
        facts = tuple((what, line) for what, line in commands if line)
        labels, parts = triage_labels(outcome), tuple(_parts(known))
        return Material(case, QUESTION, labels, instruction, outcome, facts, run, problem, parts)


class BenchmarkItems:
    """The items of a benchmark, each with its text and its run."""

    def __init__(self, folder: Path, question: Question, among: Container[str] | None = None) -> None:
        self.folder = folder
        self._question = question
        self._items = {
            item.id: item for item in read_items(folder) if not item.skip_reason and (among is None or item.id in among)
        }
        self._runs = BenchmarkRuns(folder)
        self.ids = tuple(self._items)
        own = dict.fromkeys(label for item in self._items.values() for label in item.labels)
        self.labels = tuple(self._question.labels) or tuple(own)
        if not all(item.labels or self._question.labels for item in self._items.values()):
            raise UsageError(f"the benchmark {folder} names no labels", "Name them in its benchmark.toml.")

    def inputs(self) -> Inputs:
        """Return the items and their runs, by content."""
        return inputs_of(self.folder)

    def material(self, case: str) -> Material:
        """Return the item's texts and its run."""
        item, run, problem = self._items[case], None, ""
        try:
            run = self._runs.of(item)
        except MisstepError as error:
            problem = error.line()
        outcome: _Outcome = run.outcome.status if run else "unknown"
        outputs = ((title, text, False) for title, text in item.outputs.items())
        texts = (("Text", item.text, False), ("Patch", item.patch, True), *outputs)
        parts = tuple(
            MaterialPart(name.lower(), name, (TextFile(name.lower(), text, is_diff=is_diff),))
            for name, text, is_diff in texts
            if text
        )
        asks = self._question.asks or (QUESTION if set(self.labels) <= set(FAULTS) else "Which label is right?")
        labels = item_labels(item, self._question, outcome)
        instruction = item.task or (run.task if run else "")
        return Material(case, asks, labels, instruction, outcome, (), run, problem, parts, item.step)


Cases = TriageCases | BenchmarkItems
"""The cases of a study: where they lie, their names in order, the labels, their content, and what a rater sees."""


def tasks_csv(cases: Cases, ids: Iterable[str]) -> str:
    """Return cases as CSV, a task a row, for an annotation tool."""
    return csv_of(("item", "text"), ((case, _task(cases.material(case))) for case in ids))


def _task(material: Material) -> str:
    steps = material.run.steps if material.run else ()
    session = fitted_steps(steps, _ROOM, "shorten_middle", material.step, first=0).text if steps else ""
    texts = (
        f"{part.title}:\n{file.text}" if part.title.startswith("Output") else file.text
        for part in material.parts
        for file in part.files
    )
    return "\n\n".join(part for part in (material.instruction, *texts, session) if part)


def item_labels(item: Item, question: Question, outcome: _Outcome) -> tuple[Meaning, ...]:
    """Return the labels that an item may get; those of the taxonomy with its words."""
    named = {name: question.labels.get(name, "") for name in item.labels} if item.labels else question.labels
    if set(named) <= set(FAULTS):
        return tuple(one for one in triage_labels(outcome) if one.name in named)
    return tuple(Meaning(name, name.replace("_", " "), meaning) for name, meaning in named.items())


def triage_labels(outcome: _Outcome) -> tuple[Meaning, ...]:
    """Return the labels of the code book, their meanings for a run that failed or passed, and their subcategories."""
    return tuple(_meaning(name, category, outcome) for name, category in taxonomy().items())


def _meaning(name: str, category: Category, outcome: _Outcome) -> Meaning:
    cells = {"failed": category.failure, "passed": category.success}
    cell = cells.get(outcome) or category.failure or category.success
    observed, every = {"failed": "failure", "passed": "success"}.get(outcome), category.subcategories
    fitting = {key: one for key, one in every.items() if one.observed == observed} or every
    finer = tuple(Meaning(key, key.replace("_", " "), one.meaning) for key, one in fitting.items())
    return Meaning(name, category.name, cell.meaning if cell else "", finer)


def _parts(case: TriageCase) -> Iterator[MaterialPart]:
    """Return the parts that the case has, those first that are read first."""
    nodes = {name: _nodes(folder) for name in _TITLES if (folder := case.part(name)) is not None}
    for name, own in nodes.items():
        if name == "workspace":
            yield _changes(nodes.get("environment"), own, _TITLES[name])
        else:
            shown = tuple(_text_file(path, node) for path, node in sorted(own.items())[:_MOST_FILES])
            yield MaterialPart(name, _TITLES[name], shown, max(len(own) - _MOST_FILES, 0))


def _changes(before: Mapping[str, Node] | None, after: Mapping[str, Node], title: str) -> MaterialPart:
    then = before or {}
    paths = [path for path in sorted({*then, *after}) if not same(then.get(path), after.get(path))]
    shown = tuple(_change(path, then.get(path), after.get(path)) for path in paths[:_MOST_FILES])
    note = "" if paths else "The agent left every file as it found it."
    if before is None:
        note = "The case has no environment to compare with: all files that the agent left are shown."
    return MaterialPart("changes", title, shown, max(len(paths) - _MOST_FILES, 0), note)


def _change(path: str, before: Node | None, after: Node | None) -> TextFile:
    note = "A new file." if before is None else "The file was deleted." if after is None else ""
    if max(node.size for node in (before, after) if node) > LARGEST_FILE:
        return TextFile(path, note=f"{note} It is too large to show.".strip())
    head, hunk, rest = file_diff(path, before, after).partition("\n@@ ")
    # The page has the text before the hunks already; without hunks it is the whole note.
    notes = [line for line in head.split("\n") if line.startswith(("Binary", "old mode", "new mode"))]
    text = f"@@ {rest}".rstrip("\n") if hunk else ""
    return TextFile(path, text, "; ".join(filter(None, (note, *notes))), is_diff=True)


def _text_file(path: str, node: Node) -> TextFile:
    if node.size > LARGEST_FILE:
        return TextFile(path, note=f"The file has {node.size:,} bytes and is not shown.")
    content = node.content()
    if node.kind == "link":
        return TextFile(path, note=f"A link to {content.decode(errors='replace')}, which is not followed.")
    if b"\0" in content:
        return TextFile(path, note=f"A binary file of {node.size:,} bytes.")
    return TextFile(path, content.decode(errors="replace"), note="" if content else "The file is empty.")


def _nodes(folder: Path) -> dict[str, Node]:
    """Return the files and links beneath a folder by their paths, without what tools leave; no link is followed."""
    files = (one for one in walk(folder) if not stat.S_ISDIR(one.status.st_mode))
    own = (one for one in files if not _MADE_BY_TOOLS.intersection(one.path.split("/")))
    return {one.path: node for one in own if (node := node_at(folder, one.path, one.status))}
