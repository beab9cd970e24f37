"""Flagged sessions as an index: the most wanted first, and what does not fit says how to see it."""

import json
import zlib
from base64 import b64decode
from typing import Any

import pytest

from misstep.analysis.pages.browser.frame import Listed
from misstep.analysis.pages.sessions.flagged import FindingLine, FlaggedSessions
from misstep.analysis.pages.sessions.shown import SESSION_CHARACTERS, show_session
from misstep.harness.errors import InputError
from misstep.harness.journal.classified import LabelledSession, PlacedVerdict
from misstep.harness.records.session import Session
from misstep.harness.trajectory import Source, Step, Trajectory


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


def _index(browser: Listed[FindingLine]) -> dict[str, Any]:
    content = json.loads(browser.data["index"])
    found: dict[str, Any] = content if isinstance(content, dict) else json.loads(zlib.decompress(b64decode(content)))
    return found


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
    content = json.loads(show_session(session, {150}))
    run = json.loads(zlib.decompress(b64decode(content)))
    by_number = {step["number"]: step for step in run["steps"]}
    assert len(by_number[150]["text"]["start"] + by_number[150]["text"]["end"]) == 6_000
    others = [step["text"] for number, step in by_number.items() if number != 150]
    assert sum(len(text["start"] + text["end"]) for text in others) <= SESSION_CHARACTERS


def test_many_evidence_steps_share_their_room() -> None:
    session = Trajectory("loop", Source("made up"), steps=tuple(Step("agent", "x" * 9_000) for _ in range(400)))
    run = json.loads(zlib.decompress(b64decode(json.loads(show_session(session, range(400))))))
    assert len(run["steps"]) == 400
    assert sum(len(step["text"]["start"] + step["text"].get("end", "")) for step in run["steps"]) < 120_000
