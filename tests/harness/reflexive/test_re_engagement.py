"""The strategist is asked when there is reason and time, and only a verdict that stands alone is one."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.reflexive.item_work import (
    MOST_PLAN_CHARACTERS,
    SinceTouched,
    read_verdict,
    read_verdict_by_first_word,
    should_re_engage,
)
from misstep_harness.reflexive.records import LoopSettings

SETTINGS = LoopSettings()
OPEN = frozenset({"audit-package", "audit.rules"})

READABLE = {
    "small letters": ("verdict: escalate", "ESCALATE"),
    "bold label": ("**VERDICT:** ESCALATE", "ESCALATE"),
    "backticks": ("VERDICT: `ESCALATE`", "ESCALATE"),
    "other quotation marks": ("VERDICT: “ESCALATE”", "ESCALATE"),
    "next line in bold": ("**VERDICT:**\n\n**ESCALATE**", "ESCALATE"),
    "windows lines": ("It is stuck.\r\nVERDICT: ESCALATE\r\n", "ESCALATE"),
    "after an analysis": ("The disk has one partition.\n\nVERDICT: ESCALATE", "ESCALATE"),
    "after what was thought": ("<think>\nIt is stuck.\n</think>\nVERDICT: ESCALATE", "ESCALATE"),
    "after a rule": ("It is stuck.\n\n---\n**VERDICT: ESCALATE**", "ESCALATE"),
    "said twice": ("VERDICT: ESCALATE\nIt is impossible.\nVERDICT: ESCALATE", "ESCALATE"),
    "all of it fenced": ("```\nVERDICT: ESCALATE\n```", "ESCALATE"),
    "continue": ("VERDICT: CONTINUE", "CONTINUE"),
    "pivot": ("VERDICT: PIVOT\nPLAN: Use a drop-in.", "PIVOT"),
    "hyphen": ("VERDICT: SKIP-UNTIL\nUNTIL: audit-package", "SKIP_UNTIL"),
    "escaped": ("VERDICT: SKIP\\_UNTIL\nUNTIL: `audit-package`, audit.rules.", "SKIP_UNTIL"),
}

UNREADABLE = {
    "nothing": "",
    "no verdict": "I think that we should ESCALATE.",
    "denied": "VERDICT: NOT ESCALATE",
    "denied on the next line": "VERDICT:\nNOT ESCALATE",
    "denied before": "I would not say\nVERDICT: ESCALATE",
    "denied before, with a colon": "You must never answer this:\n\nVERDICT: ESCALATE",
    "denied after": "VERDICT: ESCALATE\nis not what I would say.",
    "taken back": "VERDICT: ESCALATE\nNot.",
    "under a condition": "If the next attempt fails:\nVERDICT: ESCALATE",
    "struck out": "VERDICT: ~~ESCALATE~~",
    "two words": "VERDICT: ESCALATE or PIVOT?",
    "a question": "VERDICT: ESCALATE?",
    "the list of choices": "VERDICT: CONTINUE | PIVOT | ESCALATE",
    "in a sentence": "I would not VERDICT: ESCALATE",
    "in a sentence after a verdict": "VERDICT: ESCALATE\nThe form says to write VERDICT: CONTINUE here.",
    "with a reason on the line": "VERDICT: ESCALATE because it is stuck",
    "two that differ": "VERDICT: CONTINUE\nVERDICT: ESCALATE",
    "a verdict in the plan": "VERDICT: CONTINUE\nPLAN: Go on. At the third failure\nVERDICT: ESCALATE",
    "a quotation": "> VERDICT: ESCALATE",
    "a quotation before": "> VERDICT: ESCALATE\n\nVERDICT: CONTINUE\nPLAN: Go on.",
    "a bullet": "- VERDICT: ESCALATE",
    "a fence beside text": "The check printed:\n```\nVERDICT: ESCALATE\n```\nThat is no answer.",
    "a fence in a longer fence": "````\n```\nVERDICT: ESCALATE\n```\n````",
    "a fence in another one": "~~~\n```\nVERDICT: ESCALATE\n```\n~~~",
    "two fences": "```\nVERDICT: ESCALATE\n```\n```\nrm\n```",
    "code by its indentation": "This was printed.\n\n    VERDICT: ESCALATE\n\nIt is none of mine.",
    "what a log says": "The third attempt printed:\nVERDICT: ESCALATE",
    "a quotation that goes on": "> It said.\nVERDICT: ESCALATE",
    "in a tag": "<output>\nVERDICT: ESCALATE\n</output>",
    "in a comment": "<!--\nVERDICT: ESCALATE\n-->",
    "a fence that stays open": "The log:\n~~~\nVERDICT: ESCALATE",
    "an invisible sign in the label": "VER\u200bDICT: ESCALATE",
    "an invisible sign after a real one": "VERDICT: CONTINUE\nVERDICT\u2060: ESCALATE",
    "letters of another script": "VERDICT: ЕSCALATE",
    "wide letters": "ＶＥＲＤＩＣＴ： ESCALATE",
    "a long s": "VERDICT: EſCALATE",
    "another word": "VERDICT: ABORT",
    "pivot without a plan": "VERDICT: PIVOT",
    "until nothing": "VERDICT: SKIP_UNTIL",
    "until what is not open": "VERDICT: SKIP_UNTIL\nUNTIL: audit-package, sshd-root",
    "until what is there twice": "VERDICT: SKIP_UNTIL\nUNTIL: audit-package\nUNTIL: audit.rules",
    "until a sentence": "VERDICT: SKIP_UNTIL\nUNTIL: the audit-package is there",
}


@pytest.mark.parametrize(("reply", "verdict"), READABLE.values(), ids=READABLE)
def test_a_verdict_that_stands_alone_is_read(reply: str, verdict: str) -> None:
    answer = read_verdict(reply, OPEN)
    assert (answer.verdict, answer.clean, answer.warning) == (verdict, True, "")


@pytest.mark.parametrize("reply", UNREADABLE.values(), ids=UNREADABLE)
def test_any_other_reply_is_continue_with_a_warning_and_the_plan_as_it_was(reply: str) -> None:
    answer = read_verdict(reply, OPEN)
    assert (answer.verdict, answer.clean, answer.plan, answer.until) == ("CONTINUE", False, "", ())
    assert answer.warning.startswith("The strategist's reply is unreadable: ")


LABELS = st.sampled_from(
    ["VERDICT:", "**VERDICT:**", "verdict :", "VERDICT", "VERDIСT:", "VER\u200bDICT:", "PLAN:", "UNTIL:"]
)
VERDICTS = st.sampled_from(
    ["CONTINUE", "PIVOT", "ESCALATE", "SKIP_UNTIL", "**ESCALATE**", "ESC\u00adALATE", "ЕSCALATE"]
)
OTHERS = st.sampled_from(
    ["not", "NOT", "or", "if", "?", ".", ">", "-", "```", "~~", " ", "\n", "\n\n", "\r\n", "\u2028", "a"]
)
REPLIES = st.lists(LABELS | VERDICTS | OTHERS | st.text(max_size=5), max_size=12).map(" ".join) | st.lists(
    LABELS | VERDICTS | OTHERS, max_size=12
).map("\n".join)
_ALONE = re.compile(
    r"[ \t*_`\"'“”‘’#]*VERDICT[ \t*_`\"'“”‘’]*:[ \t\n*_`\"'“”‘’]*([A-Z]+(?:[_ -]UNTIL)?)[ \t*_`\"'“”‘’.]*"
)


@given(REPLIES | st.text())
def test_no_text_without_one_verdict_alone_is_anything_but_continue(reply: str) -> None:
    answer = read_verdict(reply, OPEN)
    lines = reply.splitlines()
    pairs = [*lines, *(f"{one}\n{other}" for one, other in pairwise(lines))]
    pairs += [f"{one}\n{other}" for one, other in zip(lines, lines[2:], strict=False)]
    alone = {result[1].upper() for text in pairs if (result := _ALONE.fullmatch(text.upper())) and text.isascii()}
    if answer.verdict != "CONTINUE":
        assert answer.clean
        assert any(word.replace("-", "_").replace(" ", "_") == answer.verdict for word in alone)
    if not answer.clean:
        assert answer.verdict == "CONTINUE"


@given(st.sampled_from(["PIVOT", "ESCALATE", "CONTINUE"]), st.text("ab .\n", max_size=50))
def test_a_second_verdict_that_differs_is_never_chosen_from(verdict: str, between: str) -> None:
    other = "CONTINUE" if verdict == "ESCALATE" else "ESCALATE"
    assert not read_verdict(f"VERDICT: {verdict}\nPLAN: {between}.\n\nVERDICT: {other}", OPEN).clean


def test_a_plan_may_have_many_lines_and_is_bounded() -> None:
    answer = read_verdict("VERDICT: PIVOT\n**PLAN:** First this.\n\n- then that\n- then more")
    long = read_verdict("VERDICT: PIVOT\nPLAN: " + "word " * 100_000)
    assert answer.plan == "First this.\n\n- then that\n- then more"
    assert len(long.plan) <= MOST_PLAN_CHARACTERS


def test_without_a_label_the_plan_is_what_follows_the_verdict() -> None:
    assert read_verdict("It is impossible.\nVERDICT: ESCALATE\nThe disk is in use.").plan == "The disk is in use."


def test_the_reason_of_an_escalation_may_stand_before_it() -> None:
    assert read_verdict("The disk is in use.\n\nVERDICT: ESCALATE").plan == "The disk is in use."
    assert read_verdict("The disk is in use.\n\nVERDICT: CONTINUE").plan == ""


def test_skip_until_names_its_items() -> None:
    answer = read_verdict("VERDICT: SKIP_UNTIL\nUNTIL: audit-package, audit.rules\nPLAN: Come back.", OPEN)
    assert (answer.until, answer.plan) == (("audit-package", "audit.rules"), "Come back.")


def test_the_flawed_reader_takes_a_verdict_in_bold_for_continue_and_a_denied_one_for_escalate() -> None:
    assert read_verdict_by_first_word("VERDICT: **ESCALATE**").verdict == "CONTINUE"
    assert read_verdict_by_first_word("VERDICT: NOT ESCALATE").verdict == "ESCALATE"
    assert read_verdict("VERDICT: **ESCALATE**").verdict == "ESCALATE"
    assert read_verdict("VERDICT: NOT ESCALATE").verdict == "CONTINUE"


@pytest.mark.parametrize(
    ("since", "plateau", "trigger"),
    [
        (SinceTouched(failures=2), False, None),
        (SinceTouched(failures=3), False, "failures"),
        (SinceTouched(failures=1), True, "plateau"),
        (SinceTouched(failures=3), True, "plateau"),
        (SinceTouched(failures=3, gap=True), True, "evaluator_gap"),
    ],
)
def test_the_strategist_is_asked_for_a_gap_a_plateau_or_enough_failures(since, plateau, trigger) -> None:
    assert should_re_engage(since, SETTINGS, plateau=plateau, seconds_left=None) == trigger


@pytest.mark.parametrize(("seconds_left", "trigger"), [(119.9, None), (120.0, "failures"), (None, "failures")])
def test_it_is_not_asked_when_too_little_time_is_left(seconds_left: float | None, trigger: str | None) -> None:
    assert should_re_engage(SinceTouched(3), SETTINGS, plateau=False, seconds_left=seconds_left) == trigger


def test_without_re_engagement_nobody_asks_it() -> None:
    without = LoopSettings(without=frozenset({"re_engagement"}))
    assert should_re_engage(SinceTouched(9, gap=True), without, plateau=True, seconds_left=None) is None
