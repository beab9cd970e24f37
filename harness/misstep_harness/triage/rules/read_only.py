"""Judge by reading the files of a case, without running anything: as the judge of texts does, and more.

1. The tests draw from chance or look at the clock: they may fail on a right result (task), where what the agent made
   is what gold makes.
2. The gold solution reads a file, or the tests import a module, that the environment never had: task.
3. The tests want a file by a name that nothing states: task.
"""

import re
import sys

from misstep_harness.triage.records import SOLVE, Evidence
from misstep_harness.triage.rules.named_files import (
    chance,
    lacking_input,
    spoiled_input,
    stands,
    text_of,
    unnamed_result,
)
from misstep_harness.triage.rules.outside import broke_outside
from misstep_harness.triage.rules.run_record import KILLED, OUT_OF_TIME, FilesRun
from misstep_harness.triage.rules.text import agents_fault, broken_harness, missing_module
from misstep_harness.triage.rules.verdicts import Attribution, Undecided, attributed, infrastructure

_VALUE = re.compile(r"\w{3,40}")


def inspect(run: FilesRun) -> Attribution | Undecided:
    """Whose fault a failed run is, by its files."""
    if run.access.case.part("workspace") is None and run.run is None and not run.log.text:
        return Undecided("There is neither a run nor a result nor a log.")
    return (
        broken_harness(run)
        or broke_outside(run)
        or _ran_elsewhere(run)
        or _same_as_gold(run)
        or _lacking(run)
        or _killed(run)
        or _by_chance(run)
        or unnamed_result(run)
        or missing_module(run)
        or agents_fault(run, spoiled_input(run.access))
    )


def _same_as_gold(run: FilesRun) -> Attribution | None:
    access, failure = run.access, run.failure
    paths = [path for path in access.files("solution") if path != SOLVE]
    if not paths or any(access.read("solution", path) != access.read("workspace", path) for path in paths):
        return None
    alike = f"{len(paths)} files are the same: {', '.join(paths[:5])}"
    same = Evidence("difference", "solution/ and workspace/", alike)
    by_chance = chance(access, ("tests",))
    if by_chance is not None and (failure.tests or failure.raised):
        rationale = "The agent's result is the gold result, and the tests depend on chance."
        return attributed("task", "brittle_tests", rationale, [by_chance, same])
    before, after = text_of(run.access, "environment"), text_of(run.access, "workspace")
    if any(
        word in before and word not in after
        for wanted, actual in run.failure.values
        for word in set(_VALUE.findall(actual)) - set(_VALUE.findall(wanted))
    ):
        rationale = "The tests give values of the files as the agent found them: they did not run on its result."
        return infrastructure(None, rationale, [same])
    if failure.asserted and not failure.missing:
        rationale = "The agent's result is the gold result, and an assertion of the tests fails on it."
        return attributed("task", "environment_fail", rationale, [same])
    rationale = "The agent's result is the gold result, and the tests are said to reject it."
    return infrastructure(run.event, rationale, [same])


def _by_chance(run: FilesRun) -> Attribution | None:
    places = run.failure.places
    draw = chance(run.access, ("tests",), sure=True) if places else None
    if draw is None:
        return None
    file = draw.where.removeprefix("tests/").partition(":")[0]
    if any(place.rpartition("/")[2] != file.rpartition("/")[2] for place, _ in places):
        return None
    return attributed("task", "brittle_tests", "The test that failed depends on chance.", [draw])


def _ran_elsewhere(run: FilesRun) -> Attribution | None:
    there = set(run.access.files("workspace"))
    for name in run.failure.files:
        if present_names := {name, f"{name}.py", f"{name}/__init__.py"} & there:
            shown = Evidence("file", f"workspace/{min(present_names)}", "it is there")
            rationale = f"The tests do not find {name!r}, which the agent's result has: they ran elsewhere."
            return infrastructure(None, rationale, [shown])
    return None


def _lacking(run: FilesRun) -> Attribution | None:
    present = {*run.access.files("environment"), *run.access.files("solution")}
    missing = run.failure.files if present and not run.access.read("solution", SOLVE) else ()
    for name in missing:  # gold as files, and what the tests look for is not among them
        own = name.startswith(("/", "tests")) or name in sys.stdlib_module_names or name in ("pytest", "_pytest")
        if not own and not stands(name, present):
            rationale = f"The gold solution lacks {name!r} as well, which the tests look for."
            return attributed("task", "environment_fail", rationale, run.log.evidence(f"{name} is missing"))
    return lacking_input(run)


def _killed(run: FilesRun) -> Attribution | None:
    last = run.last
    if last is None or last.code not in (*KILLED, *OUT_OF_TIME):
        return None
    kind = "timeout" if last.code in OUT_OF_TIME else "tool_call_error"
    rationale = "The agent's last command was ended by a limit."
    return attributed("agent", kind, rationale, [last.evidence()], [last.step])
