"""Whose fault a run is, by a model: asked once about the texts of a case, or as an investigator in the ReAct loop.

Read a verdict that a model writes as JSON where a command was asked for.

Models that were trained on JSON answer so whatever they are asked. Several objects with different labels, and one that
is word for word in what the model was shown, do not count.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from misstep_harness.agent.actions import Action
from misstep_harness.agent.loop import AgentLimits, Toolset, run_loop
from misstep_harness.agent.model_policy import ModelPolicy
from misstep_harness.agent.protocols import ModelSettings, Task
from misstep_harness.exchange import Failure, Message, Outcome, Reply, Request
from misstep_harness.fault_mappings import FAULTS, taxonomy
from misstep_harness.journal.records import encode, replace_file
from misstep_harness.judges.replies import Answer, label_meant, read_reply, schema_of
from misstep_harness.prompting import fill, shipped_prompt
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Source, Step, Tokens, Trajectory
from misstep_harness.triage.agentic.tools import (
    Bench,
    CaseFiles,
    case_text,
    found_evidence,
    subcategory_fault,
    taxonomy_text,
    tools_of,
)
from misstep_harness.triage.protocols import ReadOnlyAccess, SandboxAccess, TextAccess
from misstep_harness.triage.records import Access, Evidence, TriageVerdict
from misstep_harness.triage.texts import recorded_outcome

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


TEXT_PROMPT, INVESTIGATOR_PROMPT = "triage/judge", "triage/investigator"
MOST_TOKENS = 2_000_000
"""Tokens in and out that an investigation may take: every turn sends the conversation again."""

INVESTIGATIONS = "investigations"
"""The folder in a run that holds the judge's own runs, each as a trajectory."""

KeepTrajectory = Callable[[Trajectory], None]
"""Keeps the judge's own run of one case, whose id is the case's."""


_TEXT_of_methods = {"type": "string"}
_PIECE = {
    "type": "object",
    "properties": {"where": _TEXT_of_methods, "text": _TEXT_of_methods},
    "required": ["where", "text"],
    "additionalProperties": False,
}
_MOST = 10
"""Steps, or pieces of evidence, of an answer: without a limit a small model under a grammar counts on to its end."""
_OWN_FIELDS = {"subcategory": _TEXT_of_methods, "evidence": {"type": "array", "items": _PIECE, "maxItems": _MOST}}


class AgenticMethod(Struct, frozen=True):
    """A model as a judge with one kind of access."""

    access: Access
    asked: ModelSettings = ModelSettings()
    limits: AgentLimits = AgentLimits(40, 1800.0, MOST_TOKENS)
    budget: int = 24_000
    keep: KeepTrajectory | None = None
    uses_model: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """`triage@` and the access."""
        return f"triage@{self.access}"

    @property
    def model(self) -> str:
        """Return the model that is asked."""
        return self.asked.name

    @property
    def prompt(self) -> str:
        """Return the prompt by name, version and digest."""
        return shipped_prompt(TEXT_PROMPT if self.access == "text" else INVESTIGATOR_PROMPT).label

    def settings(self) -> dict[str, Any]:
        """Return the prompt, the model and how it is asked, the limits."""
        options = {name: value for name, value in msgspec.to_builtins(self.asked).items() if value is not None}
        limits = {"iterations": self.limits.iterations, "tokens": self.limits.tokens or 0}
        return {"prompt": self.prompt, "model": self.model, "settings": options, "budget": self.budget, **limits}

    def kept_in(self, run: Path) -> "AgenticMethod":
        """Return the method that keeps its own run of each case as `investigations/<case>.json` in a run's folder."""

        def keep(investigation: Trajectory) -> None:
            folder = run / INVESTIGATIONS
            folder.mkdir(exist_ok=True)
            replace_file(folder / f"{quote(investigation.id, safe='')}.json", encode(investigation))

        return replace(self, keep=keep)

    async def judge(self, access: Any, ask: Ask) -> TriageVerdict:
        """Return the verdict on a case; `access` is the one that its name says."""
        started = time.monotonic()
        if self.access == "text":
            verdict, run = await _asked_once(self, access, ask)
        else:
            sandbox = access if self.access == "sandbox" else None
            verdict, run = await _investigated(self, access, sandbox, ask)
        if self.keep is not None:
            self.keep(run)
        spent = [step.tokens for step in run.steps if step.tokens is not None]
        return replace(
            verdict,
            seconds=round(time.monotonic() - started, 3),
            input_tokens=_total(one.prompt for one in spent),
            output_tokens=_total(one.completion for one in spent),
            cost_usd=_total(one.cost_usd for one in spent),
            model=self.model or None,
            prompt=self.prompt,
        )


async def _asked_once(method: AgenticMethod, access: TextAccess, ask: Ask) -> tuple[TriageVerdict, Trajectory]:
    prompt = shipped_prompt(TEXT_PROMPT)
    shown = fill(prompt.user, {"case": case_text(access, recorded_outcome(access), method.budget)})
    messages = (Message("system", fill(prompt.system, {"taxonomy": taxonomy_text()})), Message("user", shown))
    options = method.asked
    request = Request(ask.model, messages, options.temperature, options.max_tokens, options.seed, schema=_schema())
    outcome = await ask(request)
    steps = [Step("system", messages[0].content), Step("user", shown), _answer_step(outcome)]
    run = Trajectory(access.case.id, Source("misstep"), access.instruction, tuple(steps), agent=method.name)
    return _verdict_of_reply(method, access, outcome, shown), replace(run, model=method.model or None)


