"""Decide what an observer of one run does: when to ask, what an answer is worth, what to say. Nothing here waits.

state = ObserverState("run-7", "rules")
# behind each step of the agent:
if answer is there:   said = state.answered(feedback, steps)
if state.due(steps):  state.question_open(steps)
# behind the last step:
state.ended(steps)
state.observed(steps)
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.intervention import (
    INTERVENTION,
    Arm,
    Feedback,
    Intervention,
    Invocation,
    Misbehaviour,
    ObservedRun,
    Status,
    Withheld,
)
from misstep_harness.observer.episodes import EpisodeDecision, OpenEpisode, decide, merged, noted
from misstep_harness.observer.guidance import guidance
from misstep_harness.trajectory import Step

EVERY = 5
"""Steps of the agent from one question to the next (Wink, section 4.2)."""

MOST_MISBEHAVIOURS = 20
MOST_STEPS = 50
MOST_EVIDENCE = 20
MOST_CHARACTERS = 1_000
"""Misbehaviours of an answer, steps and pieces of evidence of each, characters of a text."""

_LOOKED_AT = 10_000


class ObserverMemory(Struct, frozen=True):
    """What an observer knows of a run: its record, the rounds of questions, what was spoken of and what was named."""

    observed: ObservedRun
    rounds: int
    spoken: tuple[OpenEpisode, ...]
    reported: dict[str, frozenset[int]]


class ObserverState:
    """One run as its observer sees it."""

    def __init__(
        self,
        item: str,
        detector: str,
        every: int = EVERY,
        arm: Arm = "guide",
        *,
        guidance_folder: str = "",
        categories: Collection[str] = (),
    ) -> None:
        self._observed = ObservedRun(item, arm, detector, every, 0)
        self._guidance_folder, self._categories = guidance_folder, categories
        self._invocations: list[Invocation] = []
        self._interventions: list[Intervention] = []
        self._rounds = self._skipped = 0
        self._spoken: tuple[OpenEpisode, ...] = ()
        self._open: int | None = None
        self._reported: dict[str, frozenset[int]] = {}

    def memory(self, steps: Sequence[Step]) -> ObserverMemory:
        """Return all that there is to know of the run, for another process to go on from; an open question is lost."""
        return ObserverMemory(self.observed(steps), self._rounds, self._spoken, self._reported)

    def remember(self, memory: ObserverMemory) -> None:
        """Go on from what an earlier process knew of the run."""
        self._invocations = list(memory.observed.invocations)
        self._interventions = list(memory.observed.interventions)
        self._skipped, self._rounds = memory.observed.skipped, memory.rounds
        self._spoken, self._reported = memory.spoken, dict(memory.reported)

    @property
    def in_flight(self) -> bool:
        """Return whether a question is open."""
        return self._open is not None

    def due(self, steps: Sequence[Step]) -> bool:
        """Return whether the detector is to be asked, now that the run ends in a step of the agent."""
        rounds = sum(step.role == "agent" for step in steps) // self._observed.every
        if rounds <= self._rounds:
            return False
        self._skipped += rounds - self._rounds - (not self.in_flight)
        self._rounds = rounds
        return not self.in_flight

    def question_open(self, steps: Sequence[Step]) -> None:
        """The detector is asked about the run as it is."""
        self._open = len(steps) - 1

    def failed(
        self, error: str, steps: Sequence[Step], seconds: float | None = None, status: Status = "failed"
    ) -> None:
        """Note that the open question has no answer, and why."""
        shown, self._open = self._open, None
        if shown is not None:
            message = error[:MOST_CHARACTERS]
            at = len(steps) - 1 if status == "failed" else None
            self._invocations.append(Invocation(shown, status, answered_at=at, seconds=seconds, error=message))

    def ended(self, steps: Sequence[Step], answer: Feedback | str | None = None, seconds: float | None = None) -> None:
        """The run is over; an answer that came in with its last step is not said any more, and an error is one."""
        if isinstance(answer, str):
            self.failed(answer, steps, seconds)
        elif answer is not None and self.in_flight:
            self.answered(answer, steps, seconds, over=True)
        self.failed("the run ended first", steps, status="unanswered")

    def observed(self, steps: Sequence[Step], file: str = "", line: int | None = None) -> ObservedRun:
        """Return the record of the run."""
        return replace(
            self._observed,
            n_steps=sum(INTERVENTION not in step.extra for step in steps),
            invocations=tuple(self._invocations),
            interventions=tuple(self._interventions),
            skipped=self._skipped,
            file=file,
            line=line,
        )

    @property
    def number(self) -> int:
        """Return the number of the last intervention, counted from 0, as a step of guidance is marked with."""
        return len(self._interventions) - 1

    def delivered(self, at: int | None) -> None:
        """Note behind which step the last word reaches the agent, never if `None`; earlier acts do not count."""
        last = self._interventions[-1]
        self._interventions[-1] = replace(last, delivered_at=at, withheld="ended" if at is None else "")
        if at is not None:
            self._spoken = tuple(
                replace(one, spoken_at=at) if one.spoken_at == last.delivered_at else one for one in self._spoken
            )

    def categories(self, step: Step) -> Collection[str]:
        """Return what a step of guidance is about."""
        return self._interventions[int(step.extra[INTERVENTION])].categories

    def answered(
        self, feedback: Feedback, steps: Sequence[Step], seconds: float | None = None, *, over: bool = False
    ) -> Intervention | None:
        """Take an answer to the open question; gives what is to be said to the agent now, if the run is not `over`."""
        shown = self._open
        if shown is None:
            raise ValueError("no question is open")
        bounded = bounded_feedback(feedback, shown)
        faults = tuple(one for one in bounded.misbehaviours if self._is_wanted(one) and self._is_news(one))
        self._open = None
        for one in faults:
            self._reported[one.category] = self._reported.get(one.category, frozenset()).union(one.steps)
        now = len(steps) - 1
        self._invocations.append(Invocation(shown, "answered", faults, now, seconds))
        decided = [(one, decide(one, self._spoken, steps)) for one in merged(faults)]
        for reason in ("stale", "repeated"):
            self._withhold([pair for pair in decided if pair[1].withheld == reason], shown, reason)
        say = [pair for pair in decided if not pair[1].withheld]
        if over or self._observed.arm == "shadow":
            self._withhold(say, shown, "ended" if over else "shadow")
        if not say or over:
            return None
        for one, decision in say:
            self._spoken = noted(self._spoken, one, decision.level, now)
        if self._observed.arm == "shadow":
            return None
        self._interventions.append(self._worded(say, shown, delivered_at=now))
        return self._interventions[-1]

    def _is_wanted(self, fault: Misbehaviour) -> bool:
        return not self._categories or fault.category in self._categories

    def _is_news(self, fault: Misbehaviour) -> bool:
        """Return whether earlier answers did not name all of its evidence, or it names none.

        What is misbehaviour may show only later, as with an error that the agent then ignores: evidence that is older
        than an earlier question may be new.
        """
        return not fault.steps or not self._reported.get(fault.category, frozenset()).issuperset(fault.steps)

    def _withhold(self, decided: Sequence[tuple[Misbehaviour, EpisodeDecision]], shown: int, reason: Withheld) -> None:
        if decided:
            self._interventions.append(self._worded(decided, shown, withheld=reason))

    def _worded(
        self,
        decided: Sequence[tuple[Misbehaviour, EpisodeDecision]],
        shown: int,
        delivered_at: int | None = None,
        withheld: Withheld = "",
    ) -> Intervention:
        levels = [(one, decision.level) for one, decision in decided]
        return Intervention(
            tuple(one for one, _ in decided),
            shown,
            delivered_at,
            max(level for _, level in levels),
            guidance(levels, self._guidance_folder),
            withheld,
        )


def bounded_feedback(feedback: object, shown: int) -> Feedback:
    """Return what is taken of an answer: a bounded part of it, with evidence among the steps that were shown."""
    if not isinstance(feedback, Feedback) or not isinstance(feedback.misbehaviours, tuple):
        raise TypeError(f"{type(feedback).__name__} where Feedback belongs")
    faults = [_bounded(one, shown) for one in feedback.misbehaviours[:MOST_MISBEHAVIOURS]]
    return Feedback(tuple(faults))


def _bounded(fault: object, shown: int) -> Misbehaviour:
    if not isinstance(fault, Misbehaviour) or not isinstance(fault.steps, tuple):
        raise TypeError(f"{type(fault).__name__} where a Misbehaviour belongs")
    texts = (fault.category, fault.rationale)
    if not all(isinstance(text, str) for text in texts) or not isinstance(fault.evidence, dict):
        raise TypeError("a Misbehaviour whose fields have other types")
    evidence = {
        name[:MOST_CHARACTERS]: value[:MOST_CHARACTERS] for name, value in islice(fault.evidence.items(), MOST_EVIDENCE)
    }
    return Misbehaviour(texts[0][:MOST_CHARACTERS], _steps(fault.steps, shown), texts[1][:MOST_CHARACTERS], evidence)


def _steps(steps: Iterable[object], shown: int) -> tuple[int, ...]:
    known = sorted({step for step in islice(steps, _LOOKED_AT) if isinstance(step, int) and 0 <= step <= shown})
    half = MOST_STEPS // 2
    return tuple(known if len(known) <= MOST_STEPS else known[:half] + known[-half:])
