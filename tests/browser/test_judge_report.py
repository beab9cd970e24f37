"""The report on judges in a real browser: its items are found, filtered and opened, by keyboard, whatever they say."""

import json
from pathlib import Path

import pytest
from msgspec import structs
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from misstep_analysis.gold import read_gold
from misstep_analysis.judging.judged_runs import open_run
from misstep_analysis.judging.page import JudgedBy, Section, judge_page
from misstep_analysis.judging.report import item_browser, report_html
from misstep_analysis.judging.sample import majority
from misstep_analysis.pages import Foot
from tests.browser.conftest import sortable
from tests.browser.test_pages import COLOURS, LEAST_CONTRAST, contrast
from tests.misstep.made_up_runs import (
    HOSTILE,
    agents_run,
    benchmark_of_runs,
    judged_run,
    triage_benchmark,
    triage_run,
    verdict,
)

pytestmark = pytest.mark.browser

MANY = 3_000
LONG = "L" * 10_000
DRAWN = "return [...document.querySelectorAll('.rows .row .item > bdi')].map(one => one.textContent)"
STATUS = "return document.querySelector('[role=status]').textContent"


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    """Two runs on sixty items; every text is hostile, item 7 is wrong, 8 refused, 9 judged differently by the other."""
    folder = tmp_path_factory.mktemp("report")
    gates = benchmark_of_runs(
        folder / "gates", 60, lambda number: agents_run(number, 30, HOSTILE), ("ann", "ben", "cy")
    )
    gold = ["yes" if number % 2 == 0 else "no" for number in range(60)]

    def said(name: str, **changed: dict[str, object]):
        return [
            verdict(
                number,
                **{"judge": name, "label": gold[number], "steps": [3, 20], "rationale": f"{name}: {HOSTILE}"}
                | {"model": HOSTILE, "score": number / 60, "cost_usd": 0.01}
                | changed.get(f"i{number}", {}),
            )
            for number in range(60)
        ]

    strict = said("strict", i7={"label": "yes"}, i8={"label": None, "status": "refused", "error": "it said no"})
    lenient = said("lenient", i7={"label": "yes"}, i9={"label": "yes"})
    runs = [judged_run(folder / "strict", gates, strict), judged_run(folder / "lenient", gates, lenient)]
    (folder / "report.html").write_text(report_html([open_run(run) for run in runs]))
    return folder / "report.html"


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    """One run on three thousand items."""
    folder = tmp_path_factory.mktemp("large")
    gates = benchmark_of_runs(folder / "gates", MANY, lambda number: agents_run(number, 1))
    said = {f"item-{number}": verdict(number, "yes", rationale=f"Gate {number} loops.") for number in range(MANY)}
    browser = item_browser(gates, ("yes", "no"), majority(read_gold(gates)), [JudgedBy("made_up", said)])
    section = Section("Gates", "All loop.", (), {"": [sortable()]}, browser)
    (folder / "report.html").write_text(judge_page("Gates", "All loop.", [section], foot=Foot("misstep report")))
    return folder / "report.html"


def wait(chromium, script: str):
    """What a script gives as soon as it gives something."""
    return WebDriverWait(chromium.driver, 20).until(lambda _: chromium.run(script))


def open_page(chromium, page: Path, **how: object) -> None:
    """Open a page afresh and wait until its items are listed."""
    chromium.driver.get("about:blank")
    chromium.open(page, **how)
    wait(chromium, "return document.querySelectorAll('.rows .row').length")


def test_no_text_of_an_item_becomes_anything_but_text(chromium, report):
    open_page(chromium, report)
    chromium.press("j", Keys.ENTER)
    wait(chromium, "return document.querySelector('.about .step')")
    assert chromium.run("return window.ran ?? null") is None
    assert chromium.run("return document.querySelectorAll('img, iframe, dialog a').length") == 0
    shown = chromium.run("return document.querySelector('dialog .reasons').textContent")
    assert shown == "strict: " + HOSTILE.replace("\u202e", "⟨U+202E⟩")


