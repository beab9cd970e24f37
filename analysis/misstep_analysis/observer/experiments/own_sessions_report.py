"""A user's own sessions as an experiment: judged, reported, and written as a benchmark of recoveries."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import tomli_w
from msgspec import Struct

from misstep_analysis.gold import read_gold
from misstep_analysis.observer.experiments.comparison import compare_arms, experiment_finding, experiment_tables
from misstep_analysis.observer.experiments.own_sessions import (
    UNKNOWN,
    OwnSession,
    OwnWord,
    has_control,
    own_recovery_table,
    spoken_table,
)
from misstep_analysis.observer.experiments.sessions import ExperimentSession
from misstep_analysis.tables import Table
from misstep_analysis.tables.wording import counted_text
from misstep_harness.errors import UsageError
from misstep_harness.intervention import NOT_RECOVERED, RECOVERED, RECOVERY_RULE
from misstep_harness.items import Item
from misstep_harness.journal.records import MANIFEST, encode, encode_lines, read_verdicts, replace_file, replacing
from misstep_harness.observer.experiment.own_sessions import (
    DETECTED,
    HEARD,
    RUNS,
    Assignment,
    GuidedRun,
    LeftOut,
    guided_runs,
)
from misstep_harness.observer.experiment.session import failed_calls
from misstep_harness.trajectory import Evidence, Step, together

Recovered = Mapping[str, bool | None]
"""Item → whether its judge says that the agent recovered."""


class OwnReport(Struct, frozen=True):
    """What a user's own sessions show: a sentence, tables, and what a reader should know."""

    finding: str
    tables: tuple[Table, ...]
    remarks: tuple[str, ...]


def report_of_own(
    paths: Sequence[Path], assignment: Assignment, judged: Path | None = None, seed: int = 0
) -> OwnReport:
    """Return the report on a user's own sessions; `judged` is a run of a judge, or a benchmark that people labelled."""
    left_out = LeftOut()
    known, judge = (None, RECOVERY_RULE) if judged is None else _labels_of(judged)
    sessions = []
    detectors = Counter[str]()
    for one in guided_runs(paths, assignment, left_out):
        sessions.append(counted(one, one.recovered_by_rule() if known is None else known))
        detectors[one.detector] += 1
    evidence = together("generated" if one.evidence == "generated" else "real" for one in sessions)
    source = f"{counted_text(len(sessions), 'session')}, n {len(sessions):,}"
    tables = [
        spoken_table(sessions, source, evidence),
        own_recovery_table(sessions, judge, source, evidence),
    ]
    finding = f"{tables[0].finding} {tables[1].finding}"
    if has_control(sessions):
        compared = compare_arms([one.counted for one in sessions if one.arm != UNKNOWN], "shadow", "guide", seed=seed)
        finding = f"{finding} {experiment_finding(compared)}"
        tables += experiment_tables(compared, source, evidence, "own_sessions")
    return OwnReport(finding.strip(), tuple(tables), tuple(_remarks(judge, detectors, left_out)))


def followed_tables(paths: Sequence[Path], source: str, evidence: Evidence) -> tuple[Table, Table]:
    """Return how often agents were told, and what `recovery@rule` says of what followed."""
    runs = guided_runs(paths, Assignment(), LeftOut())
    sessions = [counted(one, one.recovered_by_rule()) for one in runs]
    return spoken_table(sessions, source, evidence), own_recovery_table(sessions, RECOVERY_RULE, source, evidence)


def _remarks(judge: str, detectors: Mapping[str, int], left_out: LeftOut) -> Iterator[str]:
    by = ", ".join(f"{name or 'nobody'} in {counted_text(count, 'session')}" for name, count in detectors.items())
    yield f"Detected by {by}; recovery judged by {judge}."
    if left_out.unreadable:
        first, count = left_out.unreadable[0], counted_text(len(left_out.unreadable), "session")
        yield f"{count} could not be read, first {first.file}: {first.error}"
    if left_out.transcripts:
        gone = counted_text(len(left_out.transcripts), "transcript")
        yield f"{gone} that the log or run names, first {left_out.transcripts[0]}, left out: the files do not exist."


def _labels_of(judged: Path) -> tuple[Recovered, str]:
    if (judged / MANIFEST).is_file():
        verdicts = list(read_verdicts(judged, unfinished=True))
        names = ", ".join(sorted({one.judge for one in verdicts}))
        return {one.item: None if one.label is None else one.label == RECOVERED for one in verdicts}, names
    if not (judged / "gold.csv").is_file():
        advice = "Name a run of `misstep judge run`, or a benchmark whose gold.csv people filled."
        raise UsageError(f"{judged} has neither {MANIFEST} nor gold.csv", advice)
    votes: dict[str, Counter[str]] = {}
    for one in read_gold(judged):
        votes.setdefault(one.item, Counter())[one.label] += 1
    return {item: _majority(of_item) for item, of_item in votes.items()}, "people"


def _majority(votes: Counter[str]) -> bool | None:
    yes, no = votes[RECOVERED], votes[NOT_RECOVERED]
    return None if yes == no else yes > no


def counted(one: GuidedRun, recovered: Recovered) -> OwnSession:
    """Return what a session counts for; what its format does not say is unknown."""
    steps = [step for step in one.run.steps if step.role == "agent"]
    calls, failed = failed_calls(steps)
    known = any(result.is_error is not None for step in steps for result in step.results)
    own = ExperimentSession(
        one.run.id,
        one.unit,
        one.arm or UNKNOWN,
        failed_calls=failed if known else None,
        calls=calls if known else None,
        tokens=_tokens(steps),
        seconds=sum(step.seconds or 0.0 for step in steps) if any(step.seconds for step in steps) else None,
        steps=len(steps),
    )
    words = [
        OwnWord(
            item.id, tuple(item.extra["categories"]), item.extra[HEARD], item.extra[DETECTED], recovered.get(item.id)
        )
        for item in one.items
    ]
    return OwnSession(own, one.project, tuple(words), one.run.source.evidence)


def _tokens(steps: Sequence[Step]) -> float | None:
    spent = [step.tokens for step in steps if step.tokens is not None]
    known = [one for one in spent if one.prompt is not None or one.completion is not None]
    return sum((one.prompt or 0) + (one.completion or 0) for one in known) if known else None


def write_own_benchmark(paths: Sequence[Path], out: Path, assignment: Assignment, labels: Mapping[str, str]) -> int:
    """Write every word of a user's own sessions as an item whose label nobody knows yet; gives their number."""
    if (out / "gold.csv").exists():
        raise UsageError(f"{out} holds a benchmark", "Name another folder with --out.")
    (out / RUNS).parent.mkdir(parents=True, exist_ok=True)
    items: list[Item] = []
    kinds = set()
    with replacing(out / RUNS) as runs:
        for one in guided_runs(paths, assignment, LeftOut()):
            if one.items:
                runs.write(encode(one.run) + b"\n")
                items += one.items
                kinds.add(one.run.source.evidence)
        if not items:
            raise UsageError("no misbehaviour was detected in these sessions", "Name more sessions.")
    replace_file(out / "items.jsonl", encode_lines(items))
    form = {"name": out.resolve().name, "kind": "recovery", "evidence": together(kinds), "positive": RECOVERED}
    replace_file(out / "benchmark.toml", tomli_w.dumps({**form, "labels": dict(labels)}).encode())
    replace_file(out / "gold.csv", b"item,rater,label\n")
    return len(items)
