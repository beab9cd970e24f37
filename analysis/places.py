"""Where the files are that Misstep ships: published figures, the data-set registry, the notebooks."""

from pathlib import Path
from typing import Literal

from harness.errors import MissingPrerequisite

_ABOVE = Path(__file__).resolve().parent.parent


def shipped(what: Literal["data", "notebooks"]) -> Path:
    """The folder of that name: beside the packages in a checkout, inside `misstep` where it is installed.

    Raises
    ------
    MissingPrerequisite
        It is in neither place.
    """
    for folder in (_ABOVE / what, _ABOVE / "misstep" / f"_{what}"):
        if folder.is_dir():
            return folder
    raise MissingPrerequisite(f"this installation has no {what} folder", "Install Misstep again from its source.")