def test_its_policy_forbids_what_is_not_its_own_script(chromium, report):
    open_page(chromium, report)
    chromium.run(
        "const one = document.createElement('script'); one.textContent = 'window.ran = 3'; document.body.append(one)"
    )
    assert chromium.run("return window.ran ?? null") is None
    assert any("Content Security Policy" in message for message in chromium.complaints())


@pytest.mark.parametrize(
    ("chip", "items"),
    [
        ("wrong", ["item-7"]),
        ("refused", ["item-8"]),
        ("runs-differ", ["item-8", "item-9"]),
        ("raters-differ", ["item-0"]),
    ],
)
def test_the_items_are_filtered_by_the_kind_of_error(chromium, report, chip, items):
    open_page(chromium, report)
    chromium.run(f"document.querySelector('.chip.{chip}').click()")
    assert chromium.run(DRAWN) == items
    assert chromium.run(STATUS).startswith(f"{len(items)} of 60")


def test_the_items_are_filtered_by_gold_label_and_answer_of_either_run(chromium, report):
    open_page(chromium, report)
    choose = """
        const [at, value] = arguments, one = document.querySelectorAll(".controls select")[at];
        one.value = value;
        one.dispatchEvent(new Event("change"));
    """
    chromium.run(choose, 1, "no → yes")
    assert chromium.run(DRAWN) == ["item-7"]
    chromium.run(choose, 0, "1")
    chromium.run(choose, 1, "no → yes")
    assert chromium.run(DRAWN) == ["item-7", "item-9"]


def test_a_search_finds_ids_tasks_and_reasons(chromium, report):
    open_page(chromium, report)
    chromium.press("/")
    chromium.press("gate 41")
    assert chromium.run(DRAWN) == ["item-41"]
    chromium.press(Keys.CONTROL + "a", "said no")
    assert chromium.run(DRAWN) == ["item-8"]


def test_the_list_is_sorted_by_the_column_that_is_pressed(chromium, report):
    open_page(chromium, report)
    chromium.run("document.querySelector('[data-name=score] button').focus()")
    chromium.press(Keys.ENTER)
    assert chromium.run(DRAWN)[:2] == ["item-59", "item-58"]
    chromium.press(Keys.SPACE)
    assert chromium.run(DRAWN)[:2] == ["item-0", "item-1"]


def test_an_item_is_opened_turned_and_closed_by_keyboard_and_the_focus_comes_back(chromium, report):
    open_page(chromium, report)
    chromium.press("j", "j", "k", Keys.ENTER)
    title = "return document.querySelector('dialog[open] h2').textContent"
    assert chromium.run(title) == "item-1"
    chromium.press("j")
    assert chromium.run(title) == "item-2"
    chromium.press(Keys.ESCAPE)
    wait(chromium, "return !document.querySelector('dialog[open]')")
    assert chromium.run("return document.activeElement.getAttribute('role')") == "grid"
    assert chromium.run("return document.querySelector('.rows [aria-selected=true] bdi').textContent") == "item-2"


def test_an_item_is_opened_and_closed_by_mouse(chromium, report):
    open_page(chromium, report)
    chromium.driver.find_elements("css selector", ".rows .row .gold")[4].click()
    assert chromium.run("return document.querySelector('dialog[open] h2').textContent") == "item-4"
    chromium.driver.find_element("css selector", "dialog header button:last-child").click()
    wait(chromium, "return !document.querySelector('dialog[open]')")


def test_an_opened_item_shows_the_evidence_marked_beside_reasons_and_raters(chromium, report):
    open_page(chromium, report)
    chromium.press("j", Keys.ENTER)
    wait(chromium, "return document.querySelector('.about .step')")
    marked = "return [...document.querySelectorAll('dialog .step.evidence')].map(step => step.dataset.step)"
    assert chromium.run(marked) == ["3", "20"]
    assert chromium.run("return document.querySelectorAll('dialog .judge').length") == 2
    people = chromium.run("return document.querySelector('dialog aside').textContent")
    assert "Gold label: no" in people
    assert all(rater in people for rater in ("ann", "ben", "cy"))
    chromium.press("e", "e")
    assert chromium.run("return document.activeElement.dataset.step") == "20"


