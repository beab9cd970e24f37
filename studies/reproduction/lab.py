"""A notebook in JupyterLab: the command line that opens it, for this machine alone.

The server keeps its token, without which no page and no other program gets in: a notebook runs whatever is typed. It
looks for no news and no new versions on the network.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from misstep.harness.errors import MissingPrerequisite

_LAB = (
    "--ServerApp.ip=127.0.0.1",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
)


def open_in_lab(notebook: Path) -> NoReturn:
    """Become JupyterLab with a notebook open, so that Ctrl-C and the exit code are its own."""
    if find_spec("jupyterlab") is None:
        raise MissingPrerequisite(
            "JupyterLab is not installed", f"Run `pip install 'misstep[lab]'`; the notebook is {notebook}."
        )
    command = lab_command(notebook, as_root=os.geteuid() == 0)
    os.execv(command[0], command)  # noqa: S606 (JupyterLab, by the Python that runs this)


def lab_command(notebook: Path, *, as_root: bool) -> list[str]:
    """Return the command line: the folder of the notebook, on the loopback address."""
    lab = [sys.executable, "-m", "jupyterlab", *_LAB]
    return [*lab, *(["--allow-root"] if as_root else []), str(notebook.resolve())]
