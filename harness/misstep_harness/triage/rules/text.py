"""The rule judge of texts: the run and the logs are all that it has; of the instruction it sees names alone.

Which observation decides what, and why:

1. The log of the tests shows none that failed, or no test that ran at all, and the run is recorded as failed: what
   reads or runs the tests is wrong (infrastructure).
2. The harness's own log tells of an event (memory, disk, network), and the record breaks off or the log of the tests is
   empty: infrastructure. Such a line in a run that went on to its end and was tested is not a cause.
3. What the environment needs from outside failed up to the end (a certificate, the clock, a registry): infrastructure.
4. A module or a file is missing that the instruction tells of or nobody asked for, and that the agent never made: the
   environment lacks it (task).
5. What remains is the agent's fault: nothing speaks against task or harness.

What an environment needs from outside is a certificate, its clock, a name, a proxy or a registry. Its failure is not
the cause if the task is about such things, if the agent touched them, or if the same request succeeded later.

A run in which the agent took no step, or whose harness broke before its end, says nothing of agent or task, whatever
its recorded outcome: a task can pass that nobody worked on.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from misstep_harness.classifiers.tools import LOOKS
from misstep_harness.trajectory import Trajectory
from misstep_harness.triage.logs import LOG_OF_ITEM, after_the_outcome, as_told, writer_of
from misstep_harness.triage.protocols import ReadOnlyAccess, TextAccess
from misstep_harness.triage.records import Evidence, Outcome
from misstep_harness.triage.rules.events import (
    Event,
    agent_ran_out,
    broken_event,
    event_in,
    harness_event,
    killed_at,
    last_error,
    out_of_time_event,
    outside_event,
    told_event,
    trouble_in,
)
from misstep_harness.triage.rules.failures import TestFailure, last_lines, read_failure
from misstep_harness.triage.rules.named_files import agent_makes, is_placeholder
from misstep_harness.triage.rules.run_record import KILLED, OUT_OF_TIME, RecordedCommand, TextRun
from misstep_harness.triage.rules.verdicts import Attribution, Undecided, attributed, infrastructure

_ASKED = re.compile(
    r"\b(?:certificates?|certs?|tls|ssl|x509|openssl|clocks?|ntp|prox(?:y|ies)|dns|resolv\w+|hostnames?|nginx"
    r"|rate[ -]?limit\w*|time ?zones?|429|50[0234])\b",
    re.IGNORECASE,
)
_TOUCHED = re.compile(
    r"\bdate (?:-s|--set|\d)|\btimedatectl\b|\bfaketime\b|\bhwclock\b|/etc/(?:hosts|resolv|ssl|pki|apt|pip|ca-cert)"
    r"|\bpip config\b|\b(?:npm|git) config\b|\w_proxy=|\bopenssl\b|\.(?:pem|crt|key|pfx)\b|\bip(?:tables| link)\b"
    r"|\bupdate-ca\b|\b(?:SSL|REQUESTS|CURL)_\w+=|\bnginx\b",
    re.IGNORECASE,
)
_OFFLINE = re.compile(r"resol(?:ve|ution|ving)|name or service|no such host|eai_again", re.IGNORECASE)
"""What is printed as well where a sandbox has no network on purpose."""

_OWN_HOST = re.compile(r"\b(?:localhost|127\.0\.0\.\d|0\.0\.0\.0|\[?::1\]?)(?=[:/\s]|$)")
_FIRST = 2


def broke_outside(run: TextRun) -> Attribution | None:
    """Infrastructure, where what the environment needs from outside failed and nobody put it right."""
    if (event := outside_event(run.own)) is not None:
        return infrastructure(event, "The harness tells that what the environment needs from outside failed.", [])
    if _ASKED.search(re.sub(r"\bhttps?://\S+", " ", run.access.instruction)):
        return None
    for place, command in enumerate(run.commands):
        event = _event_of(run, command)
        before, after = run.commands[: place + 1], run.commands[place + 1 :]
        if event is None or any(_TOUCHED.search(one.line) for one in before) or _came_through(command, run, after):
            continue
        if not (run.failure.asserted and _OFFLINE.search(event.line)):
            rationale = "A command of the agent failed by what the environment needs from outside, up to the end."
            return infrastructure(event, rationale, [command.evidence(3)], [command.step])
    touched = any(_TOUCHED.search(command.line) for command in run.commands)
    event = event_in(run.log.text, f"logs/{run.log.name}", "outside") if run.log.name and not touched else None
    if event is not None and not run.failure.asserted:
        return infrastructure(event, "The tests failed by what the environment needs from outside.", [])
    return None


def _event_of(run: TextRun, command: RecordedCommand) -> Event | None:
    """The event that a command met, where it is not known to have succeeded and does not only show a text."""
    words = command.line.split()
    program = words[0].rpartition("/")[2] if words else ""
    told = as_told(command.output)
    if command.code == 0 or program in LOOKS or _OWN_HOST.search(f"{command.line} {told}"):
        return None
    if any(word in run.access.instruction for word in words[1:] if word.endswith((".log", ".txt"))):
        return None
    event = event_in(command.output, str(command.step), "outside")
    return event and Event(event.subcategory, str(command.step), event.line)


def _came_through(command: RecordedCommand, run: TextRun, after: tuple[RecordedCommand, ...]) -> bool:
    start = command.line.split()[:_FIRST]
    return any(one.line.split()[:_FIRST] == start and not one.failed and _event_of(run, one) is None for one in after)


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


_WRITING = (">", "sed -i", "mv ", "cp ", "patch", "tee ")


def agent_fault(
    run: TextRun,
    failure: TestFailure,
    rationale: str,
    evidence: Sequence[Evidence],
    *,
    timed_out: bool = False,
    spoiled: Evidence | None = None,
) -> Attribution:
    """Return an agent's fault with its subcategory."""

    def fault(kind: str, addition: str = "", more: Sequence[RecordedCommand] = (), shown: int = 3) -> Attribution:
        pieces = [*evidence, *(command.evidence(3) for command in more[:shown])]
        return attributed("agent", kind, f"{rationale} {addition}".rstrip(), pieces, [command.step for command in more])

    slow = [command for command in run.commands[-3:] if command.code in OUT_OF_TIME]
    if timed_out or slow:
        return fault("timeout", "It runs out of time.", slow)
    if run.last is not None and run.last.code in KILLED:
        return fault("tool_call_error", "Its last command was ended for what it took.", [run.last])
    if spoiled is not None:
        evidence = [spoiled, *evidence]
        return fault("tool_call_error", "It changed an input that it was only to read.")
    mended = {
        place: any(
            not later.failed and later.line.split()[:2] == command.line.split()[:2] for later in run.commands[place:]
        )
        for place, command in enumerate(run.commands)
        if command.failed and command.code not in OUT_OF_TIME and any(sign in command.line for sign in _WRITING)
    }
    if broken := [run.commands[place] for place, is_mended in mended.items() if not is_mended]:
        return fault("tool_call_error", "A command that writes failed, and was not made good.", broken, shown=2)
    missing = [name for name in failure.missing if run.run is not None and not _would_make(run, name)]
    if missing:
        return fault("premature_stop", f"Nothing in the run makes {missing[0]!r}.")
    return fault("logical_failure")


