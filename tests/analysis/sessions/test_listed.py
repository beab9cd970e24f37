"""The page of many runs: what it says first, what is in it without scripts, and that it stays within its bound."""

from typing import Any

import pytest

from misstep_analysis.pages.page import Foot
from misstep_analysis.sessions.listed import ListedRuns, listed_run, runs_page
from misstep_harness.trajectory import Outcome, Source, Step, Tokens, ToolCall, Trajectory, Unreadable
from misstep_harness.verdict import Verdict
from tests.analysis.pages.html_rules import check_page, read_embedded
from tests.misstep.made_up_runs import HOSTILE

CATEGORIES = ("infinite_loop", "tool_call_failure")


def _run(id_: str, *, parent: str | None = None, text: str = "I look.", steps: int = 3) -> Trajectory:
    turns = tuple(
        Step("agent", f"{text} {number}", calls=(ToolCall("bash", {"command": f"cat {number}"}),), tokens=Tokens(5, 1))
        for number in range(steps)
    )
    return Trajectory(
        id_, Source("made_up"), f"Mend {id_}.", turns, Outcome("failed"), agent="coder", model="small", parent=parent
    )


def _listed(runs: ListedRuns, run: Trajectory, *labels: str | None, reason: str = "It repeats itself.") -> None:
    verdicts = [
        Verdict(run.id, category, label, "answered" if label else "abstained", steps=(1, 2), rationale=reason)
        for category, label in zip(CATEGORIES, labels, strict=True)
    ]
    runs.add(listed_run(run, f"{run.id}.jsonl", 7, verdicts))


def _page(runs: ListedRuns, *unreadable: Unreadable) -> str:
    return runs_page("made-up", CATEGORIES, runs, unreadable, Foot("misstep view made-up"))


def _index(runs: ListedRuns) -> Any:
    return read_embedded(runs.browser().data["index"])


@pytest.fixture
def runs() -> ListedRuns:
    """Four runs and one of a sub-agent; two of the four show misbehaviour, one could not be checked."""
    runs = ListedRuns()
    _listed(runs, _run("fine"), "no", "no")
    _listed(runs, _run("loops"), "yes", "no")
    _listed(runs, _run("unchecked"), None, None)
    _listed(runs, _run("both"), "yes", "yes")
    _listed(runs, _run("helper", parent="both"), "yes", "no")
    return runs


def test_the_first_sentence_says_how_many_runs_went_wrong(runs: ListedRuns) -> None:
    text = check_page(_page(runs)).text
    assert "4 runs, 3 checked, 2 went wrong: too few for a rate. Loops were commonest (2)." in text
    assert "1 run of a sub-agent is listed, and not counted in the figures." in text


def test_all_runs_are_listed_with_their_facts_those_with_most_findings_first(runs: ListedRuns) -> None:
    index = _index(runs)
    assert index["id"] == ["both", "loops", "helper", "fine", "unchecked"]
    assert index["category"] == [[0, 1], [0], [0], [], []]
    assert [index["outcomes"][number] for number in index["outcome"]] == ["failed"] * 5
    assert (index["tokens"], index["seconds"]) == ([18] * 5, [None] * 5)
    assert index["view"][0] == "misstep view both.jsonl --id both"


def test_without_scripts_the_runs_are_a_table_that_leads_to_the_evidence_of_each(runs: ListedRuns) -> None:
    page = check_page(_page(runs))
    assert [address for address in page.addresses if address.startswith("#found")] == [
        "#found-0",
        "#found-1",
        "#found-2",
    ]
    text = " ".join(page.text.split())
    assert "infinite loop It repeats itself. Evidence: steps 1, 2. 1: bash cat 1 2: bash cat 2" in text
    assert "All of it: misstep view loops.jsonl --id loops" in text


def test_what_could_not_be_read_is_named_and_not_counted(runs: ListedRuns) -> None:
    page = _page(runs, Unreadable("b.jsonl", 3, "no JSON"), Unreadable("c.json", None, "no JSON"))
    assert "2 runs could not be read and are not counted: b.jsonl:3, c.json." in check_page(page).text


def test_no_text_of_a_run_becomes_more_than_text() -> None:
    runs = ListedRuns()
    _listed(runs, _run(HOSTILE, text=HOSTILE), "yes", "no", reason=HOSTILE)
    page = _page(runs)
    assert "<script>window" not in page
    assert check_page(page).tags.count("img") == 0


def test_of_more_than_fits_the_most_wanted_is_kept_and_the_page_says_what_is_not() -> None:
    runs = ListedRuns(steps_bytes=6_000, index_bytes=4_000)
    for number in range(300):
        _listed(runs, _run(f"run-{number:03}", text="".join(map(chr, range(300 + number, 2_000)))), "no", "no")
    _listed(runs, _run("loops"), "yes", "no")
    browser = runs.browser()
    assert len(browser.data["index"].encode()) <= 4_000
    assert sum(len(text.encode()) for name, text in browser.data.items() if name != "index") <= 6_000
    listed = _index(runs)["id"]
    assert listed[0] == "loops"
    assert len(listed) < 301
    assert browser.notes[0].startswith(f"{len(listed)} of 301 runs are listed")
    assert "did not fit into the page" in browser.notes[1]
