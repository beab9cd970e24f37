"""Printed figures: a string with its place, checked against the paper's text where that is at hand."""

import os
import re
from pathlib import Path

import pytest

from analysis.published import load_paper, published_papers, read_paper
from harness.errors import InputError, UsageError

FORM = """
slug = "made-up"
title = "A made-up paper"
authors = "Nobody"

[[figure]]
id = "a"
place = "Table 1"
row = "A"
column = "share"
printed = "~1,250%"
unit = "share"
"""


@pytest.mark.parametrize("slug", published_papers())
def test_every_shipped_file_has_the_form(slug: str) -> None:
    assert load_paper(slug).slug == slug
    assert load_paper(slug).figure


def test_a_share_is_printed_in_percent_and_given_as_a_fraction(tmp_path: Path) -> None:
    file = tmp_path / "paper.toml"
    file.write_text(FORM)
    figure = read_paper(file)["a"]
    assert (figure.digits, figure.number) == ("1250", 12.5)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("unit = ", "units = "), "units"),
        (('id = "a"', 'id = "a"\ninputs = { n = "b" }'), "no figure 'b'"),
        (("printed = ", "printed = 12 #"), "printed"),
    ],
)
def test_a_broken_file_is_named_with_what_is_wrong(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    file = tmp_path / "paper.toml"
    file.write_text(FORM.replace(*change))
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        read_paper(file)
    assert str(file) in caught.value.line()


def test_a_figure_named_twice_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "paper.toml"
    file.write_text(FORM + FORM[FORM.index("[[figure]]") :])
    with pytest.raises(InputError, match="named twice"):
        read_paper(file)


def test_an_unknown_paper_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="wink"):
        load_paper("nobody")


@pytest.mark.data
@pytest.mark.parametrize(("slug", "file"), [("wink", "000"), ("autotriage", "003")])
def test_every_printed_figure_stands_in_the_text_of_its_paper(data_folder: Path, slug: str, file: str) -> None:
    texts = list((data_folder.parent / "seeds").glob(f"{file}_*.txt"))
    if not texts and not os.environ.get("CI"):
        pytest.skip("the papers' texts are not at hand")
    text = texts[0].read_text().replace("$", "").replace("\\", "")
    figures = [figure for figure in load_paper(slug).figure if not figure.place.startswith("worked out")]
    assert [figure.id for figure in figures if figure.printed not in text] == []
