"""Every kind of page in one browser: each control is used once, each table sorted, no script fails; it fits a phone.

At most four screens come before its details. It fits paper too, and keys suffice. If `MISSTEP_AXE` names the script of
axe-core, that finds no serious fault.
"""

import ast
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jinja2 import Environment
from selenium.webdriver.support.ui import WebDriverWait

from examples.call_lengths import CallLengthRuns, MeasureCalls
from misstep import carry_out
from misstep_analysis.runs.kind import Choice
from misstep_harness.generate.sessions import generate_sessions
from misstep_harness.journal.opened import open_of
from misstep_harness.journal.records import encode_lines
from misstep_harness.readers.interchange.atif import to_atif
from tests.analysis.annotation.made_up import opened, served, write_cases
from tests.browser.conftest import write_pages
from tests.layout.sources import module_name
from tests.misstep.as_a_user import in_this_process
from tests.misstep.made_up_runs import (
    benchmark_of_runs,
    four,
    judged_run,
    repaired_run,
    triage_benchmark,
    triage_run,
    verdict,
)

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
AXE = os.environ.get("MISSTEP_AXE", "")
DOORS = {"render", "page", "browser_page"}
"""Who imports one of these makes pages, or parts of them."""
MOST_SCREENS = 4
OF_DETAILS = ("trail.html", "wink.html", "prevalence.html", "one.html", "flips.html")
"""Pages that begin with details: of data, code, sessions, sheets."""
NOTEBOOK = "made_up.html"
"""It holds one cell of every kind, more than a page of a paper has."""
LABELS = "item,ann,ben\n" + "".join(f"{n},{'yes' if n % 3 else 'no'},{'yes' if n % 2 else 'no'}\n" for n in range(12))
ATTEMPTS = "system,task,passed\n" + "".join(
    f"{system},{task},{'yes' if task < 3 + (system == 'large') else 'no'}\n"
    for system in ("large", "small")
    for task in range(8)
)
FIGURES = "id,check,printed,inputs\n" + "".join(f"f{n},percentage,4{n}.0%,n=80\n" for n in range(6))
SESSIONS = "session,arm,calls,failed_calls\n" + "".join(
    f"{n},{'new' if n % 2 else 'old'},20,{n % 5}\n" for n in range(24)
)

FIRST_SCREENS = """
const single = [...document.querySelectorAll("details.section, .browser")].find(one => one.checkVisibility());
const end = single ? single.getBoundingClientRect().top + scrollY : document.scrollingElement.scrollHeight;
return end / innerHeight;
"""
"""How many screens come before the first list of single items; the whole page if it has no list."""

USE = """
const [finish] = arguments;
const wrong = [];
const turn = () => new Promise(done => setTimeout(done));
const buttons = () => [...document.querySelectorAll("button")]
  .filter(one => one.type === "button" && one.checkVisibility());
const sorted = table => [...table.tBodies].every(body => {
  const place = [...table.tHead.rows[0].cells].findIndex(head => head.ariaSort);
  const head = table.tHead.rows[0].cells[place];
  const left = [...table.tHead.rows[0].cells].slice(0, place).reduce((sum, one) => sum + one.colSpan, 0);
  const sign = head.ariaSort === "descending" ? -1 : 1;
  const found = [...body.rows].filter(row => row.cells.length > left).map(row =>
    [...row.cells].slice(left, left + head.colSpan).map(cell => cell.dataset.order).find(Boolean)).filter(Boolean);
  return found.every((one, number) => !number || sign * (Number(one) - Number(found[number - 1])) >= 0);
});
(async () => {
  for (const table of document.querySelectorAll("table.sortable")) {
    for (const button of table.tHead.querySelectorAll("button")) {
      for (let click = 0; click < 2; click++) {
        button.click();
        if (!sorted(table)) wrong.push(`${button.textContent} does not sort`);
      }
    }
  }
  for (const details of document.querySelectorAll("details")) details.open = true;
  for (const select of document.querySelectorAll("select")) {
    for (const value of [...[...select.options].map(one => one.value).slice(0, 8), select.options[0]?.value ?? ""]) {
      select.value = value;
      select.dispatchEvent(new Event("change"));
    }
  }
  for (const search of document.querySelectorAll("input[type=search]")) {
    for (const value of ["e", "nowhere to be seen", ""]) {
      search.value = value;
      search.dispatchEvent(new Event("input"));
    }
  }
  for (const button of buttons().slice(0, 200)) if (button.isConnected && !button.closest(".sortable")) button.click();
  await turn();
  for (const row of [...document.querySelectorAll(".rows .row")].slice(0, 3)) row.click();
  for (const key of "jkednxo/") (document.querySelector("dialog[open]") ?? document.activeElement).dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true }));
  await turn();
  if (document.querySelector("main").innerText.includes("cannot show")) wrong.push("the list is not shown");
  const lists = document.querySelectorAll(".browser").length;
  if (lists !== document.querySelectorAll(".browser .list").length) wrong.push("a list is missing");
  finish(wrong);
})().catch(error => finish([...wrong, String(error)]));
"""

