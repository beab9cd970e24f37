"""The annotation page in a real browser: raters label by keys, blind, and lose nothing by a reload or a crash."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from misstep_analysis.annotation.study import read_study
from tests.analysis.annotation.made_up import HOSTILE, Served, opened, served, unlabelled_run, write_cases
from tests.browser.test_pages import COLOURS, LEAST_CONTRAST, contrast

pytestmark = pytest.mark.browser


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    return write_cases(tmp_path / "cases", 4, steps=12, text=HOSTILE)


@pytest.fixture
def pages(cases: Path, tmp_path: Path) -> Iterator[Served]:
    with opened(cases, tmp_path / "study") as study, served(study) as running:
        yield running


def _until(chromium: Any, holds: Callable[[], Any]) -> None:
    WebDriverWait(chromium.driver, 20, poll_frequency=0.05).until(lambda _: holds())


def _saved(chromium: Any, *keys: str) -> None:
    """Press keys that save, and wait for the page after it."""
    here = chromium.driver.current_url
    chromium.press(*keys)
    _until(chromium, lambda: chromium.driver.current_url != here)


def _said(chromium: Any) -> str:
    return str(chromium.run("return document.querySelector('.said').textContent"))


def _answers(pages: Served) -> list[tuple[str, str | None, str]]:
    return [(one.rater, one.label, one.subcategory) for one in pages.pages.study.state.answers]


def test_a_case_is_labelled_by_keys_alone(chromium, pages):
    chromium.open_address(pages.address("ann"))
    chromium.press(Keys.ENTER)
    assert _said(chromium) == "Choose a label."
    chromium.press("1", Keys.ENTER)
    assert _said(chromium) == "Choose a kind."
    chromium.press("2", "w", "j", "j", "x", "m")
    chromium.press("Wrong flag, 1st line.", Keys.ESCAPE, Keys.ENTER)
    assert _said(chromium) == "Say how certain you are."
    _saved(chromium, "9", Keys.ENTER)
    (answer,) = pages.pages.study.state.answers
    assert (answer.label, answer.subcategory, answer.certainty) == ("agent", "tool_call_error", "high")
    assert (answer.note, answer.steps) == ("Wrong flag, 1st line.", (1,))
    assert answer.seconds is not None
    assert "case 2 of 2" in chromium.run("return document.querySelector('.study').textContent")
    assert chromium.complaints() == []


def test_one_rater_labels_the_items_of_a_judges_run_to_the_end(chromium, tmp_path):
    with opened(unlabelled_run(tmp_path, 2), tmp_path / "study", ("kim",), 0) as study, served(study) as pages:
        chromium.open_address(pages.address("kim"))
        assert "Infinite loop: which label is right?" in chromium.run("return document.body.textContent")
        _saved(chromium, "1", "9", Keys.ENTER)
        _saved(chromium, "2", "7", Keys.ENTER)
        assert _answers(pages) == [("kim", "yes", ""), ("kim", "no", "")]
        assert "All cases are labelled" in chromium.run("return document.body.textContent")
        assert chromium.complaints() == []


def test_hostile_text_is_text_and_the_page_asks_only_its_own_server(chromium, pages):
    chromium.open_address(pages.address("ann"))
    assert chromium.run("return document.title").startswith("1 of 2")
    assert chromium.run("return document.querySelectorAll('.case img').length") == 0
    own = f"http://127.0.0.1:{pages.port}/"
    assert {address[: len(own)] for address in chromium.requests() if not address.startswith("data:")} == {own}


def test_what_is_not_saved_yet_outlives_a_reload(chromium, pages):
    chromium.open_address(pages.address("ann"))
    chromium.press("1", "e", "7", "j", "x", "m")
    chromium.press("half a thou")
    chromium.driver.refresh()
    assert "not saved yet" in _said(chromium)
    assert chromium.run("return document.querySelector('textarea').value") == "half a thou"
    _saved(chromium, Keys.ENTER)
    assert _answers(pages) == [("ann", "task", "brittle_tests")]
    assert pages.pages.study.state.answers[0].steps == (0,)


def test_of_two_tabs_the_stale_one_is_told_and_overwrites_nothing(chromium, pages):
    chromium.open_address(pages.address("ann"))
    first = chromium.driver.current_window_handle
    chromium.driver.switch_to.new_window("tab")
    chromium.driver.get(pages.address("ann"))
    _saved(chromium, "3", "q", "9", Keys.ENTER)
    chromium.driver.close()
    chromium.driver.switch_to.window(first)
    chromium.press("2", "q", "8", Keys.ENTER)
    _until(chromium, lambda: "Not saved" in _said(chromium))
    assert "answered elsewhere meanwhile: infrastructure" in _said(chromium)
    assert _answers(pages) == [("ann", "infrastructure", "sandbox_crash")]
    assert [entry for entry in chromium.complaints() if "409" not in entry] == []


def test_two_raters_label_blind_compare_and_reconcile(chromium, pages):
    study = pages.pages.study
    for keys in (("2", "q", "9"), ("1", "e", "8")):
        rater = study.state.plan.raters[0] if keys[0] == "2" else study.state.plan.raters[1]
        chromium.open_address(pages.address(rater))
        for _ in study.state.plan.calibration:
            assert chromium.run("return document.querySelectorAll('.others').length") == 0
            _saved(chromium, *keys, Keys.ENTER)
    assert "differ on 2 of 2" in chromium.run("return document.body.textContent")
    for rater, keys in (("ben", ("1", "e", "8")), ("ann", ("2", "q", "9"))):
        chromium.open_address(pages.address(rater))
        chromium.driver.find_element(By.LINK_TEXT, "Go on").click()
        for _ in study.state.plan.independent:
            assert chromium.run("return document.querySelectorAll('.others').length") == 0
            _saved(chromium, *keys, Keys.ENTER)
    assert study.state.phase == "reconciliation"
    shown = chromium.run("return document.querySelector('.others').innerText")
    assert "task · brittle tests · medium certainty" in shown
    assert "agent · logical failure · high certainty" in shown
    for rater in ("ann", "ben"):
        chromium.open_address(pages.address(rater))
        for _ in study.state.left(rater):
            _saved(chromium, "1", "e", "9", Keys.ENTER)
    assert study.state.finished
    assert "All cases are labelled" in chromium.run("return document.body.textContent")
    assert {one.label for (_, rater), one in study.state.study.blind().items() if rater == "ann"} == {"agent"}


def test_steps_are_searched_and_opened_by_keys(chromium, pages):
    chromium.open_address(pages.address("ann"))
    assert chromium.run("return document.querySelectorAll('.step[open]').length") == 0
    chromium.press("/", "try 5", Keys.ENTER)
    assert chromium.run("return [...document.querySelectorAll('.step[open]')].map(step => step.id)") == ["step-5"]
    chromium.press(Keys.ESCAPE, Keys.ESCAPE)
    chromium.run("document.activeElement.blur()")
    chromium.press("o")
    assert chromium.run("return document.querySelectorAll('.step[open]').length") == 12


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_and_can_be_read(chromium, pages, width, scheme):
    chromium.open_address(pages.address("ann"), width=width, scheme=scheme)
    chromium.press("2", "q", "o")
    assert chromium.run("return document.documentElement.scrollWidth") <= width
    shown = chromium.run(COLOURS)
    assert len(shown) > 50
    assert [words for ink, paper, words in shown if contrast(ink, paper) < LEAST_CONTRAST] == []


SPLIT = """
return [...document.querySelectorAll(".panel .choice b bdi")].filter(one => one.checkVisibility()).flatMap(one =>
  [...one.textContent.matchAll(/\\S+/g)].filter(word => {
    const range = document.createRange();
    range.setStart(one.firstChild, word.index);
    range.setEnd(one.firstChild, word.index + word[0].length);
    return range.getClientRects().length > 1;
  }).map(([word]) => word));
