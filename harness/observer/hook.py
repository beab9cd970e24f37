"""Answer a coding agent's hook: one JSON object in, guidance as additional context out (the protocol of Claude Code).

    {"session_id": "s1", "transcript_path": "/home/kim/.claude/projects/app/s1.jsonl", "cwd": "/home/kim/app",
     "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {…}}
    → {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "<system-reminder>…"}}

Calls of one turn may end together: while another process holds the file of a session, nothing is said. The transcript
may lack the call that the event is about: guidance on it then comes one call later.
"""

import asyncio
import fcntl
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.classifiers import chosen_categories
from misstep.harness.errors import InputError, MisstepError, UsageError
from misstep.harness.escaping import plain
from misstep.harness.journal.records import replace_file
from misstep.harness.no_model import NO_MODEL
from misstep.harness.observer.arms import EXPERIMENT, hears_guidance
from misstep.harness.observer.detectors import NEED_A_MODEL, detector_named
from misstep.harness.observer.episodes import is_like_an_earlier
from misstep.harness.observer.follow import growing_runs
from misstep.harness.observer.replay import Replay, ReplayOptions
from misstep.harness.places import cache_folder
from misstep.harness.progress import say
from misstep.harness.records.hook_decision import DECISIONS, HookDecision
from misstep.harness.records.intervention import Arm, Intervention, ObservedRun
from misstep.harness.records.session import is_sub_agent
from misstep.harness.registry import raised
from misstep.harness.trajectory import Step, ToolCall, ToolResult, Trajectory
from misstep.harness.values import written

EVENTS = ("PostToolUse", "PostToolUseFailure", "UserPromptSubmit")
"""The events behind which the agent reads additional context before it goes on."""

MOST_BYTES = 64 << 20
"""A longer transcript is not read: the agent would wait for it."""

OWN_SECONDS = 5.0
"""The agent waits for its hooks: after this long there is no answer."""

FOLDER = "observer"
_INSTEAD = "Watch with `misstep observe --follow FILE --detector prompted --model M`, or let the hook have the rules."

_KEPT_SECONDS = 30 * 24 * 3600.0
"""How long the record of a session is kept after its last event."""

Continue = Callable[[ObservedRun | None, Trajectory, tuple[Step, ...]], tuple[ObservedRun, list[Intervention]]]
"""What was recorded of a session so far, the session as it is now, and the step that it lacks → the record now, and
what is new to say."""

Note = Callable[[ObservedRun, Sequence[Intervention | None]], object]
"""Given the record of a session and what is new in it, `None` for its beginning, it logs that."""


class HookInput(Struct, frozen=True):
    """What the agent's program says of an event; it says more, which is not read."""

    session_id: str
    transcript_path: str
    hook_event_name: str
    agent_id: str | None = None
    tool_name: Any = None
    tool_input: Any = None
    tool_response: Any = None
    cwd: str = ""


