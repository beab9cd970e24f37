"""Runs of judges as one page: what they found, which of them is better, and every item to look at.

List the items of runs of judges for a report's item browser: what judges and people said, and what it is about.

Texts and runs are read as a stream and shortened as they come; what does not fit into the page is left out, right
answers first, and said.
"""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Protocol, cast

from msgspec import Struct, structs

from misstep_analysis.judging.assessment import (
    Assessment,
    assess,
    assessment_document,
    assessment_tables,
    main_findings,
)
from misstep_analysis.judging.judged_runs import JudgedRun, names_of_judges, votes_of
from misstep_analysis.judging.page import (
    LABELS_DRAWN,
    RUNS_DRAWN,
    ItemBrowser,
    JudgedBy,
    Section,
    item_index,
    judge_figures,
    judge_page,
    rank,
    wrong_answers,
)
from misstep_analysis.judging.sample import Reference, majority
from misstep_analysis.judging.scores import Scores, best_per_benchmark
from misstep_analysis.judging.slices import Lengths
from misstep_analysis.pages import Foot, table_text
from misstep_analysis.pages.browser import Pieces, embedded, shown_run
from misstep_analysis.pages.trajectory import Passage, passage
from misstep_analysis.plots.drawing import can_draw
from misstep_analysis.tables import Table, of_evidence
from misstep_analysis.tables.wording import counted_text
from misstep_harness.benchmarks.trajectories import FoundRun, run_in, runs_in, steps_by_run
from misstep_harness.escaping import one_line, plain
from misstep_harness.exchange import LOCAL_MODEL
from misstep_harness.items import Item, read_items
from misstep_harness.journal.opened import distinct_names
from misstep_harness.journal.records import Inputs
from misstep_harness.places import cache_folder
from misstep_harness.values import as_json

_WIDTH = 110
NO_JUDGE = "This small model only tests the set-up: it is not a judge, and its figures say nothing about one."


def assessed(run: JudgedRun, *, resamples: int = 10_000, seed: int = 0) -> Assessment:
    """Return what the judge of a run is worth."""
    return assess(
        run.verdicts,
        run.gold,
        tuple(run.question.labels),
        judge=run.judge,
        benchmark=run.question.name,
        clusters=run.clusters,
        items=run.items,
        lengths=item_lengths(run.benchmark),
        positive=run.question.positive,
        level=run.question.level,
        votes=votes_of(run),
        evidence=run.question.evidence,
        resamples=resamples,
        seed=seed,
    )


def is_plumbing(run: JudgedRun) -> bool:
    """Return whether a run asked the small model of `--local`, which is not a judge."""
    return run.manifest.settings.get("model") == LOCAL_MODEL


