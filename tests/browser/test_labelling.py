"""The page of `misstep label` in a real browser: a key gives a label, and the server takes its own page's forms."""

import asyncio
import threading
from pathlib import Path

import pytest
from selenium.webdriver.support.ui import WebDriverWait

from misstep.analysis.gold import read_gold
from misstep.harness.clients import ClientSettings
from misstep.harness.runs.judging.judge import run_judge
from misstep.harness.runs.judging.recovery_rule import RuleJudge
from misstep.harness.runs.judging.session_benchmark import asked_about
from misstep.studies.annotation.labelling import Labelling, draw, serve
from tests.misstep.made_up import atif_lines

pytestmark = pytest.mark.browser


def test_keys_label_one_item_after_the_other_until_all_have_a_label(chromium, tmp_path: Path) -> None:
    judge, out = RuleJudge("infinite_loop"), tmp_path / "run"
    file = atif_lines(tmp_path / "runs.jsonl", ["s0", "s1"])
    run_judge(judge, asked_about(judge, [file], "", out), out, ClientSettings())
    addresses, ready = [], threading.Event()

    def opened(address: str) -> None:
        addresses.append(address)
        ready.set()

    labelling = Labelling(draw(out, 2, "kim"))
    thread = threading.Thread(target=lambda: asyncio.run(serve(labelling, 0, opened)))
    thread.start()
    assert ready.wait(30)
    chromium.open_address(addresses[0])
    wait = WebDriverWait(chromium.driver, 20, poll_frequency=0.05)
    for labelled, key in ((1, "1"), (2, "2")):
        chromium.press(key)
        wait.until(lambda _, labelled=labelled: labelling.labelled == labelled)
        words = "1 of 2 are labelled" if labelled == 1 else "2 items are labelled"
        wait.until(lambda _, words=words: words in chromium.run("return document.body.textContent"))
    thread.join(30)
    assert not thread.is_alive()
    assert [row.label for row in read_gold(out / "benchmark")] == ["yes", "no"]
    assert chromium.complaints() == []
