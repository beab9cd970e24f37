"""`--data`, of every command that reads public data sets: the folder that holds them, checked before all else."""

from pathlib import Path
from typing import Annotated

import typer


def _checked(data: Path | None) -> Path | None:
    """The option as it was given; a folder that was named here or by `MISSTEP_DATA` has to exist."""
    from harness.datasets.catalogue import named_data_folder

    named_data_folder(data)
    return data


Data = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="A folder of data sets; else MISSTEP_DATA, then the cache.",
        show_default=False,
        callback=_checked,
    ),
]
