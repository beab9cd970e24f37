"""Curated training data from a run of a judge of triage: what becomes of each run, and a data card.

    OUT/runs.jsonl       one line a run, whatever becomes of it
    OUT/keep.jsonl       the runs that are kept; and so filter, rerun, repair_task, undecided, each if there are any
    OUT/README.md        the data card: counts with intervals, how it was made; its front matter names the files
    OUT/run.toml         what `misstep export` has to know of the folder

Nothing is left out: every run of the verdicts is in `runs.jsonl` and in the file of what becomes of it.
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import cast

from msgspec import Struct, structs

from misstep_analysis.gold import BenchmarkItem
from misstep_analysis.judging.judged_runs import JudgedRun
from misstep_analysis.judging.sample import majority
from misstep_analysis.reproduction.triage_recording import recorded_cases
from misstep_analysis.runs.finished import command_line, places_of
from misstep_analysis.triage.comparison import JudgedCases
from misstep_analysis.triage.curation import (
    ACTIONS,
    Curation,
    Decision,
    ErrorRates,
    Outcome,
    curation,
    curation_sentence,
    decide,
    known_errors,
    worth_sentence,
)
from misstep_analysis.triage.data_card import (
    CARD,
    RUNS,
    CardAbout,
    ChatCall,
    ChatFunction,
    ChatMessage,
    CuratedEvidence,
    CuratedRun,
    card_text,
)
from misstep_analysis.triage.judged import judged_cases
from misstep_harness.errors import InputError, UsageError, writing
from misstep_harness.journal.records import (
    MANIFEST,
    Manifest,
    encode,
    encode_lines,
    replace_file,
    replacing,
    write_manifest,
    written_in,
)
from misstep_harness.path_names import without_places
from misstep_harness.readers import read_file
from misstep_harness.trajectory import Step, ToolCall, Trajectory, Unreadable
from misstep_harness.triage.logs import outcome_of_run
from misstep_harness.triage.records import CaseFile, TriageCase, TriageVerdict, read_triage_case
from misstep_harness.triage.rules.text import acted
from misstep_harness.triage.runs.judges import case_folder
from misstep_harness.triage.texts import TRAJECTORY, FilesOfCase, TextsOfItem, recorded_outcome

CURATED = "triage --curate"
TRAJECTORIES = "trajectories"
"""In the folder: the runs that would not outlast the judge's run."""

_ROLES = {"user": "user", "system": "system", "agent": "assistant"}


class _Recorded(Struct, frozen=True):
    """The facts about a run beside the verdict; `acted` says whether anything shows a step of the agent."""

    task: str = ""
    outcome: Outcome | None = None
    reward: float | None = None
    trajectory: Path | None = None
    acted: bool = True


def curate(run: JudgedRun, out: Path, cases: Path | None = None) -> Curation:
    """Write what becomes of each run of a judge's verdicts into a folder."""
    check_free(out)
    verdicts = [*cast("tuple[TriageVerdict, ...]", run.verdicts), *_without_verdict(run)]
    items = {item.id: item for item in run.items}
    recorded = {verdict.item: _recorded(run.benchmark, items.get(verdict.item), cases) for verdict in verdicts}
    decisions = [
        decide(verdict, recorded[verdict.item].outcome, acted=recorded[verdict.item].acted) for verdict in verdicts
    ]
    rates = known_rates(run)
    curated = curation(decisions, majority(run.gold).label_of, run.clusters, rates)
    lines = (
        _line(verdict, decision, recorded[verdict.item], rates, out, run.folder)
        for verdict, decision in zip(verdicts, decisions, strict=True)
    )
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        (out / MANIFEST).unlink(missing_ok=True)
        _write(lines, out)
    about = _about(run)
    replace_file(out / CARD, card_text(about, curated).encode())
    write_manifest(out, _manifest(run, about, out))
    return curated


