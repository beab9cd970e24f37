"""Made-up notebooks, as they are executed and as they are written."""

from typing import Any

from misstep_analysis.pages import show
from misstep_analysis.tables import Table

TABLE_SOURCE = """\
from misstep_analysis.pages import show
from misstep_analysis.tables import Row, Table

rows = (
    Row("Loops", 0.2, n=50, evidence="published", source="table 1", printed="20%", unit="share"),
    Row("Loops", 0.3, 0.19, 0.44, 50, "recomputed", "table 1", "differs", "15 of 50 are 30%.", "share"),
)
show(Table("loops", "made_up", "Loops", "Loops are in 30.0% (19.0–44.0%), not in 20%.", rows))
"""


def notebook(*cells: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """A notebook (nbformat 4) of these cells."""
    numbered = [cell | {"id": f"cell-{number}"} for number, cell in enumerate(cells)]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": numbered}


def prose(text: str) -> dict[str, Any]:
    """A cell of Markdown."""
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    """A cell of code with what it gave."""
    return {
        "cell_type": "code",
        "metadata": {},
        "execution_count": None,
        "source": source,
        "outputs": list(outputs),
    }


def displayed(data: dict[str, Any]) -> dict[str, Any]:
    """What a cell displays."""
    return {"output_type": "display_data", "data": data, "metadata": {}}


def shown(table: Table) -> dict[str, Any]:
    """A table as a cell displays it."""
    return displayed(show(table)._repr_mimebundle_())


def printed(text: str, stream: str = "stdout") -> dict[str, Any]:
    """What a cell prints."""
    return {"output_type": "stream", "name": stream, "text": text}


def failed(name: str = "ValueError", message: str = "no such thing") -> dict[str, Any]:
    """What a cell that fails gives."""
    return {
        "output_type": "error",
        "ename": name,
        "evalue": message,
        "traceback": [f"\x1b[31m{name}\x1b[0m", f"{name}: {message}"],
    }