def _would_make(run: TextRun, name: str) -> bool:
    bare = name.rpartition("/")[2]
    return any(bare in command.line for command in run.writes)


TESTS_MISSING = re.compile(
    r"not found: tests|not importable: 'tests'|collected 0 items(?! / [1-9])|no tests ran|Ran 0 tests|"
    r"tests/?[\w./-]{0,100}'?: No such file or directory|No such file or directory: '[\w./-]{0,100}tests"
)
"""What unittest, pytest, Python and shells print without tests to run."""

_ENDED = re.compile(
    r"^.{0,80}\b(?:tests?|pytest|verifier)\b[^\n]{0,200}\bexit (?:code|status):? (\d{1,3})\b.*$",
    re.MULTILINE | re.IGNORECASE,
)
_ADDRESS = re.compile(r"\bhttps?://([\w.-]{1,200}(?::\d{1,5})?)|\b((?:\d{1,3}(?:\.\d{1,3}){3}|localhost):\d{1,5})")
_SERVES = re.compile(
    r"\bhttp\.server\b|\bserve_forever\b|\blisten\(|\bbind\(|\b(?:uvicorn|gunicorn|flask|nginx)\b|\bserver\b"
)
_ASKED_TO_SERVE = re.compile(
    r"\b(?:mak|writ|build|implement|start|run|creat|deploy|launch)(?:e|s|ing)?\b[^.\n]{0,80}\b(?:serv\w+|endpoint|app|api)\b",
    re.IGNORECASE,
)
_FAILED = re.compile(r"^FAILED|\b[1-9]\d* (?:failed|errors?)(?=[ =]*(?:[,;|(]|in \d|$))", re.MULTILINE)
_ALL_PASSED = re.compile(
    r"^Ran [1-9]\d* tests? in [^\n]*\n+OK(?: \(.*\))?$|^OK \([1-9]\d* tests?\b.*\)$|^=* ?[1-9]\d* passed[^\n]*$"
    r"|^all \w+ passed",
    re.MULTILINE | re.IGNORECASE,
)