def _schema() -> dict[str, Any]:
    """The schema of a reply: that of any judge, with the subcategory and the evidence before the label's score."""
    schema = schema_of(FAULTS)
    steps = {**schema["properties"]["steps"], "maxItems": _MOST}
    return {
        **schema,
        "properties": {**schema["properties"], "steps": steps, **_OWN_FIELDS},
        "required": [*schema["required"], *_OWN_FIELDS],
    }


def _answer_step(outcome: Outcome) -> Step:
    if isinstance(outcome, Failure):
        return Step("agent", f"There is no answer: {outcome.sentence}")
    tokens = Tokens(outcome.input_tokens, outcome.output_tokens, cost_usd=outcome.cost_usd)
    return Step("agent", outcome.text or outcome.refusal or "", tokens=tokens)


def _verdict_of_reply(method: AgenticMethod, access: TextAccess, outcome: Outcome, shown: str) -> TriageVerdict:
    item = access.case.id
    if isinstance(outcome, Failure):
        return TriageVerdict(item, method.name, None, "failed", error=f"{outcome.kind}: {outcome.sentence}")
    run = access.trajectory
    count = None if run is None else len(run.steps)
    answer = read_reply(outcome.text, FAULTS, refusal=outcome.refusal, finish=outcome.finish, steps=count, shown=shown)
    if answer.status == "unreadable" and outcome.finish != "length":
        answer = _whole_verdict(outcome.text or "", shown) or answer
    subcategory, evidence, faults = _details(answer, access)
    return TriageVerdict(
        item,
        method.name,
        answer.label,
        answer.status,
        score=answer.score,
        steps=answer.steps,
        rationale=answer.rationale,
        cached=outcome.cached,
        error="; ".join(filter(None, (answer.error, *faults))) or None,
        subcategory=subcategory,
        evidence=evidence,
    )


def _whole_verdict(text: str, shown: str) -> Answer | None:
    """Return a verdict whose keys are others than those that were asked for, as an investigator may write it."""
    verdict = verdict_in(text, (shown,))
    if verdict is None or not verdict["reasoning"]:
        return None
    pieces = [
        {"where": where.strip(), "text": what.strip()}
        for where, _, what in (line.partition(" | ") for line in verdict["evidence"].splitlines())
    ]
    more = {"subcategory": verdict.get("subcategory", ""), "evidence": pieces}
    return Answer(verdict["label"], "answered", rationale=verdict["reasoning"], more=more)


def _details(answer: Answer, access: TextAccess) -> tuple[str, tuple[Evidence, ...], tuple[str, ...]]:
    if answer.label is None:
        return "", (), ()
    named = answer.more.get("subcategory") or ""
    fault = subcategory_fault(answer.label, named) if isinstance(named, str) else "the subcategory is not a text"
    pieces_of_reply = answer.more.get("evidence")
    listed = map(_mapping, pieces_of_reply if isinstance(pieces_of_reply, list) else ())
    pieces = [(str(one.get("where", "")), str(one.get("text", ""))) for one in listed if one]
    checked = found_evidence(pieces, CaseFiles(access))
    return "" if fault else named, checked.evidence, (*([fault] if fault else []), *checked.faults)


def _mapping(value: Any) -> Mapping[str, Any]:
    with suppress(TypeError, ValueError):
        return dict(value)
    return {}


async def _investigated(
    method: AgenticMethod, access: ReadOnlyAccess, sandbox: SandboxAccess | None, ask: Ask
) -> tuple[TriageVerdict, Trajectory]:
    tools = tools_of(sandbox=sandbox is not None)
    toolset = Toolset(method.name, INVESTIGATOR_PROMPT, tools, {"taxonomy": taxonomy_text()})
    task = Task(access.case.id, case_text(access, recorded_outcome(access), method.budget))
    bench = Bench(access, sandbox)
    try:
        run = await run_loop(task, InvestigatorPolicy(method.asked, tools), bench, toolset, ask, method.limits)
    finally:
        await bench.end()
    run = replace(run, task=access.instruction, model=method.model or None)
    return _verdict_of_run(method, run, bench), run


def _verdict_of_run(method: AgenticMethod, run: Trajectory, bench: Bench) -> TriageVerdict:
    if (verdict := bench.verdict) is not None:
        fields = asdict(verdict) | {"error": "; ".join(verdict.faults) or None}
        del fields["faults"]
        return TriageVerdict(run.id, method.name, **fields)
    if run.extra["ended"] == "stopped":
        return TriageVerdict(run.id, method.name, None, "failed", error=str(run.extra["stopped"]))
    error = f"the investigation ended without a verdict: its limit of {run.extra['ended']} was met"
    return TriageVerdict(run.id, method.name, None, "unreadable", error=error)


_Number = TypeVar("_Number", int, float)


def _total(values: Iterable[_Number | None]) -> _Number | None:
    """Return the sum; `None` where a part of it is not known."""
    spent = list(values)
    known = [value for value in spent if value is not None]
    return sum(known) if known and len(known) == len(spent) else None
