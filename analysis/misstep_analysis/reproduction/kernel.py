"""The IPython extension of a kernel that runs a notebook for a page: figures of matplotlib, and their words."""

from typing import Any

from misstep_analysis.tables.summary import frame_bundle

BACKEND = "module://matplotlib_inline.backend_inline"
"""The backend that shows a figure at the end of its cell; a kernel takes it from `MPLBACKEND`."""


def load_ipython_extension(shell: Any) -> None:
    """Show figures of matplotlib sharp enough for a page, and call them by their titles instead of their size."""
    shell.config.InlineBackend.figure_formats = {"retina"}
    # The backend takes figures out of the formatters of single types when it is set up; this one it leaves alone.
    bundles = shell.display_formatter.mimebundle_formatter
    bundles.for_type_by_name("matplotlib.figure", "Figure", _bundle)
    for module in ("pandas", "pandas.core.frame"):  # from version 3 on its module is the package
        bundles.for_type_by_name(module, "DataFrame", frame_bundle)


def figure_words(figure: Any) -> str:
    """Return a figure of matplotlib in words: its titles and its axes."""
    titles = [figure.get_suptitle(), *(axes.get_title() for axes in figure.axes)]
    axes = [f"{axes.get_xlabel()} by {axes.get_ylabel()}" for axes in figure.axes if axes.get_xlabel()]
    text = "; ".join(filter(None, dict.fromkeys([*titles, *axes])))
    return f"A figure: {text}" if text else "A figure without a title"


def _bundle(figure: Any) -> dict[str, str]:
    return {"text/plain": figure_words(figure)}
