"""A figure of matplotlib is called by its titles and its axes."""

import pytest

from misstep_analysis.reproduction.notebooks import figure_words

pytest.importorskip("matplotlib", reason="pip install 'misstep[notebooks]' brings it")


def test_a_figure_in_words_has_its_titles_and_what_its_axes_are_called():
    from matplotlib.figure import Figure

    figure = Figure()
    left, right = figure.subplots(1, 2)
    figure.suptitle("Growth")
    left.set_title("Plants")
    right.set(title="Stones", xlabel="year", ylabel="height")
    assert figure_words(figure) == "A figure: Growth; Plants; Stones; year by height"
    assert figure_words(Figure()) == "A figure without a title"
