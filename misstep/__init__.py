"""The way in: one file a command; `misstep.open(RUN)` for notebooks; what plug-ins and observers are written with.

A reader, a rule and a judge from outside need nothing but `from misstep import …`. Each name is imported when it is
asked for, so that the command line starts fast; type checkers see all of them.
"""

from importlib import import_module

from misstep.harness.version import __version__

TYPE_CHECKING = False  # without `typing`, whose import each call of a hook would wait for
if TYPE_CHECKING:
    from misstep.analysis.tables import Row, Table
    from misstep.harness.agent.actions import Observation
    from misstep.harness.agent.clocks import Clock
    from misstep.harness.agent.tools import Tool
    from misstep.harness.agent.turns import Turn
    from misstep.harness.errors import MisstepError, UnreadableTrajectory
    from misstep.harness.exchange import Failure, Message, Reply, Request
    from misstep.harness.items import Item
    from misstep.harness.journal.records import Inputs, Records
    from misstep.harness.judges.fencing import fence
    from misstep.harness.observer.observer import Observer
    from misstep.harness.protocols import Ask, Classifier, Reader, Sample
    from misstep.harness.protocols import WrittenJudge as Judge
    from misstep.harness.records.intervention import Feedback, Misbehaviour
    from misstep.harness.records.loop_events import WorkItem
    from misstep.harness.reflexive.protocols import (
        Agents,
        ChannelBroken,
        Check,
        Context,
        Reading,
        Skill,
        Target,
        VitalSign,
    )
    from misstep.harness.runs.inputs import inputs_of_paths, trajectories
    from misstep.harness.runs.kind import RunKind, Units
    from misstep.harness.runs.opened import OpenRun
    from misstep.harness.runs.reflect.skills import SkillOptions
    from misstep.harness.runs.run import Asking, carry_out
    from misstep.harness.trajectory import Outcome, Source, Step, Tokens, ToolCall, ToolResult, Trajectory
    from misstep.harness.verdict import Verdict
    from misstep.studies.asserted import assert_judge
    from misstep.studies.kinds.kind import RunResults
    from misstep.studies.run_frames import open_frames as open  # noqa: A004

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
    "misstep.analysis.tables": ("Row", "Table"),
    "misstep.harness.journal.records": ("Inputs", "Records"),
    "misstep.harness.runs.inputs": ("inputs_of_paths", "trajectories"),
    "misstep.harness.runs.kind": ("RunKind", "Units"),
    "misstep.harness.runs.opened": ("OpenRun",),
    "misstep.harness.runs.run": ("Asking", "carry_out"),
    "misstep.studies.asserted": ("assert_judge",),
    "misstep.studies.kinds.kind": ("RunResults",),
    "misstep.studies.run_frames": ("open_frames",),
    "misstep.harness.agent.actions": ("Observation",),
    "misstep.harness.agent.clocks": ("Clock",),
    "misstep.harness.agent.tools": ("Tool",),
    "misstep.harness.agent.turns": ("Turn",),
    "misstep.harness.errors": ("MisstepError", "UnreadableTrajectory"),
    "misstep.harness.exchange": ("Failure", "Message", "Reply", "Request"),
    "misstep.harness.records.intervention": ("Feedback", "Misbehaviour"),
    "misstep.harness.items": ("Item",),
    "misstep.harness.judges.fencing": ("fence",),
    "misstep.harness.observer.observer": ("Observer",),
    "misstep.harness.protocols": ("Ask", "Classifier", "Reader", "Sample", "WrittenJudge"),
    "misstep.harness.reflexive.protocols": (
        *("Agents", "ChannelBroken", "Check", "Context", "Reading", "Skill", "Target", "VitalSign"),
    ),
    "misstep.harness.runs.reflect.skills": ("SkillOptions",),
    "misstep.harness.trajectory": ("Outcome", "Source", "Step", "Tokens", "ToolCall", "ToolResult", "Trajectory"),
    "misstep.harness.verdict": ("Verdict",),
    "misstep.harness.records.loop_events": ("WorkItem",),
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
