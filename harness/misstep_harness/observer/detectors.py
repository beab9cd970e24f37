"""What tells of a running agent whether it misbehaves: rules, and a model that is asked.

Ask a model one question about the whole run so far; its answer is the pair of equation 3.

{"reasoning": "…", "label": "yes", "infinite_loop": [4, 6, 8], "did_not_follow_instructions": [], …}
"""

from collections.abc import Iterator
from typing import Any, Protocol

from msgspec.structs import replace

from misstep_harness.classifiers import categories, classify_all
from misstep_harness.errors import MisstepError, UsageError
from misstep_harness.exchange import Failure, Message, Reply, Request
from misstep_harness.intervention import Feedback, Misbehaviour
from misstep_harness.judges import read_known
from misstep_harness.judges.context import CHARACTERS_PER_TOKEN, cut_text, fitted_steps
from misstep_harness.judges.fencing import fence
from misstep_harness.judges.judge_file import JudgeSpec
from misstep_harness.judges.replies import Answer, cited_steps, read_reply
from misstep_harness.observer.evidence import with_evidence
from misstep_harness.observer.state import EVERY, bounded_feedback
from misstep_harness.prompting import fill, shipped_prompt
from misstep_harness.protocols import Ask
from misstep_harness.registry import Registry
from misstep_harness.trajectory import Step, Trajectory
from misstep_harness.verdict import Verdict

_PROMPT = "observer/misbehaviour"
_NONE = "none"
_ANY = ("yes", "no")
_SHARE_OF_TASK = 4
"""The task gets this part of the room at most, as 1 : 4."""


class NoAnswer(MisstepError):
    """The model gave no feedback: it was not reached, refused, or wrote what cannot be read."""


class Detector(Protocol):
    """What tells of a run so far whether it shows misbehaviour, and which."""

    @property
    def name(self) -> str:
        """Return its name in records."""

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:
        """Return what the run shows up to its last step."""


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


REPEATED = ("infinite_loop", "tool_call_failure")
"""Categories that a run may show several times, and whose rules need nothing of what lies before."""

_MOST = 10
"""Times that one run is searched for one category."""


class RuleFailed(MisstepError):
    """A rule could not judge a run."""


class RuleDetector(Detector):
    """The rules, on the whole run so far."""

    name = "rules"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        """Return what the rules find; no model is asked."""
        return feedback(trajectory)


def feedback(trajectory: Trajectory) -> Feedback:
    """Return what the rules find in a run so far, in the order of the categories and then of the steps."""
    verdicts = classify_all(trajectory, categories())
    misbehaviours = tuple(one for verdict in verdicts for one in _all_of(verdict, trajectory))
    broken = [verdict.error for verdict in verdicts if verdict.error]
    if broken and not misbehaviours:
        raise RuleFailed(broken[0])
    return Feedback(misbehaviours)


def _all_of(verdict: Verdict, trajectory: Trajectory) -> Iterator[Misbehaviour]:
    for _ in range(_MOST):
        if verdict.label != "yes":
            return
        yield Misbehaviour(verdict.judge, verdict.steps, verdict.rationale)
        if verdict.judge not in REPEATED or not verdict.steps:
            return
        trajectory = _behind(trajectory, verdict.steps[-1])
        verdict = classify_all(trajectory, (verdict.judge,))[0]


def _behind(trajectory: Trajectory, last: int) -> Trajectory:
    """Return the run without what the agent did up to a step; all steps keep their numbers."""
    steps = trajectory.steps
    earlier = (Step("system") if step.role == "agent" else step for step in steps[: last + 1])
    return replace(trajectory, steps=(*earlier, *steps[last + 1 :]))


_FORM = "A detector is a class without parameters that has `name` and `async detect(trajectory, ask)`."

DETECTORS: Registry[type[Detector]] = Registry(
    "misstep.detectors",
    {
        "rules": "misstep_harness.observer.detectors:RuleDetector",
        "prompted": "misstep_harness.observer.detectors:PromptedDetector",
    },
)


_ASK_NO_MODEL = ("rules",)
NEED_A_MODEL = ("prompted",)


def asks_a_model(detector: str) -> bool:
    """Return whether a detector asks a model, or may do so."""
    return detector not in _ASK_NO_MODEL


def steps_between_questions(detector: str) -> int:
    """Return after how many steps a detector of a run that goes on is asked each time: rules take milliseconds."""
    return EVERY if asks_a_model(detector) else 1


def check_model(detector: str, model: str, *, alone: bool = True) -> None:
    """Refuse a detector without its model, and a model that nobody asks where the detector is `alone` with it."""
    if detector in NEED_A_MODEL and not model:
        raise UsageError(f"the detector `{detector}` needs a model", "Name one with --model.")
    if detector in _ASK_NO_MODEL and model and alone:
        raise UsageError(
            f"the detector `{detector}` asks no model", "Give --detector prompted as well, or leave out --model."
        )


def detector_named(name: str) -> Detector:
    """Return a registered detector, or the one at a dotted path `package.module:Class`."""
    detector: Detector = DETECTORS.make(name, form=_FORM)
    if not isinstance(getattr(detector, "name", None), str) or not callable(getattr(detector, "detect", None)):
        raise UsageError(f"{name!r} is not a detector", _FORM)
    return detector


async def detected(detector: Detector, trajectory: Trajectory, ask: Ask) -> Feedback:
    """Return what a detector says of a run so far, bounded and with the evidence that guidance quotes."""
    feedback = bounded_feedback(await detector.detect(trajectory, ask), len(trajectory.steps) - 1)
    return with_evidence(feedback, trajectory)
