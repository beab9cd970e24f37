"""Find in a recorded run what Misstep told its agent: a step of its own for each, marked as an intervention.

Only what a program or a person put before the agent is looked at: a tool may answer with a text that has a reminder in
it, and has told nobody anything.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from misstep_harness.intervention import ABOUT, INTERVENTION
from misstep_harness.reminder import own_reminders
from misstep_harness.trajectory import Step, Trajectory

INJECTED = "injected"
"""Where readers keep what a program put into a person's text."""

_OPENING, _HOOK = "<system-reminder>", " hook"
"""What older versions of Claude Code write around a hook's words, in three lines."""


def with_interventions(run: Trajectory) -> Trajectory:
    """Return a run whose delivered reminders are steps of the system, numbered in their order as in live runs."""
    if any(INTERVENTION in step.extra for step in run.steps):
        return run
    steps = [each for step in run.steps for each in _apart(step)]
    if len(steps) == len(run.steps) and not any(ABOUT in step.extra for step in steps):
        return run
    number = 0
    for place, step in enumerate(steps):
        if ABOUT in step.extra:
            steps[place] = replace(step, extra={**step.extra, INTERVENTION: number})
            number += 1
    return replace(run, steps=tuple(steps))


def _apart(step: Step) -> Iterator[Step]:
    injected = step.extra.get(INJECTED)
    put_in = [text for text in injected if isinstance(text, str)] if isinstance(injected, list) else []
    words, about, _ = ("", (), "") if step.role == "agent" else own_reminders("\n".join([step.text, *put_in]))
    if not words:
        yield step
        return
    rest = own_reminders(step.text)[2]
    around = rest.startswith(_OPENING) and _HOOK in rest and rest.count("\n") <= 2
    says_more = bool(step.calls or step.results or (rest.strip() and not around))
    if says_more:
        yield replace(step, text=rest)
    extra = {} if says_more else step.extra
    yield Step("system", words, timestamp=step.timestamp, extra={**extra, ABOUT: list(about)})