ON_A_PHONE = """
const wrong = [];
const scrolls = one => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1;
if (document.scrollingElement.scrollWidth > innerWidth) wrong.push("the page is wider than a phone");
for (const box of document.querySelectorAll(".scroll")) {
  const words = box.textContent.trim().slice(0, 40);
  if (box.querySelector("table") && scrolls(box)) wrong.push(`wider than a phone: ${words}`);
}
const controls = "a[href], button, input:not([type=hidden]), select, textarea, summary, [role=grid]";
for (const one of document.querySelectorAll(controls)) {
  if (!one.checkVisibility()) continue;
  const name = one.getAttribute("aria-label") || one.labels?.[0]?.textContent || one.textContent;
  if (!name.trim()) wrong.push(`without a name: ${one.outerHTML.slice(0, 80)}`);
  if (one.tabIndex < 0 && !one.disabled) wrong.push(`not reached by Tab: ${one.outerHTML.slice(0, 80)}`);
  const tab = new KeyboardEvent("keydown", { key: "Tab", bubbles: true, cancelable: true });
  if (!one.dispatchEvent(tab)) wrong.push(`keeps Tab: ${one.outerHTML.slice(0, 80)}`);
}
for (const one of document.querySelectorAll("main *")) {
  if (getComputedStyle(one).cursor !== "pointer" || one.closest(`${controls}, label`)) continue;
  wrong.push(`for a mouse alone: ${one.outerHTML.slice(0, 80)}`);
}
return wrong;
"""

ON_PAPER = """
const wrong = [];
for (const part of document.querySelectorAll("details > :not(summary)"))
  if (!part.checkVisibility() && part.parentElement.checkVisibility() && part.textContent.trim())
    wrong.push(`folded on paper: ${part.textContent.trim().slice(0, 40)}`);
for (const one of document.querySelectorAll("main *")) {
  if (one.closest("svg, .unseen") || !one.checkVisibility() || getComputedStyle(one).overflowX === "visible") continue;
  if (one.scrollWidth > one.clientWidth + 1) wrong.push(`cut on paper: ${one.outerHTML.slice(0, 80)}`);
}
return wrong;
"""

FAULTS = """
const [finish] = arguments;
axe.run({ resultTypes: ["violations"] }).then(found => finish(found.violations
  .filter(fault => ["serious", "critical"].includes(fault.impact))
  .map(fault => `${fault.impact}: ${fault.help}: ${fault.nodes[0].html.slice(0, 80)}`)));
"""


@pytest.fixture
def misstep(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., None]:
    """`misstep` in this process, which must do what it is told to."""

    def run(command: str, *arguments: object) -> None:
        code, _, err = in_this_process(command, monkeypatch, capsys)(*arguments)
        assert code == 0, (command, err)

    return run


