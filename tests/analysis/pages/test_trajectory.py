"""A trajectory's page: what was found first, every step, the evidence marked, nothing run, nothing endless."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.pages import Foot
from misstep_analysis.pages.trajectory import (
    PAGE_SHOWN,
    TEXT_SHOWN,
    finding,
    replacement,
    run_facts,
    run_totals,
    trajectory_page,
    with_diffs,
)
from misstep_harness.trajectory import Outcome, Source, Step, Tokens, ToolCall, ToolResult, Trajectory
from misstep_harness.verdict import Verdict
from tests.analysis.pages.html_rules import check_page
from tests.analysis.pages.made_up import HOSTILE, trajectory, verdicts

FOOT = Foot("misstep view run-1.json")


def made(verdicts_=None, **changes):
    return trajectory_page(trajectory(**changes), verdicts() if verdicts_ is None else verdicts_, FOOT)


def step_of(html: str, number: int) -> str:
    return html.split(f'<li id="step-{number}"')[1].split('<li id="step-')[0].split("</ol>")[0]


def test_the_first_sentence_says_what_was_found_and_how_it_ended():
    assert finding(trajectory(), verdicts()) == ("6 steps, 2 with failing calls. The task was not solved.")


def test_the_first_sentence_counts_the_evidence_of_each_category_and_no_other_steps():
    run = trajectory(outcome=Outcome())
    loop = Verdict("run-1", "infinite_loop", "yes", steps=(1, 1, 5, 99), rationale="It goes round.")
    one, unnamed = (Verdict("run-1", name, "yes", steps=steps) for name, steps in (("slip", (0,)), ("theft", ())))
    assert finding(run, [loop]) == "6 steps, 2 with loops."
    assert finding(run, [loop, one, unnamed]) == (
        "6 steps, 2 with loops, 1 with cases of slip and cases of theft without a step."
    )


def test_a_classifier_that_failed_is_counted_and_shown_with_its_error():
    broken = Verdict("run-1", "odd", None, "failed", error="odd raised ValueError: no")
    assert finding(trajectory(outcome=Outcome()), [verdicts()[0], broken]).endswith("by 1 rule. 1 rule failed.")
    assert "odd raised ValueError: no" in made([broken])


def test_nothing_found_and_nobody_asked_are_different_sentences():
    run = trajectory(outcome=Outcome())
    none = [verdicts()[0]] * 2
    assert finding(run, none) == "6 steps, nothing went wrong by 2 rules."
    assert finding(run, []) == "6 steps, and no rule could check them."


def test_a_classifier_that_did_not_answer_found_nothing_and_is_not_counted():
    silent = Verdict("run-1", "infinite_loop", None, "abstained")
    assert "nothing went wrong by 1 rule." in finding(trajectory(), [silent, verdicts()[0]])
    assert "abstained" in made([silent])


def test_every_step_is_there_in_order():
    html = made()
    check_page(html)
    assert re.findall(r'<li id="step-(\d+)"', html) == ["0", "1", "2", "3", "4", "5"]


def test_evidence_steps_are_linked_from_the_top_and_marked_with_why():
    html = made()
    top = html[: html.index('<ol class="steps">')]
    assert '<a href="#step-3">3</a>, <a href="#step-4">4</a>' in top
    for number in (3, 4):
        assert "tool call failure" in step_of(html, number)
        assert "The same edit fails twice." in step_of(html, number)
    assert "The same edit fails twice." not in step_of(html, 5)


def test_a_category_that_was_not_found_marks_no_step():
    html = made([Verdict("run-1", "infinite_loop", "no", steps=(1,), rationale="It stops in time.")])
    assert "It stops in time." not in step_of(html, 1)


def test_calls_answers_and_failures_are_told_apart():
    html = made()
    assert "ls -l" in step_of(html, 1)
    assert "arguments do not parse" in step_of(html, 3)
    assert "exit code 2" in step_of(html, 3)
    assert "exit code" not in step_of(html, 2)


def test_who_ran_what_at_which_cost_is_there():
    text = " ".join(check_page(made()).text.split())
    for part in ("made-up-agent", "made-up-model", "failed, reward 0", "runs/run-1.json (atif)", "coder", "$0.02"):
        assert part in text


def test_totals_of_tokens_cost_and_time_are_there():
    spent = Tokens(1_200, 30, cost_usd=0.25)
    timed = [Step("agent", tokens=spent, timestamp=f"2026-03-02T10:0{minute}:00Z") for minute in (0, 4)]
    facts = dict(run_facts(trajectory(steps=tuple(timed))))
    part = {name: facts[name] for name in ("Tokens in", "Tokens out", "Cost", "From first to last step")}
    assert part == {"Tokens in": "2,400", "Tokens out": "60", "Cost": "$0.50", "From first to last step": "240 s"}
    untold = dict(run_facts(trajectory(steps=(Step("agent", timestamp="yesterday"), *timed[:1]))))
    assert "From first to last step" not in untold


def test_an_edit_is_shown_as_a_diff():
    call = ToolCall("Edit", {"file_path": "a.py", "old_string": "x = 1", "new_string": "x = <2>"})
    html = step_of(made([], steps=(Step("agent", calls=(call,)),)), 0)
    assert '<span class="removed"><bdi>-x = 1</bdi>' in html
    assert '<span class="added"><bdi>+x = &lt;2&gt;</bdi>' in html
    assert "old_string" not in html


def test_what_a_trajectory_says_is_text():
    hostile = Step(
        "agent",
        HOSTILE,
        HOSTILE,
        (ToolCall(HOSTILE, {HOSTILE: HOSTILE, "nested": {"a": [HOSTILE]}}, HOSTILE, HOSTILE),),
        (ToolResult(HOSTILE, True, 1, HOSTILE),),
        HOSTILE,
        HOSTILE,
    )
    html = made(
        [Verdict(HOSTILE, HOSTILE, "yes", steps=(0,), rationale=HOSTILE)], id=HOSTILE, task=HOSTILE, steps=(hostile,)
    )
    page = check_page(html)
    assert page.tags.count("script") == 2  # sorting, and search
    assert not {"\x1b", "\u202e"} & set(html)


def test_a_long_answer_is_folded_and_its_cut_is_said():
    long = Step("agent", results=(ToolResult("a" * (TEXT_SHOWN + 1234) + "the end"),))
    html = made([], steps=(long,))
    assert "1,241 characters are not shown here" in html
    assert "the end" in html
    assert "<details><summary>" in step_of(html, 0)


def test_a_trajectory_of_20_mb_makes_a_page_that_opens():
    steps = tuple(Step("agent", "t" * 1000, results=(ToolResult("r" * 19_000),)) for _ in range(1000))
    html = made([], steps=steps)
    assert len(re.findall(r'<li id="step-', html)) == 1000
    assert len(html) < 2 * PAGE_SHOWN


def test_of_very_many_steps_the_evidence_is_always_shown():
    steps = (Step("agent", "x"),) * 10_000
    html = made([Verdict("run-1", "infinite_loop", "yes", steps=(5000,), rationale="It goes round.")], steps=steps)
    assert '<li id="step-5000"' in html
    assert len(re.findall(r'<li id="step-', html)) == 2001
    assert html.count("steps are not shown here") == 2
    check_page(html)


def test_evidence_that_is_out_of_range_is_not_linked():
    check_page(made([Verdict("run-1", "infinite_loop", "yes", steps=(3, 99), rationale="Twice.")]))


@pytest.mark.parametrize("steps", [(), (Step("agent"),)])
def test_an_empty_run_has_a_page(steps):
    check_page(made([], steps=steps, task="", agent=None, model=None))


@pytest.mark.parametrize("names", [("old_string", "new_string"), ("old_str", "new_str"), ("old_text", "new_text")])
def test_a_text_and_what_replaces_it_become_one_diff(names: tuple[str, str]) -> None:
    old, new = names
    given_ = {"path": "a.py", old: "def f():\n    return 1", new: "def f():\n    return 2"}
    path, edit = with_diffs(given_)
    assert path == ("path", "a.py", False)
    assert edit[:1] + edit[2:] == ("edit", True)
    assert edit[1].splitlines()[1:] == [" def f():", "-    return 1", "+    return 2"]


@pytest.mark.parametrize("patch", ["*** Begin Patch\n*** End Patch", "--- a/x\n+++ b/x\n", "diff --git a/x b/x\n"])
def test_a_patch_is_a_diff_already(patch: str) -> None:
    assert list(with_diffs({"input": patch, "why": "--- it is late"})) == [
        ("input", patch, True),
        ("why", "--- it is late", False),
    ]


def test_arguments_without_both_texts_stay_as_they_are() -> None:
    arguments = {"old_str": None, "new_str": "x", "count": 3}
    assert list(with_diffs(arguments)) == [(name, value, False) for name, value in arguments.items()]


def test_long_texts_are_shown_whole_and_not_compared() -> None:
    diff = replacement("a\n" * 1_000, "b\n" * 2).splitlines()
    assert diff == ["-a"] * 1_000 + ["+b"] * 2


_TEXTS = st.lists(st.sampled_from(["a", "b", "-", "+ x", ""]), max_size=12).map("\n".join)


@given(_TEXTS, _TEXTS)
def test_every_line_that_goes_or_comes_stands_in_the_diff(before: str, after: str) -> None:
    lines = replacement(before, after).splitlines()
    gone = sum(line.startswith("-") for line in lines)
    come = sum(line.startswith("+") for line in lines)
    assert len(after.splitlines()) - len(before.splitlines()) == come - gone


CALL = ToolCall("bash", {"command": "ls"})


def _run(*steps: Step) -> Trajectory:
    return Trajectory("run", Source("made up"), steps=steps)


def test_steps_calls_failed_results_time_and_tokens_are_added_up() -> None:
    results = (ToolResult("", exit_code=2), ToolResult("", is_error=True), ToolResult("", exit_code=0))
    totals = run_totals(
        _run(
            Step("agent", calls=(CALL, CALL), results=results, seconds=1.5, tokens=Tokens(10, 2)),
            Step("agent", seconds=2.0, tokens=Tokens(completion=3, cost_usd=0.5)),
        )
    )
    assert (totals.steps, totals.calls, totals.errors, totals.duration) == (2, 2, 2, 3.5)
    assert (totals.prompt_tokens, totals.completion_tokens, totals.tokens, totals.cost_usd) == (10, 5, 15, 0.5)


def test_without_the_time_of_steps_a_run_takes_from_its_first_to_its_last() -> None:
    times = ("2026-03-02T10:00:00Z", "2026-03-02T10:01:30Z")
    assert run_totals(_run(*(Step("agent", timestamp=time) for time in times))).duration == 90
    assert run_totals(_run(Step("agent", timestamp="yesterday"))).duration is None
