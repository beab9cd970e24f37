"""The rule judge that reads the files of a case and runs nothing.

It reasons as the judge of texts does, and besides:

1. The tests draw from chance or look at the clock: they may fail on a right result (task), where what the agent made
   is what gold makes.
2. The gold solution reads a file, or the tests import a module, that the environment never had: task.
3. The tests want a file by a name that nothing states: task. What else an instruction asks for is a question of
   meaning, which no rule answers.
"""

import re
import sys
from functools import cache

from misstep.harness.records.attribution import Evidence
from misstep.harness.records.triage_case import SOLVE
from misstep.harness.triage.attributed import Attribution
from misstep.harness.triage.logs import TestsLog, own_words, tests_log
from misstep.harness.triage.protocols import ReadOnlyAccess
from misstep.harness.triage.rules.chance import chance
from misstep.harness.triage.rules.events import harness_event, limit_event
from misstep.harness.triage.rules.failures import TestFailure, read_failure
from misstep.harness.triage.rules.grounding import spoiled_input, text_of
from misstep.harness.triage.rules.named_files import lacking_input, stands, unnamed_result
from misstep.harness.triage.rules.run_record import KILLED, OUT_OF_TIME, RunRecord
from misstep.harness.triage.rules.text import agents_fault, broken_harness, missing_module, record_of
from misstep.harness.triage.rules.verdicts import Undecided, attributed, infrastructure

_VALUE = re.compile(r"\w{3,40}")


def inspect(access: ReadOnlyAccess) -> Attribution | Undecided:
    """Whose fault a failed run is, by its files."""
    record = record_of(access)
    log = tests_log(access.logs)
    if access.case.part("workspace") is None and record is None and not log.text:
        return Undecided("There is neither a run nor a result nor a log.")
    failure = read_failure(log.text)
    return (
        broken_harness(access, record, log, failure)
        or _ran_elsewhere(access, failure.files)
        or _same_as_gold(access, record, failure)
        or _lacking(access, record, log, failure.files)
        or _killed(record)
        or _by_chance(access, failure)
        or unnamed_result(access, record)
        or missing_module(access, record, log, failure)
        or agents_fault(access, record, log, failure, spoiled_input(access))
    )


def _same_as_gold(access: ReadOnlyAccess, record: RunRecord | None, failure: TestFailure) -> Attribution | None:
    """Task or infrastructure, where the agent's result is the gold result."""
    paths = [path for path in access.files("solution") if path != SOLVE]
    if not paths or any(access.read("solution", path) != access.read("workspace", path) for path in paths):
        return None
    same = Evidence(
        "difference", "solution/ and workspace/", f"{len(paths)} files are the same: {', '.join(paths[:5])}"
    )
    by_chance = chance(access, ("tests",))
    if by_chance is not None and (failure.tests or failure.raised):
        rationale = "The agent's result is the gold result, and the tests depend on chance."
        return attributed("task", "brittle_tests", rationale, [by_chance, same])
    if _saw_environment(access, failure):
        rationale = "The tests give values of the files as the agent found them: they did not run on its result."
        return infrastructure(None, rationale, [same])
    if failure.asserted and not failure.missing:
        rationale = "The agent's result is the gold result, and an assertion of the tests fails on it."
        return attributed("task", "environment_fail", rationale, [same])
    event = limit_event(access.logs, access.case.file.limits.memory_mb) or harness_event(
        own_words(access.logs, record.run if record is not None else None)
    )
    return infrastructure(event, "The agent's result is the gold result, and the tests are said to reject it.", [same])


def _saw_environment(access: ReadOnlyAccess, failure: TestFailure) -> bool:
    """Whether a value that a test was given stands in the environment, and not in the agent's result any more."""
    before, after = text_of(access, "environment"), text_of(access, "workspace")
    for wanted, given in failure.values:
        words = set(_VALUE.findall(given)) - set(_VALUE.findall(wanted))
        if any(word in before and word not in after for word in words):
            return True
    return False


def _by_chance(access: ReadOnlyAccess, failure: TestFailure) -> Attribution | None:
    """Return the tests' fault, where the only test that failed is in a file that depends on chance."""
    found = chance(access, ("tests",), sure=True)
    if found is None or not failure.places:
        return None
    file = found.where.removeprefix("tests/").partition(":")[0]
    if all(place.rpartition("/")[2] == file.rpartition("/")[2] for place, _ in failure.places):
        return attributed("task", "brittle_tests", "The test that failed depends on chance.", [found])
    return None


def _ran_elsewhere(access: ReadOnlyAccess, missing: tuple[str, ...]) -> Attribution | None:
    """Infrastructure, where the tests miss what stands in the agent's result."""
    there = set(access.files("workspace"))
    for name in missing:
        found = {name, f"{name}.py", f"{name}/__init__.py"} & there
        if found:
            shown = Evidence("file", f"workspace/{min(found)}", "it is there")
            rationale = f"The tests do not find {name!r}, which the agent's result has: they ran elsewhere."
            return infrastructure(None, rationale, [shown])
    return None


def _lacking(
    access: ReadOnlyAccess, record: RunRecord | None, log: TestsLog, missing: tuple[str, ...]
) -> Attribution | None:
    """Return the environment's fault, where gold and tests need what was never there."""
    present = {*access.files("environment"), *access.files("solution")}
    script = (access.read("solution", SOLVE) or b"").decode(errors="replace")
    for name in missing:  # gold as files, and what the tests look for is not among them
        own = name.startswith(("/", "tests")) or _is_known(name)
        if present and not script and not own and not stands(name, present):
            rationale = f"The gold solution lacks {name!r} as well, which the tests look for."
            return attributed("task", "environment_fail", rationale, log.evidence(f"{name} is missing"))
    return lacking_input(access, record)


@cache
def _is_known(module: str) -> bool:
    return module in sys.stdlib_module_names or module in ("pytest", "_pytest")


def _killed(record: RunRecord | None) -> Attribution | None:
    """Return the agent's fault, where its last command was ended and the harness tells of nothing."""
    last = record.commands[-1] if record is not None and record.commands else None
    if last is None or last.code not in (*KILLED, *OUT_OF_TIME):
        return None
    kind = "timeout" if last.code in OUT_OF_TIME else "tool_call_error"
    shown = Evidence("step", str(last.step), f"{last.line[:200]}\n{last.output[:200]}")
    return attributed("agent", kind, "The agent's last command was ended by a limit.", [shown], [last.step])
