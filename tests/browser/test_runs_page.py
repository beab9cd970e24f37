"""The page of a folder of runs in a browser: runs are searched down to their texts, filtered, sorted and opened."""

from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from misstep.view.several import viewed_runs
from misstep_harness.classifiers import categories, classify_all
from misstep_harness.journal.records import encode_lines
from misstep_harness.readers.interchange.atif import to_atif
from misstep_harness.trajectory import Outcome, Source, Step, ToolCall, ToolResult, Trajectory
from tests.browser.test_judge_report import DRAWN, STATUS, open_page, wait
from tests.misstep.made_up_runs import HOSTILE

pytestmark = pytest.mark.browser


def _run(number: int) -> Trajectory:
    """A run of its own length in which a third of the agents loop; only its last step says its secret word."""
    repeated = Step(
        "agent",
        HOSTILE,
        calls=(ToolCall("bash", {"command": "cat gone"}, "c"),),
        results=(ToolResult("", call_id="c"),),
    )
    plain = [Step("agent", f"{HOSTILE} {step}") for step in range(1 + number)]
    steps = (Step("user", f"Mend gate {number}."), *([repeated] * 4 if number % 3 == 0 else ()), *plain)
    steps = (*steps, Step("agent", f"The word is secret{number}."))
    outcome = Outcome("passed" if number % 2 else "failed")
    return Trajectory(f"r-{number}", Source("made up"), steps=steps, outcome=outcome, model="small", agent="coder")


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    """A dozen runs, four of which loop, half of which pass."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "runs.jsonl").write_bytes(encode_lines(to_atif(_run(number)) for number in range(12)))
    page = viewed_runs(folder, categories(), classify_all, "misstep view runs").page
    (folder / "runs.html").write_text(page)
    return folder / "runs.html"


def test_runs_are_searched_down_to_their_texts_and_a_hit_opens_at_its_step(chromium, report):
    open_page(chromium, report)
    chromium.press("/")
    chromium.press("secret7")
    wait(chromium, f"{STATUS} === '1 of 12 runs'")
    chromium.press(Keys.ENTER, Keys.ENTER)
    wait(chromium, "return document.querySelector('.about .step.hit')")
    chromium.press("n")
    assert "The word is secret7." in chromium.run("return document.activeElement.textContent")
    assert [address for address in chromium.requests() if not address.startswith(("file:", "data:", "about:"))] == []
    assert (chromium.complaints(), chromium.run("return window.ran ?? null")) == ([], None)


def test_runs_are_filtered_by_category_and_outcome_and_sorted(chromium, report):
    open_page(chromium, report)
    shown = f"{STATUS}.split(' ')[0]"
    chromium.run("document.querySelector('.chip.infinite-loop').click()")
    assert chromium.run(shown) == "4"
    chromium.run("document.querySelector('.chip.nothing-found').click()")
    assert chromium.run(shown) == "8"
    chromium.choose("Any outcome", "passed")
    assert chromium.run(shown) == "4"
    chromium.run("document.querySelector('[data-name=steps] button').click()")
    assert chromium.run(DRAWN) == [f"Mend gate {number}." for number in (11, 7, 5, 1)]
    assert wait(chromium, "return location.hash.includes('outcome=passed') && location.hash.includes('sort=steps')")


def test_without_scripts_the_runs_stand_there_as_a_table(chromium, report):
    with chromium.without_scripts():
        chromium.driver.get("about:blank")
        chromium.open(report)
        assert len(chromium.driver.find_elements("css selector", ".plain tbody tr")) == 12
        assert chromium.driver.find_element("css selector", "#found-0").is_displayed()
