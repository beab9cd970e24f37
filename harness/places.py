"""Where things are: the project's own files, the cache. Nothing here touches the files themselves.

In a checkout `data/` and `notebooks/` stand beside the packages; in a wheel they are inside `misstep`.
"""

import os
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parent.parent


def data_folder() -> Path:
    """The project's own data files: published figures, the registry of data sets, recordings."""
    return _own("data")


def notebooks_folder() -> Path:
    """The notebooks that `misstep reproduce` runs."""
    return _own("notebooks")


def _own(name: str) -> Path:
    packed = _CHECKOUT / "misstep" / f"_{name}"
    return packed if packed.is_dir() else _CHECKOUT / name


def cache_folder() -> Path:
    """Where fetched data sets, benchmark folders and cached runs go: `MISSTEP_CACHE`, else the user's cache folder."""
    named = os.environ.get("MISSTEP_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "misstep"
