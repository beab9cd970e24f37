"""The page of a run of classify: its sessions first, sub-agents apart, no session called a trajectory."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import structs

from misstep_analysis.pages.browser import SESSION_CHARACTERS, Listed, show_session
from misstep_analysis.sessions.findings import Findings, NewSessions, findings, first_line
from misstep_analysis.sessions.page import FindingLine, FlaggedSessions, sessions_page
from misstep_harness.errors import InputError
from misstep_harness.journal.classified import LabelledSession, Labels, PlacedVerdict, Summary
from misstep_harness.session import Session
from misstep_harness.trajectory import Source, Step, Trajectory, Unreadable
from tests.analysis.pages.html_rules import read_embedded
from tests.analysis.pages.made_up import HOSTILE

CATEGORIES = ("infinite_loop", "tool_call_failure")


def _of(project: str, labels: Labels, n: int, day: int = 2, parent: str | None = None) -> list[LabelledSession]:
    sessions = []
    for number in range(n):
        item = f"{project}-{labels}-{number}"
        started = f"2026-03-{day:02}T10:00:00Z"
        session = Session(item, "a.jsonl", number, HOSTILE, project, "coder", "small", started, parent=parent)
        given = zip(CATEGORIES, labels, strict=True)
        verdicts = [
            PlacedVerdict(item, category, label, "answered" if label else "abstained", rationale=HOSTILE)
            for category, label in given
        ]
        sessions.append(LabelledSession(session, tuple(verdicts)))
    return sessions


def _findings(sessions: Sequence[LabelledSession], unreadable: int = 0) -> Findings:
    own: dict[Labels, int] = {}
    apart: dict[Labels, int] = {}
    for one in sessions:
        counts = own if one.session.parent is None else apart
        counts[one.labels] = counts.get(one.labels, 0) + 1
    broken = [Unreadable("b.jsonl", 1, "no JSON")] * unreadable
    return findings(CATEGORIES, Summary(own, apart, [], broken, [], 0))


def _page(sessions: Sequence[LabelledSession], unreadable: int = 0, new: NewSessions | None = None) -> str:
    result = structs.replace(_findings(sessions, unreadable), new=new)
    return sessions_page(result, sessions, ["a.jsonl"], ["a.jsonl", "--out", "run"])


def _script(page: str, name: str) -> str:
    (content,) = re.findall(rf'<script type="application/json" id="{name}">(.*?)</script>', page, flags=re.DOTALL)
    return str(content)


SHOP = [*_of("shop", ("no", "yes"), 12), *_of("shop", ("no", "no"), 3, day=9)]
BANK = [*_of("bank", ("yes", "no"), 2), *_of("bank", ("no", None), 30, day=16)]


def _lede(page: str) -> str:
    (said,) = re.findall(r'class="lede"><bdi>(.*?)</bdi>', page)
    return str(said)


def test_the_page_and_the_terminal_have_one_first_sentence() -> None:
    sentence = "47 sessions, 14 went wrong: 29.8% (18.7% to 44.0%). Failing calls were commonest (12)."
    assert _lede(_page(SHOP + BANK)) == sentence
    assert first_line(_findings(SHOP + BANK)) == sentence


def test_sessions_come_first_and_figures_are_folded_below() -> None:
    page = _page(SHOP + BANK)
    places = [page.index(text) for text in ('id="sessions"', '<details class="section" id="figures">', "<svg")]
    assert places == sorted(places)
    assert "<details open" not in page


def test_what_the_last_look_did_not_have_is_marked_without_scripts_too() -> None:
    new = NewSessions("2026-03-01T10:00:00Z", 1, 1, ["bank-('yes', 'no')-1"])
    page = _page(SHOP + BANK, new=new)
    assert page.count('<span class="new">new</span>') == 1
    assert sum(read_embedded(_script(page, "sessions-index"))["is_new"]) == 1


def test_shares_of_several_projects_say_that_they_are_pooled() -> None:
    assert "These shares pool 2 projects; failing calls range from 0.0% to 80.0% between them." in _page(SHOP + BANK)
    assert "These shares pool" not in _page(SHOP)


def test_runs_of_sub_agents_are_counted_apart_and_still_listed() -> None:
    alone = _page(SHOP)
    page = _page([*SHOP, *_of("shop", ("yes", "yes"), 4, parent="one")])
    assert _lede(page) == _lede(alone)
    assert "Runs of sub-agents, which are not sessions" in page
    assert "Runs of sub-agents, which are not sessions" not in alone


def test_there_are_shares_by_project_and_week_and_by_what_differs() -> None:
    page = _page(SHOP + BANK)
    assert all(f"Share of sessions by {by}" in page for by in ("project", "week"))
    assert not any(f"Share of sessions by {by}" in page for by in ("model", "agent"))


def test_what_was_unreadable_stands_before_the_figures() -> None:
    assert '<p class="warning"><bdi>1 session was unreadable.</bdi></p>' in _page(SHOP, unreadable=1)


def test_nothing_found_is_said_with_its_interval() -> None:
    page = _page(_of("calm", ("no", "no"), 20))
    assert _lede(page) == "20 sessions, none went wrong: 0.0% (0.0% to 16.1%)."
    assert "No session went wrong." in page


def test_the_page_says_session_and_escapes_what_sessions_say() -> None:
    page = _page(SHOP + BANK)
    shown = re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL)
    assert not re.search("trajector(y|ies)", shown, flags=re.IGNORECASE)
    assert HOSTILE not in page
    assert "misstep classify a.jsonl --out run" in page


def _session(item: str, *labels: str | None, **facts: Any) -> LabelledSession:
    verdicts = tuple(
        PlacedVerdict(item, category, label, "answered" if label else "abstained", steps=(1,), rationale="So it is.")
        for category, label in zip(("loop", "drift"), labels, strict=True)
    )
    return LabelledSession(Session(item, f"{item}.jsonl", **facts), verdicts)


def _browser(*sessions: LabelledSession, room: int = 10_000) -> Listed[FindingLine]:
    flagged = FlaggedSessions(room)
    for one in sessions:
        flagged.add(one)
    return flagged.browser()


def _index(browser: Listed[FindingLine]) -> Any:
    return read_embedded(browser.data["index"])


def test_sessions_with_most_categories_come_first_and_of_these_the_newest() -> None:
    browser = _browser(
        _session("old", "yes", "no", started="2026-01-01T00:00:00Z"),
        _session("fine", "no", None),
        _session("new", "yes", None, started="2026-03-01T00:00:00Z"),
        _session("both", "yes", "yes"),
    )
    assert _index(browser)["id"] == ["both", "new", "old"]
    assert _index(browser)["category"] == [[0, 1], [0], [0]]
    assert [(line.session, line.category) for line in browser.lines][:2] == [("both", "loop"), ("both", "drift")]
    assert browser.title == "4 findings"


def test_what_does_not_fit_is_left_out_least_wanted_first_and_said() -> None:
    shown = '"' + "a" * 60 + '"'
    sessions = [_session(item, *labels, shown=shown) for item, labels in (("a", ("yes", "no")), ("b", ("yes", "yes")))]
    browser = _browser(*sessions, room=100)
    assert _index(browser)["piece"] == ["session-1", ""]
    assert browser.data["session-1"] == shown
    assert browser.notes == ("The steps of 1 session did not fit into the page: it names the command that shows it.",)
    assert _index(browser)["view"] == ["misstep view b.jsonl --id b", "misstep view a.jsonl --id a"]


def test_the_command_that_shows_a_session_is_one_that_a_shell_takes() -> None:
    assert _index(_browser(_session("$(rm) x", "yes", "no")))["view"] == ["misstep view '$(rm) x.jsonl' --id '$(rm) x'"]


def test_text_that_would_end_its_element_is_refused() -> None:
    with pytest.raises(InputError, match="other text"):
        _browser(_session("a", "yes", "no", shown='"</script><script>alert(1)</script>"'))


def test_of_a_long_session_the_evidence_is_shown_and_the_rest_shortened() -> None:
    session = Trajectory(
        "long", Source("made up"), steps=tuple(Step("agent", f"step {number} " + "x" * 9_000) for number in range(300))
    )
    run = read_embedded(show_session(session, {150}))
    by_number = {step["number"]: step for step in run["steps"]}
    assert len(by_number[150]["text"]["start"] + by_number[150]["text"]["end"]) == 6_000
    others = [step["text"] for number, step in by_number.items() if number != 150]
    assert sum(len(text["start"] + text["end"]) for text in others) <= SESSION_CHARACTERS


def test_many_evidence_steps_share_their_room() -> None:
    session = Trajectory("loop", Source("made up"), steps=tuple(Step("agent", "x" * 9_000) for _ in range(400)))
    run = read_embedded(show_session(session, range(400)))
    assert len(run["steps"]) == 400
    assert sum(len(step["text"]["start"] + step["text"].get("end", "")) for step in run["steps"]) < 120_000
