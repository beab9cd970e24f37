"""Measure how soon the page of a large run of `classify` opens and filters, and what adding to such a run takes.

    python -m benchmarks sessions_speed

In a headless Chromium, opening goes from the beginning of the navigation to the first drawn row, and a filter until its
rows have their places.
"""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measuring import judged, measure, misstep, seconds
from misstep.harness.classifiers import categories
from misstep.harness.runs.classify import ClassifyPlan
from misstep.harness.trajectory import Trajectory
from misstep.harness.verdict import Verdict
from misstep.studies.classified_paths import classified_findings

SESSIONS, ADDED, PROJECTS, ROUNDS = 10_000, 100, 20, 3
MOST_TO_OPEN, MOST_TO_FILTER, MOST_TIMES_ALONE = 2.0, 0.1, 3.0

_WATCH = """
new MutationObserver((_, observer) => {
  if (!document.querySelector(".rows .row")) return;
  window.listed = performance.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });
"""

_FILTERS = {
    "a category": "document.querySelectorAll('.chip')[1].click()",
    "a project": "const one = document.querySelector('select'); one.selectedIndex = 1;"
    " one.dispatchEvent(new Event('change'))",
    "words": "const one = document.querySelector('.browser input'); one.value = 'fails times';"
    " one.dispatchEvent(new Event('input'))",
    "sorting": "document.querySelector('[data-name=session] button').click()",
}
_TIMED = """
const started = performance.now();
{ %s }
document.querySelector(".rows").getBoundingClientRect();
return performance.now() - started;
"""


def _all_flagged(trajectory: Trajectory, categories: Sequence[str]) -> list[Verdict]:
    steps = tuple(range(min(5, len(trajectory.steps))))
    reason = f"bash fails 5 times by the agent's own error in {trajectory.id}, and is not put right (steps 1, 2, 3)."
    return [Verdict(trajectory.id, one, "yes", "answered", steps=steps, rationale=reason) for one in categories]


def write_sessions(folder: Path, number: int, seed: int) -> None:
    """Write generated sessions, each a file in the folder of its project."""
    source = folder / "made"
    generate = misstep("generate", "trajectories", "--n", number, "--seed", seed, "--out", source)
    subprocess.run(generate, check=True, stdout=subprocess.DEVNULL)
    with (source / "trajectories.jsonl").open("rb") as stream:
        for place, line in enumerate(stream):
            project = folder / f"project-{place % PROJECTS:02}"
            project.mkdir(exist_ok=True)
            (project / f"session-{seed}-{place:05}.json").write_bytes(line)
    shutil.rmtree(source)


@contextmanager
def chromium() -> Iterator[Any]:
    """Return a headless browser."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for option in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(option)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _WATCH})
        yield driver
    finally:
        driver.quit()


def open_and_filter(driver: Any, page: Path) -> None:
    """Print how long a page takes to open and to filter."""
    opened: list[float] = []
    filtered: dict[str, list[float]] = {name: [] for name in _FILTERS}
    for _ in range(ROUNDS):
        for name, script in _FILTERS.items():
            driver.get("about:blank")
            driver.get(page.as_uri())
            while not (listed := driver.execute_script("return window.listed ?? null")):
                time.sleep(0.05)
            opened.append(listed / 1000)
            filtered[name].append(driver.execute_script(_TIMED % script) / 1000)
    status = driver.execute_script("return document.querySelector('[role=status]').textContent")
    print(f"{page.stat().st_size / 1e6:.1f} MB, {status}")
    print(judged("  opens, seconds", min(opened), MOST_TO_OPEN))
    for name, each in filtered.items():
        print(judged(f"  filters by {name}, seconds", min(each), MOST_TO_FILTER))


def add(folder: Path, run: Path) -> None:
    """Print how long files take that are added to a run, and such files alone."""
    added, alone = [], []
    for turn in range(ROUNDS):
        more = folder.parent / f"more-{turn}"
        more.mkdir()
        write_sessions(more, ADDED, seed=turn + 1)
        alone.append(measure(misstep("classify", more, "--out", more / "run")).seconds)
        shutil.rmtree(more / "run")
        shutil.copytree(more, folder / f"more-{turn}")
        added.append(measure(misstep("classify", folder, "--out", run)).seconds)
    print(f"{ADDED} sessions alone: {min(alone):.2f} s; added to the run: {min(added):.2f} s")
    print(judged("  added, times alone", min(added) / min(alone), MOST_TIMES_ALONE))


def main() -> None:
    """Print all of it."""
    with tempfile.TemporaryDirectory() as place, chromium() as driver:
        folder = Path(place) / "sessions"
        folder.mkdir()
        write_sessions(folder, SESSIONS, seed=0)
        usage = measure(misstep("classify", folder, "--out", Path(place) / "run"))
        print(f"{SESSIONS:,} generated sessions classified in {usage.seconds:.1f} s, {usage.largest_mib:.0f} MiB")
        open_and_filter(driver, Path(place) / "run" / "report.html")
        out = Path(place) / "flagged"
        plan = ClassifyPlan(categories(), _all_flagged, workers=1)
        flagging = seconds(lambda: classified_findings([folder], plan, out))
        print(f"the same, every session flagged in every category, in {flagging:.1f} s")
        open_and_filter(driver, out / "report.html")
        add(folder, Path(place) / "run")
