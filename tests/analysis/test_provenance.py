"""Only this project's own source is shown, and a function is found in the line where it is defined."""

import pytest

from misstep.analysis.provenance import line_of, source_of
from misstep.analysis.tables import Table, made_by_this


def test_a_function_is_found_in_its_line():
    line = line_of("misstep.analysis.tables.made_by_this")
    assert source_of("misstep.analysis.tables").splitlines()[line - 1].startswith("def made_by_this(")


@pytest.mark.parametrize(
    "module",
    [
        "os",
        "json.decoder",
        "misstep.analysis.no_such",
        "analysis..tables",
        "../analysis",
        "misstep.analysis.tables/..",
        "",
        "analysis_",
    ],
)
def test_what_is_not_of_this_project_has_no_source(module):
    assert source_of(module) == ""
    assert line_of(f"{module}.dump") is None


def test_a_name_that_is_no_function_at_the_top_of_its_module_has_no_line():
    assert line_of("misstep.analysis.tables.Table") is None
    assert line_of("misstep.analysis.tables.making") is None


def test_a_table_says_which_function_made_it_and_of_several_the_one_that_was_asked():
    @made_by_this
    def inner() -> Table:
        return Table("t", "p", "T", "F", ())

    @made_by_this
    def outer() -> Table:
        return inner()

    assert inner().made_by.endswith(".inner")
    assert outer().made_by.endswith(".outer")
    assert outer().made_by.startswith(__name__)
