"""What merged runs share: their folder, their page, and what is printed of them."""

from collections.abc import Sequence
from pathlib import Path

from misstep.harness.errors import UsageError
from misstep.harness.journal.records import REPORT
from misstep.harness.lake.store import Store
from misstep.studies.kinds.kind import Merged


def folder_of_shards(store: Store) -> Path:
    """Return the folder of a run; at an address such a run is a `UsageError`."""
    if store.folder is None:
        raise UsageError(
            f"{store.place}: such a run needs a file system", "Name the folder that the shards had for --out."
        )
    return store.folder


def merged(text: str, document: str, complaints: Sequence[str] = ()) -> Merged:
    """Return what is printed of a merged run over items."""
    return Merged(text.removesuffix("\n"), document.removesuffix("\n") + "\n", {}, list(complaints), complete=True)


def page_of(store: Store) -> str:
    """Return the page of a run, as people open it."""
    return f"{store.place}/{REPORT}" if store.folder is None else str(store.folder / REPORT)