def scores_text_json(assessment: Assessment) -> str:
    """Return the assessment as one JSON document."""
    return json.dumps(assessment_document(assessment), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def scores_text(assessment: Assessment) -> str:
    """Return the scores for a terminal, with what else says most of the judge."""
    source = assessment.scores.benchmark
    further = "".join(f"{fill(sentence, _WIDTH)}\n" for sentence in main_findings(assessment, source))
    return table_text(assessment_tables(assessment, source)[0]) + (f"\n{further}" if further else "")


def item_lengths(folder: Path) -> Lengths:
    """The lengths of a benchmark's items: in steps where any item is about a run, else in characters of its text."""
    inside = folder.resolve()
    steps_of = cache(lambda path: steps_by_run(inside, path))
    steps: dict[str, int] = {}
    characters: dict[str, int] = {}
    for item in read_items(folder):
        if isinstance(item.trajectory, dict):
            if (run := run_in(item).run) is not None:
                steps[item.id] = len(run.steps)
        elif item.trajectory is not None:
            if (length := _of_run(item, steps_of(item.trajectory))) is not None:
                steps[item.id] = length
        elif shown := item.text or item.patch or item.output_a + item.output_b or item.task:
            characters[item.id] = len(shown)
    return Lengths("steps", steps) if steps else Lengths("characters", characters)


def _of_run(item: Item, steps: dict[str, int]) -> int | None:
    if item.trajectory_id is None and len(steps) == 1:
        return next(iter(steps.values()))
    return steps.get(item.id if item.trajectory_id is None else item.trajectory_id)


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


_NOTES = (
    "The gold label of an item is the one that most raters gave; where their labels tie there is none, and no score "
    "counts the item. An item that was not answered is never given a label.",
    "Texts and runs are shortened to what a page can hold, the steps that a judge named as evidence last; where "
    "something is left out, the page says so.",
    f"Confusion matrices are drawn of at most {LABELS_DRAWN} labels, and with the reliability of scores of the first "
    f"{RUNS_DRAWN} runs on a benchmark; the tables are of all.",
)

SEED = 0
_TRIAGE_TABLES = "misstep_analysis.triage.judged"
"""The module that makes the tables of triage runs: named, as a system is not imported by what it builds on."""


class _TriageTables(Protocol):
    def triage_run(self, run: JudgedRun, tables: Sequence[Table], seed: int) -> list[Table]: ...
    def triage_comparison(self, runs: Mapping[str, JudgedRun], seed: int) -> list[Table]: ...


def report_html(runs: Sequence[JudgedRun], known: Sequence[Assessment] = (), command: str = "") -> str:
    """Return the report of one or several runs as one self-contained page."""
    folders, names = distinct_names([run.folder for run in runs]), names_of_judges(runs)
    assessments = known or [assessed(run, seed=SEED) for run in runs]
    groups: dict[Inputs, dict[str, tuple[JudgedRun, Assessment]]] = {}
    for name, run, assessment in zip(names, runs, assessments, strict=True):
        groups.setdefault(run.manifest.inputs, {})[name] = (run, assessment)
    room = PAGE_CHARACTERS // len(groups)
    sections = [_section(group, place, room) for place, group in enumerate(groups.values())]
    alone = next(iter(sections)) if len(sections) == 1 else None
    return judge_page(
        alone.title if alone else "Judges on several benchmarks",
        alone.finding if alone else best_per_benchmark([_scored(group) for group in groups.values()]),
        sections,
        _NOTES,
        _warnings(dict(zip(folders, runs, strict=True))),
        foot=Foot(
            command or shlex.join(["misstep", "report", *folders]),
            datasets=tuple(dict.fromkeys(name for run in runs if (name := _public_set(run)))),
            inputs=tuple(map(_input, folders, runs)),
            seed=SEED,
        ),
    )


def _warnings(runs: Mapping[str, JudgedRun]) -> list[str]:
    warnings = []
    small = [name for name, run in runs.items() if is_plumbing(run)]
    if small:
        warnings.append(NO_JUDGE if len(runs) == 1 else f"{', '.join(small)}: {NO_JUDGE}")
    for name, run in runs.items():
        if run.unfinished:
            who = "This run" if len(runs) == 1 else f"The run {name}"
            warnings.append(f"{who} {run.unfinished}.")
    versions: dict[str, dict[Inputs, list[str]]] = {}
    for name, run in runs.items():
        versions.setdefault(run.question.name, {}).setdefault(run.manifest.inputs, []).append(name)
    for benchmark, of in versions.items():
        if len(of) > 1:
            groups = "; ".join(", ".join(names) for names in of.values())
            warnings.append(f"These runs are about different versions of {benchmark} and not compared: {groups}.")
    return warnings


def _section(group: Mapping[str, tuple[JudgedRun, Assessment]], place: int, room: int) -> Section:
    first, assessment = next(iter(group.values()))
    reference = majority(first.gold)
    source = first.question.name
    if len(group) == 1:
        title = f"{first.judge} on {source}"
        tables = {"": tables_of_run(first, assessment)}
        finding = tables[""][0].finding
    else:
        title = f"{len(group)} runs on {source}"
        finding, tables = _compared(group, source)
    runs = [
        JudgedBy(name if len(group) > 1 else run.judge, {one.item: one for one in run.verdicts})
        for name, (run, _) in group.items()
    ]
    finer = majority(first.subcategories).label_of
    return Section(
        title=title,
        finding=finding,
        figures=_figures(group),
        # No two tables on the page have one name.
        tables={
            heading: [structs.replace(table, name=f"{table.name}-{place}-{number}") for table in shown]
            for number, (heading, shown) in enumerate(tables.items())
        },
        items=item_browser(first.benchmark, tuple(first.question.labels), reference, runs, room, finer),
    )


def _compared(group: Mapping[str, tuple[JudgedRun, Assessment]], source: str) -> tuple[str, dict[str, list[Table]]]:
    from misstep_analysis.judging.comparison import best_of, compare_judges, compared_runs_table, comparison_table

    first = next(iter(group.values()))[0]
    scored = _scored(group)
    verdicts = {name: run.verdicts for name, (run, _) in group.items()}
    pairs = compare_judges(verdicts, first.gold, clusters=first.clusters, seed=SEED)
    evidence = first.question.evidence
    comparison = (compared_runs_table(scored, source), comparison_table(pairs, source))
    tables = {"": [of_evidence(table, evidence) for table in comparison]}
    tables |= {name: tables_of_run(run, assessment) for name, (run, assessment) in group.items()}
    if first.is_triage:
        beside = _triage_tables().triage_comparison({name: run for name, (run, _) in group.items()}, SEED)
        return beside[0].finding, tables | {"": [*beside, *tables[""]]}
    return best_of(scored, pairs), tables


def tables_of_run(run: JudgedRun, assessment: Assessment) -> list[Table]:
    """Return the tables of one run; one of triage begins with whose fault the runs are."""
    tables = assessment_tables(assessment, run.question.name)
    return _triage_tables().triage_run(run, tables, SEED) if run.is_triage else tables


def _triage_tables() -> _TriageTables:
    return cast("_TriageTables", import_module(_TRIAGE_TABLES))


def _scored(group: Mapping[str, tuple[JudgedRun, Assessment]]) -> dict[str, Scores]:
    return {name: assessment.scores for name, (_, assessment) in group.items()}


def _figures(group: Mapping[str, tuple[JudgedRun, Assessment]]) -> tuple[tuple[str, ...], ...]:
    if not can_draw():
        return ()
    return judge_figures({name: assessment for name, (_, assessment) in group.items()})


def _public_set(run: JudgedRun) -> str:
    """Return the public set that a run's benchmark was built from; empty for a user's own."""
    built = (cache_folder() / "benchmarks").resolve()
    inside = run.benchmark.resolve()
    return inside.relative_to(built).parts[0] if inside.is_relative_to(built) else ""


def _input(name: str, run: JudgedRun) -> str:
    model = run.manifest.settings.get("model")
    judge = f"{run.judge}{f' with {model}' if model else ''}"
    unfinished = "" if run.manifest.finished else ", not finished"
    begun = f", begun {run.manifest.started}" if run.manifest.started else ""
    items = counted_text(len(run.verdicts), "item")
    form = run.manifest.settings.get("imported")
    if form:
        judge += f", imported from {run.manifest.settings.get('file')} ({form}),"
    return f"{name}: {judge} on {run.question.name} ({run.manifest.inputs.digest[:12]}), {items}{begun}{unfinished}"
