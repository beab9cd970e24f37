"""The page of two runs in a browser: differences are gone to by keyboard, lines filtered, steps searched."""

from pathlib import Path

import pytest

from misstep.analysis.pages.foot import Foot
from misstep.analysis.pages.runs.compared import ComparedRun, compared_page
from misstep.harness.trajectory import Source, Step, ToolCall, Trajectory
from tests.browser.test_judge_report import STATUS
from tests.browser.test_pages import COLOURS, LEAST_CONTRAST, contrast
from tests.misstep.made_up_runs import HOSTILE

pytestmark = pytest.mark.browser

HERE = "return document.activeElement.id"


def _compared(name: str, extra: int) -> ComparedRun:
    looks = [Step("agent", HOSTILE, calls=(ToolCall("bash", {"command": f"cat {n} {HOSTILE}"}),)) for n in range(6)]
    looks[extra:extra] = [Step("agent", calls=(ToolCall(f"only_{name}", {"path": "deep/" * 60}),))]
    return ComparedRun(Trajectory(name, Source("made up"), "Look.", tuple(looks)), (), f"misstep view {name}.json")


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    """Two runs of seven steps that do the same but for one step of each, at lines 2 and 5."""
    page = tmp_path_factory.mktemp("compared") / "compared.html"
    page.write_text(compared_page(_compared("a", 2), _compared("b", 4), Foot("misstep view --compare a b")))
    return page


def test_differences_are_gone_to_by_key_filtered_and_searched(chromium, report):
    chromium.open(report)
    chromium.press("d")
    assert chromium.run(HERE) == "line-2"
    chromium.press("d")
    assert chromium.run(HERE) == "line-5"
    chromium.press("D")
    assert chromium.run(HERE) == "line-2"
    chromium.run("document.querySelectorAll('.filters .chip')[1].click()")
    assert chromium.run(STATUS) == "2 of 8 lines"
    chromium.press("/")
    chromium.press("only_b")
    assert chromium.run(STATUS) == "1 of 8 lines"
    assert [address for address in chromium.requests() if not address.startswith(("file:", "data:", "about:"))] == []
    assert (chromium.complaints(), chromium.run("return window.ran ?? null")) == ([], None)


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_of_two_runs_is_not_wider_than_its_window_and_a_phone_stacks_the_sides(chromium, report, width):
    chromium.open(report, width=width)
    assert chromium.run("return document.documentElement.scrollWidth") <= width
    sides = "return ['#a-0', '#b-0'].map(id => document.querySelector(id).getBoundingClientRect().top)"
    above, below = chromium.run(sides)
    assert (above < below) == (width == 390)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_of_two_runs_stands_out_from_what_is_behind_it(chromium, report, scheme):
    chromium.open(report, scheme=scheme)
    chromium.press("d")
    assert [words for ink, paper, words in chromium.run(COLOURS) if contrast(ink, paper) < LEAST_CONTRAST] == []
