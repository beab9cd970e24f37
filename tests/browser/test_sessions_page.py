"""The page of a run of classify in a browser: sessions are filtered and opened at their evidence, by keyboard too."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from misstep.classify.findings import classified_findings
from misstep_harness.journal.records import encode_lines
from misstep_harness.readers.interchange.atif import to_atif
from misstep_harness.runs.classify import ClassifyPlan
from misstep_harness.runs.spread import Spread
from misstep_harness.trajectory import Source, Step, ToolCall, ToolResult, Trajectory
from misstep_harness.verdict import Verdict
from tests.browser.test_judge_report import DRAWN, STATUS, open_page, wait
from tests.misstep.made_up_runs import HOSTILE

pytestmark = pytest.mark.browser

CATEGORIES = ("infinite_loop", "tool_call_failure")
TITLE = "return document.querySelector('dialog[open] h2').textContent"


def _by_number(trajectory: Trajectory, categories: Sequence[str]) -> list[Verdict]:
    """Every third session loops at steps 3 and 20, every fourth fails at step 5."""
    number = int(trajectory.id.split("-")[1])
    labels = ("no" if number % 3 else "yes", "no" if number % 4 else "yes")
    return [
        Verdict(
            trajectory.id,
            category,
            label,
            "answered",
            steps=() if label == "no" else (3, 20) if category == categories[0] else (5,),
            rationale=f"It does so in {number}. {HOSTILE}",
        )
        for category, label in zip(categories, labels, strict=True)
    ]


def _session(number: int) -> Trajectory:
    steps = [Step("user", f"Task {number}: {HOSTILE}", timestamp=f"2026-0{1 + number % 3}-05T10:00:00Z")]
    call = ToolCall("bash", {"command": HOSTILE}, "call-1")
    steps += [
        Step("agent", f"{HOSTILE} {step}", calls=(call,), results=(ToolResult(HOSTILE, call_id="call-1"),))
        for step in range(30)
    ]
    models = ("small", "large")
    return Trajectory(f"s-{number}", Source("made up"), steps=tuple(steps), model=models[number % 2], agent="coder")


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    """Twenty-four sessions in two folders; 8 loop, 6 fail, 2 of them do both."""
    folder = tmp_path_factory.mktemp("sessions")
    for name, numbers in (("shop", range(12)), ("bank", range(12, 24))):
        (folder / name).mkdir()
        (folder / name / "runs.jsonl").write_bytes(encode_lines(to_atif(_session(number)) for number in numbers))
    run = folder / "run"
    classified_findings([folder / "shop", folder / "bank"], ClassifyPlan(CATEGORIES, _by_number, spread=Spread(1)), run)
    return run / "report.html"


def test_it_asks_only_for_itself_and_no_text_of_a_session_becomes_more_than_text(chromium, report):
    open_page(chromium, report)
    chromium.press("j", Keys.ENTER)
    wait(chromium, "return document.querySelector('.about .step')")
    assert [address for address in chromium.requests() if not address.startswith(("file:", "data:", "about:"))] == []
    assert chromium.complaints() == []
    assert chromium.run("return window.ran ?? null") is None
    assert chromium.run("return document.querySelectorAll('img, iframe, dialog a').length") == 0


def test_sessions_are_filtered_by_category_project_model_week_and_words(chromium, report):
    open_page(chromium, report)
    shown = f"{STATUS}.split(' ')[0]"
    assert chromium.run(shown) == "12"
    chromium.run("document.querySelector('.chip.infinite-loop').click()")
    assert chromium.run(shown) == "8"
    chromium.choose("Any project", str(report.parents[1] / "bank"))
    assert chromium.run(shown) == "4"
    chromium.choose("Any model", "large")
    assert chromium.run(shown) == "2"
    chromium.choose("Any week", "2026-W06")
    assert chromium.run(STATUS).startswith("0 of 12")
    open_page(chromium, report)
    chromium.press("/")
    chromium.press("task 21:")  # with its colon: the path of a temporary folder may have 21 in it
    assert len(chromium.run(DRAWN)) == 1


def test_a_session_opens_with_its_evidence_its_file_and_the_command_that_shows_all_of_it(chromium, report):
    open_page(chromium, report)
    chromium.press("j", "k", Keys.ENTER)
    wait(chromium, "return document.querySelector('.about .step')")
    marked = "return [...document.querySelectorAll('dialog .step.evidence')].map(step => step.dataset.step)"
    assert chromium.run(marked) == ["3", "5", "20"]
    top = "return document.querySelector('dialog .step.evidence').getBoundingClientRect().top"
    assert 0 < chromium.run(top) < 200
    aside = chromium.run("return document.querySelector('dialog aside').textContent")
    assert "runs.jsonl, line 1" in aside
    assert "misstep view" in aside
    first = chromium.run(TITLE)
    chromium.press("e", "e")
    assert chromium.run("return document.activeElement.dataset.step") == "5"
    chromium.press("j")
    assert chromium.run(TITLE) != first
    chromium.press("k")
    assert chromium.run(TITLE) == first


def test_the_list_is_in_sight_and_enter_opens_the_lit_row(chromium, report):
    open_page(chromium, report)
    assert chromium.run("return document.querySelector('.rows .row').getBoundingClientRect().bottom") < 600
    assert "It does so in" in chromium.run("return document.querySelector('.row.current .reason').textContent")
    chromium.press(Keys.ENTER)
    wait(chromium, "return document.querySelector('.about .step')")
    assert chromium.run(TITLE)


def test_selected_rows_give_the_lines_that_label_them_or_make_a_benchmark(chromium, report):
    open_page(chromium, report)
    chromium.press("j", "x")
    chromium.run("document.querySelectorAll('.select')[0].click()")
    assert chromium.run("return document.querySelector('.doing .small').textContent") == "2 sessions selected: "
    lines = "return document.querySelector('.doing pre').textContent.split('\\n')"
    chromium.run("document.querySelectorAll('.doing .chip')[0].click()")
    label, annotate = chromium.run(lines)
    assert label.startswith(f"misstep judge run infinite_loop@rule {report.parents[1]}")
    assert annotate == "misstep annotate to_label --study labels"
    chromium.run("document.querySelectorAll('.doing .chip')[1].click()")
    assert chromium.run(lines)[-1].endswith("--labels labels --out my_benchmark")
    assert chromium.run("return document.querySelector('dialog[open]')") is None


def test_without_scripts_the_findings_stand_there_as_a_table(chromium, report):
    with chromium.without_scripts():
        chromium.driver.get("about:blank")
        chromium.open(report)
        assert len(chromium.driver.find_elements("css selector", ".plain tbody tr")) == 14
