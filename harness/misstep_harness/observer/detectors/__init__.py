"""What tells of a running agent whether it misbehaves: rules, and a model that is asked."""

from typing import Protocol

from misstep_harness.errors import UsageError
from misstep_harness.intervention import Feedback
from misstep_harness.observer.evidence import with_evidence
from misstep_harness.observer.state import EVERY, bounded_feedback
from misstep_harness.protocols import Ask
from misstep_harness.registry import Registry
from misstep_harness.trajectory import Trajectory


class Detector(Protocol):
    """What tells of a run so far whether it shows misbehaviour, and which."""

    @property
    def name(self) -> str:
        """Return its name in records."""

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:
        """Return what the run shows up to its last step."""


_FORM = "A detector is a class without parameters that has `name` and `async detect(trajectory, ask)`."

DETECTORS: Registry[type[Detector]] = Registry(
    "misstep.detectors",
    {
        "rules": "misstep_harness.observer.detectors.rules:RuleDetector",
        "prompted": "misstep_harness.observer.detectors.prompted:PromptedDetector",
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
