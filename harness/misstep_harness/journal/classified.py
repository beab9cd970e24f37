"""Classify trajectories in batches: the work of one worker (`judge`), and the merging of the results in order."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import groupby, repeat, zip_longest
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from misstep_harness.errors import InputError
from misstep_harness.journal.records import SESSION_RECORDS, VERDICTS, Records, encode_lines, read_records
from misstep_harness.session import Session, is_sub_agent, session_of
from misstep_harness.trajectory import Evidence, Placed, Skipped, Trajectory, Unreadable
from misstep_harness.verdict import Verdict

Classify = Callable[[Trajectory], list[Verdict]]
"""One verdict a category, always in the same order."""

Labels = tuple[str | None, ...]
"""The labels of a trajectory, one per category; `None` if the classifier abstained or failed."""

Show = Callable[[Trajectory, Collection[int]], str]
"""A flagged trajectory and its evidence steps → its data for a page."""


_LONGEST = 200
"""The most characters of a call that a verdict keeps."""


class SessionFinding(Struct, frozen=True):
    """A trajectory that shows a category, with its file and line, the evidence steps, the reason and the rule."""

    item: str
    category: str
    file: str
    line: int | None
    steps: tuple[int, ...]
    rationale: str
    rule: str | None = None


class FailedClassifier(Struct, frozen=True):
    """A category whose classifier failed: the number of trajectories, and the first error."""

    category: str
    count: int
    error: str


class AskedJudge(Struct, frozen=True):
    """How many sessions a judge was asked about for a category, and how many it answered."""

    category: str
    judge: str
    model: str | None
    sessions: int
    answered: int


class PlacedVerdict(Verdict, frozen=True, gc=False):
    """A verdict with the file of its trajectory, and the line if the file has many.

    `by` is the name of the judge that was asked after the rules; the rules' own verdicts have none. `calls` are the
    tools of the evidence steps, each with its command line if it takes one.
    """

    file: str = ""
    line: int | None = None
    by: str | UnsetType = UNSET
    calls: tuple[tuple[str, str], ...] | UnsetType = UNSET


class LabelledSession(Struct, frozen=True):
    """A session and the verdicts on it, one a category, always in the same order."""

    session: Session
    verdicts: tuple[PlacedVerdict, ...]

    @property
    def labels(self) -> Labels:
        """Return the label of each category; `None` where its rule abstained or failed."""
        return tuple(verdict.label for verdict in self.verdicts)

    def named(self, item: str) -> "LabelledSession":
        """Return the session with another id."""
        return msgspec.structs.replace(self, session=msgspec.structs.replace(self.session, item=item))

    def placed(self, file: str) -> "LabelledSession":
        """Return the session as one of another file."""
        verdicts = tuple(msgspec.structs.replace(verdict, file=file) for verdict in self.verdicts)
        return LabelledSession(msgspec.structs.replace(self.session, file=file), verdicts)


class Judged(Struct, frozen=True):
    """The result of one batch of the inputs.

    `lines` and `sessions` have verdicts and sessions as JSON lines. `items` has the ids of the trajectories before
    renaming, each with the lengths in bytes of both. `findings` refers to positions in `items`. `patterns` counts the
    sessions with the same labels, `sub_agents` the runs of sub-agents, `generated` those of either that a program made.
    Without lines, `costly` has what costs are summed from: the flagged sessions and all sub-agents, by position.
    """

    lines: bytes
    sessions: bytes
    items: list[tuple[str, int, int]]
    patterns: dict[Labels, int]
    sub_agents: dict[Labels, int]
    findings: list[tuple[int, SessionFinding]]
    unreadable: list[Unreadable]
    skipped: list[Skipped]
    failed: list[FailedClassifier] = []
    generated: int = 0
    costly: list[tuple[int, LabelledSession]] = []
    worth_a_look: list[tuple[int, SessionFinding]] = []


class BatchEntry(Struct, frozen=True):
    """What the journal notes of one batch."""

    patterns: list[tuple[Labels, int]]
    sub_agents: list[tuple[Labels, int]]
    findings: list[SessionFinding]
    unreadable: list[Unreadable]
    skipped: list[Skipped]
    renamed: int
    failed: list[FailedClassifier] = []
    generated: int = 0
    judges: list[AskedJudge] = []
    worth_a_look: list[SessionFinding] = []


class Summary(Struct, frozen=True):
    """The results of all inputs; `costly` as in `Judged`, for inputs of which no record is kept."""

    patterns: dict[Labels, int]
    sub_agents: dict[Labels, int]
    findings: list[SessionFinding]
    unreadable: list[Unreadable]
    skipped: list[Skipped]
    renamed: int
    failed: list[FailedClassifier] = []
    generated: int = 0
    judges: list[AskedJudge] = []
    costly: list[LabelledSession] = []
    worth_a_look: list[SessionFinding] = []

    @property
    def evidence(self) -> Evidence:
        """Return the kind of evidence that figures on them are."""
        return "generated" if self.generated else "real"

    @property
    def n(self) -> int:
        """Return the number of sessions that were read, without those of sub-agents."""
        return sum(self.patterns.values())

    @property
    def empty(self) -> bool:
        """Return whether there was nothing to read."""
        return not (self.patterns or self.sub_agents or self.unreadable)


def judge(
    things: Iterable[Placed | Trajectory | Unreadable | Skipped],
    classify: Classify,
    *,
    keep_lines: bool,
    show: Show | None = None,
) -> Judged:
    """Judge one batch of the inputs."""
    lines: list[bytes] = []
    sessions: list[bytes] = []
    failed: list[FailedClassifier] = []
    generated = 0
    judged = Judged(b"", b"", [], Counter(), Counter(), [], [], [], [], worth_a_look=[])
    for one in things:
        placed = Placed(one, one.source.file, one.source.line) if isinstance(one, Trajectory) else one
        thing = placed.found if isinstance(placed, Placed) else placed
        if isinstance(thing, Unreadable):
            judged.unreadable.append(thing)
        elif isinstance(thing, Skipped):
            judged.skipped.append(thing)
        elif isinstance(placed, Placed):
            verdicts = classify(thing)
            labels = tuple([verdict.label for verdict in verdicts])
            (judged.sub_agents if is_sub_agent(thing) else judged.patterns)[labels] += 1
            generated += thing.source.evidence == "generated"
            if None in labels:
                failed += failed_verdicts(verdicts)
            flagged = [verdict for verdict in verdicts if verdict.label == "yes"] if "yes" in labels else []
            judged.findings.extend((len(judged.items), finding_of(_at(verdict, placed))) for verdict in flagged)
            looks = [_at(verdict, placed) for verdict in verdicts if verdict.worth_a_look]
            judged.worth_a_look.extend((len(judged.items), finding_of(verdict)) for verdict in looks)
            records = session = b""
            if keep_lines:
                shown = show(thing, {step for one in flagged for step in one.steps}) if show and flagged else ""
                records = encode_lines(_at(verdict, placed) for verdict in verdicts)
                session = encode_lines([session_of(thing, placed.file, placed.line, shown)])
            elif flagged or is_sub_agent(thing):
                costly = LabelledSession(
                    session_of(thing, placed.file, placed.line), tuple(map(_at, verdicts, repeat(placed)))
                )
                judged.costly.append((len(judged.items), costly))
            lines.append(records)
            sessions.append(session)
            judged.items.append((thing.id, len(records), len(session)))
    joined = {"lines": b"".join(lines), "sessions": b"".join(sessions)}
    counts = {"patterns": dict(judged.patterns), "sub_agents": dict(judged.sub_agents)}
    return msgspec.structs.replace(judged, **joined, **counts, failed=together(failed), generated=generated)


def entry_of(sessions: Iterable[LabelledSession]) -> BatchEntry:
    """Count sessions whose records are there already, as `judge` counts those that it reads."""
    patterns: Counter[Labels] = Counter()
    sub_agents: Counter[Labels] = Counter()
    findings: list[SessionFinding] = []
    looks: list[SessionFinding] = []
    failed: list[FailedClassifier] = []
    asked: Counter[tuple[str, str, str | None]] = Counter()
    answered: Counter[tuple[str, str, str | None]] = Counter()
    generated = 0
    for one in sessions:
        generated += one.session.evidence == "generated"
        (patterns if one.session.parent is None else sub_agents)[one.labels] += 1
        findings += [finding_of(verdict) for verdict in one.verdicts if verdict.label == "yes"]
        looks += [finding_of(verdict) for verdict in one.verdicts if verdict.worth_a_look]
        failed += failed_verdicts(verdict for verdict in one.verdicts if not verdict.by)
        for verdict in one.verdicts:
            if verdict.by:
                asked[verdict.judge, verdict.by, verdict.model] += 1
                answered[verdict.judge, verdict.by, verdict.model] += verdict.label is not None
    judges = [AskedJudge(*judge, count, answered[judge]) for judge, count in asked.items()]
    counts = list(patterns.items()), list(sub_agents.items())
    return BatchEntry(*counts, findings, [], [], 0, failed, generated=generated, judges=judges, worth_a_look=looks)


def failed_verdicts(verdicts: Iterable[Verdict]) -> list[FailedClassifier]:
    """Return one entry per verdict of a classifier that failed."""
    return [FailedClassifier(one.judge, 1, one.error or "") for one in verdicts if one.status == "failed"]


def together(failed: Iterable[FailedClassifier]) -> list[FailedClassifier]:
    """Return one entry per category, with the first error."""
    counts: Counter[str] = Counter()
    errors: dict[str, str] = {}
    for one in failed:
        counts[one.category] += one.count
        errors.setdefault(one.category, one.error)
    return [FailedClassifier(category, counts[category], error) for category, error in errors.items()]


def _at(verdict: Verdict, placed: Placed) -> PlacedVerdict:
    run = placed.found
    calls = UNSET if verdict.label != "yes" or not isinstance(run, Trajectory) else tuple(_calls(run, verdict.steps))
    return PlacedVerdict(**msgspec.structs.asdict(verdict), file=placed.file, line=placed.line, calls=calls or UNSET)


def _calls(run: Trajectory, steps: Iterable[int]) -> Iterator[tuple[str, str]]:
    called = (call for step in steps if step < len(run.steps) for call in run.steps[step].calls)
    each = ((call.name, call.arguments.get("command") if isinstance(call.arguments, dict) else "") for call in called)
    yield from dict.fromkeys((name[:_LONGEST], line[:_LONGEST] if isinstance(line, str) else "") for name, line in each)


def finding_of(verdict: PlacedVerdict) -> SessionFinding:
    """Return the finding of a verdict, and its place."""
    where = verdict.file, verdict.line
    return SessionFinding(verdict.item, verdict.judge, *where, verdict.steps, verdict.rationale, verdict.rule)


class Names:
    """Unique ids for the trajectories of a run."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._ids = set(ids)
        self._last: dict[str, int] = {}

    def give(self, wanted: str) -> str:
        """Give `wanted` where it is free, else the first of `wanted~2`, `wanted~3` and so on that is."""
        name = wanted
        while name in self._ids:
            self._last[wanted] = self._last.get(wanted, 1) + 1
            name = f"{wanted}~{self._last[wanted]}"
        self._ids.add(name)
        return name


