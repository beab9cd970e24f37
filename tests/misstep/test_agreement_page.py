"""The page of `misstep agreement`: the finding first, a section for each rater, labels as text."""

from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.misstep.test_agreement import LABELS


@pytest.fixture
def misstep(in_process):
    return partial(in_process, "agreement")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 (the parser's signature)
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_leads_with_the_finding_and_shows_labels_as_text(misstep: Any, tmp_path: Path) -> None:
    path, page = tmp_path / "odd.csv", tmp_path / "odd.html"
    path.write_text('item,ann,ben\n1,<b id=x>bold</b>,a\n2,a,a\n"<img src=x>",<b id=x>bold</b>,<b id=x>bold</b>\n')
    code, _, _ = misstep(path, "--html", page, "--seed", 3)
    assert code == 0
    parser = _Tags()
    parser.feed(page.read_text(encoding="utf-8"))
    text = " ".join(parser.words)
    assert "b" not in parser.tags
    assert "img" not in parser.tags
    assert "<b id=x>bold</b>" in text
    assert "Fleiss' kappa is " in text
    assert "--seed 3" in text
    before = page.read_bytes()
    misstep(path, "--html", page, "--seed", 3)
    assert page.read_bytes() == before


def test_the_page_has_a_section_for_each_rater_that_its_contents_list_links(misstep: Any, tmp_path: Path) -> None:
    labels, page = tmp_path / "labels.csv", tmp_path / "page.html"
    labels.write_text(LABELS, encoding="utf-8")
    misstep(labels, "--boot", 0, "--html", page)
    text = page.read_text(encoding="utf-8")
    contents = text.split('aria-label="On this page">')[1].split("</nav>")[0]
    for number, title in enumerate(("Confusions", "Items in dispute", "ann", "ben", "cat"), start=1):
        assert f'<a href="#section-{number}"><bdi>{title}</bdi></a>' in contents
        assert f'id="section-{number}"' in text
    assert "Labels of cat and of the others on the same items" in text