def read(run: TextRun) -> Attribution | Undecided:
    """Whose fault a failed run is, by its texts."""
    if run.run is None and not run.access.logs:
        return Undecided("There is neither a run nor a log.")
    return broken_harness(run) or broke_outside(run) or missing_input(run) or missing_module(run) or agents_fault(run)


def broken_harness(run: TextRun) -> Attribution | None:
    """Infrastructure, by what the logs tell."""
    log, failure, event = run.log, run.failure, run.event
    where = log.evidence(last_lines(log.text, 3))
    if all_passed(log.text, failure):
        return infrastructure(event, "The tests passed, and the run is recorded as failed.", where)
    if not (failure.tests or failure.asserted) and (ended := _exit_of_tests(run.access)) is not None:
        return infrastructure(event, "The tests ended well, and the run is recorded as failed.", [ended, *where])
    if log.name and not log.text.strip():
        return infrastructure(event, "The tests printed nothing, and the run is recorded as failed.", [])
    if TESTS_MISSING.search(log.text) and not failure.asserted:
        return infrastructure(event, "The tests were not there when they were run.", where)
    if run.broke_off and run.limit is not None:
        return infrastructure(run.limit, "The record breaks off, and not by the agent's doing.", [])
    if event is not None and _of_machine(event) and (run.broke_off or not failure.asserted):
        return infrastructure(event, "The harness tells that the machine broke, and no assertion failed.", where)
    if not (failure.tests or failure.raised):
        event = event or told_event(run.own, "verifying") or last_error(run.own)
        event = event or (event_in(log.text, f"logs/{log.name}") if log.name else None)
        if event is not None:
            return infrastructure(event, "No test ran to its end, and the log tells of an event.", where)
    return _killed_in_record(run, event) or _unreached(run) or _was_there(run)


def all_passed(log: str, failure: TestFailure) -> bool:
    """Return whether the tests' log says that all passed, and of none that it failed."""
    return _ALL_PASSED.search(log) is not None and not (failure.tests or _FAILED.search(log))


def _of_machine(event: Event) -> bool:
    return event.subcategory == "sandbox_crash" and killed_at(event.line) is None


def _exit_of_tests(access: TextAccess) -> Evidence | None:
    for name, text in access.logs.items():
        ends = [match for match in _ENDED.finditer(text) if writer_of(name) == "harness"]
        if ends and int(ends[-1][1]) == 0:
            number = text.count("\n", 0, ends[-1].start()) + 1
            return Evidence("log", f"logs/{name}:{number}", ends[-1][0].strip()[:300])
    return None


