"""The page of runs of repairs in a browser: attempts are filtered and opened, and what they say stays text."""

from pathlib import Path
from typing import Any

import pytest

from misstep_analysis.repair.recorded_runs import open_repair_runs
from misstep_analysis.repair.report import repairs_html
from tests.browser.test_judge_report import wait
from tests.misstep.made_up_runs import four, repaired_run

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(chromium: Any, tmp_path: Path) -> Any:
    """The browser with a page of two runs."""
    runs = [
        repaired_run(tmp_path / "with", four()),
        repaired_run(tmp_path / "without", four("", setting="react"), setting="react"),
    ]
    file = tmp_path / "page.html"
    file.write_text(repairs_html(open_repair_runs(runs)))
    chromium.open(file)
    wait(chromium, "return document.querySelectorAll('.browser .rows .row').length === 8")
    return chromium


def _choose(browser: Any, label: str, value: str) -> int:
    """Choose in the filter of a label; how many attempts are listed then."""
    browser.choose(label, value)
    return int(browser.run("return document.querySelectorAll('.browser .rows .row').length"))


def test_attempts_are_filtered_by_outcome_setting_and_signal(opened: Any) -> None:
    assert _choose(opened, "Any outcome", "solved") == 2
    assert _choose(opened, "Any setting", "react") == 0
    assert _choose(opened, "Any outcome", "") == 4
    assert _choose(opened, "Any setting", "") == 8
    assert _choose(opened, "Any signal", "oracle: failed") == 6


def test_a_click_opens_the_patch_the_signals_and_the_trajectory_as_text(opened: Any) -> None:
    opened.run("document.querySelectorAll('.browser .rows .row')[2].click()")
    wait(opened, "return document.querySelectorAll('dialog[open] .step').length === 2")
    said = opened.run("return document.querySelector('dialog[open]').textContent")
    for words in ("plum #0", "seeds = 1", "static_analysis", "1 failed in plum", "window.ran = 1"):
        assert words in said
    assert opened.run("return window.ran") is None
    assert opened.run("return document.images.length") == 0
    opened.run("document.querySelector('dialog[open]').dispatchEvent(new KeyboardEvent('keydown', {key: 'j'}))")
    wait(opened, "return document.querySelector('dialog[open] h2').textContent === 'quince #0'")
    assert opened.complaints() == []
