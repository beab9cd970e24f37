"""Findings as text: undefined is a dash and not a zero, examples are spread over categories."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import msgspec
import pytest

from misstep_analysis.sessions.findings import Findings, NewSessions, findings, findings_text, new_text, with_new
from misstep_harness.journal.classified import Labels, SessionFinding, Summary
from misstep_harness.trajectory import Skipped, Unreadable

CATEGORIES = ("loop", "drift")


def _findings(patterns: dict[Labels, int], examples: tuple[SessionFinding, ...] = ()) -> Findings:
    unreadable, skipped = [Unreadable("a.jsonl", 3, "no JSON")], [Skipped("notes.txt", "no known format")]
    return findings(CATEGORIES, Summary(patterns, {}, list(examples), unreadable, skipped, 0))


def _example(item: str, category: str, steps: tuple[int, ...] = (), why: str = "So it is.") -> SessionFinding:
    return SessionFinding(item, category, "a.jsonl", 4, steps, why)


def test_a_category_that_nothing_was_judged_for_has_a_dash_and_no_zero() -> None:
    text = findings_text(_findings({("no", None): 4}))
    (drift,) = [line.split() for line in text.splitlines() if line.startswith("drift")]
    assert drift == ["drift", "0", "0", "—", "—", "0"]


@pytest.mark.parametrize(("checked", "counted"), [({}, "none"), ({("no", "no"): 2}, "2")])
def test_limits_that_no_rule_found_broken_are_said_once_and_no_row(checked: dict[Labels, int], counted: str) -> None:
    summary = Summary({("no", None): 4, **checked}, {}, [], [], [], 0)
    document = findings(("loop", "unrequested_changes"), summary)
    _, second, *others = findings_text(document).splitlines()
    assert second == (
        f"All were checked for cases of loop, {counted} for unrequested changes (add --model M to check the rest)."
    )
    assert not any("unrequested_changes" in line for line in others)
    assert '"unrequested_changes"' in msgspec.json.encode(document).decode()


def test_a_limit_that_is_found_broken_is_a_row() -> None:
    text = findings_text(
        findings(("loop", "unrequested_changes"), Summary({("no", None): 4, ("no", "yes"): 1}, {}, [], [], [], 0))
    )
    assert any(line.startswith("unrequested_changes") for line in text.splitlines())


def test_the_share_is_of_those_that_were_checked_and_their_number_stands_beside_it() -> None:
    text = findings_text(_findings({("no", None): 3, ("yes", "yes"): 1}))
    loop, drift = (
        next(line.split() for line in text.splitlines() if line.startswith(name)) for name in ("loop", "drift")
    )
    assert loop[:4] == ["loop", "1", "4", "25.0%"]
    assert drift[:4] == ["drift", "1", "1", "100.0%"]


def test_examples_are_of_as_many_categories_as_there_are_the_most_frequent_first() -> None:
    examples = (*(_example(item, "loop") for item in "abc"), _example("d", "drift"))
    text = findings_text(_findings({("yes", "no"): 3, ("no", "yes"): 9}, examples))
    shown = [line.split()[:2] for line in text.splitlines() if "a.jsonl:4" in line]
    assert shown == [["drift", "d"], ["loop", "a"], ["loop", "b"]]


def test_an_example_names_its_steps_once() -> None:
    patterns: dict[Labels, int] = {("yes", "no"): 1}
    text = findings_text(_findings(patterns, (_example("a", "loop", tuple(range(1, 9))),)))
    assert "a (a.jsonl:4), steps 1, 2, 3, 4, 5, 6, …: So it is." in text
    text = findings_text(_findings(patterns, (_example("a", "loop", (7,), "Said in step 7."),)))
    assert "a (a.jsonl:4): Said in step 7." in text


def test_what_was_left_out_is_counted_and_named() -> None:
    text = findings_text(_findings({("no", "no"): 1}))
    assert "1 session was unreadable and not counted." in text
    assert "1 file skipped, of no known format: notes.txt" in text


def test_runs_of_sub_agents_are_counted_in_a_line_of_their_own() -> None:
    apart: dict[Labels, int] = {("yes", "no"): 2, ("no", "no"): 3}
    result = findings(CATEGORIES, Summary({("no", "no"): 4}, apart, [], [], [], 0))
    assert findings_text(result).splitlines()[:3] == [
        "4 sessions, none went wrong: too few for a rate.",
        "All were checked for cases of loop and cases of drift.",
        "5 runs of sub-agents, counted apart: 2 with misbehaviour",
    ]


def test_the_page_of_the_run_is_named_where_there_is_one() -> None:
    result = _findings({("no", "no"): 1})
    assert findings_text(result, Path("run/report.html")).splitlines()[-1] == "open run/report.html"
    assert "open" not in findings_text(result)


BERLIN = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    ("since", "sessions", "wrong", "text"),
    [
        ("2026-03-02T13:02:00+00:00", 3, 1, "3 new since the last look at 14:02, 1 of them went wrong"),
        ("2026-03-01T23:30:00+00:00", 1, 0, "1 new since the last look at 00:30, 0 of them went wrong"),
        ("2026-03-01T22:30:00+00:00", 3, 1, "3 new since yesterday, 1 of them went wrong"),
        ("2026-02-27T10:00:00+00:00", 1200, 1100, "1,200 new since 2026-02-27, 1,100 of them went wrong"),
        ("2026-03-01T10:00:00+00:00", 0, 0, "nothing new since yesterday"),
    ],
)
def test_what_is_new_is_said_with_the_time_of_the_last_look(since: str, sessions: int, wrong: int, text: str) -> None:
    now = datetime(2026, 3, 2, 18, 0, tzinfo=BERLIN)
    assert new_text(NewSessions(since, sessions, wrong, []), now) == text


def test_a_new_session_that_shows_two_categories_went_wrong_once() -> None:
    found = [SessionFinding(item, category, "f", 1, (), "") for item, category in (("a", "x"), ("a", "y"), ("b", "x"))]
    result = with_new(findings(("x", "y"), Summary({("yes", "yes"): 1}, {}, found, [], [], 0)), "then", ["a", "c"])
    assert result.new == NewSessions("then", 2, 1, ["a", "c"])
