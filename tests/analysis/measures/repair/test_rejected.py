"""Patches that pass their tests and were rejected, apart from those accepted, and the judge on either."""

from misstep.analysis.measures.repair.patch_judge import reviewed_patches, reviewed_table
from misstep.analysis.measures.repair.reviews import review_funnel
from misstep.analysis.stats.diagnostic import Confusion
from misstep.harness.records.repair_attempt import PATCH_JUDGE, Event, RepairAttempt, ReviewEvent, Signal


def attempt(case: str, *, solved: bool | None = True, judge: bool | None = None) -> RepairAttempt:
    return RepairAttempt(case, "p", "react", "f", solved=solved, patched=True, signals=(Signal(PATCH_JUDGE, judge),))


ATTEMPTS = [attempt("a", judge=True), attempt("b", judge=False), attempt("c", judge=True), attempt("d", solved=False)]


def decided(**events: Event) -> list[ReviewEvent]:
    names = {one.case: one.id for one in ATTEMPTS}
    return [ReviewEvent(names[case], event) for case, event in events.items()]


def test_a_judge_is_measured_on_what_reviewers_rejected_among_the_patches_that_pass() -> None:
    events = [*decided(a="accepted", b="accepted", c="landed", d="rejected"), *decided(b="rejected")]
    found = reviewed_patches(ATTEMPTS, review_funnel(events))
    assert [len(found.accepted), [name[0] for name in found.rejected]] == [2, ["b"]]
    assert found.judge == Confusion(tp=1, fp=0, fn=0, tn=2)
    assert "33.3%" in reviewed_table(found).finding