def _write(lines: Iterable[CuratedRun], out: Path) -> None:
    """Write each line into the file of all and into that of what becomes of it; they are there when all are written."""
    names = [Path(RUNS).stem, *ACTIONS]
    files = {name: out / f"{name}.jsonl" for name in names}
    with ExitStack() as open_files:
        streams = {name: open_files.enter_context(replacing(file)) for name, file in files.items()}
        for line in lines:
            for name in (names[0], line.action):
                streams[name].write(encode_lines([line]))
    for action in ACTIONS:
        if not files[action].stat().st_size:
            files[action].unlink()


def _manifest(run: JudgedRun, about: CardAbout, out: Path) -> Manifest:
    places = places_of(run)
    return structs.replace(
        run.manifest,
        command=CURATED,
        arguments=[without_places(word, places) for word in run.manifest.arguments],
        settings={"judge": about.judge, "cases": about.source, "evidence": about.evidence},
        inputs=structs.replace(run.manifest.inputs, parts=()),
        folder="",
        finished=run.manifest.finished or run.manifest.started,
        written=written_in(out, RUNS),
    )


def curation_text(curated: Curation, out: Path) -> str:
    """Return the result for the runs in a few sentences, and a line on where they are."""
    files = ", ".join(f"{name}.jsonl" for name in ACTIONS if curated.counts[name])
    sentences = [
        curation_sentence(curated),
        worth_sentence(curated),
        f"{out / RUNS}, {files}; the data card is {out / CARD}.",
    ]
    return "\n".join(sentences) + "\n"


def _about(run: JudgedRun) -> CardAbout:
    cases = judged_cases({run.judge: run})
    places = places_of(run)
    command = without_places(command_line(run.manifest), places)
    return CardAbout(run.judge, without_places(cases.source, places), cases.evidence, command, run.manifest.misstep)


def known_rates(run: JudgedRun) -> ErrorRates | None:
    """Return the judge's errors on recorded generated cases, where it was recorded and this run is not on them."""
    recorded: JudgedCases | None = recorded_cases()
    if recorded is None or run.judge not in recorded.runs:
        return None
    if {one.item for one in recorded.runs[run.judge]} & {one.item for one in run.verdicts}:
        return None
    alone = structs.replace(recorded, runs={run.judge: recorded.runs[run.judge]})
    return known_errors(alone)[run.judge]


def _recorded(benchmark: Path, item: BenchmarkItem | None, cases: Path | None) -> _Recorded:
    if item is None:
        return _Recorded()
    named = item.extra.get("case")
    if named:
        case = read_triage_case(case_folder(benchmark, named, item.id, cases))
        try:
            return _of_case(case)
        except InputError:  # the judge said so of this run, and the others go on
            return _Recorded(case.file.task or case.id, case.file.outcome, acted=False)
    file = benchmark / item.trajectory if isinstance(item.trajectory, str) else None
    try:
        return _of_run(_first(file) if file is not None else None, file)
    except InputError:
        return _Recorded(acted=False)


def _of_case(case: TriageCase) -> _Recorded:
    files = FilesOfCase(case)
    run, outcome = files.trajectory, recorded_outcome(files)
    place = case.folder / TRAJECTORY if run is not None else None
    return _Recorded(case.file.task or case.id, outcome, _reward(run, outcome), place, acted(files, run))


def _of_run(run: Trajectory | None, file: Path | None) -> _Recorded:
    if run is None:
        return _Recorded()
    outcome = outcome_of_run(run)
    texts = TextsOfItem(TriageCase(CaseFile(run.id), Path()), run.task, run)
    return _Recorded(run.task, outcome, _reward(run, outcome), file, acted(texts, run))


def _reward(run: Trajectory | None, outcome: Outcome | None) -> float | None:
    if run is not None and run.outcome.reward is not None:
        return run.outcome.reward
    return None if outcome is None else float(outcome == "passed")


