"""Run an experiment: many live sessions, each in the arm of its unit, as one resumable run.

Sessions are written in their order, so that the same seed gives the same file however many run at once.
"""

from hashlib import sha256
from itertools import islice
from typing import Any, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.agent.protocols import ModelSettings
from misstep_harness.clients import ClientSettings
from misstep_harness.generate.voice import WordingSet
from misstep_harness.journal.records import Inputs
from misstep_harness.live_session import LiveArm, LiveSession
from misstep_harness.observer.detectors import detector_named
from misstep_harness.observer.experiment.drawing import draw_session, engineers, item_of, rates
from misstep_harness.observer.experiment.observing import Beside
from misstep_harness.observer.experiment.session import run_session
from misstep_harness.observer.observer import LiveObservation
from misstep_harness.observer.records import LIVE_RECORDS
from misstep_harness.protocols import NO_MODEL, Ask
from misstep_harness.runs.kind import RunKind, Units
from misstep_harness.runs.model_requests import ItemAsk, ModelRequests
from misstep_harness.trajectory import Evidence
from misstep_harness.workspace import Sandbox

Design = Literal["shadow", "ab"]

ARMS: dict[Design, tuple[LiveArm, LiveArm]] = {"shadow": ("shadow", "guide"), "ab": ("control", "guide")}
"""The two arms of each design: detection alone or with guidance (RQ2), and no observer or guidance (RQ3)."""


def arm_of(design: Design, experiment: str, unit: str) -> LiveArm:
    """The arm of a unit: the first eight bytes of SHA-256 over `experiment:unit`, its even values in the first arm.

    >>> arm_of("ab", "live-0", "engineer-3") == arm_of("ab", "live-0", "engineer-3")
    True
    """
    digest = sha256(f"{experiment}:{unit}".encode()).digest()
    return ARMS[design][int.from_bytes(digest[:8], "big") % 2]


COMMAND = "experiment run"


class OwnTasks(Protocol):
    """Tasks of the user's own that sessions work on, one after the other and again."""

    evidence: Evidence
    folder: str
    policy: str

    def inputs(self) -> Inputs:
        """Return every file of the tasks."""

    def name_of(self, index: int) -> str:
        """Return the id of the session with a number."""

    async def session(
        self,
        index: int,
        arm: LiveArm,
        beside: Beside,
        how: LiveObservation | None,
        sandbox: Sandbox,
        ask: Ask,
        model: ModelSettings,
    ) -> LiveSession:
        """Run the session with a number; its seed is not told."""


class ExperimentPlan(Struct, frozen=True):
    """An experiment to run.

    - `design`: `shadow` compares detection alone with detection and guidance; `ab` no observer with guidance.
    - `name`: The experiment's name, which is hashed with each unit.
    - `wordings`: The set that users and agents speak from.
    - `model`: The model that works in place of the scripted agent; without a name there is none.
    - `observation`: The observer in real time, in place of the one in made-up time.
    - `own`: Tasks of the user's to work on, in place of generated projects.
    """

    design: Design
    n: int
    seed: int
    name: str = "live"
    beside: Beside = Beside()
    wordings: WordingSet = "scoring"
    model: ModelSettings = ModelSettings()
    observation: LiveObservation | None = None
    own: OwnTasks | None = None


class ExperimentRun(RunKind[tuple[int, str], LiveSession]):
    """The sessions of an experiment: the number of a session and its engineer are a unit."""

    command = COMMAND
    noun = "sessions"
    records = LIVE_RECORDS
    in_order = True

    def __init__(self, plan: ExperimentPlan, sandbox: Sandbox, client: ClientSettings = ClientSettings()) -> None:  # noqa: B008 -- frozen
        detector_named(plan.beside.detector)  # an unknown one is refused before anything is written
        self._plan, self._sandbox, self._client = plan, sandbox, client
        self.made_again = not (plan.model.name or plan.observation or plan.own)
        self.folder = plan.own.folder if plan.own else ""

    def settings(self) -> dict[str, Any]:
        """Return the plan, the sandbox and the model."""
        plan = self._plan
        settings: dict[str, Any] = {
            "evidence": plan.own.evidence if plan.own else "generated",
            "design": plan.design,
            "n": plan.n,
            "seed": plan.seed,
            "experiment": plan.name,
            "detector": plan.beside.detector,
            "every": plan.beside.every,
            "delay": plan.beside.delay,
            "wordings": plan.wordings,
            "sandbox": self._sandbox.name,
        }
        model = {"model": plan.model.name, "base_url": self._client.base_url or ""} if plan.model.name else {}
        if plan.observation is not None:
            settings = {name: value for name, value in settings.items() if name not in ("detector", "every", "delay")}
            settings |= {name: value for name, value in plan.observation.settings().items() if name != "observe_mode"}
        if plan.own:
            del settings["wordings"]
            settings["policy"] = plan.own.policy
        elif not plan.model.name:
            weights = rates().heeds
            settings["heeds"] = {name: weight / sum(weights.values()) for name, weight in weights.items()}
        return settings | model

    def inputs(self) -> Inputs:
        """Return every file of the tasks; sessions on generated projects are drawn."""
        return self._plan.own.inputs() if self._plan.own else Inputs(0, 0, "")

    def units(self) -> Units[tuple[int, str]]:
        """Return the numbers of the sessions, each with its engineer, or with its id on a task of the user's."""
        if own := self._plan.own:
            return Units(self._plan.n, ((index, own.name_of(index)) for index in range(self._plan.n)))
        return Units(self._plan.n, islice(enumerate(engineers(self._plan.seed)), self._plan.n))

    def id_of(self, unit: tuple[int, str]) -> str:
        """Return the id of a session."""
        return unit[1] if self._plan.own else item_of(unit[0], self._plan.seed)

    async def do(self, unit: tuple[int, str], requests: ModelRequests) -> tuple[LiveSession, float | None] | None:
        """Run a session."""
        index, engineer = unit
        ask = ItemAsk(requests, self.id_of(unit), self._plan.model.name) if self._plan.model.name else None
        session = await live_session(self._plan, index, engineer, self._sandbox, ask or NO_MODEL)
        return None if ask is not None and ask.cut_off else (session, None if ask is None else ask.spent_usd)


async def live_session(
    plan: ExperimentPlan, index: int, engineer: str, sandbox: Sandbox, ask: Ask = NO_MODEL
) -> LiveSession:
    """Session `index` of an experiment, run; of one on the user's tasks, `engineer` is the session's id."""
    if plan.own:
        arm = arm_of(plan.design, plan.name, engineer)
        worked = await plan.own.session(index, arm, plan.beside, plan.observation, sandbox, ask, plan.model)
        return replace(worked, seed=plan.seed)
    drawn = draw_session(index, plan.seed, engineer, plan.wordings)
    unit = engineer if plan.design == "ab" else drawn.item  # a shadow experiment assigns each session to an arm
    arm = arm_of(plan.design, plan.name, unit)
    session = await run_session(drawn, arm, plan.beside, sandbox, ask, plan.model, plan.observation)
    return replace(session, unit=unit, seed=plan.seed)
