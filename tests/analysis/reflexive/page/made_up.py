"""A made-up run in which everything happens that a page can show, some of it said by hostile agents."""

from misstep_harness.reflexive.records import (
    Checked,
    Deferred,
    Diagnosed,
    Failed,
    GapFound,
    Halted,
    ItemBegan,
    LessonLearned,
    LessonRetired,
    LessonsRecalled,
    LoopEvent,
    PartShown,
    Planned,
    PlateauFound,
    PutOff,
    ReEngaged,
    Reflected,
    Restored,
    SnapshotTaken,
    TurnEnded,
    Verified,
    Warned,
    WorkItem,
)
from tests.analysis.reflexive.made_up import Log, worker

HOSTILE = "<script>alert(1)</script> </pre> \x1b[31m]]> {{ 7 * 7 }} \u202e&amp;"


def everything() -> list[LoopEvent]:
    """A run of six items."""
    kernel = WorkItem("kernel-<b>", "boot", HOSTILE, last=True, deferred=True)
    log = Log("apple", "sudoers-remove-nopasswd-of-everybody", "partition", "audit", "weak", kernel)
    log.begin("apple").passing("apple").end("apple")
    name = "sudoers-remove-nopasswd-of-everybody"
    log.begin(name)
    seen = (PartShown("task", 12), PartShown("facts", 300, shown="cut"), PartShown("lessons", 0, shown="left_out"))
    log.add(LessonsRecalled(("l1",), 7), item=name, attempt=1)
    turn = worker(HOSTILE, 40.0, calls=("edit",) * 14, refused=2, over="tool_calls", seen=seen)
    log.add(turn, Checked(False, "passed", f"UNHEALTHY {HOSTILE}"), Failed("unhealthy", "x"), item=name, attempt=1)
    flags = {"sudo": False, "app": None, "disk": True}
    log.add(Diagnosed("out_of_band", "sudo: a password is required", flags, {"sudoers": HOSTILE}), item=name, attempt=1)
    log.add(Restored("progress", "apple-done", "oops"), Restored("baseline", "b0", "b0"), item=name, attempt=1)
    log.add(Warned("apple is lost"), Reflected(HOSTILE, ("sudoers",), 15), item=name, attempt=1)
    log.add(LessonLearned("l1", "accounts", HOSTILE, 0.5), LessonRetired("l9", "no_room"), item=name, attempt=1)
    log.failing(name, 2, "b0", "broken", seconds=55.0).passing(name, 3, seconds=25.0).end(name, attempts=3)
    log.begin("partition")
    for attempt in (1, 2, 3):
        log.failing("partition", attempt, f"{name}-done", said="The disk has no partition.", seconds=60.0)
    log.add(PlateauFound("keywords", 3, ("disk", "partition")), GapFound(3, 3), item="partition", attempt=3)
    log.add(ReEngaged("plateau", "SKIP_UNTIL", "Later.", until=("audit",)), item="partition", attempt=3)
    log.add(PutOff(("audit",)), item="partition", attempt=3)
    log.begin("audit").add(worker(seconds=120.0), Checked(True, "unknown"), item="audit", attempt=1)
    log.add(Failed("nothing_changed"), Restored("", f"{name}-done", f"{name}-done"), item="audit", attempt=1)
    log.passing("audit", 2).end("audit", attempts=2)
    log.add(ItemBegan(), Planned("Again."), item="partition", attempt=3)
    log.failing("partition", 4, "audit-done", seconds=80.0)
    log.add(ReEngaged("failures", "CONTINUE", "", clean=False, warning="no verdict"), item="partition", attempt=4)
    log.failing("partition", 5, "audit-done", seconds=80.0)
    strategist = TurnEnded("strategist", "clumsy", "VERDICT: ESCALATE", 20.0)
    log.add(strategist, ReEngaged("failures", "ESCALATE", "No."), item="partition", attempt=5)
    log.end("partition", "escalated", "strategist_escalated", 5)
    log.begin("weak").add(worker(), Checked(True, "failed", "fail", "passed"), item="weak", attempt=1)
    log.add(SnapshotTaken("progress", "weak-done"), item="weak", attempt=1).end("weak", reason="believed_solved")
    log.begin(kernel.id).add(worker(), Checked(True, "unknown"), Deferred("the restart"), item=kernel.id, attempt=1)
    log.add(Verified("failed", "old kernel"), item=kernel.id, attempt=1)
    log.end(kernel.id, "failed", "verification_failed")
    return log.add(Halted("The target is gone.")).done()
