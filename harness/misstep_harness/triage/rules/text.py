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
"""

import re
from collections.abc import Sequence

from misstep_harness.triage.logs import writer_of
from misstep_harness.triage.protocols import TextAccess
from misstep_harness.triage.records import Evidence
from misstep_harness.triage.rules.events import Event, agent_ran_out, event_in, killed_at, last_error, told_event
from misstep_harness.triage.rules.failures import TestFailure, last_lines, read_failure
from misstep_harness.triage.rules.named_files import agent_makes, is_placeholder
from misstep_harness.triage.rules.outside import broke_outside
from misstep_harness.triage.rules.run_record import KILLED, OUT_OF_TIME, RecordedCommand, TextRun
from misstep_harness.triage.rules.verdicts import Attribution, Undecided, attributed, infrastructure

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
