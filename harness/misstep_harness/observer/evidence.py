"""Give what guidance may quote of a run: the agent's calls, the user's words, the tools; never what a tool answered."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from misstep_harness.agent.tools import TOOLS, tool_named
from misstep_harness.classifiers.failures import failed, own_failure
from misstep_harness.classifiers.history import Act, History
from misstep_harness.classifiers.overstepping import broken_limit
from misstep_harness.classifiers.tools import bare_name, path_of
from misstep_harness.intervention import Feedback, Misbehaviour
from misstep_harness.judges.fencing import one_line
from misstep_harness.trajectory import ToolCall, Trajectory
from misstep_harness.values import as_json

_MOST_ARGUMENT = 80
_MOST_CALL = 200
_MOST_WORDS = 200
_MOST_REQUEST = 600
_MOST_TOOLS = 40
"""Tools that are named: an agent with more of them has a list of its own."""


def with_evidence(feedback: Feedback, trajectory: Trajectory) -> Feedback:
    """Return the feedback with what guidance may quote for each misbehaviour; what a detector names itself stays."""
    if not feedback.found:
        return feedback
    history = History(trajectory)
    return Feedback(
        tuple(replace(one, evidence={**evidence_of(one, history), **one.evidence}) for one in feedback.misbehaviours)
    )


def evidence_of(fault: Misbehaviour, history: History) -> dict[str, str]:
    """Return what guidance on a misbehaviour may quote, by the name of its placeholder; only what the run shows."""
    steps = frozenset(fault.steps)
    acts = [act for act in history.acts if act.step in steps]
    values = {"request": _shortened(_request(history.trajectory), _MOST_REQUEST)}
    if fault.category == "infinite_loop":
        values |= _repeated(acts, history.acts)
    elif fault.category == "tool_call_failure":
        values |= _failing(acts, history)
    else:
        limit = broken_limit(history, steps)
        done = next((act for act in acts if path_of(act.call)), acts[0] if acts else None)
        values |= {
            "constraint": _shortened(limit.words, _MOST_WORDS) if limit is not None else "",
            "changed": _shortened(path_of(done.call), _MOST_ARGUMENT) if done is not None else "",
            "call": call_text(done.call) if done is not None else "",
        }
    return {name: value for name, value in values.items() if value}


def call_text(call: ToolCall) -> str:
    """Return a call on one short line: `read_file(path='a.py')`. Calls with equal texts are taken for one call."""
    if isinstance(call.arguments, str):
        arguments = _shortened(call.arguments, _MOST_ARGUMENT)
    else:
        arguments = ", ".join(
            f"{one_line(name[:_MOST_ARGUMENT])}={_value(value)}" for name, value in call.arguments.items()
        )
    return _shortened(f"{call.name}({arguments})", _MOST_CALL)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return f"'{_shortened(value, _MOST_ARGUMENT)}'"
    return _shortened(as_json(value, indented=False), _MOST_ARGUMENT)


def _shortened(text: str, most: int) -> str:
    line = one_line(text[: 4 * most]).replace("`", "'").replace('"', "'")
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[: most - 1]}…"


def _request(trajectory: Trajectory) -> str:
    return next((step.text for step in trajectory.steps if step.role == "user" and step.text), trajectory.task)


def _repeated(acts: list[Act], every: Iterable[Act]) -> dict[str, str]:
    if not acts:
        return {}
    call = Counter(call_text(act.call) for act in acts).most_common(1)[0][0]
    times = sum(act.step >= acts[0].step and call_text(act.call) == call for act in every)
    return {"call": call, "times": str(times) if times > 1 else ""}


def _failing(acts: list[Act], history: History) -> dict[str, str]:
    if not acts:
        return {}
    failing = [act for act in acts if failed(act)] or acts
    tool = Counter(act.call.name for act in failing).most_common(1)[0][0]
    last = [act for act in failing if act.call.name == tool][-1]
    known = known_tools(history)
    parameters = known.get(tool, "")
    failures = filter(None, map(own_failure, failing))
    unknown = bool(_defined_tools(history.trajectory)) or any(one.fault == "unknown tool" for one in failures)
    missing = tool not in known and unknown
    return {
        "tool": _shortened(bare_name(tool), _MOST_ARGUMENT),
        "call": call_text(last.call),
        "parameters": _shortened(parameters, _MOST_REQUEST),
        "tools": ", ".join(_shortened(name, _MOST_ARGUMENT) for name in sorted(known)[:_MOST_TOOLS]) if missing else "",
    }


def known_tools(history: History) -> Mapping[str, str]:
    """Tool → its parameters: as the record or our own agent defines them, or else as calls that worked had them."""
    return _defined_tools(history.trajectory) or {
        act.call.name: ", ".join(act.call.arguments)
        for act in history.acts
        if isinstance(act.call.arguments, dict) and not failed(act)
    }


def _defined_tools(run: Trajectory) -> Mapping[str, str]:
    agent = run.extra.get("agent")
    definitions = agent.get("tool_definitions") if isinstance(agent, dict) else None
    if isinstance(definitions, list):
        return dict(filter(None, map(_defined, definitions)))
    if run.source.format == "misstep":  # a run of our own agent
        return {name: tool_named(name).usage for name in TOOLS}
    return {}


def _defined(definition: Any) -> tuple[str, str] | None:
    """Name and parameters of a tool in the form that most servers take; `None` where it has another."""
    function = definition.get("function", definition) if isinstance(definition, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return None
    schema = function.get("parameters") or function.get("input_schema")
    return function["name"], as_json(schema, indented=False) if isinstance(schema, dict) else ""
