"""Read a verdict that a model writes as JSON where a command was asked for.

Models that were trained on JSON answer so whatever they are asked. Several objects with different labels, and one that
is word for word in what the model was shown, do not count.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from misstep_harness.agent.actions import Action
from misstep_harness.agent.policies.model import ModelPolicy
from misstep_harness.agent.protocols import Task
from misstep_harness.exchange import Reply
from misstep_harness.judges.replies import label_meant
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Step
from misstep_harness.triage.records.attribution import FAULTS, taxonomy

VERDICT = "verdict"

_LABEL = ("label", "verdict", "fault", "cause", "attribution")
_REASONING = ("reasoning", "rationale", "reason", "explanation", "justification")
_PLACE = ("where", "place", "location", "source", "file", "path", "command", "step")
_TEXT = ("text", "quote", "what", "content", "observation", "detail")
_MOST_OBJECTS, _DEEPEST = 200, 4
_DECODER = json.JSONDecoder()


class InvestigatorPolicy(ModelPolicy):
    """A model that decides the next command, whose JSON verdicts are commands too."""

    async def act(self, task: Task, steps: Sequence[Step], ask: Ask) -> Action:
        """Return the model's next command; raises `AgentStopped` where it gives no answer."""
        self._shown = [*(step.text for step in steps if step.role != "agent"), *_observed(steps)]
        return await super().act(task, steps, ask)

    def read(self, reply: Reply) -> Action:
        """The command in a reply; a verdict with its reasons and its evidence counts before a command beside it."""
        action = super().read(reply)
        if action.name == VERDICT and not action.error:
            evidence = _lines(_decoded(action.arguments.get("evidence", "")))
            return replace(action, arguments={**action.arguments, "evidence": evidence}) if evidence else action
        verdict = verdict_in(reply.text or "", self._shown)
        if verdict is None or not (action.error or (verdict["reasoning"] and verdict["evidence"])):
            return action
        return Action(VERDICT, verdict, action.thought if not action.error else "")


def verdict_in(text: str, shown: Sequence[str] = ()) -> dict[str, str] | None:
    """The arguments of the command `verdict` that the JSON in a text gives; `None` where it gives none, or several."""
    verdicts = {}
    for source, value in _objects(text):
        for one in _labelled(value, 0):
            if not any(source in each for each in shown):
                verdicts[json.dumps(one, sort_keys=True)] = _arguments(one)
    labels = {one["label"] for one in verdicts.values()}
    return list(verdicts.values())[-1] if len(labels) == 1 else None


def _observed(steps: Sequence[Step]) -> Iterator[str]:
    return (result.text for step in steps for result in step.results)


def _objects(text: str) -> Iterator[tuple[str, Any]]:
    place = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if place < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield text[place:end], value
        place = text.find("{", end)


def _labelled(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = next((one for _, one in _objects(value)), None)
    if isinstance(value, list) and depth < _DEEPEST:
        for each in value:
            yield from _labelled(each, depth + 1)
    if isinstance(value, dict):
        value = {str(key).strip().casefold().replace(" ", "_"): one for key, one in value.items()}
        if _label(value):
            yield value
        elif depth < _DEEPEST:
            for each in value.values():
                yield from _labelled(each, depth + 1)


def _label(fields: Mapping[str, Any]) -> str:
    meant = {fault: fault for fault in FAULTS} | {category.name: fault for fault, category in taxonomy().items()}
    labels = (fields[key] for key in _LABEL if isinstance(fields.get(key), str))
    return next((label for one in labels if (label := label_meant(one, meant)) is not None), "")


def _arguments(fields: Mapping[str, Any]) -> dict[str, str]:
    lines, steps = _lines(fields.get("evidence", [])), fields.get("steps", [])
    placed = {line.partition("|")[0].strip() for line in lines.splitlines()}
    cited = [
        one for one in (f"step {step}" for step in (steps if isinstance(steps, list) else ())) if one not in placed
    ]
    subcategory = _first(fields, ("subcategory", "sub_category"))
    return {
        "label": _label(fields),
        "reasoning": _first(fields, _REASONING),
        "evidence": "\n".join(filter(None, (lines, *cited))),
        **({"subcategory": subcategory} if subcategory else {}),
    }


def _decoded(text: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(text) if text.lstrip().startswith(("[", "{")) else None
    return None


def _lines(evidence: Any) -> str:
    pieces = evidence if isinstance(evidence, list) else [evidence]
    return "\n".join(line for line in map(_piece, pieces) if line)


def _piece(piece: Any) -> str:
    if isinstance(piece, dict):
        piece = {str(key).casefold(): one for key, one in piece.items()}
        where = _first(piece, _PLACE)
        where = f"step {where}" if where.isdigit() else where
        return f"{where} | {' '.join(_first(piece, _TEXT).split())}" if where else ""
    return piece if isinstance(piece, str) else ""


def _first(fields: Mapping[str, Any], keys: Sequence[str]) -> str:
    return next((str(fields[key]) for key in keys if isinstance(fields.get(key), str | int) and fields[key] != ""), "")
