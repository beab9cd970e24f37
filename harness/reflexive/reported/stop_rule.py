"""The reflexive loop's own rule of when to stop, for the rounds of any loop.

It was written from the loop's mechanisms before it was asked about any case, and its dials are the loop's defaults:

- a check that passes is authoritative and ends the work;
- progress is content that the target has not had before, or a commit, whatever the agent says and whatever is left
  uncommitted; a state that comes back is none;
- a round that polls is neither progress nor failure as long as what it sees changes;
- after a few rounds without progress the strategist is asked instead of the run being stopped, and so it is after as
  many failed checks. It cannot be replayed. The rule supposes that it ends the work where it is asked again and nothing
  happened since, or where the diagnosis that it answered to is still the same;
- a person who is asked twice without progress in between is what the run waits for, and it is handed over.
"""

from collections.abc import Sequence

from misstep.harness.reflexive.plateau import PlateauDetector, detector
from misstep.harness.reflexive.reported.rounds import START, LoopDecision, Round
from misstep.harness.reflexive.settings import LoopSettings

_MOST_QUESTIONS = 2
"""One question may cross with an answer; the second finds nobody."""

_GO_ON = LoopDecision(stop=False)


def stop_rule(rounds: Sequence[Round]) -> LoopDecision:
    """Return whether the reflexive loop would end the work after the last of some rounds."""
    settings = LoopSettings()
    if rounds[-1].check == "passed":
        return LoopDecision(stop=True, reason="the check passes")
    idle = _since_progress(rounds)
    questions = sum(bool(turn.asks) for turn in idle)
    if questions >= _MOST_QUESTIONS:
        return LoopDecision(stop=True, reason=f"a person was asked {questions} times and did not answer")
    if len(idle) >= 2 * settings.failures_between:
        return LoopDecision(stop=True, reason=f"no progress in {len(idle)} rounds, also since the strategist was asked")
    same = _same_diagnosis(rounds, settings)
    if same:
        return LoopDecision(stop=True, reason=f"the diagnosis outlives the strategist's answer: {', '.join(same)}")
    return _GO_ON


def _since_progress(rounds: Sequence[Round]) -> list[Round]:
    """Return the rounds since the last progress, without those that waited for something and saw it change."""
    states = {START}
    idle: list[Round] = []
    polled: str | None = None
    for turn in rounds:
        waits = turn.polling and turn.output != polled
        polled = turn.output if turn.polling else None
        if turn.content not in states or turn.commits:
            idle = []
        elif not waits:
            idle.append(turn)
        states.add(turn.content)
    return idle


def _same_diagnosis(rounds: Sequence[Round], settings: LoopSettings) -> tuple[str, ...]:
    """What the reflections shared the last two times that the strategist was asked, where the last is just now."""
    every = settings.failures_between
    failed = [turn.said for turn in rounds if turn.check == "failed" and not turn.polling]
    if rounds[-1].check != "failed" or rounds[-1].polling or len(failed) < 2 * every or len(failed) % every:
        return ()
    plateau: PlateauDetector = detector(
        settings.plateau, window=settings.plateau_window, shared=settings.plateau_shared, ignored=frozenset()
    )
    now, before = plateau.shared(failed[-every:]), plateau.shared(failed[-2 * every : -every])
    common = tuple(word for word in now or () if word in (before or ()))
    return common if len(common) >= settings.plateau_shared else ()