@pytest.fixture
def makers(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The modules that have a template rendered, as they do it."""
    results: set[str] = set()
    get_template = Environment.get_template

    def noted(self: Environment, name: str, *more: object, **named: object) -> object:
        frame = sys._getframe(1)
        while frame is not None:
            results.add(str(frame.f_globals.get("__name__")))
            frame = frame.f_back
        return get_template(self, name, *more, **named)

    monkeypatch.setattr(Environment, "get_template", noted)
    return results


def _written(folder: Path, misstep: Callable[..., None]) -> Iterator[str]:
    """Write a page of every kind that is a file, each by its command where a command writes it: their names."""
    write_pages(folder)
    sessions = folder / "sessions"
    sessions.mkdir()
    runs = [case.trajectory for case in generate_sessions(24, 1, wordings="development")]
    (sessions / "all.jsonl").write_bytes(encode_lines(to_atif(run) for run in runs))
    for number, run in enumerate(runs[:2]):
        (folder / f"one-{number}.json").write_bytes(encode_lines([to_atif(run)]))
    for name, text in (("labels", LABELS), ("attempts", ATTEMPTS), ("figures", FIGURES), ("arms", SESSIONS)):
        (folder / f"{name}.csv").write_text(text)
    misstep("classify", sessions, "--out", folder / "classified", "--workers", 1)
    misstep("classify", sessions, "--out", folder / "classified-again", "--workers", 1)
    misstep("report", folder / "classified", "--by", "model")
    misstep("report", folder / "classified", folder / "classified-again")
    misstep("observe", sessions, "--out", folder / "observed", "--workers", 1)
    misstep("view", sessions, "--out", folder / "all.html")
    misstep("view", folder / "one-0.json", "--out", folder / "one.html")
    misstep("agreement", folder / "labels.csv", "--boot", 100, "--html", folder / "agreement.html")
    misstep("pass", folder / "attempts.csv", "--boot", 100, "--html", folder / "passed.html")
    misstep("audit", folder / "figures.csv", "--html", folder / "audit.html")
    misstep("experiment", "report", folder / "arms.csv", "--control", "old", "--html", folder / "arms.html")
    misstep("reflect", "run", "--n", 2, "--out", folder / "loop")
    misstep("report", folder / "loop")
    misstep("reflect", "run", "--n", 2, "--agents", "stubborn", "--out", folder / "stubborn")
    misstep("report", folder / "loop", folder / "stubborn", "--out", folder / "loops.html")
    misstep("report", repaired_run(folder / "repaired", four()))
    gates = benchmark_of_runs(folder / "gates", 12, raters=("ann", "ben"))
    judged = [
        judged_run(
            folder / name, gates, [verdict(n, "yes" if n % by else "no", judge=name, score=n / 12) for n in range(12)]
        )
        for name, by in (("strict", 2), ("lenient", 3))
    ]
    misstep("report", *judged)
    misstep("judge", "drift", *judged, "--html", folder / "drift.html")
    misstep("judge", "probe", "infinite_loop@rule", sessions, "--items", 2, "--out", folder / "probed")
    cases = triage_benchmark(folder / "cases")
    misstep("report", triage_run(folder / "triaged", cases, ["task/ambiguous_spec", "agent/premature_stop"] * 5))
    carry_out(MeasureCalls(sessions), folder / "own")
    own = CallLengthRuns()
    (folder / "own.html").write_text(
        own.page([own.open(open_of(folder / "own", own.command), Choice())], "misstep report own")
    )
    yield from (str(page.relative_to(folder)) for page in sorted(folder.rglob("*.html")))


def _makers() -> set[str]:
    """The modules that make pages, or parts of them: those that import a door to it."""
    results = set()
    for file in (ROOT / "analysis").rglob("*.py"):
        names = {
            name.name
            for node in ast.walk(ast.parse(file.read_text()))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("misstep_analysis.pages")
            for name in node.names
        }
        if names & DOORS and file.name != "__init__.py":
            results.add(module_name(file.relative_to(ROOT).as_posix()))
    return results


def test_every_page_sorts_filters_and_searches_without_a_complaint(chromium, misstep, makers, tmp_path: Path) -> None:
    def used(address: str) -> list[str]:
        chromium.driver.get("about:blank")
        chromium.open_address(address, width=1280)
        WebDriverWait(chromium.driver, 20, poll_frequency=0.02).until(
            lambda _: (
                chromium.run("return document.querySelectorAll('.browser:empty').length === 0") or chromium.complaints()
            )
        )
        screens = chromium.run(FIRST_SCREENS)
        summary = not address.endswith((*OF_DETAILS, NOTEBOOK))
        wrong = [f"{screens:.1f} screens before the details"] if summary and screens > MOST_SCREENS else []
        wrong += chromium.driver.execute_async_script(USE)
        chromium.resize(390)
        wrong += chromium.run(ON_A_PHONE)
        for scheme in ("light", "dark") if AXE else ():
            chromium.show_as(scheme=scheme)
            chromium.run(Path(AXE).read_text("utf-8"))
            wrong += chromium.driver.execute_async_script(FAULTS)
        chromium.resize(718)
        chromium.show_as("print")
        return [*wrong, *chromium.run(ON_PAPER), *chromium.complaints()]

    wrong = {name: used((tmp_path / name).as_uri()) for name in _written(tmp_path, misstep)}
    with opened(write_cases(tmp_path / "to-label", 4), tmp_path / "study") as study, served(study) as pages:
        for rater in study.state.plan.raters:
            wrong[f"case of {rater}"] = used(pages.address(rater))
            for item in study.state.plan.calibration:
                pages.label(rater, item)
            wrong[f"after the calibration of {rater}"] = used(pages.address(rater))
    misstep("annotate", tmp_path / "study", "--html", tmp_path / "study.html", "--boot", 0)
    wrong["study.html"] = used((tmp_path / "study.html").as_uri())
    assert {name: result for name, result in wrong.items() if result} == {}
    assert _makers() - makers == set()