class Draw(Struct, frozen=True):
    """How it is drawn who hears guidance; `by` says for what: each session, or each project."""

    share: float = 1.0
    by: Literal["session", "project"] = "session"
    experiment: str = EXPERIMENT

    def unit_of(self, event: HookInput) -> str:
        """Return what is drawn for an event."""
        return event.session_id if self.by == "session" else event.cwd

    def arm_of(self, event: HookInput) -> Arm:
        """Return the arm of an event's session."""
        return "guide" if hears_guidance(self.unit_of(event), self.experiment, self.share) else "shadow"

    def noted(self, event: HookInput, folder: Path, record: ObservedRun, new: Sequence[Intervention | None]) -> None:
        """Add to the log what is new of a session; `None` is its beginning."""
        begun = HookDecision(
            event.session_id,
            event.cwd,
            event.transcript_path,
            self.unit_of(event),
            self.experiment,
            self.share,
            record.arm,
            record.detector,
            datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
        step = record.n_steps - 1
        lines = [
            begun if one is None else replace(begun, step=step, guidance=one.guidance, intervention=one) for one in new
        ]
        with (folder / DECISIONS).open("ab") as log:
            log.write(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


EVERYBODY = Draw()


def answer_hook(
    every: int,
    detector: str,
    model: str = "",
    categories: str = "",
    *,
    alone: bool = True,
    draw: Draw = EVERYBODY,
    seconds: float = OWN_SECONDS,
) -> None:
    """Answer the event on standard input on standard output; whatever goes wrong is told on standard error only."""
    limit = threading.Timer(seconds, os._exit, (0,))
    limit.daemon = True
    limit.start()
    try:
        if model or detector in NEED_A_MODEL:
            raise UsageError("the hook asks no model, as the agent would wait for it", _INSTEAD)
        if not alone:
            raise UsageError("the hook reads standard input alone", "Leave out paths, --follow and --out.")
        chosen = chosen_categories(categories) if categories else ()
        event = _hook_input(sys.stdin.buffer.read())
        options = ReplayOptions(detector, chosen, every=every, arm=draw.arm_of(event))
        folder = cache_folder() / FOLDER
        reply = answer(event, partial(continued, options=options), folder, partial(draw.noted, event, folder))
        if reply is not None:
            sys.stdout.buffer.write(msgspec.json.encode(reply) + b"\n")
            sys.stdout.buffer.flush()
    except UsageError as error:  # as standard error is shown to nobody, the agent's program shows it to its user
        line = f"misstep: {plain(error.line())}"
        say(line)
        sys.stdout.buffer.write(msgspec.json.encode({"systemMessage": line}) + b"\n")
        sys.stdout.buffer.flush()
    except MisstepError as error:
        say(f"misstep: {plain(error.line())}")
    except (Exception, SystemExit) as error:  # noqa: BLE001 (a fault of the observer is not the agent's)
        say(f"misstep: the observer failed: {plain(raised(error))}")
    finally:
        limit.cancel()


def continued(
    earlier: ObservedRun | None, run: Trajectory, ahead: tuple[Step, ...], options: ReplayOptions
) -> tuple[ObservedRun, list[Intervention]]:
    """Take the observation of a session further; one that has fewer steps than before is another one."""
    if earlier is not None and earlier.n_steps > len(run.steps):
        earlier = None
    replay = Replay(run.id, detector_named(options.detector), NO_MODEL, options, earlier, live=True)
    new = asyncio.run(replay.further(run, ahead))
    return replay.record(run), new


def _hook_input(data: bytes) -> HookInput:
    try:
        return msgspec.json.decode(data, type=HookInput)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"no input of a hook: {error}", file="standard input") from error


def answer(event: HookInput, observe: Continue, folder: Path, note: Note = lambda *_: None) -> dict[str, Any] | None:
    """Return what to answer to an event; `None` if there is nothing to say."""
    if event.hook_event_name not in EVENTS or event.agent_id:
        return None
    runs = [one for one in growing_runs(Path(event.transcript_path), MOST_BYTES) if not is_sub_agent(one)]
    if not runs:
        return None
    run = next((one for one in runs if one.id == event.session_id), runs[-1])
    with _record(folder, event.session_id) as file:
        if file is None:
            return None
        earlier = _read(file)
        record, new = observe(earlier, run, lacking(event, run))
        for one in record.invocations[len(earlier.invocations) if earlier else 0 :]:
            if one.status == "failed":
                say(f"misstep: a question to the detector has no answer: {plain(one.error)}")
        replace_file(file, msgspec.json.encode(record))
        if lines := [*([] if earlier else [None]), *new]:
            note(record, lines)
    guidance = "\n".join(one.guidance for one in new if one.guidance and not one.withheld)
    if not guidance:
        return None
    return {"hookSpecificOutput": {"hookEventName": event.hook_event_name, "additionalContext": guidance}}


def lacking(event: HookInput, run: Trajectory) -> tuple[Step, ...]:
    """Return the call that worked and that the event is about, where the run has none like it among its last steps."""
    if event.hook_event_name != "PostToolUse" or not isinstance(event.tool_name, str):
        return ()
    if not isinstance(event.tool_input, dict | str):
        return ()
    call = ToolCall(event.tool_name, event.tool_input)
    text = event.tool_response if isinstance(event.tool_response, str) else written(event.tool_response, indented=False)
    step = Step("agent", calls=(call,), results=(ToolResult(text),))
    return () if is_like_an_earlier(step, run.steps) else (step,)


@contextmanager
def _record(folder: Path, session: str) -> Iterator[Path | None]:
    """Return the file with the record of a session while no other process has it; `None` while one does."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # a record quotes the session
    file = folder / f"{sha256(session.encode(errors='replace')).hexdigest()[:32]}.json"
    with file.with_suffix(".lock").open("ab") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield None
            return
        if not file.exists():
            before = time.time() - _KEPT_SECONDS
            for old in folder.iterdir():
                if old.stat().st_mtime < before:
                    old.unlink(missing_ok=True)
        yield file


def _read(file: Path) -> ObservedRun | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=ObservedRun)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
