"""A notebook in JupyterLab: the command line that opens it, for this machine alone.

The server keeps its token, without which no page and no other program gets in: a notebook runs whatever is typed.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from harness.errors import MissingPrerequisite


def open_in_lab(notebook: Path) -> int:
    """Open a notebook in JupyterLab until that is stopped; gives its exit code.

    Raises
    ------
    MissingPrerequisite
        JupyterLab is not installed.
    """
    if find_spec("jupyterlab") is None:
        raise MissingPrerequisite(
            "JupyterLab is not installed", f"Run `pip install 'misstep[lab]'`; the notebook is {notebook}."
        )
    return subprocess.run(lab_command(notebook, as_root=os.geteuid() == 0), check=False).returncode  # noqa: S603


def lab_command(notebook: Path, *, as_root: bool) -> list[str]:
    """The command line: the folder of the notebook, on the loopback address.

    Parameters
    ----------
    notebook
        The notebook.
    as_root
        Whether root starts it, which Jupyter has to be told.
    """
    lab = [sys.executable, "-m", "jupyterlab", "--ServerApp.ip=127.0.0.1"]
    return [*lab, *(["--allow-root"] if as_root else []), str(notebook.resolve())]
