"""The page of a run draws every item over time and opens what happened; what agents said is text and nothing else."""

import itertools
import re

import pytest

from misstep_analysis.pages import Foot
from misstep_analysis.reflexive import page as drawn
from misstep_analysis.reflexive import page as pages
from misstep_analysis.reflexive.page import event_line, lanes_of, run_page
from misstep_analysis.reflexive.work import worked_run
from misstep_harness.reflexive.records import LoopEvent, Planned, TurnEnded
from tests.analysis.pages.html_rules import check_page
from tests.analysis.reflexive.made_up import Log, three_items
from tests.analysis.reflexive.page.made_up import everything


def the_page(events: list[LoopEvent]) -> str:
    return run_page("A run", "It ran.", worked_run(events), (), ("Beware.",), foot=Foot("misstep reflect report RUN"))


def many_items(n: int) -> list[LoopEvent]:
    log = Log(*(f"item-{number}" for number in range(n)))
    for item in log.items:
        log.begin(item.id).failing(item.id).end(item.id, "time_budget", "time_budget")
    return log.done()


def test_the_page_keeps_the_rules_of_pages_whatever_agents_say() -> None:
    page = check_page(the_page(everything()))
    assert page.tags.count("script") == 1
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7 * 7 }}" in page.text


def test_the_finding_stands_first_and_warnings_before_the_figures() -> None:
    text = check_page(the_page(everything())).text
    assert text.index("It ran.") < text.index("Beware.") < text.index("Items over time") < text.index("What happened")


def test_every_event_is_told_in_words() -> None:
    names = {type(event.happened).__name__ for event in everything()}
    lines = {event_line(event, 100).what for event in everything()[1:-1]}
    assert not lines & names
    assert {"check", "diagnosis", "restored", "reflection", "strategist", "lessons shown", "halted"} <= lines


def test_what_was_seen_said_checked_diagnosed_and_restored_can_be_read() -> None:
    text = " ".join(check_page(the_page(everything())).text.split())
    for words in (
        "saw task (12 tokens), facts (300 tokens, cut), lessons (0 tokens, left out)",
        "2 calls refused · over its budget of tool calls",
        "out of band, as the way in band was not taken: sudo: a password is required; sudo: no; app: cannot be told",
        "to progress; the target is oops and not apple-done",
        "failed, taken for passed; the target is healthy",
        "asked for plateau: SKIP_UNTIL audit",
        "asked for failures: CONTINUE; it could not be read: no verdict",
        "with the facts sudoers, 15 hidden calls told",
    ):
        assert words in text


def test_a_plan_that_a_planner_said_stands_once() -> None:
    log = Log("pear").add(TurnEnded("planner", "wise", "Look first.", 9.0), Planned("Look first."), item="pear")
    assert check_page(the_page(log.passing("pear").end("pear").done())).text.count("Look first.") == 1
    cut_off = LoopEvent(
        1, 9.0, TurnEnded("planner", "wise", "The harness ended this turn.", 9.0, over="seconds"), "pear"
    )
    assert event_line(cut_off, 100).text.start == "The harness ended this turn."


def test_a_lane_has_a_bar_an_attempt_and_marks_that_do_not_cover_each_other() -> None:
    (drawing,) = lanes_of(worked_run(everything())).drawings
    lanes = {lane.name: lane for lane in drawing.lanes}
    assert [bar.outcome for bar in lanes["sudoers-remove-nopasswd-of…"].bars] == ["unhealthy", "check_failed", "solved"]
    assert [bar.corrupted for bar in lanes["sudoers-remove-nopasswd-of…"].bars] == [False, False, True]
    assert lanes["weak"].bars[0].outcome == "believed"
    assert lanes["kernel-<b>"].bars[0].outcome == "deferred"
    marks = lanes["partition"].marks
    assert [mark.letter for mark in marks if mark.above] == ["≈", "≠", "S", "?", "E"]
    for side in (True, False):
        places = [mark.x for mark in marks if mark.above is side]
        assert all(later - earlier >= 10 for earlier, later in itertools.pairwise(places))


def test_the_time_of_a_lane_is_that_of_work_on_its_item() -> None:
    (drawing,) = lanes_of(worked_run(everything())).drawings
    bars = next(lane for lane in drawing.lanes if lane.name == "partition").bars
    assert all(bar.x == pytest.approx(before.x + before.width, abs=0.3) for before, bar in itertools.pairwise(bars))


def test_the_strip_covers_the_run_without_a_gap() -> None:
    strip = lanes_of(worked_run(everything())).strip
    assert strip[0].x == 0
    assert all(one.x + one.width == pytest.approx(other.x, abs=0.2) for one, other in itertools.pairwise(strip))
    assert strip[-1].x + strip[-1].width == pytest.approx(drawn.WIDTH, abs=0.2)


@pytest.mark.parametrize(
    ("seconds", "names"),
    [
        (80.0, ["0 s", "20 s", "40 s", "60 s", "80 s"]),
        (4700.0, ["0 min", "20 min", "40 min", "60 min"]),
        (90_000.0, ["0 h", "5 h", "10 h", "15 h", "20 h", "25 h"]),
    ],
)
def test_the_times_of_an_axis_are_round_and_of_one_unit(seconds: float, names: list[str]) -> None:
    log = Log("fig").begin("fig").passing("fig", seconds=seconds).end("fig")
    assert [name for _, name in lanes_of(worked_run(log.done())).strip_ticks] == names


def test_the_last_time_of_the_strip_is_not_cut_off_at_its_edge() -> None:
    log = Log("fig").begin("fig").passing("fig", seconds=80.0).end("fig")
    assert re.search(r'class="tick last" x="1000.0" y="38">80 s<', the_page(log.done()))


def test_every_pattern_that_a_bar_is_filled_with_is_defined() -> None:
    text = the_page(everything())
    assert set(re.findall(r"url\(#([\w-]+)\)", text)) <= set(check_page(text).ids)


def test_a_large_run_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn, "LANES", 90)
    monkeypatch.setattr(pages, "EVENTS_SHOWN", 600)
    text = check_page(the_page(many_items(120))).text
    assert "30 solved items" not in text
    assert "30 items have no lane here" in text
    assert "items cannot be opened here for lack of room" in text
    assert "Lanes 41 to 80 of 90" in text


@pytest.mark.parametrize("events", [three_items()[:4], Log().done(), Log("fig").events], ids=["begun", "none", "bare"])
def test_a_run_in_progress_or_without_items_has_a_page(events: list[LoopEvent]) -> None:
    check_page(the_page(events))
