"""Find runs that say nothing of agent or task: the agent took no step, or what ran it broke before its end.

A task can pass that nobody worked on, so the recorded outcome does not matter. What a command of the agent printed does
not count.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from misstep_harness.trajectory import Trajectory
from misstep_harness.triage.logs import LOG_OF_ITEM, after_the_outcome, writer_of
from misstep_harness.triage.protocols import ReadOnlyAccess, TextAccess
from misstep_harness.triage.records import Outcome
from misstep_harness.triage.rules.events import (
    Event,
    broken_event,
    harness_event,
    last_error,
    out_of_time_event,
    told_event,
    trouble_in,
)
from misstep_harness.triage.rules.run_record import TextRun
from misstep_harness.triage.rules.text import all_passed, broken_harness
from misstep_harness.triage.rules.verdicts import Attribution, Undecided, infrastructure

_RUNNER = re.compile(
    r"\W{0,4}(?:api error\b|error code: \d{3}\b|\{\"type\": ?\"error\""
    r"|(?:[a-z_]+\.){0,4}\w{0,40}(?:error|exception)\b\s*[:(]"
    r"|(?:http )?(?:40[137]|429|5\d\d)\b|invalid api key\b|credit balance is too low\b|[^\n]{0,40}usage limit reached)"
)
"""How a message begins that a runner puts in the place of the agent's."""

IDLE = 2_000
"""The longest log of an agent, in characters, that tells why it did nothing."""

_PATCH = re.compile(r"patch|\.diff$")
_ENDS = ("exit_status", "exit_reason", "error", "stop_reason")


def interrupted(run: TextRun, outcome: Outcome | None) -> Attribution | Undecided | None:
    """Infrastructure or undecided, where the agent took no step or the harness broke; `None` where the run counts."""
    logs = run.access.logs
    if not acted(run.access, run.run):
        tests = {name: text for name, text in logs.items() if writer_of(name) == "tests"}
        others = {name: text for name, text in logs.items() if writer_of(name) == "harness" or _is_idle(name, text)}
        event = _said_at_the_end(run.run, trouble_in) or trouble_in(others) or told_event(tests, "starting", "running")
        if event is not None:
            return infrastructure(event, "The agent took no step, and the record says why.", [])
        broken = broken_harness(run) if outcome == "failed" else None
        return broken or Undecided("No record shows a step of the agent, and none says why.")
    if outcome != "passed" and (ending := _said_at_the_end(run.run)) is not None:
        return infrastructure(ending, "The record ends with an error of what ran the agent.", [], _steps(ending))
    # If a record has no calls at all, nothing in it shows how it ended.
    unfinished = run.broke_off or (run.run is not None and not run.acts)
    if outcome != "passed" and unfinished and (event := _told_meanwhile(run.own)) is not None:
        return infrastructure(event, "The record breaks off, and the harness tells why.", [])
    return None if outcome == "failed" else _not_tested(run, outcome)


def _told_meanwhile(own: dict[str, str]) -> Event | None:
    """What broke while the agent ran; a machine that killed a command may have done so rightly, and does not count."""
    machine = told_event(own, "machine")
    network = machine if machine is not None and machine.subcategory == "network_issue" else None
    return told_event(own, "running") or network or last_error(own)


def _not_tested(run: TextRun, outcome: Outcome | None) -> Attribution | None:
    own, failure = run.own, run.failure
    if failure.tests or failure.raised or all_passed(run.log.text, failure):
        return None
    event = told_event(own, "verifying")
    if outcome is None:
        event = event or told_event(own, "running") or harness_event(own) or last_error(own)
    rationale = "The harness tells that it broke, and no test is seen to have ended."
    return infrastructure(event, rationale, []) if event is not None else None


def unreliable_pass(run: TextRun) -> Attribution | None:
    """Infrastructure, where the harness itself tells of a break in a run that it counts as passed (table 1)."""
    own = run.own
    if (event := out_of_time_event(own)) is not None:
        rationale = "The agent's time was over, and the run counts as passed: a rerun has to tell."
        return infrastructure(event, rationale, [])
    event = run.limit or broken_event(own) or last_error(after_the_outcome(own))
    rationale = "The harness tells that something of its own broke in this run: a rerun has to confirm the pass."
    return infrastructure(event, rationale, []) if event is not None else None


def acted(access: TextAccess, run: Trajectory | None) -> bool:
    """Return whether anything shows a step of the agent: its record, a log of its own, or files that it changed."""
    if run is not None:
        return any(
            step.calls or step.reasoning.strip() or (step.text.strip() and not _RUNNER.match(step.text.lower()))
            for step in run.steps
            if step.role == "agent"
        )
    own_log = any(text.strip() and (name == LOG_OF_ITEM or _PATCH.search(name)) for name, text in access.logs.items())
    return own_log or (isinstance(access, ReadOnlyAccess) and _changed_files(access))


def _is_idle(name: str, text: str) -> bool:
    """Return whether a log of the agent's is too short for any work, so that what it tells is why there was none."""
    return writer_of(name) == "agent" and len(text) <= IDLE


def _changed_files(access: ReadOnlyAccess) -> bool:
    """Whether the agent left other files than it found; without any that it found, a job's files show nothing."""
    before, after = access.files("environment"), access.files("workspace")
    if access.case.part("environment") is None:
        return bool(after) and (access.case.part("tests") is not None or access.case.part("solution") is not None)
    return access.case.part("workspace") is not None and (
        before != after or any(access.read("environment", path) != access.read("workspace", path) for path in before)
    )


def _said_at_the_end(
    run: Trajectory | None, error_in: Callable[[dict[str, str]], Event | None] = last_error
) -> Event | None:
    """An error of the runner after the agent's last call: in a turn of its own, in the agent's place, or as the end."""
    if run is None:
        return None
    for number in range(len(run.steps) - 1, -1, -1):
        step = run.steps[number]
        if step.role == "agent" and not (not step.calls and _RUNNER.match(step.text.lower())):
            break
        if step.role != "user" and (event := error_in({"": step.text})) is not None:
            return Event(event.subcategory, str(number), event.line)
    ended = "\n".join(_ends(run.extra))
    event = told_event({"": ended}, "running") or last_error({"": ended})
    return None if event is None else Event(event.subcategory, "extra", event.line)


def _ends(extra: dict[str, Any]) -> Iterator[str]:
    for place in (extra, extra.get("info")):
        if isinstance(place, dict):
            yield from (str(place[key]) for key in _ENDS if place.get(key))


def _steps(event: Event) -> list[int]:
    return [int(event.where)] if event.where.isdigit() else []
