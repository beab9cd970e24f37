"""Make people's own sessions a benchmark: one item a session, for a judge whose labels nobody has given yet.

`gold.csv` is empty until somebody labels sessions. The folder is written anew if a session came or changed; the labels
stay.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec
import tomli_w

from misstep_harness.errors import NoTrajectory, UsageError, writing
from misstep_harness.items import Item, Kind
from misstep_harness.journal.classified import Names
from misstep_harness.journal.inputs import FILE_RECORDS, FileState, file_state
from misstep_harness.journal.records import FILES, encode, encode_lines, read_records, replace_file
from misstep_harness.journal.run_folder import make_folder
from misstep_harness.judges.runnable import RunnableJudge
from misstep_harness.places import path_text
from misstep_harness.progress import Progress, say
from misstep_harness.runs.inputs import batches, check_named, found_files, placed_in
from misstep_harness.session import is_sub_agent, session_of
from misstep_harness.trajectory import Evidence, Placed, Trajectory, noted, together

SESSIONS_FILE = "trajectories/sessions.jsonl"
GOLD_HEADER = b"item,rater,label\n"
_WHOLE_SESSIONS: tuple[Kind, ...] = ("misbehaviour", "triage")


def session_benchmark(kind: Kind, labels: Mapping[str, str], paths: Sequence[Path], folder: Path) -> Path:
    """Write the sessions of files and folders as a benchmark, unless it is there already.

    An item of the kind `text` is the last message of the agent; any other is the session. Sub-agents are left out.
    """
    check_named(paths)
    states = [file_state(file.path) for file in found_files(paths, left_out=folder)]
    question: dict[str, Any] = {"name": folder.resolve().parent.name, "kind": kind, "labels": dict(labels)}
    question |= {"positive": "yes"} if "yes" in labels else {}
    if _stands(folder, question, states):
        return folder
    kinds: set[Evidence] = set()
    building = building_beside(folder)
    make_folder(building / "trajectories")
    with (
        writing(building),
        (building / SESSIONS_FILE).open("wb") as runs,
        (building / "items.jsonl").open("wb") as items,
    ):
        count = 0
        for item, run in _items(paths, folder, kind):
            runs.write(encode(run) + b"\n")
            items.write(encode(item) + b"\n")
            kinds.add(run.source.evidence)
            count += 1
    if not count:
        shutil.rmtree(building)
        named = ", ".join(map(path_text, paths))
        raise NoTrajectory("no session was read", "See `misstep convert --help` for the formats.", file=named)
    gold = folder / "gold.csv"
    (building / "gold.csv").write_bytes(gold.read_bytes() if gold.is_file() else GOLD_HEADER)
    replace_file(building / "benchmark.toml", _described(question, together(kinds)))
    replace_file(building / FILES, encode_lines(states))
    put_in_place(building, folder)
    return folder


def kind_for(judge: RunnableJudge) -> Kind:
    """Return the kind of items that sessions become for a judge."""
    if not judge.labels:
        advice = "Give it labels in its file, or name a benchmark with --benchmark."
        raise UsageError(f"the judge {judge.name} takes its labels from a benchmark", advice)
    if judge.kind == "text" or judge.kind in _WHOLE_SESSIONS:
        return judge.kind
    if judge.kind == "any":
        return "misbehaviour"
    advice = "Make a benchmark with these items, and name it with --benchmark."
    raise UsageError(f"the judge {judge.name} is about a {judge.kind}, which a session does not name", advice)


def _stands(folder: Path, question: Mapping[str, Any], states: list[FileState]) -> bool:
    file = folder / "benchmark.toml"
    if not (file.is_file() and (folder / FILES).is_file()):
        return False
    known = [_described(question, evidence) for evidence in get_args(Evidence)]
    return file.read_bytes() in known and list(read_records(folder, FILE_RECORDS)) == states


def _described(question: Mapping[str, Any], evidence: Evidence) -> bytes:
    return tomli_w.dumps({**noted(evidence), **question}).encode()


def _items(paths: Sequence[Path], folder: Path, kind: Kind) -> Iterator[tuple[Item, Trajectory]]:
    names = Names()
    unreadable = sub_agents = 0
    with Progress("sessions") as progress:
        for batch in batches(found_files(paths, left_out=folder)):
            for placed in placed_in(batch):
                if not isinstance(placed, Placed):
                    continue
                if not isinstance(placed.found, Trajectory):
                    unreadable += 1
                elif is_sub_agent(placed.found):
                    sub_agents += 1
                else:
                    run = msgspec.structs.replace(placed.found, id=names.give(placed.found.id))
                    yield item_of(run, placed, kind), run
                    progress.advance()
    left_out = {"unreadable": unreadable, "of sub-agents": sub_agents}
    for why, count in left_out.items():
        if count:
            say(f"misstep: {count:,} session{'' if count == 1 else 's'} {why} left out.")


def item_of(run: Trajectory, placed: Placed, kind: Kind) -> Item:
    """Return a session as an item of a kind; of `text` it is the last message of the agent."""
    session = session_of(run, placed.file, placed.line)
    where = placed.file if placed.line is None else f"{placed.file}:{placed.line}"
    extra = {"title": session.title, "project": session.project, "file": where}
    text = next((step.text for step in reversed(run.steps) if step.role == "agent" and step.text.strip()), "")
    shown = text if kind == "text" else ""
    return Item(run.id, kind, trajectory=SESSIONS_FILE, trajectory_id=run.id, text=shown, extra=extra)


def building_beside(folder: Path) -> Path:
    """Return where a benchmark is built before it is put into its place; empty."""
    building = folder.with_name(f".{folder.name}")
    if building.is_symlink():
        building.unlink()
    shutil.rmtree(building, ignore_errors=True)
    return building


def put_in_place(building: Path, folder: Path) -> None:
    """Put a benchmark into its place, instead of the one that is there."""
    shutil.rmtree(folder, ignore_errors=True)
    building.rename(folder)
