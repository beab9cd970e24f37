"""What an observer found is told in a terminal and on a page, which lists every session with an intervention."""

from pathlib import Path

from misstep_analysis.observer.observed import ObservedSummary, observed
from misstep_analysis.observer.page import RECORDED, observed_page, observed_text
from misstep_harness.intervention import Intervention, Invocation, Misbehaviour, ObservedRun
from misstep_harness.session import Session
from tests.analysis.pages.html_rules import check_page

LOOP = Misbehaviour("infinite_loop", (3, 4, 5), "It goes <round>\x1b[31m.")
FOUND = (
    Invocation(5, misbehaviours=(LOOP,), answered_at=6),
    Invocation(10, answered_at=11),
    Invocation(15, "failed", error="RuntimeError: no <reply>"),
)


def _run(item: str, *interventions: Intervention) -> ObservedRun:
    return ObservedRun(item, "guide", "rules", 5, 20, FOUND, interventions, file="runs.jsonl", line=1)


RUNS = [
    _run("told", Intervention((LOOP,), 5, 6, guidance="Stop.")),
    _run("late", Intervention((LOOP,), 5, withheld="stale")),
    _run("quiet"),
]


def _document() -> ObservedSummary:
    return observed(RUNS)


def test_the_text_says_the_rate_what_became_of_each_intervention_and_what_got_no_answer() -> None:
    text = observed_text(_document(), Path("run/report.html"))
    assert "saw misbehaviour in 3 of 6 invocations" in text
    assert "2 interventions: 1 delivered; 1 withheld: the misbehaviour was over when the answer came." in text
    assert "told (runs.jsonl:1), from step 3, seen at step 5, told behind step 6: It goes <round>." in text
    assert "3 invocations got no answer (3 of them: RuntimeError: no <reply>); the rate leaves them out." in text
    assert RECORDED in text
    assert text.endswith("open run/report.html")
    assert "\x1b" not in text


def test_where_nothing_was_seen_the_text_says_so_and_nothing_else() -> None:
    text = observed_text(observed([ObservedRun("a", "shadow", "rules", 5, 9, (Invocation(5, answered_at=5),))]))
    assert "saw misbehaviour in 0 of 1 invocation" in text
    assert "intervention" not in text
    assert RECORDED not in text


def test_the_page_keeps_the_rules_of_pages_and_lists_the_sessions_with_an_intervention() -> None:
    sessions = [Session(run.item, run.file, 1, title=run.item, n_steps=20) for run in RUNS]
    page = observed_page(_document(), zip(sessions, RUNS, strict=True), [Path("runs.jsonl")], ["runs.jsonl"])
    check_page(page)
    assert "Seen at step 5, told behind step 6. It goes &lt;round&gt;." in page
    assert "Seen at step 5, withheld: the misbehaviour was over when the answer came." in page
    assert "(3 of them: RuntimeError: no &lt;reply&gt;)" in page
    assert '"quiet"' not in page
