"""Recorded attempts made again: whether they came out as they are recorded."""

from collections.abc import Sequence

from msgspec import Struct

from misstep_analysis.repair.attempts import RepairArm
from misstep_analysis.tables import Row, Table, TableHead, made_by_this, measured_on, rows_in
from misstep_analysis.tables.wording import counted_text
from misstep_harness.escaping import plain
from misstep_harness.repair.records.repair_attempt import RepairAttempt

_COMPARED = ("solved", "patched", "iterations", "ended")
"""What an attempt made again has in common with the first; its seconds are another machine's."""

_REPEATED = TableHead(
    "repeated_repairs",
    "engineering_agent",
    "Recorded repairs made again",
    (
        "Of each recording the case that took least time is repaired again. Compared are whether it was "
        "solved, whether there was a patch, the number of commands and how the attempt ended.",
    ),
)


class Repeat(Struct, frozen=True):
    """An attempt made again, and what is on record of it in the recording of a name."""

    again: RepairAttempt
    recorded: RepairAttempt | None
    name: str

    @property
    def differences(self) -> list[str]:
        """In what it differs from the recording, a sentence each."""
        text = plain(self.again.id)
        if self.recorded is None:
            return [f"{text} is not in the recording {plain(self.name)}."]
        pairs = [(name, getattr(self.again, name), getattr(self.recorded, name)) for name in _COMPARED]
        return [f"{text}: {name} is {now}, and {was} in the recording." for name, now, was in pairs if now != was]


def repeats(recorded: RepairArm, again: RepairArm) -> list[Repeat]:
    """Return the attempts of a run made again, of which the recording may have more."""
    before = {attempt.id: attempt for attempt in recorded.attempts}
    return [Repeat(attempt, before.get(attempt.id), recorded.name) for attempt in again.attempts]


@made_by_this
def repeated_table(runs: Sequence[tuple[RepairArm, RepairArm]], absent: str = "") -> Table:
    """Return what came of each attempt when it was recorded and when it was made again."""
    pairs = [(recorded, repeat) for recorded, again in runs for repeat in repeats(recorded, again)]
    same = sum(not repeat.differences for _, repeat in pairs)
    finding = f"{same} of {counted_text(len(pairs), 'recorded attempt')} made again came out as recorded."
    return _REPEATED.table(
        finding if pairs else f"No recorded repair was made again. {absent}".rstrip(),
        (row for arm, repeat in pairs for row in _rows(arm, repeat)),
        (sentence for _, repeat in pairs for sentence in repeat.differences),
        datasets=(arm.dataset for arm, _ in pairs if arm.dataset),
    )


def _rows(arm: RepairArm, repeat: Repeat) -> list[Row]:
    group = f"{arm.policy} on {arm.benchmark}, {arm.setting}"
    rows = [
        row
        for source, attempt in (("recorded", repeat.recorded), ("made again", repeat.again))
        if attempt is not None
        for row in rows_in("text", {repeat.again.case: _attempt_text(attempt)}, group, source, arm.evidence)
    ]
    return measured_on(arm.dataset, rows) if arm.dataset else rows


def _attempt_text(attempt: RepairAttempt) -> str:
    came = "solved" if attempt.solved else "patched" if attempt.patched else "no patch"
    ended = "" if attempt.ended == "exit" else f", ended by {attempt.ended or 'an error'}"
    return f"{came} in {counted_text(attempt.iterations, 'command')}{ended}"
