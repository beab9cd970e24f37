"""Prose becomes HTML that asks nobody for anything and runs nothing."""

import pytest

from misstep_analysis.reproduction.notebook import first_heading, markdown_html
from tests.analysis.pages.html_rules import check_page


def test_emphasis_lists_code_and_tables_are_kept():
    html = markdown_html("Some *words* and `code`.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert {"em", "code", "li", "table", "th"} <= set(check_page(html).tags)


@pytest.mark.parametrize(
    "source",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[go](javascript:alert(1))",
        "![a picture](https://example.org/a.png)",
        "[there](https://example.org/a)",
        "<https://example.org>",
        "[there](//example.org/a)",
        "[mail](mailto:a@example.org)",
    ],
)
def test_nothing_from_outside_is_run_loaded_or_linked(source):
    page = check_page(markdown_html(source))
    assert page.addresses == []
    assert not {"script", "img"} & set(page.tags)


def test_a_link_to_another_site_keeps_its_address_as_text():
    assert check_page(markdown_html("See [there](https://example.org/a).")).text.strip() == (
        "See there (https://example.org/a)."
    )


def test_a_picture_becomes_its_description():
    assert check_page(markdown_html("![a picture](https://example.org/a.png)")).text.strip() == "a picture"


def test_a_link_to_a_notebook_becomes_one_to_its_page():
    assert check_page(markdown_html("[other](other.ipynb#part)")).addresses == ["other.html#part"]


def test_the_title_is_the_first_line_where_that_is_a_heading():
    assert first_heading("\n# A title\n\nText") == ("A title", "\nText")
    assert first_heading("Text\n# Not a title") == ("", "Text\n# Not a title")
    assert first_heading("## Not a title") == ("", "## Not a title")
