"""Live experiments with a scripted agent, beside Wink's figures: generated sessions, which confirm nothing of these.

They show that the observer, the guidance and the judge work as a whole, and that the paper's tables need a control,
assigned units and the errors of the judge.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from misstep.analysis.measures.recovery.problems import Judgements, Problem, Start, problems
from misstep.harness.records.live_session import LiveArm, LiveSession

CATEGORIES: Mapping[str, Sequence[str]] = {
    "rp": ("infinite_loop",),
    "tcf": ("tool_call_failure",),
    "sd": ("did_not_follow_instructions", "unrequested_changes"),
    "overall": ("infinite_loop", "tool_call_failure", "did_not_follow_instructions", "unrequested_changes"),
}
"""Key of a class of misbehaviour, as of `recovery.CLASSES` → its categories."""

LEVEL = 0.05
"""Largest p-value of a found difference."""

NOTE = (
    "Generated: live sessions of a scripted agent whose misbehaviour is planted and which heeds guidance as drawn. "
    "They say what this software does, and are not confirmation of the paper's figures."
)


class LiveExperiments(Struct, frozen=True):
    """Two experiments as they were run.

    - `shadow`: Sessions with detection alone, and with guidance (RQ1 and RQ2).
    - `ab`: Sessions without an observer, and with guidance (RQ3).
    - `judgements`: A judge's labels of recovery, by session of `shadow` and intervention.
    """

    shadow: tuple[LiveSession, ...]
    ab: tuple[LiveSession, ...]
    seed: int
    judgements: Judgements

    def source(self, of: Sequence[LiveSession]) -> str:
        """Return the source text of figures of some sessions."""
        return f"generated, seed {self.seed}, n {len(of):,}"

    def problems(self, of: Sequence[LiveSession], arm: LiveArm, start: Start) -> list[Problem]:
        """Return the problems of one arm of an experiment, with a judge's labels if there are any."""
        labels = self.judgements if of is self.shadow else {}
        return problems((one for one in of if one.arm == arm), start, labels)
