"""Ask a model one question about the whole run so far; its answer is the pair of equation 3.

{"reasoning": "…", "label": "yes", "infinite_loop": [4, 6, 8], "did_not_follow_instructions": [], …}
"""

from typing import Any

from misstep_harness.errors import MisstepError
from misstep_harness.exchange import Failure, Message, Reply, Request
from misstep_harness.intervention import Feedback, Misbehaviour
from misstep_harness.judges import read_known
from misstep_harness.judges.context import CHARACTERS_PER_TOKEN, cut_text, fitted_steps
from misstep_harness.judges.fencing import fence
from misstep_harness.judges.judge_file import JudgeSpec
from misstep_harness.judges.replies import Answer, cited_steps, read_reply
from misstep_harness.observer.detectors import Detector
from misstep_harness.prompting import fill, shipped_prompt
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Trajectory

_PROMPT = "observer/misbehaviour"
_NONE = "none"
_ANY = ("yes", "no")
_SHARE_OF_TASK = 4
"""The task gets this part of the room at most, as 1 : 4."""


class NoAnswer(MisstepError):
    """The model gave no feedback: it was not reached, refused, or wrote what cannot be read."""


class PromptedDetector(Detector):
    """Asks the model once a question; any OpenAI-compatible server will do."""

    name = "prompted"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:
        """Return what the model says."""
        request = request_about(trajectory, ask.model)
        outcome = await ask(request)
        if isinstance(outcome, Failure):
            raise NoAnswer(f"the model gave no answer: {outcome.sentence}")
        return _read_feedback(outcome, request, len(trajectory.steps))


def kinds() -> dict[str, str]:
    """Return the categories that the model may name → what they mean."""
    return {name: meaning for name, meaning in _spec().labels.items() if name != _NONE}


def request_about(run: Trajectory, model: str) -> Request:
    """Return what a model is asked about a run so far."""
    spec, prompt = _spec(), shipped_prompt(_PROMPT)
    room = spec.budget * CHARACTERS_PER_TOKEN
    task = cut_text(
        run.task or next((step.text for step in run.steps if step.role == "user"), ""), room // _SHARE_OF_TASK
    )
    shown = fitted_steps(run.steps, room - len(task.text), spec.policy, None, first=0)
    values = {
        "categories": "\n".join(f"- {name}: {meaning}" for name, meaning in kinds().items()),
        "fields": ",\n".join(f'"{name}": [the numbers of the steps that show it, or empty]' for name in kinds()),
        "task": fence(task.text or "(not recorded)", f"{run.id} task"),
        "trajectory": fence(shown.text, f"{run.id} trajectory"),
    }
    settings = spec.model
    return Request(
        model,
        (Message("system", fill(prompt.system, values)), Message("user", fill(prompt.user, values))),
        settings.temperature,
        settings.max_tokens,
        settings.seed,
        _schema() if settings.structured else None,
    )


def _read_feedback(reply: Reply, request: Request, steps: int) -> Feedback:
    shown = request.messages[-1].content
    answer = read_reply(reply.text, _ANY, refusal=reply.refusal, finish=reply.finish, steps=steps, shown=shown)
    if answer.status != "answered":
        raise NoAnswer(f"the reply cannot be used: {answer.error}")
    cited_steps = _named(answer, steps)
    if (answer.label == "yes") != bool(cited_steps):
        contradiction = (
            "none of the kinds has a step" if answer.label == "yes" else f"{', '.join(cited_steps)} has steps"
        )
        raise NoAnswer(f"the reply cannot be used: the label is {answer.label}, and {contradiction}")
    return Feedback(tuple(Misbehaviour(name, cited, answer.rationale) for name, cited in cited_steps.items()))


def _named(answer: Answer, steps: int) -> dict[str, tuple[int, ...]]:
    cited = {name: cited_steps(answer.more.get(name), steps) for name in kinds()}
    return {name: evidence for name, evidence in cited.items() if evidence}


def _schema() -> dict[str, Any]:
    evidence = {"type": "array", "items": {"type": "integer"}}
    properties = {"reasoning": {"type": "string"}, "label": {"type": "string", "enum": list(_ANY)}}
    named = properties | dict.fromkeys(kinds(), evidence)
    return {"type": "object", "properties": named, "required": list(named), "additionalProperties": False}


def _spec() -> JudgeSpec:
    return read_known("misbehaviour")
