"""Ask judges about what the rules of a run of `classify` left open: a run of `judge run` for each category, inside it.

    RUN/judges/unrequested_changes/            as `misstep judge run` leaves it; `misstep annotate` goes on with it
    RUN/judges/unrequested_changes/benchmark/  the sessions that it was asked about

A session that was asked about keeps its answer: new sessions join the benchmark, and replies to the same requests are
in the judge's folder. Rules hardly look for limits that people set in words of their own, so that of the categories
`HARDLY_CHECKED` a "no" of theirs is left open too.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
import tomli_w
from msgspec import Struct, structs

from misstep_harness.clients import ClientSettings
from misstep_harness.errors import UsageError, writing
from misstep_harness.items import read_items
from misstep_harness.journal.classified import LabelledSession, PlacedVerdict, labelled_sessions
from misstep_harness.journal.inputs import FILE_RECORDS, FileState, name_of
from misstep_harness.journal.opened import OpenRun
from misstep_harness.journal.records import FILES, encode, encode_lines, read_records, read_verdicts, replace_file
from misstep_harness.journal.run_folder import make_folder
from misstep_harness.judges.runnable import RunnableJudge
from misstep_harness.progress import Progress
from misstep_harness.readers import FoundFile
from misstep_harness.runs.classify import InstructionSources
from misstep_harness.runs.inputs import batches, placed_in
from misstep_harness.runs.judging.judge import run_judge
from misstep_harness.runs.judging.known_judges import BENCHMARK
from misstep_harness.runs.judging.session_benchmark import (
    GOLD_HEADER,
    SESSIONS_FILE,
    building_beside,
    item_of,
    kind_for,
    put_in_place,
)
from misstep_harness.runs.kind import RunEnd
from misstep_harness.session import Session
from misstep_harness.trajectory import Placed, Trajectory, noted, together
from misstep_harness.verdict import Verdict

JUDGES = "judges"
"""The folder in a run that holds what judges said after the rules."""

HARDLY_CHECKED = ("unrequested_changes", "did_not_follow_instructions")

RULES_TITLE = "Standing rules of the project:"

_NO_AGENT = "no agent takes a step in it"


class CategoryJudge(Struct, frozen=True):
    """A judge of a category, and the client that asks for it."""

    category: str
    judge: RunnableJudge
    client: ClientSettings


class _Id(Struct, frozen=True):
    id: str


def category_of(judge: RunnableJudge, named: str, categories: Collection[str]) -> str:
    """Return the category that a judge is about; it has to be one of those, and to be answered with yes or no."""
    category = judge.category or judge.name
    if category not in categories:
        advice = f"Declare it in the judge's file as category: {', '.join(categories)}."
        raise UsageError(f"the judge {named} is about {category!r}, which is none of the categories", advice)
    if set(judge.labels) != {"yes", "no"}:
        raise UsageError(
            f"the judge {named} answers with {', '.join(judge.labels) or 'no label of its own'}",
            "Give it the labels yes and no.",
        )
    return category


def is_open(category: str, verdict: PlacedVerdict) -> bool:
    """Return whether rules left it open if a session shows a category; what a judge answered is not theirs."""
    if verdict.by:
        return True
    hardly = verdict.label == "no" and category in HARDLY_CHECKED
    return verdict.status == "abstained" or hardly


def ask_judges(
    run: OpenRun,
    files: Iterable[FoundFile],
    judges: Sequence[CategoryJudge],
    rules: InstructionSources,
    in_flight: int = 16,
    arguments: Sequence[str] = (),
) -> Iterator[RunEnd]:
    """Ask each judge about the sessions of a finished run that are open to it, and yield how its run ended.

    The limit on cost is one for all of them. `MissingPrerequisite` leaves what was answered.
    """
    benchmarks = _benchmarks(run, files, judges, rules)
    spent = {one.category: _spent(run.folder / JUDGES / one.category) for one in judges}
    for one in judges:
        folder = run.folder / JUDGES / one.category
        if one.category not in benchmarks:
            continue
        client, limit = one.client, one.client.max_cost_usd
        if limit is not None:
            others = sum(cost for category, cost in spent.items() if category != one.category)
            client = structs.replace(client, max_cost_usd=max(limit - others, 0.0))
        try:
            ended = run_judge(
                one.judge, benchmarks[one.category], folder, client, concurrency=in_flight, arguments=arguments
            )
        finally:
            spent[one.category] = _spent(folder)
        yield ended


class Answered(Struct, frozen=True):
    """Puts the verdicts of judges in the place of those that the rules left open."""

    answers: dict[tuple[str, str], Verdict]
    judges: dict[str, str]

    def __call__(self, one: LabelledSession) -> LabelledSession:
        """Return a session with the verdicts of judges, if it has any."""
        return structs.replace(one, verdicts=tuple(map(self._revised, one.verdicts)))

    def _revised(self, rule: PlacedVerdict) -> PlacedVerdict:
        answer = self.answers.get((rule.judge, rule.item))
        # An answer that cannot be used leaves the question open: the rule's "no" was not an answer to it.
        if answer is None or not is_open(rule.judge, rule):
            return rule
        fields = {**structs.asdict(answer), "judge": rule.judge}
        return PlacedVerdict(**fields, file=rule.file, line=rule.line, by=self.judges[rule.judge])


def answered(run: OpenRun, judges: Sequence[CategoryJudge]) -> Answered:
    """Return what puts the verdicts of judges into a run; the next line asks again where a judge failed."""
    folders = {one.category: run.folder / JUDGES / one.category for one in judges}
    answers = {
        (category, verdict.item): verdict for category, folder in folders.items() for verdict in _verdicts(folder)
    }
    return Answered(answers, {one.category: one.judge.name for one in judges})


def _verdicts(run: Path) -> Iterable[Verdict]:
    return read_verdicts(run, unfinished=True) if (run / "verdicts.jsonl").is_file() else ()


def _spent(run: Path) -> float:
    return sum(one.cost_usd or 0.0 for one in _verdicts(run) if not one.cached)


class _Building:
    """A benchmark that is brought up to date: what it has of unchanged sessions stays, others are read again."""

    def __init__(
        self, folder: Path, judge: RunnableJudge, wanted: Mapping[str, Session], states: Mapping[str, FileState]
    ) -> None:
        self._folder, self._judge, self._kind = folder, judge, kind_for(judge)
        self._states = {one.file: states[one.file] for one in wanted.values()}
        self._kinds = {one.evidence for one in wanted.values()}
        there = (folder / FILES).is_file()
        known = {one.file: one.content for one in read_records(folder, FILE_RECORDS)} if there else {}
        same = {file for file, state in self._states.items() if known.get(file) == state.content}
        old = [item.id for item in read_items(folder, _Id)] if there else []
        self._kept = {item for item in old if item in wanted and wanted[item].file in same}
        self.missing = {item: one.file for item, one in wanted.items() if item not in self._kept}

    @contextmanager
    def opened(self) -> Iterator["_Building"]:
        """Write the benchmark, what is added inside behind what it has; a kill leaves the one that is there."""
        building = building_beside(self._folder)
        make_folder(building / "trajectories")
        places = ("items.jsonl", SESSIONS_FILE)
        with writing(building), ExitStack() as stack:
            self._items, self._runs = (stack.enter_context((building / name).open("wb")) for name in places)
            for name, stream in zip(places, (self._items, self._runs), strict=True) if self._kept else ():
                with (self._folder / name).open("rb") as earlier:
                    stream.writelines(line for line in earlier if msgspec.json.decode(line, type=_Id).id in self._kept)
            yield self
        question = {"name": self._folder.parent.name, "kind": self._kind, "labels": dict(self._judge.labels)}
        described = {**noted(together(self._kinds)), **question, "positive": "yes"}
        replace_file(building / "benchmark.toml", tomli_w.dumps(described).encode())
        replace_file(building / FILES, encode_lines(self._states.values()))
        gold = self._folder / "gold.csv"
        (building / "gold.csv").write_bytes(gold.read_bytes() if gold.is_file() else GOLD_HEADER)
        put_in_place(building, self._folder)

    def add(self, session: Session, placed: Placed, rules: InstructionSources) -> None:
        """Add a session if it is one of those that the benchmark lacks."""
        if session.item not in self.missing or not isinstance(placed.found, Trajectory):
            return
        run = structs.replace(placed.found, id=session.item)
        item = item_of(run, placed, self._kind)
        if text := rules.text_for(run):
            item = structs.replace(item, task=f"{run.task or '(not recorded)'}\n\n{RULES_TITLE}\n{text}")
        if not any(step.role == "agent" for step in run.steps):
            item = structs.replace(item, unaskable=_NO_AGENT)
        self._items.write(encode(item) + b"\n")
        self._runs.write(encode(run) + b"\n")


def _benchmarks(
    run: OpenRun, files: Iterable[FoundFile], judges: Sequence[CategoryJudge], rules: InstructionSources
) -> dict[str, Path]:
    """Bring the benchmark of each category up to date, and return those in which there is something to ask."""
    sessions_of: defaultdict[str, list[Session]] = defaultdict(list)
    wanted: dict[str, dict[str, Session]] = {one.category: {} for one in judges}
    for one in labelled_sessions(run.folder):
        session = structs.replace(one.session, shown="")
        sessions_of[session.file].append(session)
        for verdict in one.verdicts if session.parent is None else ():
            if verdict.judge in wanted and is_open(verdict.judge, verdict):
                wanted[verdict.judge][session.item] = session
    states = {state.file: state for state in read_records(run.folder, FILE_RECORDS)}
    folders = {one.category: run.folder / JUDGES / one.category / BENCHMARK for one in judges if wanted[one.category]}
    judge_of = {one.category: one.judge for one in judges}
    each = [_Building(folder, judge_of[name], wanted[name], states) for name, folder in folders.items()]
    if lacking := [one for one in each if one.missing]:
        with ExitStack() as stack:
            writers = [stack.enter_context(one.opened()) for one in lacking]
            for session, placed in _read_again(
                files, sessions_of, {file for one in lacking for file in one.missing.values()}
            ):
                for writer in writers:
                    writer.add(session, placed, rules)
    askable = {name: any(not item.unaskable for item in read_items(folder)) for name, folder in folders.items()}
    return {name: folder for name, folder in folders.items() if askable[name]}


def _read_again(
    files: Iterable[FoundFile], sessions_of: Mapping[str, Sequence[Session]], wanted: Collection[str]
) -> Iterator[tuple[Session, Placed]]:
    """Return the sessions in files that a run has read, each with the session of the run that it is, in order."""
    coming = {file: iter(sessions_of[file]) for file in wanted}
    with Progress("sessions") as progress:
        for batch in batches(file for file in files if name_of(file.path) in coming):
            for placed in placed_in(batch):
                if (
                    not (isinstance(placed, Placed) and isinstance(placed.found, Trajectory))
                    or placed.file not in coming
                ):
                    continue
                session = next(coming[placed.file], None)
                if session is None or not f"{session.item}~".startswith(f"{placed.found.id}~"):
                    coming[placed.file] = iter(())  # it is written at this moment: the next line asks about it
                    continue
                yield session, placed
                progress.advance()
