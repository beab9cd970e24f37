"""A page answers first, stands alone, and says where it comes from."""

from pathlib import Path

import pytest

from misstep.analysis.pages import Foot, Section, page
from misstep.analysis.pages.foot import described
from misstep.analysis.pages.table_html import table_id
from misstep.analysis.plots import bars
from misstep.harness.errors import InputError
from tests.analysis.pages.html_rules import check_page
from tests.analysis.pages.made_up import HOSTILE, by_set, compared


def made(**changes):
    fields = {
        "title": "A title",
        "finding": "One of three shares differs.",
        "tables": [compared(), by_set()],
        "figures": [bars(compared().rows, "Shares")],
        "notes": ["It was counted."],
        "foot": Foot("misstep made-up --seed 3", ("trail",), ("labels.csv, 30 rows",), 3),
    }
    return page(**(fields | changes))


def test_finding_figure_table_and_making_follow_each_other():
    html = made()
    places = [html.index(part) for part in ("<h1>", 'class="lede"', "<svg", "<table", "It was counted.", "<footer")]
    assert places == sorted(places)


def test_sections_stand_below_the_tables_and_a_contents_list_links_all_of_them():
    table, other = compared(), by_set()
    html = made(tables=[table], sections=[Section("<b>First</b>", (other,)), Section("Second", (), folded=True)])
    found = check_page(html)
    assert found.addresses == ["data:,", "#main", f"#{table_id(table)}", "#section-1", "#section-2"]
    assert [html.count(f'<details class="section"{state}>') for state in (" open", "")] == [1, 1]
    assert html.index('<div class="part" id="section-1">') < html.index('<div class="part" id="section-2">')
    assert "&lt;b&gt;First" in html
    assert html.index(f'id="{table_id(table)}"') < html.index('id="section-1"') < html.index(f'id="{table_id(other)}"')


def test_a_page_without_sections_has_no_contents_list():
    assert "<nav" not in made()


def test_a_page_stands_alone():
    assert check_page(made()).addresses == ["data:,", "#main"]


def test_the_finding_is_said_once():
    assert made().count("One of three shares differs.") == 1


def test_the_foot_names_neither_the_server_that_was_asked_nor_the_present_folder():
    command = f"misstep judge run loops --base-url http://10.0.0.5:8000/v1 --out {Path.cwd()}/run"
    shown = described(Foot(command, inputs=(f"2 items of {Path.cwd()}/gates",)))
    assert shown["command"] == "misstep judge run loops --base-url [base-url]/v1 --out run"
    assert shown["inputs"] == ("2 items of gates",)


def test_the_foot_names_data_licence_seed_versions_and_command():
    text = " ".join(check_page(made()).text.split("Where this page comes from")[1].split())
    for part in (
        "trail",
        "MIT",
        "labels.csv, 30 rows",
        "Seed 3",
        "misstep 0.",
        "Python 3.",
        "misstep made-up --seed 3",
    ):
        assert part in text


def test_a_seed_is_named_only_where_something_was_drawn():
    assert "Seed" not in check_page(made(foot=Foot("misstep x"))).text


def test_a_data_set_that_nobody_could_fetch_is_refused():
    with pytest.raises(InputError, match="no data set nowhere"):
        made(foot=Foot("misstep x", ("nowhere",)))


def test_hostile_words_are_text_everywhere():
    html = made(title=HOSTILE, finding=HOSTILE, notes=[HOSTILE], foot=Foot(HOSTILE, inputs=(HOSTILE,)))
    page_ = check_page(html)
    assert page_.tags.count("script") == 1
    assert "\u202e" not in html
