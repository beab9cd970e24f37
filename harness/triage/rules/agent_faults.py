"""Which subcategory an agent's fault has, by what its run and the tests show.

- timeout: a command of the agent, or what it made, runs out of time.
- premature_stop: what was asked for is missing, and no command of the run would have made it.
- tool_call_error: a command that should have written the result failed, was killed, or removed an input.
- logical_failure: all else. A knowledge gap looks the same without knowledge of the domain, and is not told from it.
"""

from collections.abc import Sequence

from misstep.harness.records.attribution import Evidence
from misstep.harness.triage.attributed import Attribution
from misstep.harness.triage.rules.failures import TestFailure, last_lines
from misstep.harness.triage.rules.run_record import KILLED, OUT_OF_TIME, RecordedCommand, RunRecord
from misstep.harness.triage.rules.verdicts import attributed


def agent_fault(
    record: RunRecord | None,
    failure: TestFailure,
    rationale: str,
    evidence: Sequence[Evidence],
    *,
    timed_out: bool = False,
    spoiled: Evidence | None = None,
) -> Attribution:
    """Return an agent's fault with its subcategory."""
    commands = record.commands if record is not None else ()
    slow = [command for command in commands[-3:] if command.code in OUT_OF_TIME]
    if timed_out or slow:
        shown = [_shown(command) for command in slow]
        return attributed("agent", "timeout", f"{rationale} It runs out of time.", [*evidence, *shown], _steps(slow))
    if commands and commands[-1].code in KILLED:
        said = f"{rationale} Its last command was ended for what it took."
        return attributed("agent", "tool_call_error", said, [*evidence, _shown(commands[-1])], [commands[-1].step])
    if spoiled is not None:
        said = f"{rationale} It changed an input that it was only to read."
        return attributed("agent", "tool_call_error", said, [spoiled, *evidence])
    broken = _broken_writes(commands)
    if broken:
        shown = [_shown(command) for command in broken[:2]]
        said = f"{rationale} A command that writes failed, and was not made good."
        return attributed("agent", "tool_call_error", said, [*evidence, *shown], _steps(broken))
    missing = [name for name in failure.missing if record is not None and not _would_make(record, name)]
    if missing:
        said = f"{rationale} Nothing in the run makes {missing[0]!r}."
        return attributed("agent", "premature_stop", said, evidence)
    return attributed("agent", "logical_failure", rationale, evidence)


def _would_make(record: RunRecord, name: str) -> bool:
    bare = name.rpartition("/")[2]
    return any(bare in command.line for command in record.writes)


def _broken_writes(commands: Sequence[RecordedCommand]) -> list[RecordedCommand]:
    """Commands that write and failed, where no later one that begins alike worked."""
    from_here = list(commands)
    return [
        command
        for place, command in enumerate(from_here)
        if command.failed
        and command.code not in OUT_OF_TIME
        and any(sign in command.line for sign in (">", "sed -i", "mv ", "cp ", "patch", "tee "))
        and not any(
            not later.failed and later.line.split()[:2] == command.line.split()[:2] for later in from_here[place + 1 :]
        )
    ]


def _shown(command: RecordedCommand) -> Evidence:
    return Evidence("step", str(command.step), f"{command.line[:200]}\n{last_lines(command.output, 3)}")


def _steps(commands: Sequence[RecordedCommand]) -> list[int]:
    return [command.step for command in commands]
