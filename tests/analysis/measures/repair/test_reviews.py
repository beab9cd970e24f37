"""Table V's funnel from a review log."""

from pathlib import Path

import pytest

from misstep.analysis.measures.repair.reviews import review_funnel, review_table
from misstep.analysis.stats.proportions import wilson
from misstep.harness.records.repair_attempt import EVENTS, ReviewEvent, read_reviews

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
