"""Made-up logs of the reflexive loop, event by event, whose figures are known."""

from typing import Any

from misstep_harness.reflexive.records import (
    Checked,
    Diagnosed,
    Ending,
    Failed,
    Happening,
    ItemBegan,
    ItemEnded,
    LoopEvent,
    Planned,
    Reflected,
    Restored,
    RunBegan,
    RunEnded,
    SnapshotTaken,
    TurnEnded,
    WorkItem,
)

BASELINE = "b0"
TURN = 10.0
"""Seconds of a worker's turn in these logs; nothing else takes time."""


class Log:
    """A log that is written one event after the other; a worker's turn lets its seconds pass."""

    def __init__(self, *items: str | WorkItem, **began: Any) -> None:
        self.items = tuple(WorkItem(one, "accounts", f"Do {one}.") if isinstance(one, str) else one for one in items)
        values: dict[str, Any] = {"skill": "orchard", "agents": "clumsy", "seed": 0, "without": (), **began}
        self.events: list[LoopEvent] = []
        self.now = 0.0
        self.add(RunBegan(items=self.items, baseline=BASELINE, **values))

    def add(self, *happened: Happening, item: str = "", attempt: int = 0) -> "Log":
        for one in happened:
            self.now += one.seconds if isinstance(one, TurnEnded) else 0.0
            self.events.append(LoopEvent(len(self.events), self.now, one, item, attempt))
        return self

    def begin(self, item: str) -> "Log":
        return self.add(ItemBegan(), Planned("Do it."), item=item)

    def passing(self, item: str, attempt: int = 1, digest: str = "", **turn: Any) -> "Log":
        kept = SnapshotTaken("progress", digest or f"{item}-done")
        return self.add(worker(**turn), Checked(True, "passed"), kept, item=item, attempt=attempt)

    def failing(
        self,
        item: str,
        attempt: int = 1,
        wanted: str = BASELINE,
        found: str = "",
        said: str = "It failed.",
        **turn: Any,
    ) -> "Log":
        back = Restored("progress", wanted, found or wanted)
        diagnosed = Diagnosed("in_band", flags={"reachable": True}, facts={"sudoers": "root ALL"})
        failed = (worker(**turn), Checked(True, "failed", "no"), Failed("check_failed", f"{item}-{attempt}"))
        return self.add(*failed, diagnosed, back, Reflected(said, ("sudoers",)), item=item, attempt=attempt)

    def end(self, item: str, end: str = "solved", reason: str = "check_passed", attempts: int = 1) -> "Log":
        ending = Ending(end, reason)  # type: ignore[arg-type]
        return self.add(ItemEnded(ending, attempts, attempts * TURN), item=item, attempt=attempts)

    def done(self) -> list[LoopEvent]:
        return self.add(RunEnded()).events


def worker(reply: str = "I edit the file.", seconds: float = TURN, **fields: Any) -> TurnEnded:
    return TurnEnded("worker", "clumsy", reply, seconds, **{"calls": ("edit",), **fields})


def three_items(**began: Any) -> list[LoopEvent]:
    """An apple solved at once, a pear at the third attempt, of which the second was corrupted, and a plum given up."""
    log = Log("apple", "pear", "plum", **began)
    log.begin("apple").passing("apple").end("apple")
    log.begin("pear").failing("pear", 1, "apple-done", "broken", calls=("edit", "edit"), refused=3)
    log.failing("pear", 2, "apple-done").passing("pear", 3).end("pear", attempts=3)
    log.begin("plum").failing("plum", 1, "pear-done").failing("plum", 2, "pear-done")
    return log.end("plum", "escalated", "strategist_escalated", 2).done()