"""


@pytest.mark.parametrize("width", [280, 390, 1280])
def test_what_is_lacking_is_said_in_sight_and_no_label_breaks_within_a_word(chromium, pages, width):
    chromium.open_address(pages.address("ann"), width=width)
    for label in "4321":
        chromium.press(label)
        assert chromium.run(SPLIT) == []
    chromium.press(Keys.ENTER)
    assert _said(chromium) == "Choose a kind."
    seen = "const said = document.querySelector('.said'), { x, y } = said.getBoundingClientRect();"
    assert chromium.run(f"{seen} return document.elementFromPoint(x + 4, y + 4) === said")


@contextmanager
def _running(*line: object) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """`misstep annotate` in a process of its own, and the address of each rater; killed in the end."""
    command = [sys.executable, "-m", "misstep", "annotate", *map(str, line)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"NO_COLOR": "1"}
    ) as process:
        try:
            assert process.stdout is not None
            addresses = {}
            for _ in range(2):
                rater, address = process.stdout.readline().split()
                addresses[rater] = address
            yield process, addresses
        finally:
            process.kill()


def test_an_open_page_goes_on_when_the_server_was_killed_and_started_again(chromium, cases, tmp_path):
    line = (cases, "--study", tmp_path / "study", "--raters", "ann,ben", "--calibration", 2)
    with _running(*line) as (_, addresses):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/", addresses["ann"])
        chromium.open_address(addresses["ann"])
        _saved(chromium, "2", "q", "9", Keys.ENTER)
    chromium.press("1", "e", "7", Keys.ENTER)
    _until(chromium, lambda: "the server does not answer" in _said(chromium))
    with (tmp_path / "study/answers.jsonl").open("ab") as file:
        file.write(b'{"item":"case-')
    with _running(*line) as (_, again):
        assert again == addresses
        _saved(chromium, Keys.ENTER)
    answers = read_study(tmp_path / "study")[0].answers
    assert [one.label for one in answers] == ["agent", "task"]
