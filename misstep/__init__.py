"""The way in: one file a command; `misstep.open(RUN)` for notebooks; what plug-ins and observers are written with.

A reader, a rule and a judge from outside need nothing but `from misstep import …`. Each name is imported when it is
asked for, so that the command line starts fast; type checkers see all of them.
"""

from importlib import import_module

from misstep_harness.version import __version__

TYPE_CHECKING = False  # without `typing`, whose import each call of a hook would wait for
if TYPE_CHECKING:
    from misstep_analysis.frames import open_frames as open  # noqa: A004
    from misstep_analysis.judging.asserted import assert_judge
    from misstep_analysis.runs.kind import RunResults
    from misstep_analysis.tables import Row, Table
    from misstep_harness.agent.actions import Observation
    from misstep_harness.agent.clocks import Clock
    from misstep_harness.agent.tools import Tool
    from misstep_harness.agent.turns import Turn
    from misstep_harness.errors import MisstepError, UnreadableTrajectory
    from misstep_harness.exchange import Failure, Message, Reply, Request
    from misstep_harness.intervention import Feedback, Misbehaviour
    from misstep_harness.items import Item
    from misstep_harness.journal.opened import OpenRun
    from misstep_harness.journal.records import Inputs, Records
    from misstep_harness.judges.fencing import fence
    from misstep_harness.observer.observer import Observer
    from misstep_harness.protocols import Ask, Classifier, Reader, Sample
    from misstep_harness.protocols import WrittenJudge as Judge
    from misstep_harness.reflexive.protocols import (
        Agents,
        ChannelBroken,
        Check,
        Context,
        Reading,
        Skill,
        Target,
        VitalSign,
    )
    from misstep_harness.reflexive.records import WorkItem
    from misstep_harness.reflexive.runs.skills import SkillOptions
    from misstep_harness.runs.inputs import inputs_of_paths, trajectories
    from misstep_harness.runs.kind import RunKind, Units
    from misstep_harness.runs.run import Asking, carry_out
    from misstep_harness.trajectory import Outcome, Source, Step, Tokens, ToolCall, ToolResult, Trajectory
    from misstep_harness.verdict import Verdict

__all__ = [
    "Agents",
    "Ask",
    "Asking",
    "ChannelBroken",
    "Check",
    "Classifier",
    "Clock",
    "Context",
    "Failure",
    "Feedback",
    "Inputs",
    "Item",
    "Judge",
    "Message",
    "Misbehaviour",
    "MisstepError",
    "Observation",
    "Observer",
    "OpenRun",
    "Outcome",
    "Reader",
    "Reading",
    "Records",
    "Reply",
    "Request",
    "Row",
    "RunKind",
    "RunResults",
    "Sample",
    "Skill",
    "SkillOptions",
    "Source",
    "Step",
    "Table",
    "Target",
    "Tokens",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Trajectory",
    "Turn",
    "Units",
    "UnreadableTrajectory",
    "Verdict",
    "VitalSign",
    "WorkItem",
    "__version__",
    "assert_judge",
    "carry_out",
    "fence",
    "inputs_of_paths",
    "open",
    "trajectories",
]

_MODULES = {
    "misstep_analysis.tables": ("Row", "Table"),
    "misstep_harness.journal.records": ("Inputs", "Records"),
    "misstep_harness.runs.inputs": ("inputs_of_paths", "trajectories"),
    "misstep_harness.runs.kind": ("RunKind", "Units"),
    "misstep_harness.journal.opened": ("OpenRun",),
    "misstep_harness.runs.run": ("Asking", "carry_out"),
    "misstep_analysis.judging.asserted": ("assert_judge",),
    "misstep_analysis.runs.kind": ("RunResults",),
    "misstep_analysis.frames": ("open_frames",),
    "misstep_harness.agent.actions": ("Observation",),
    "misstep_harness.agent.clocks": ("Clock",),
    "misstep_harness.agent.tools": ("Tool",),
    "misstep_harness.agent.turns": ("Turn",),
    "misstep_harness.errors": ("MisstepError", "UnreadableTrajectory"),
    "misstep_harness.exchange": ("Failure", "Message", "Reply", "Request"),
    "misstep_harness.intervention": ("Feedback", "Misbehaviour"),
    "misstep_harness.items": ("Item",),
    "misstep_harness.judges.fencing": ("fence",),
    "misstep_harness.observer.observer": ("Observer",),
    "misstep_harness.protocols": ("Ask", "Classifier", "Reader", "Sample", "WrittenJudge"),
    "misstep_harness.reflexive.protocols": (
        *("Agents", "ChannelBroken", "Check", "Context", "Reading", "Skill", "Target", "VitalSign"),
    ),
    "misstep_harness.reflexive.runs.skills": ("SkillOptions",),
    "misstep_harness.trajectory": ("Outcome", "Source", "Step", "Tokens", "ToolCall", "ToolResult", "Trajectory"),
    "misstep_harness.verdict": ("Verdict",),
    "misstep_harness.reflexive.records": ("WorkItem",),
}
_OTHER_NAMES = {"WrittenJudge": "Judge", "open_frames": "open"}
_PLACES = {_OTHER_NAMES.get(name, name): (module, name) for module, names in _MODULES.items() for name in names}
"""Public name → the module that holds it, and its name there."""


if not TYPE_CHECKING:  # a type checker would take any name for one that is here

    def __getattr__(name: str) -> object:
        """Return a public name, imported when it is first asked for."""
        if name not in _PLACES:
            raise AttributeError(f"module 'misstep' has no attribute {name!r}")
        module, inner = _PLACES[name]
        return getattr(import_module(module), inner)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