class VerdictMerger:
    """Append batches in order, and rename a trajectory whose id is taken; `items` are the ids in use."""

    def __init__(self, items: Iterable[str] = (), record: type[Struct] = PlacedVerdict) -> None:
        self._names = Names(items)
        self._record = msgspec.json.Decoder(record)

    def add(self, judged: Judged) -> tuple[Judged, BatchEntry]:
        """Return one more batch with unique ids, and its entry for the journal."""
        names = [self._names.give(wanted) for wanted, _, _ in judged.items]
        renamed = {
            place: name for place, (name, one) in enumerate(zip(names, judged.items, strict=True)) if name != one[0]
        }
        findings, looks = (
            [msgspec.structs.replace(finding, item=names[place]) for place, finding in listed]
            for listed in (judged.findings, judged.worth_a_look)
        )
        costly = [(place, one.named(names[place])) for place, one in judged.costly]
        judged = msgspec.structs.replace(judged, costly=costly)
        if renamed:
            lines = _renamed(judged.lines, (one[1] for one in judged.items), renamed, self._record)
            sessions = _renamed(judged.sessions, (one[2] for one in judged.items), renamed, _session)
            judged = msgspec.structs.replace(judged, lines=b"".join(lines), sessions=b"".join(sessions))
        patterns, sub_agents = list(judged.patterns.items()), list(judged.sub_agents.items())
        left_out = judged.unreadable, judged.skipped, len(renamed)
        return judged, BatchEntry(
            patterns,
            sub_agents,
            findings,
            *left_out,
            failed=judged.failed,
            generated=judged.generated,
            worth_a_look=looks,
        )


