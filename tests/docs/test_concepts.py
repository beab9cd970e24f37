"""The figures of the concepts are those that the statistics give today, and the page shows each."""

import pytest

from scripts.concept_figures import FOLDER, figures
from tests.docs.documents import DOCUMENTS


@pytest.mark.parametrize(("name", "svg"), figures().items())
def test_a_figure_is_drawn_from_the_statistic_as_it_is_today(name: str, svg: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == svg
    assert f"](assets/{name})" in DOCUMENTS["docs/concepts.md"]
