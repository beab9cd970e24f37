"""Sessions of healthy and of faulty work, written by somebody who had not read the rules, as the rules read them."""

from collections import Counter
from collections.abc import Iterator

import pytest

from misstep_harness.classifiers import infinite_loop, tool_call_failure
from misstep_harness.classifiers.verdicts import FAMILIES
from misstep_harness.verdict import Verdict
from tests.healthy_work.sessions import Session, sessions

FOUND = {
    "cycle": (25, 26),
    "invented_path": (23, 23),
    "malformed": (24, 24),
    "passed_over": (32, 47),
    "rejected_reply": (17, 17),
    "same_call": (30, 33),
    "same_complaint": (19, 28),
    "same_error": (44, 45),
    "same_text": (18, 19),
    "to_and_fro": (42, 43),
    "undone_edit": (12, 13),
    "unknown_command": (18, 18),
    "unknown_tool": (19, 19),
}
"""Kind of fault → the faulty sessions that are found in its category, and all of them."""

LOOKS = {"unmentioned_failure": 4}
"""Family that does not count → the healthy sessions that it shows."""


def verdicts(session: Session) -> Iterator[Verdict]:
    run = session.trajectory()
    yield from (infinite_loop.classify(run), tool_call_failure.classify(run))


def test_no_healthy_session_is_flagged() -> None:
    assert [one.id for one in sessions("healthy") for verdict in verdicts(one) if verdict.label == "yes"] == []


def test_what_does_not_count_shows_few_healthy_sessions() -> None:
    looks = [verdict.rule for one in sessions("healthy") for verdict in verdicts(one) if verdict.worth_a_look]
    assert Counter(looks) == LOOKS


def test_faulty_sessions_are_found_in_their_category() -> None:
    every = list(sessions("faulty"))
    found = Counter(
        one.family
        for one in every
        for verdict in verdicts(one)
        if verdict.label == "yes" and verdict.judge.replace("_", "-") == one.category
    )
    assert {family: (found[family], n) for family, n in Counter(one.family for one in every).items()} == FOUND


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_a_family_says_what_it_holds_against_a_session_in_two_sentences(family) -> None:
    assert family.says.count(". ") == 1
    assert family.says.endswith(".")