def _unreached(run: TextRun) -> Attribution | None:
    if _ASKED_TO_SERVE.search(run.access.instruction) or any(_SERVES.search(one.line) for one in run.commands):
        return None
    for address in dict.fromkeys(match[1] or match[2] for match in _ADDRESS.finditer(run.access.instruction)):
        tried = [command for command in run.commands if address in command.line]
        events = [event_in(command.output, f"step {command.step}") for command in tried]
        if tried and all(event is not None and event.subcategory == "network_issue" for event in events):
            rationale = f"The instruction tells of {address}, and no command of the agent could reach it."
            shown = [one.evidence(2) for one in tried[:3]]
            return infrastructure(events[-1], rationale, shown, [one.step for one in tried])
    return None


def _was_there(run: TextRun) -> Attribution | None:
    """Infrastructure, where the tests miss a file that the agent used at the end of its run: they ran elsewhere."""
    late = () if run.broke_off else run.commands[len(run.commands) // 2 :]
    for name in run.failure.missing:
        for command in late:
            if not command.failed and "o such file" not in command.output and _reads(command.line, name):
                rationale = f"The tests do not find {name!r}, which the agent used at the end of its run."
                return infrastructure(None, rationale, [command.evidence()], [command.step])
    return None


def _reads(line: str, name: str) -> bool:
    if ">" in line or "rm " in line or "mv " in line or len(name) < 3:
        return False
    return any(word.strip("'\"") in (name, f"{name}.py", f"./{name}") for word in line.replace(";", " ").split())


def _killed_in_record(run: TextRun, event: Event | None) -> Attribution | None:
    if event is None or event.subcategory == "harness_bug":
        return None
    for command in run.commands:
        other = event_in(command.output, str(command.step)) if command.failed else None
        if other is not None and other.subcategory == event.subcategory:
            shown = Evidence("step", str(command.step), last_lines(command.output, 3))
            return infrastructure(event, "A command failed as the harness's log tells.", [shown], [command.step])
    return None


def missing_input(run: TextRun) -> Attribution | None:
    """Return the environment's fault, where a command does not find a file that the instruction says is there."""
    for place, command in enumerate(run.commands):
        for name in read_failure(command.output).files if "o such file" in command.output else ():
            bare = name.rpartition("/")[2]
            named = "/" in name and name in run.access.instruction and name not in run.failure.missing
            later = any(bare in one.line and "o such file" not in one.output for one in run.commands[place + 1 :])
            if named and not (later or is_placeholder(name) or agent_makes(run, name)):
                rationale = f"The instruction tells of {name!r}, and the agent did not find it."
                return attributed("task", "environment_fail", rationale, [command.evidence(2)], [command.step])
    return None


def missing_module(run: TextRun) -> Attribution | None:
    """Return the environment's fault, where a module or a program is missing that was never asked for."""
    name = run.failure.files[0] if run.failure.files else ""
    if not name or name in run.access.instruction or run.mentions(name):
        return None
    messages = (message for kind, message in run.failure.raised if kind == "ModuleNotFoundError")
    rationale = f"The module {name!r} is missing, which nobody asked for and the agent did not make."
    causes = (attributed("task", "environment_fail", rationale, run.log.evidence(message)) for message in messages)
    return next(causes, None)


def agents_fault(run: TextRun, spoiled: Evidence | None = None) -> Attribution:
    """Return what is left when nothing speaks against task or harness."""
    slow = (run.last is not None and run.last.code in OUT_OF_TIME) or agent_ran_out(run.own)
    rationale = "Nothing speaks against the task or the harness."
    evidence = run.log.evidence(last_lines(run.log.text))
    return agent_fault(run, run.failure, rationale, evidence, timed_out=slow, spoiled=spoiled)
