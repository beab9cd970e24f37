"""Table V's funnel from a review log."""

from pathlib import Path

import pytest

from misstep_analysis.repair.attempts import review_funnel, review_table, reviewed_patches, reviewed_table
from misstep_analysis.stats.diagnostic import Confusion
from misstep_analysis.stats.proportions import wilson
from misstep_harness.repair.records import (
    EVENTS,
    PATCH_JUDGE,
    Event,
    RepairAttempt,
    ReviewEvent,
    Signal,
    read_reviews,
)

LOG = """\
attempt,event,when,by,comment
a,published,2026-03-01,ann,
a,accepted,2026-03-02,ben,"thanks, that is it"
a,landed,2026-03-02,ben,
b,published,2026-03-01,ann,
b,rejected,2026-03-04,ben,already fixed
c,published,2026-03-01,ann,
d,landed,2026-03-05,ann,
"""
NAMES = [f"task-{number}" for number in range(400)]
ATTEMPTS = [RepairAttempt(name, "p", "react", "f", solved=True, patched=True) for name in NAMES]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "reviews.csv"
    file.write_text(LOG)
    return file


def test_answers_imply_a_review_and_what_landed_was_published_and_generated(log: Path) -> None:
    funnel = review_funnel(read_reviews(log), generated=["e"])
    assert EVENTS == ("generated", "published", "reviewed", "accepted", "changes_requested", "rejected", "landed")
    assert [funnel.count(event) for event in EVENTS] == [5, 4, 2, 1, 0, 1, 2]


def test_a_rate_is_of_those_in_its_base(log: Path) -> None:
    funnel = review_funnel(read_reviews(log))
    assert funnel.rate("landed", "published") == wilson(2, 4)
    assert funnel.rate("landed", "reviewed") == wilson(1, 2)


def test_an_attempt_counts_once_an_event() -> None:
    twice = [ReviewEvent("a", "published"), ReviewEvent("a", "published")]
    assert review_funnel(twice).count("published") == 1


def test_the_sentence_has_both_bases_of_the_rate(log: Path) -> None:
    table = review_table(review_funnel(read_reviews(log)))
    assert table.finding.startswith("50.0% (95% interval 15.0% to 85.0%) of 4 patches published landed, 50.0%")
    assert any("Landed without a review on record: 1." in note for note in table.notes)


def test_where_nothing_was_published_rates_are_missing() -> None:
    funnel = review_funnel([])
    assert review_table(funnel).finding == "No patch was published."
    assert funnel.rate("landed", "published").value is None


def judged(case: str, *, solved: bool | None = True, judge: bool | None = None) -> RepairAttempt:
    return RepairAttempt(case, "p", "react", "f", solved=solved, patched=True, signals=(Signal(PATCH_JUDGE, judge),))


JUDGED = [judged("a", judge=True), judged("b", judge=False), judged("c", judge=True), judged("d", solved=False)]


def decisions_on(**events: Event) -> list[ReviewEvent]:
    names = {one.case: one.id for one in JUDGED}
    return [ReviewEvent(names[case], event) for case, event in events.items()]


def test_a_judge_is_measured_on_what_reviewers_rejected_among_the_patches_that_pass() -> None:
    events = [*decisions_on(a="accepted", b="accepted", c="landed", d="rejected"), *decisions_on(b="rejected")]
    result = reviewed_patches(JUDGED, review_funnel(events))
    assert [len(result.accepted), [name[0] for name in result.rejected]] == [2, ["b"]]
    assert result.judge == Confusion(tp=1, fp=0, fn=0, tn=2)
    assert "33.3%" in reviewed_table(result).finding