def test_what_is_filtered_and_opened_stays_in_the_address(chromium, report):
    open_page(chromium, report)
    chromium.run("document.querySelector('.chip.wrong').click()")
    chromium.press("j", Keys.ENTER)
    place = wait(chromium, "return location.hash.includes('item=') && location.hash")
    chromium.driver.get("about:blank")
    chromium.driver.get(report.as_uri() + place)
    assert wait(chromium, "return document.querySelector('dialog[open] h2')?.textContent") == "item-7"
    assert chromium.run(DRAWN) == ["item-7"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_of_the_list_and_of_an_opened_item_stands_out_from_what_is_behind_it(chromium, report, scheme):
    open_page(chromium, report, scheme=scheme)
    listed = chromium.run(COLOURS)
    chromium.press("j", Keys.ENTER)
    wait(chromium, "return document.querySelector('.about .step')")
    faint = [words for ink, paper, words in listed + chromium.run(COLOURS) if contrast(ink, paper) < LEAST_CONTRAST]
    assert faint == []


def test_focus_is_visible_on_everything_that_takes_it(chromium, report):
    open_page(chromium, report)
    chromium.press("j", Keys.ENTER)
    wait(chromium, "return document.querySelector('.about .step')")
    assert chromium.unmarked() == []
    chromium.press(Keys.ESCAPE)
    wait(chromium, "return !document.querySelector('dialog[open]')")
    assert chromium.unmarked() == []


@pytest.mark.parametrize("width", [390, 768, 1200])
def test_neither_the_page_nor_an_opened_item_is_wider_than_its_window(chromium, report, width):
    open_page(chromium, report, width=width)
    assert chromium.run("return document.documentElement.scrollWidth") <= width
    chromium.press("j", Keys.ENTER)
    wait(chromium, "return document.querySelector('.about .step')")
    assert chromium.run("const one = document.querySelector('dialog'); return one.scrollWidth - one.clientWidth") <= 0


def test_without_scripts_the_wrong_answers_stand_there_as_a_table(chromium, report):
    with chromium.without_scripts():
        chromium.driver.get("about:blank")
        chromium.open(report)
        shown = chromium.driver.find_element("css selector", ".plain").text
        assert [item for item in range(60) if f"item-{item} " in shown] == [7, 8, 9]
    open_page(chromium, report)
    assert not chromium.driver.find_element("css selector", ".plain").is_displayed()


def test_of_thousands_of_items_only_those_in_view_are_drawn_and_every_one_is_found(chromium, large):
    open_page(chromium, large)
    assert chromium.run(STATUS) == f"{MANY:,} items"
    assert chromium.run("return document.querySelectorAll('.rows .row').length") < 60
    chromium.run("const list = document.querySelector('.list'); list.scrollTop = list.scrollHeight")
    last = f"return [...document.querySelectorAll('.rows .item')].at(-1).textContent.includes('item-{MANY - 1}')"
    wait(chromium, last)
    chromium.run("document.querySelector('.chip.wrong').click()")
    assert chromium.run(STATUS) == f"{MANY // 2:,} of {MANY:,} items"
    chromium.press("/")
    chromium.press(f"gate {MANY - 1} loops")
    assert chromium.run(DRAWN) == [f"item-{MANY - 1}"]


@pytest.fixture(scope="module")
def bare(tmp_path_factory) -> Path:
    """One run on an item that holds nothing, one without its run, and one with an id of ten thousand letters."""
    folder = tmp_path_factory.mktemp("bare")
    gates = benchmark_of_runs(folder / "gates", 3, agents_run)
    items = [
        {"id": "item-0", "kind": "misbehaviour", "extra": {"site": "north"}},
        {"id": "item-1", "kind": "misbehaviour", "unaskable": "its run was lost", "extra": {"site": "north"}},
        {"id": LONG, "kind": "misbehaviour", "text": "A gate."},
    ]
    (gates / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    (gates / "gold.csv").write_text((gates / "gold.csv").read_text().replace("item-2,", f"{LONG},"))
    said = [verdict(0, steps=[1]), verdict(1), structs.replace(verdict(2), item=LONG)]
    run = judged_run(folder / "run", gates, said)
    (folder / "report.html").write_text(report_html([open_run(run) for run in [run]]))
    return folder / "report.html"


def open_item(chromium, page: Path, place: int) -> None:
    """Open an item of a page by its place in the list."""
    open_page(chromium, page)
    chromium.run(f"document.querySelectorAll('.rows .row')[{place}].click()")
    wait(chromium, "return document.querySelector('dialog[open] .about') && !/Opening/.test(document.body.innerText)")


def test_of_an_item_that_holds_nothing_it_is_said_why_and_no_step_is_offered(chromium, bare):
    open_item(chromium, bare, 0)
    about = "return document.querySelector('dialog .about').textContent"
    assert "The benchmark holds neither a run nor a text of this item." in chromium.run(about)
    assert chromium.run("return document.querySelector('dialog .evidence-steps').textContent") == "Evidence: step 1"
    assert chromium.run("return document.querySelectorAll('dialog .jump').length") == 0
    open_item(chromium, bare, 1)
    assert "Neither a run nor a text can be shown: its run was lost." in chromium.run(about)


def test_an_id_of_ten_thousand_letters_hides_neither_the_buttons_nor_the_item(chromium, bare):
    open_item(chromium, bare, 2)
    ends = """
        const places = [...document.querySelectorAll("dialog header button, dialog .about")];
        return places.map(one => one.getBoundingClientRect()).map(box => [box.top, box.left, box.right]);
    """
    assert all(0 <= top < 300 and 0 <= left < right <= 1200 for top, left, right in chromium.run(ends))


def test_an_address_that_names_what_is_not_there_shows_all_items(chromium, report):
    chromium.driver.get("about:blank")
    chromium.driver.get(report.as_uri() + "#items-0?run=9&show=nothing&pair=nowhere&sort=never&item=none")
    assert wait(chromium, STATUS) == "60 items"
    assert chromium.complaints() == []


def test_a_run_that_was_not_asked_about_an_item_differs_from_no_other_there(chromium, tmp_path):
    gates = benchmark_of_runs(tmp_path / "gates", 3)
    all_of_them = judged_run(tmp_path / "all", gates, [verdict(number, "yes") for number in range(3)])
    part = judged_run(tmp_path / "part", gates, [verdict(0, "yes"), verdict(1, "no")])
    (tmp_path / "report.html").write_text(report_html([open_run(run) for run in [all_of_them, part]]))
    open_page(chromium, tmp_path / "report.html")
    chromium.run("document.querySelector('.chip.runs-differ').click()")
    assert chromium.run(DRAWN) == ["item-1"]


def test_the_evidence_of_a_triage_verdict_is_shown_as_text(chromium, tmp_path: Path) -> None:
    cases = triage_benchmark(tmp_path / "cases")
    run = triage_run(tmp_path / "run", cases, ["task/brittle_tests"] * 10)
    (tmp_path / "report.html").write_text(report_html([open_run(run) for run in [run]]))
    chromium.open(tmp_path / "report.html")
    wait(chromium, "return document.querySelector('.rows .row')").click()
    wait(chromium, "return document.querySelector('dialog[open] .evidence li')")
    shown = chromium.run("return document.querySelector('dialog[open] .evidence').textContent")
    assert "log logs/tests.log:3" in shown
    assert HOSTILE.partition(" \u202e")[0] in shown
    assert "task, brittle tests" in chromium.run("return document.querySelector('dialog[open] .verdict').textContent")
    assert "Gold label: agent, timeout" in chromium.run(
        "return document.querySelector('dialog[open] aside').textContent"
    )
    assert chromium.run("return window.ran") is None
