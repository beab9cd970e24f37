"""Which subcategory an agent's fault has, by what its run and the tests show.

- timeout: a command of the agent, or what it made, runs out of time.
- premature_stop: what was asked for is missing, and no command of the run would have made it.
- tool_call_error: a command that should have written the result failed, was killed, or removed an input.
- logical_failure: all else. A knowledge gap looks the same without knowledge of the domain, and is not told from it.
"""

from collections.abc import Sequence

from misstep.harness.records.attribution import Evidence
from misstep.harness.triage.rules.failures import TestFailure
from misstep.harness.triage.rules.run_record import KILLED, OUT_OF_TIME, RecordedCommand, TextRun
from misstep.harness.triage.rules.verdicts import Attribution, attributed

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