def _first(file: Path) -> Trajectory | None:
    first = next(read_file(file), None)
    if isinstance(first, Unreadable):
        raise InputError(f"the run cannot be read: {first.error}", "Repair the file.", file=file, line=first.line)
    return first


def _without_verdict(run: JudgedRun) -> list[TriageVerdict]:
    known = {verdict.item for verdict in run.verdicts}
    error = "the run of the judge has no verdict on it"
    return [
        TriageVerdict(item.id, run.judge, None, "failed", error=error) for item in run.items if item.id not in known
    ]


def _kept_place(place: Path, item: str, out: Path, judged: Path) -> Path:
    """Return the place of a recorded run: one in the folder of the judge's run, which may be thrown away, is copied."""
    if not place.resolve().is_relative_to(judged.resolve()):
        return place
    copied = out / TRAJECTORIES / f"{item}.json"
    copied.parent.mkdir(exist_ok=True)
    shutil.copyfile(place, copied)
    return copied


def _line(
    verdict: TriageVerdict, decision: Decision, recorded: _Recorded, rates: ErrorRates | None, out: Path, judged: Path
) -> CuratedRun:
    run = None if recorded.trajectory is None else _first(recorded.trajectory)
    measured = rates.confidence(decision) if rates is not None else None
    place = recorded.trajectory and _kept_place(recorded.trajectory, verdict.item, out, judged)
    return CuratedRun(
        id=verdict.item,
        task=recorded.task,
        outcome=recorded.outcome or "",
        reward=recorded.reward,
        label=verdict.label or "",
        subcategory=verdict.subcategory,
        action=decision.action,
        confidence=measured if verdict.score is None else verdict.score,
        reason=" ".join(part for part in (decision.reason, verdict.rationale) if part),
        evidence=tuple(CuratedEvidence(one.kind, one.where, one.text) for one in verdict.evidence),
        messages=() if run is None else training_messages(run),
        trajectory=Path(os.path.relpath(place.resolve(), out.resolve())).as_posix() if place is not None else "",
    )


def training_messages(run: Trajectory) -> tuple[ChatMessage, ...]:
    """Return the messages of a run; its task opens them where no step of a user says anything."""
    has_task = any(step.role == "user" and step.text for step in run.steps)
    task = () if has_task or not run.task else (ChatMessage("user", run.task),)
    return (*task, *(message for number, step in enumerate(run.steps) for message in _of_step(step, number)))


def _of_step(step: Step, number: int) -> Iterator[ChatMessage]:
    calls = tuple(_call(call, _id(number, place)) for place, call in enumerate(step.calls))
    if step.text or calls or step.reasoning:
        yield ChatMessage(_ROLES[step.role], step.text, step.reasoning or None, calls)
    for place, result in enumerate(step.results):
        yield ChatMessage("tool", result.text, tool_call_id=result.call_id or _id(number, place))


def _call(call: ToolCall, otherwise: str) -> ChatCall:
    """Return a call; its arguments are JSON text, or as the agent wrote them where they could not be parsed."""
    arguments = call.arguments if isinstance(call.arguments, str) else encode(call.arguments).decode()
    return ChatCall(call.id or otherwise, ChatFunction(call.name, arguments))


def _id(number: int, place: int) -> str:
    return f"step-{number}-call-{place}"


def check_free(out: Path) -> None:
    """Refuse a folder with anything but an earlier curation."""
    known = {RUNS, CARD, MANIFEST, TRAJECTORIES, *(f"{name}.jsonl" for name in ACTIONS)}
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is not a folder", "Name a folder with --curate.")
    others = sorted(file.name for file in out.iterdir() if file.name not in known) if out.is_dir() else []
    if others or (out.is_dir() and any(out.iterdir()) and not (out / RUNS).is_file()):
        first = others[0] if others else CARD
        raise UsageError(f"{out} has other files, such as {first}", "Name a folder that is not there yet.")
