"""What the observer of a coding agent's session does with the events of its hook (the protocol of Claude Code, Codex).

    {"session_id": "s1", "transcript_path": "/home/kim/.claude/projects/app/s1.jsonl", "cwd": "/home/kim/app",
     "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {…}}
    → {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "<system-reminder>…"}}

The transcript may lack the call that the event is about: guidance on it then comes one call later.
"""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from misstep_harness.classifiers import chosen_categories
from misstep_harness.errors import InputError, MisstepError, UsageError
from misstep_harness.escaping import one_line, plain
from misstep_harness.intervention import Arm, Intervention, ObservedRun
from misstep_harness.journal.records import replace_file
from misstep_harness.observer.arms import EXPERIMENT, hears_guidance
from misstep_harness.observer.detectors import asks_a_model, check_model, steps_between_questions
from misstep_harness.observer.episodes import is_like_an_earlier
from misstep_harness.observer.follow import FileMark, growing_runs, mark_of
from misstep_harness.observer.guidance import checked_guidance
from misstep_harness.observer.observer import Observer
from misstep_harness.observer.records import DECISIONS, HookDecision
from misstep_harness.observer.state import ObserverMemory, ObserverState
from misstep_harness.registry import raised
from misstep_harness.session import is_sub_agent
from misstep_harness.trajectory import Step, ToolCall, ToolResult, Trajectory
from misstep_harness.values import as_json

MOST_BYTES = 64 << 20
"""A longer transcript is not read."""

MOST_QUESTIONS = 200
"""How often a model is asked about one session."""

_QUICK_SECONDS = 2.0
"""How long a detector without a model is waited for, so that it speaks at the same call, its process's first too."""

_LONGEST_LINE = 300
"""Characters of the line that the user is shown of guidance."""

_KEPT_SECONDS = 30 * 24 * 3600.0
"""How long the record of a session is kept after its last event."""


class HookSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The options of `misstep observe --hook`, from text."""

    every: Annotated[int, Meta(ge=1)] | None = None
    detector: str = "rules"
    categories: str = ""
    guidance: str = ""
    model: str = ""
    base_url: str = ""
    max_cost: float | None = None
    price_in: float | None = None
    price_out: float | None = None
    cache: str = ""
    replay: str = ""
    arm_share: Annotated[float, Meta(ge=0, le=1)] = 1.0
    arm_by: Literal["session", "project"] = "session"
    experiment: str = EXPERIMENT


class HookEvent(Struct, frozen=True):
    """What the agent's program says of an event; it says more, which is not read."""

    session_id: str
    hook_event_name: str
    transcript_path: str | None = None
    cwd: str = ""
    agent_id: Any = None
    tool_name: Any = None
    tool_input: Any = None
    tool_response: Any = None


