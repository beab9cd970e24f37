"""Run notebooks headless, each in a kernel of its own, which loads this module as its extension.

The kernel is the Python that runs Misstep. It talks over sockets in a temporary folder that goes when it ends, and
reads no settings of the user's.
"""

import asyncio
import os
import tempfile
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from misstep_analysis.tables.summary import frame_bundle
from misstep_harness.errors import InputError, MissingPrerequisite

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


CELL_SECONDS = 600
"""Limit of one cell."""

AT_ONCE = 2
"""Number of notebooks that run at once."""

_STEADY = {
    "PYTHONHASHSEED": "0",
    "MPLBACKEND": BACKEND,
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}
"""What makes a kernel give the same bytes each time, and keeps two kernels from sharing out each other's cores."""


def execute(paths: Sequence[Path], environment: dict[str, str]) -> Generator[tuple[Path, dict[str, Any]], None, None]:
    """Run notebooks and give each with its outputs (nbformat 4, as JSON) as it ends.

    An error in a cell stops its notebook alone and is an output of that cell; so is a kernel that dies or takes too
    long. Closing the iterator, as Ctrl-C does, ends all kernels.
    """
    notebooks = [(path, read(path)) for path in paths]
    finished: SimpleQueue[tuple[Path, dict[str, Any]] | None] = SimpleQueue()
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="notebooks", daemon=True)
    thread.start()
    run = asyncio.run_coroutine_threadsafe(_execute_all(notebooks, environment, finished.put), loop)
    run.add_done_callback(lambda _: finished.put(None))
    try:
        while (result := finished.get()) is not None:
            yield result
        run.result()
    finally:
        asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def read(path: Path) -> Any:
    """Return a notebook (nbformat 4) without outputs."""
    try:
        import nbformat
    except ImportError as error:
        raise _not_installed() from error
    try:
        notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    except (ValueError, nbformat.ValidationError, OSError) as error:
        raise InputError("not a Jupyter notebook", "Open the file in Jupyter to see the error.", file=path) from error
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
    return notebook


async def _execute_all(
    notebooks: Sequence[tuple[Path, Any]],
    environment: dict[str, str],
    finished: Callable[[tuple[Path, dict[str, Any]]], None],
) -> None:
    free = asyncio.Semaphore(AT_ONCE)

    async def one(path: Path, notebook: Any) -> None:
        async with free:
            await _execute(notebook, path.parent, environment)
        finished((path, notebook))

    async with asyncio.TaskGroup() as group:
        for path, notebook in notebooks:
            group.create_task(one(path, notebook))


async def _execute(notebook: Any, folder: Path, environment: dict[str, str]) -> None:
    try:
        from jupyter_client.kernelspec import KernelSpecManager
        from jupyter_client.manager import AsyncKernelManager
        from nbclient import NotebookClient
        from nbclient.exceptions import CellExecutionError, CellTimeoutError
    except ImportError as error:
        raise _not_installed() from error
    with tempfile.TemporaryDirectory(prefix="misstep-") as own:
        manager = AsyncKernelManager(
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]), connection_file=f"{own}/kernel.json", transport="ipc"
        )
        client = NotebookClient(
            notebook,
            timeout=CELL_SECONDS,
            shutdown_kernel="immediate",
            resources={"metadata": {"path": str(folder)}},
            extra_arguments=[f"--IPKernelApp.extensions={__name__}"],
        )
        client.km = manager  # set, not passed: so the client ends the kernel and closes its sockets
        try:
            await client.async_execute(env=os.environ | _STEADY | {"IPYTHONDIR": own} | environment)
        except CellExecutionError:
            return
        except CellTimeoutError:
            _stop(notebook, "TimeoutError", f"a cell ran longer than {CELL_SECONDS} seconds")
        except RuntimeError as error:  # the kernel died, or would not start
            _stop(notebook, type(error).__name__, str(error))
        finally:
            if manager.has_kernel:
                await manager.shutdown_kernel(now=True)


async def _cancel_all() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _stop(notebook: Any, name: str, message: str) -> None:
    """Note what stopped a notebook as an output of the last cell that was begun."""
    from nbformat.v4 import new_code_cell, new_output

    begun = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.execution_count is not None]
    if not begun:
        begun = [new_code_cell()]  # type: ignore[no-untyped-call]
        notebook.cells += begun
    error = new_output("error", ename=name, evalue=message, traceback=[])  # type: ignore[no-untyped-call]
    begun[-1].outputs.append(error)


def _not_installed() -> MissingPrerequisite:
    return MissingPrerequisite(
        "the packages that run notebooks are not installed", "Get them with: pip install 'misstep[notebooks]'"
    )
