"""`make docs` builds a site whose links hold, that names every command, and that asks no other host for anything."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from misstep.command_groups import LINES
from tests.docs.documents import DOCUMENTS, ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site; a dead link or heading is an error."""
    folder = tmp_path_factory.mktemp("site")
    line = [sys.executable, "-m", "mkdocs", "build", "-q", "--site-dir", str(folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_document_has_a_page(site: Path) -> None:
    pages = {"index.html", *(name.removeprefix("docs/").replace(".md", ".html") for name in DOCUMENTS)} - {
        "README.html"
    }
    assert [page for page in pages if not (site / page).exists()] == []


def test_the_reference_has_every_command(site: Path) -> None:
    reference = (site / "reference.html").read_text("utf-8")
    assert [name for name in LINES if f'id="misstep-{name}"' not in reference] == []


def test_a_page_loads_nothing_from_another_host(site: Path) -> None:
    loads = re.compile(r"<(?:script|img|iframe|link)[^>]*(?:src|href)=\"?https?://")
    assert [file.name for file in site.rglob("*.html") if loads.search(file.read_text("utf-8"))] == []
