"""Pages in a real browser: they ask nobody, complain of nothing, fit a phone, and can be read and used."""

import re

import pytest
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser

NAMES = (
    "index.html",
    "made_up.html",
    "page.html",
    "trajectory.html",
    "code/misstep_analysis.observer.paper.prevalence.html",
    "records/wink.html",
    "records/trail.html",
)
LEAST_CONTRAST = 4.5
"""The contrast that WCAG 2.2 asks of text (level AA)."""

COLOURS = """
const shown = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const parent = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || parent.closest("script, style, title, desc, .skip")) continue;
  if (!parent.checkVisibility()) continue;
  let behind = parent;
  while (behind && getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
  const style = getComputedStyle(parent);
  shown.push([
    parent.closest("svg") ? style.fill : style.color,
    getComputedStyle(behind ?? document.documentElement).backgroundColor,
    walker.currentNode.data.trim().slice(0, 40),
  ]);
}
return shown;
"""


@pytest.fixture(params=NAMES)
def name(request) -> str:
    return request.param


def luminance(colour: str) -> float:
    """The relative luminance of an opaque colour (WCAG 2.2)."""
    channels = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The contrast of two opaque colours (WCAG 2.2), 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_a_page_asks_only_for_itself_and_complains_of_nothing(chromium, pages, name):
    chromium.open(pages / name)
    assert [address for address in chromium.requests() if not address.startswith(("file:", "data:"))] == []
    assert chromium.complaints() == []


@pytest.mark.parametrize("width", [360, 768, 1200])
def test_no_page_is_wider_than_its_window(chromium, pages, name, width):
    chromium.open(pages / name, width=width)
    assert chromium.run("return document.documentElement.scrollWidth") <= width


def test_a_phone_shows_each_cell_of_a_wide_table_beside_its_column_and_scrolls_only_without_scripts(chromium, pages):
    wide = """
    return [...document.querySelectorAll(".scroll:has(table)")].filter(box => box.scrollWidth > box.clientWidth).length;
    """
    row = """
    const [line] = [...document.querySelectorAll("tr")].filter(row => row.cells[0].textContent.trim() === "beta");
    return [...line.cells].map(cell => [cell.dataset.label ?? "", cell.textContent.trim()]);
    """
    chromium.open(pages / "page.html", width=360)
    assert chromium.run(wide) == 0
    loops, edits, n = ["Loops", "10.0%"], ["Edits", "25.0%"], ["n", "80"]
    within = [["", "5.0–15.0%"], ["", "20.0–30.0%"]]
    assert chromium.run(row) == [["", "beta"], loops, within[0], edits, within[1], n, ["source", "beta at 1a2b"]]
    with chromium.without_scripts():
        chromium.open(pages / "page.html", width=360)
    assert chromium.run(wide) > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out_from_what_is_behind_it(chromium, pages, name, scheme):
    chromium.open(pages / name, scheme=scheme)
    shown = chromium.run(COLOURS)
    assert len(shown) > 10
    assert [words for ink, paper, words in shown if contrast(ink, paper) < LEAST_CONTRAST] == []


def test_dark_is_dark_and_light_is_light(chromium, pages, name):
    paper = "return getComputedStyle(document.body).backgroundColor"
    chromium.open(pages / name, scheme="light")
    light = chromium.run(paper)
    chromium.open(pages / name, scheme="dark")
    assert luminance(chromium.run(paper)) < 0.05 < 0.8 < luminance(light)


def test_every_link_leads_to_a_file_and_to_a_place_in_it(chromium, pages, name):
    chromium.open(pages / name)
    links = chromium.run("return [...document.links].map(link => link.getAttribute('href'))")
    places = {}
    for address in links:
        path, _, place = address.partition("#")
        target = ((pages / name).parent / path).resolve() if path else pages / name
        assert target.is_file(), address
        if place:
            places.setdefault(target, set()).add(place)
    for target, named in places.items():
        chromium.open(target)
        there = "return arguments[0].filter(place => document.getElementById(place) === null)"
        assert chromium.run(there, sorted(named)) == []


def test_a_figure_that_is_followed_shows_the_line_that_names_it(chromium, pages):
    chromium.open(pages / "made_up.html")
    chromium.run("document.querySelector('a.record[href*=wink]').click()")
    inked, seen = chromium.run(
        """
        const line = document.querySelector(":target"), box = line.getBoundingClientRect();
        return [line.textContent, box.top >= 0 && box.bottom <= innerHeight];
        """
    )
    assert inked.startswith("id = ")
    assert seen


def test_focus_is_visible_on_everything_that_takes_it(chromium, pages, name):
    chromium.open(pages / name)
    assert chromium.unmarked() == []


def test_a_table_sorts_by_the_column_that_is_pressed(chromium, pages):
    chromium.open(pages / "sortable.html")
    labels = "return [...document.querySelectorAll('tbody th')].map(one => one.textContent.trim())"
    before = chromium.run(labels)
    chromium.run("document.querySelectorAll('thead button')[0].click()")
    falling = chromium.run(labels)
    chromium.run("document.querySelectorAll('thead button')[0].click()")
    assert before == ["a", "b", "c", "d"]
    assert falling == ["b", "d", "a", "c"]
    assert chromium.run(labels) == falling[::-1]


def test_a_page_shows_as_much_without_scripts(chromium, pages, name):
    chromium.open(pages / name)
    with_scripts = chromium.size()
    with chromium.without_scripts():
        chromium.open(pages / name)
        assert chromium.size() == with_scripts


def test_findings_of_a_session_are_gone_through_and_its_steps_searched_by_keyboard(chromium, pages):
    chromium.open(pages / "trajectory.html")
    here = "return document.activeElement.id"
    evidence = chromium.run("return [...document.querySelectorAll('.step.evidence')].map(step => step.id)")
    visited = []
    for _ in range(len(evidence) + 1):
        chromium.press("e")
        visited.append(chromium.run(here))
    assert visited == [*evidence, evidence[0]]
    chromium.press("/")
    chromium.press("setup.py")
    hits = chromium.run("return [...document.querySelectorAll('.step.hit')].map(step => step.id)")
    chromium.press(Keys.ENTER)
    assert [chromium.run(here)] == hits == ["step-2"]
    said = chromium.run("return document.querySelector('.tools [role=status]').textContent")
    assert said.startswith(f"{len(hits)} of ")
