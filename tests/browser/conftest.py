"""A headless Chromium that tells what pages ask for, and the pages that Misstep makes."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from misstep_analysis import plots
from misstep_analysis.pages import Foot, page, show_figure
from misstep_analysis.pages.origins import origin_pages
from misstep_analysis.pages.trajectory import trajectory_page
from misstep_analysis.published import load_paper, published_row
from misstep_analysis.reproduction.notebook import notebook_page, read_notebook, write_figures
from misstep_analysis.reproduction.provenance import data_set_record
from misstep_analysis.reproduction.reproduce import index_page
from misstep_analysis.tables import Row, Table
from misstep_analysis.tables.files import write_table
from tests.analysis.pages.made_up import HOSTILE, by_set, compared, of_many_sources, trajectory, verdicts
from tests.analysis.pages.made_up_notebooks import code, displayed, failed, notebook, printed, prose, shown
from tests.analysis.reproduction.test_frame_html import FRAME

HOW_TO_GET_IT = "install Chromium and its driver: apt-get install chromium chromium-driver"
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


def _find(*names: str) -> str | None:
    return next((result for name in names if (result := shutil.which(name))), None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all tests; skipped if there is none, a failure in CI."""
    program, driver = _find("chromium", "chromium-browser", "google-chrome"), _find("chromedriver")
    if program is None or driver is None:
        if os.environ.get("CI"):
            pytest.fail(f"CI must run the browser tests: {HOW_TO_GET_IT}")
        pytest.skip(HOW_TO_GET_IT)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for option in OPTIONS:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield Browser(browser)
    browser.quit()


class Browser:
    """A page opened at a width and in a colour scheme, and what it did meanwhile."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path, *, width: int = 1200, scheme: str = "light") -> None:
        """Open a file; what earlier pages did is forgotten."""
        self.open_address(path.as_uri(), width=width, scheme=scheme)

    def open_address(self, address: str, *, width: int = 1200, scheme: str = "light") -> None:
        """The same for a page that is served."""
        self.resize(width)
        self.show_as(scheme=scheme)
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(address)

    def show_as(self, media: str = "", *, scheme: str = "light") -> None:
        """Show the page in a colour scheme, or as on paper (`print`)."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._command("Emulation.setEmulatedMedia", {"media": media, "features": features})

    def resize(self, width: int) -> None:
        """Give the window another width; the page in it stays as it is."""
        self._command(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
        )

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script gives when it runs in the page."""
        return self.driver.execute_script(script, *arguments)

    def press(self, *keys: str) -> None:
        """Press keys where the focus is."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def choose(self, label: str, value: str) -> None:
        """Choose a value in the filter of a label."""
        self.run(
            """
            const select = document.querySelector(`select[aria-label="${arguments[0]}"]`);
            select.value = arguments[1];
            select.dispatchEvent(new Event("change"));
            """,
            label,
            value,
        )

    def unmarked(self) -> list[str]:
        """What takes the focus without showing it."""
        return self.run(
            """
            const takes = document.querySelectorAll("a[href], button, input, select, summary, [tabindex]");
            return [...takes].filter(one => {
              one.focus({ focusVisible: true });
              const style = getComputedStyle(one);
              const shown = style.outlineStyle !== "none" || style.boxShadow !== "none";
              return document.activeElement === one && one.checkVisibility() && !shown;
            }).map(one => one.outerHTML.slice(0, 80));
            """
        )

    def complaints(self) -> list[str]:
        """What the page wrote to the console: errors of scripts, of styles, of loading."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Every address that the page asked for."""
        events = (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]

    def size(self) -> tuple[float, float]:
        """Width and height of all that the page shows, in pixels."""
        content = self._command("Page.getLayoutMetrics", {})["cssContentSize"]
        return content["width"], content["height"]

    @contextmanager
    def without_scripts(self) -> Iterator[None]:
        """Meanwhile, pages run no scripts."""
        self._command("Emulation.setScriptExecutionDisabled", {"value": True})
        yield
        self._command("Emulation.setScriptExecutionDisabled", {"value": False})

    def _command(self, name: str, parameters: dict[str, Any]) -> Any:
        return self.driver.execute_cdp_cmd(name, parameters)


def sortable() -> Table:
    """Four figures whose order as numbers is not their order as text."""
    rows = (Row("a", 0.09), Row("b", 100.5), Row("c", -3), Row("d", 12))
    return Table("sortable", "made_up", "Sortable", "It sorts.", rows)


def of_a_paper() -> Table:
    """A table whose figures lead to the file that they are printed in, and to the code that made it."""
    figures = load_paper("wink").figure[:4]
    rows = tuple(published_row(figure) for figure in figures)
    made_by = "misstep_analysis.observer.paper.prevalence.prevalence_table"
    return Table("printed", "wink", "Printed", "Four figures are printed.", rows, made_by=made_by)


@pytest.fixture(scope="session")
def pages(tmp_path_factory) -> Path:
    """A folder with a page of each kind that a run of notebooks writes."""
    return write_pages(tmp_path_factory.mktemp("pages"))


def write_pages(folder: Path) -> Path:
    """Write a page of each kind, as a run of notebooks would, with labels that are long and hostile."""
    tables = [compared(), by_set(), of_many_sources(), of_a_paper()]
    figures = [
        plots.forest(compared().rows, "Forest", reference=0.2),
        plots.small_multiples(by_set().rows, "Panels"),
        plots.confusion([[50, 3], [4, 120]], ["task", "agent"], "Confusion"),
    ]
    executed = notebook(
        prose("# A made-up notebook\n\nProse with a table.\n\n" + "| long heading " * 12 + "|\n" + "|---" * 12 + "|\n"),
        *(code("show_figure(...)", displayed(show_figure(one, "A caption.")._repr_mimebundle_())) for one in figures),
        *(code("show(...) # " + "long " * 60, shown(table)) for table in tables),
        code("frame", displayed({"text/html": FRAME})),
        code("print(...)", printed("unbroken" * 60)),
        code("fail()", failed(message="/".join(["deep"] * 60))),
    )
    report = read_notebook("made_up", executed)
    foot = Foot("misstep reproduce made_up --seed 0", ("trail", "mast"), seed=0)
    hostile = trajectory(id=HOSTILE, task="word " * 400 + HOSTILE)
    for name, text in {
        "index.html": index_page([report], foot),
        "made_up.html": notebook_page(report, executed, foot),
        "page.html": page("A page", compared().finding, tables, figures, ["How it was made."], foot=foot),
        "trajectory.html": trajectory_page(hostile, verdicts(), foot),
        "sortable.html": page("Sortable", "It sorts.", [sortable()], foot=foot),
    }.items():
        (folder / name).write_text(text)
    write_figures(report, folder)
    for table in tables:
        write_table(table, folder / "tables")
    for address, text in origin_pages(tables, {"trail": data_set_record("trail")}, foot).items():
        (folder / address).parent.mkdir(exist_ok=True)
        (folder / address).write_text(text)
    return folder
