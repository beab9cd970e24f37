"""`make docs` builds a site whose links hold, that names every command, and that asks no other host for anything."""

import os
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
import yaml

from misstep.command_line import LINES
from tests.conftest import MadeOnce
from tests.docs.documents import DOCUMENTS, ROOT

SETTINGS = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))


@pytest.fixture(scope="module")
def site(made_once: MadeOnce) -> Path:
    """Build the site; a dead link or heading is an error."""

    def build(folder: Path) -> None:
        line = [sys.executable, "-m", "mkdocs", "build", "-q", "--site-dir", str(folder)]
        environment = os.environ | {"PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
        done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    return made_once("site", build)


def test_every_document_has_a_page(site: Path) -> None:
    pages = {"index.html", *(name.removeprefix("docs/").replace(".md", ".html") for name in DOCUMENTS)} - {
        "README.html"
    }
    assert [page for page in pages if not (site / page).exists()] == []


def test_the_list_has_every_page_and_at_most_16_for_users() -> None:
    sections = {name: pages for part in SETTINGS["nav"] for name, pages in part.items()}
    for_users = [page for name, pages in sections.items() if name != "For contributors" for page in pages]
    assert len(for_users) <= 16
    assert {Path(name).name for name in DOCUMENTS} - {"README.md", *chain(*sections.values())} == set()


def test_the_reference_has_every_command(site: Path) -> None:
    reference = (site / "reference.html").read_text("utf-8")
    assert [name for name in LINES if f'id="misstep-{name}"' not in reference] == []


def test_a_page_is_dark_when_the_system_is(site: Path) -> None:
    schemes = re.findall(r'data-md-color-media="([^"]*)"', (site / "index.html").read_text("utf-8"))
    assert schemes[0] == "(prefers-color-scheme)"


def test_a_page_loads_nothing_from_another_host(site: Path) -> None:
    loads = re.compile(r"<(?:script|img|iframe|link)[^>]*(?:src|href)=\"?https?://")
    assert [file.name for file in site.rglob("*.html") if loads.search(file.read_text("utf-8"))] == []


def test_a_link_of_a_page_leads_to_a_file_of_the_site(site: Path) -> None:
    own = re.compile(r'<a [^>]*href="?(?![a-z]+:|//)([^"#\s>]+)')
    linked = {(file, link) for file in site.rglob("*.html") for link in own.findall(file.read_text("utf-8"))}
    dead = [
        (file.name, link)
        for file, link in linked
        if not ((site if link.startswith("/") else file.parent) / link.lstrip("/")).exists()
    ]
    assert dead == []


def test_every_page_has_its_markdown_beside_it_and_a_line_in_the_list_for_agents(site: Path) -> None:
    pages = {file.relative_to(site).with_suffix(".md").as_posix() for file in site.rglob("*.html")} - {"404.md"}
    assert {page for page in pages if not (site / page).is_file()} == set()
    listed = (site / "llms.txt").read_text("utf-8")
    assert sorted(re.findall(r"^- \[[^\]]+\]\(([^)]+)\)", listed, re.MULTILINE)) == sorted(pages)
    assert listed.startswith("# Misstep\n\n> Misstep evaluates")
    assert "- [Evaluate a judge](judges.md): " in listed


def test_a_link_in_the_markdown_of_a_page_leads_to_another(site: Path) -> None:
    text = (site / "plug-ins.md").read_text("utf-8") + (site / "index.md").read_text("utf-8")
    linked = set(re.findall(r"\]\(([\w/.-]+\.md)", re.sub(r"```.*?```", "", text, flags=re.DOTALL)))
    assert linked
    assert [link for link in linked if not (site / link).is_file()] == []
