"""The way in: one file a command; `misstep.open(RUN)` for notebooks; the names that a plug-in is written with.

A reader, a rule and a judge from outside need nothing but `from misstep import …`. Each name is imported when it is
asked for, so that the command line starts fast; type checkers see all of them.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from harness.version import __version__

if TYPE_CHECKING:
    from harness.agent.actions import Observation
    from harness.agent.clocks import Clock
    from harness.agent.tools import Tool
    from harness.agent.turns import Turn
    from harness.errors import MisstepError, UnreadableTrajectory
    from harness.exchange import Failure, Message, Reply, Request
    from harness.intervention import Feedback, Misbehaviour
    from harness.items import Item
    from harness.judges.fencing import fence
    from harness.protocols import Ask, Classifier, Reader, Sample
    from harness.protocols import WrittenJudge as Judge
    from harness.reflexive.protocols import Agents, ChannelBroken, Check, Context, Reading, Skill, Target, VitalSign
    from harness.runs.reflect.skills import SkillOptions
    from harness.trajectory import Outcome, Source, Step, Tokens, ToolCall, ToolResult, Trajectory
    from harness.verdict import Verdict
    from harness.work_item import WorkItem
    from studies.run_frames import RunFrames

__all__ = [
    "Agents",
    "Ask",
    "ChannelBroken",
    "Check",
    "Classifier",
    "Clock",
    "Context",
    "Failure",
    "Feedback",
    "Item",
    "Judge",
    "Message",
    "Misbehaviour",
    "MisstepError",
    "Observation",
    "Outcome",
    "Reader",
    "Reading",
    "Reply",
    "Request",
    "Sample",
    "Skill",
    "SkillOptions",
    "Source",
    "Step",
    "Target",
    "Tokens",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Trajectory",
    "Turn",
    "UnreadableTrajectory",
    "Verdict",
    "VitalSign",
    "WorkItem",
    "__version__",
    "fence",
    "open",
]

_MODULES = {
    "harness.agent.actions": ("Observation",),
    "harness.agent.clocks": ("Clock",),
    "harness.agent.tools": ("Tool",),
    "harness.agent.turns": ("Turn",),
    "harness.errors": ("MisstepError", "UnreadableTrajectory"),
    "harness.exchange": ("Failure", "Message", "Reply", "Request"),
    "harness.intervention": ("Feedback", "Misbehaviour"),
    "harness.items": ("Item",),
    "harness.judges.fencing": ("fence",),
    "harness.protocols": ("Ask", "Classifier", "Reader", "Sample", "WrittenJudge"),
    "harness.reflexive.protocols": (
        *("Agents", "ChannelBroken", "Check", "Context", "Reading", "Skill", "Target", "VitalSign"),
    ),
    "harness.runs.reflect.skills": ("SkillOptions",),
    "harness.trajectory": ("Outcome", "Source", "Step", "Tokens", "ToolCall", "ToolResult", "Trajectory"),
    "harness.verdict": ("Verdict",),
    "harness.work_item": ("WorkItem",),
}
_OTHER_NAMES = {"WrittenJudge": "Judge"}
_PLACES = {_OTHER_NAMES.get(name, name): (module, name) for module, names in _MODULES.items() for name in names}
"""Public name → the module that holds it, and its name there."""


if not TYPE_CHECKING:  # a type checker would take any name for one that is here

    def __getattr__(name: str) -> object:
        """A public name, imported when it is first asked for."""
        if name not in _PLACES:
            raise AttributeError(f"module 'misstep' has no attribute {name!r}")
        module, inner = _PLACES[name]
        return getattr(import_module(module), inner)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def open(run: Path | str, benchmark: str = "", data: Path | None = None) -> "RunFrames":  # noqa: A001
    """A run as pandas frames: `items`, `verdicts`, `gold`; of a run of repairs `attempts` and `signals`.

    Parameters
    ----------
    run
        The folder that `misstep judge run`, `misstep repair run` or `misstep classify --out` wrote.
    benchmark
        The benchmark's folder or name, where it no longer lies where the run found it.
    data
        Where public data sets lie.

    Raises
    ------
    InputError, UsageError, MissingPrerequisite
        The folder is no run, or its benchmark cannot be read.

    Examples
    --------
    >>> import misstep
    >>> run = misstep.open("run")  # doctest: +SKIP
    >>> run.verdicts.label.value_counts()  # doctest: +SKIP
    """
    from studies.run_frames import open_frames  # pandas takes a second to import

    return open_frames(run, benchmark, data)