_session = msgspec.json.Decoder(Session)


def _renamed(
    lines: bytes, lengths: Iterable[int], renamed: dict[int, str], decoder: "msgspec.json.Decoder[Any]"
) -> Iterator[bytes]:
    start = 0
    for position, length in enumerate(lengths):
        own = lines[start : start + length]
        start += length
        if position in renamed:
            records = decoder.decode_lines(own)
            own = encode_lines(msgspec.structs.replace(record, item=renamed[position]) for record in records)
        yield own


def summarise(entries: Iterable[BatchEntry]) -> Summary:
    """Return the summary of all journal entries."""
    counted: dict[str, Counter[Labels]] = {"patterns": Counter(), "sub_agents": Counter()}
    joined: dict[str, Any] = {"findings": [], "unreadable": [], "skipped": [], "failed": [], "worth_a_look": []}
    renamed = generated = 0
    judges: dict[tuple[str, str, str | None], AskedJudge] = {}
    for entry in entries:
        for name, whole in counted.items():
            for labels, count in getattr(entry, name):
                whole[labels] += count
        for name, listed in joined.items():
            listed += getattr(entry, name)
        renamed += entry.renamed
        generated += entry.generated
        for asked in entry.judges:
            judge = asked.category, asked.judge, asked.model
            earlier = judges.get(judge, AskedJudge(*judge, 0, 0))
            judges[judge] = AskedJudge(*judge, earlier.sessions + asked.sessions, earlier.answered + asked.answered)
    joined |= {"judges": list(judges.values()), "failed": together(joined["failed"])}
    patterns, sub_agents = (dict(whole) for whole in counted.values())
    return Summary(patterns, sub_agents, **joined, renamed=renamed, generated=generated)


PLACED_RECORDS = Records(PlacedVerdict, VERDICTS, "verdict")


def labelled_sessions(run: Path) -> Iterator[LabelledSession]:
    """Return the sessions of a run, in order, as a stream."""
    verdicts = groupby(read_records(run, PLACED_RECORDS), key=attrgetter("item"))
    for session, judged in zip_longest(read_records(run, SESSION_RECORDS), verdicts):
        item, own = judged or ("", ())
        if session is None or session.item != item:
            message = f"the sessions and the verdicts of the run differ at {(session.item if session else item)!r}"
            raise InputError(message, "Classify into a new folder.", file=run / VERDICTS)
        yield LabelledSession(session, tuple(own))