class HookSession:
    """The observer of one session, from event to event."""

    def __init__(self, values: dict[str, str], folder: Path, name: str) -> None:
        self._values, self._folder, self._file = values, folder, folder / f"{name}.json"
        self._how: HookSettings | None = None
        self._observer: Observer | None = None
        self._steps = 0
        self._mark: FileMark | None = None
        self._run: Trajectory | None = None
        self._said: set[str] = set()
        self._ready: Intervention | None = None
        self._event = HookEvent("", "")
        self._messages: list[str] = []

    def reply(self, event: Any) -> bytes:
        """Return what is printed at an event: JSON, or nothing."""
        try:
            self._event = msgspec.convert(event, HookEvent)
            if self._ready is None:  # a hook that was to say it was killed, or did not wait so long
                self._observe(self._event)
        except msgspec.ValidationError as error:
            self._tell(f"no input of a hook: {error}")
        except UsageError as error:
            self._messages = [error.line()]  # each time: nothing is observed until it is mended
        except MisstepError as error:
            self._tell(error.line())
        except (Exception, SystemExit) as error:  # noqa: BLE001 (a fault of the observer is not the agent's)
            self._tell(f"the observer failed: {raised(error)}")
        answer: dict[str, Any] = {}
        told = [] if self._ready is None else [_told(self._ready)]
        if messages := [*self._messages, *told]:
            answer["systemMessage"] = "\n".join(f"misstep: {plain(one)}" for one in messages)
        if self._ready is not None:
            name = str(event.get("hook_event_name"))
            answer["hookSpecificOutput"] = {"hookEventName": name, "additionalContext": self._ready.guidance}
        return msgspec.json.encode(answer) if answer else b""

    def printed(self) -> None:
        """The last reply was printed: the agent hears its guidance behind the step that is the last now."""
        self._messages = []
        if self._ready is not None:
            with suppress(MisstepError, OSError):
                self._read()
            self._heard(len(self._run.steps) - 1 if self._run else self._steps - 1)

    def close(self) -> None:
        """The session is over, for this process: guidance that nobody printed is not heard."""
        if self._ready is not None:
            self._heard(None)
        if self._observer is not None:
            self._observer.close()

    def _heard(self, at: int | None) -> None:
        if self._observer is None or self._run is None:
            return
        state = self._observer.state
        state.delivered(at)
        self._ready = None
        self._log(state.observed(self._run.steps).interventions[-1:], self._steps - 1 if at is None else at)
        replace_file(self._file, msgspec.json.encode(state.memory(self._run.steps)))

    def _tell(self, reason: str) -> None:
        if reason not in self._said:
            self._said.add(reason)
            self._messages.append(reason)

    def _observe(self, event: HookEvent) -> None:
        how = self._how = self._how or self._begun()
        run = self._read()
        if run is None:
            return
        if self._observer is None or len(run.steps) < self._steps:
            self._observer = self._observer_of(run, how)
        observer, self._steps = self._observer, len(run.steps)
        before, now = observer.observed(run.steps), (*run.steps, *lacking(event, run))
        self._ready = observer.heard(now)
        if self._may_ask(how, before):
            observer.ask(run)
            if not how.model:
                observer.wait(_QUICK_SECONDS)
            self._ready = observer.heard(now) or self._ready
        record = observer.observed(run.steps)
        for one in record.invocations[len(before.invocations) :]:
            if one.error:
                self._tell(f"a question to the detector has no answer: {one.error}")
        new = record.interventions[len(before.interventions) :]
        self._log([one for one in new if one.withheld], len(run.steps) - 1)
        replace_file(self._file, msgspec.json.encode(observer.state.memory(run.steps)))

    def _begun(self) -> HookSettings:
        try:
            settings = msgspec.convert(self._values, HookSettings, strict=False)
        except msgspec.ValidationError as error:
            advice = "`misstep observe --help` lists the options of the hook."
            raise UsageError(f"the hook's options are wrong: {error}", advice) from error
        check_model(settings.detector, settings.model)
        chosen = ",".join(chosen_categories(settings.categories)) if settings.categories else ""
        folder = checked_guidance(Path(settings.guidance) if settings.guidance else None)
        return replace(settings, categories=chosen, guidance=folder)

    def _read(self) -> Trajectory | None:
        event = self._event
        if not event.transcript_path:
            raise InputError(
                f"the event {event.hook_event_name} names no transcript", "Let the agent keep its sessions."
            )
        file = Path(event.transcript_path)
        mark = mark_of(file)
        if self._run is None or mark is None or mark != self._mark:
            is_sub = event.agent_id is not None
            runs = [one for one in growing_runs(file, MOST_BYTES) if is_sub or not is_sub_agent(one)]
            own = next((one for one in runs if one.id == event.session_id), runs[-1] if runs else None)
            self._mark, self._run = mark, own
        return self._run

    def _observer_of(self, run: Trajectory, how: HookSettings) -> Observer:
        """Return an observer of the session that knows what an earlier process knew, or begins."""
        self.close()
        every = how.every or steps_between_questions(how.detector)
        arm: Arm = "guide" if hears_guidance(_unit(self._event, how), how.experiment, how.arm_share) else "shadow"
        spending = self._file.with_suffix(".spent") if how.max_cost is not None else None
        observer = self._observer = Observer(how.detector, model=how.model, ask=_client(how, spending))
        categories = tuple(filter(None, how.categories.split(",")))
        observer.state = state = ObserverState(
            run.id, how.detector, every, arm, guidance_folder=how.guidance, categories=categories
        )
        try:
            memory = msgspec.json.decode(self._file.read_bytes(), type=ObserverMemory)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            memory = None
        of_this = (run.id, arm, how.detector, every)
        if memory is not None and _kind_of(memory) == of_this and memory.observed.n_steps <= len(run.steps):
            state.remember(memory)
            return observer
        if memory is None:
            _remove_old(self._folder)
        self._log([None], None)
        return observer

    def _may_ask(self, how: HookSettings, record: ObservedRun) -> bool:
        if asks_a_model(how.detector) and len(record.invocations) >= MOST_QUESTIONS:
            self._tell(f"the detector was asked {MOST_QUESTIONS} times about this session, and is asked no more")
            return False
        return True

    def _log(self, new: Sequence[Intervention | None], step: int | None) -> None:
        if self._observer is None or self._how is None or not new:
            return
        how, event, observed = self._how, self._event, self._observer.observed(())
        begun = HookDecision(
            event.session_id if event.agent_id is None else f"{event.session_id}/{event.agent_id}",
            _project(event),
            event.transcript_path or "",
            _unit(event, how),
            how.experiment,
            how.arm_share,
            observed.arm,
            observed.detector,
            datetime.now(UTC).isoformat(timespec="milliseconds"),
            how.model,
        )
        lines = (
            begun if one is None else replace(begun, step=step, guidance=one.guidance, intervention=one) for one in new
        )
        data = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
        log = os.open(self._folder / DECISIONS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(log, "ab", buffering=0) as stream:
            stream.write(data)  # at once, so that lines of sessions beside each other stay whole


def _told(intervention: Intervention) -> str:
    """Return what the user is told of guidance, in one line: the agent heard something, and about what."""
    about = "; ".join(
        f"{one.category}: {one.rationale}" if one.rationale else one.category for one in intervention.misbehaviours
    )
    line = one_line(f"the agent was told that it misbehaves ({about})")
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…"


def _kind_of(memory: ObserverMemory) -> tuple[str, Arm, str, int]:
    observed = memory.observed
    return observed.item, observed.arm, observed.detector, observed.every


def _project(event: HookEvent) -> str:
    return os.environ.get("CLAUDE_PROJECT_DIR") or event.cwd


def _unit(event: HookEvent, how: HookSettings) -> str:
    return event.session_id if how.arm_by == "session" else _project(event)


def _client(how: HookSettings, spending: Path | None) -> Any:
    """Return what asks the model, `None` without one."""
    if not how.model:
        return None
    from misstep_harness.clients.settings import ClientSettings
    from misstep_harness.observer.messages import ModelAsk
    from misstep_harness.usage import Price

    settings = ClientSettings(
        client="replay" if how.replay else "openai",
        base_url=how.base_url or None,
        max_cost_usd=how.max_cost,
        price=None if how.price_in is None else Price(("*",), how.price_in, how.price_out or 0.0),
        cache=Path(how.cache) if how.cache else None,
        replay=Path(how.replay) if how.replay else None,
        spending_log=spending,
    )
    return ModelAsk(how.model, settings)


def lacking(event: HookEvent, run: Trajectory) -> tuple[Step, ...]:
    """Return the call that worked and that the event is about, where the run has none like it among its last steps."""
    if event.hook_event_name != "PostToolUse" or not isinstance(event.tool_name, str):
        return ()
    if not isinstance(event.tool_input, dict | str):
        return ()
    call = ToolCall(event.tool_name, event.tool_input)
    text = event.tool_response if isinstance(event.tool_response, str) else as_json(event.tool_response, indented=False)
    step = Step("agent", calls=(call,), results=(ToolResult(text),))
    return () if is_like_an_earlier(step, run.steps) else (step,)


def _remove_old(folder: Path) -> None:
    before = time.time() - _KEPT_SECONDS
    for old in folder.iterdir():
        with suppress(OSError):  # the process of another session has removed it meanwhile
            if old.name != DECISIONS and old.stat().st_mtime < before:
                old.unlink()
