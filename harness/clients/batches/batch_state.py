"""What is known of the batches of a run, on file: killed at any moment, a run submits nothing twice.

    {"server": "https://…/v1", "parts": [{"keys": ["5d…"], "file": "file-1", "submitting": true, "batch": "batch-1"}]}

A part is written down, uploaded (`file`), about to be submitted (`submitting`), submitted (`batch`). Where a run was
killed when it was about to submit, the server is asked whether it has the batch. A part without keys is gone.
"""

from pathlib import Path

import msgspec
from msgspec import Struct

from misstep.harness.errors import InputError, UsageError, opening, writing
from misstep.harness.journal.records import encode, replace_file


class BatchPart(Struct):
    """One batch: the keys of its requests and how far it is."""

    keys: list[str]
    file: str = ""
    submitting: bool = False
    batch: str = ""


class BatchState(Struct):
    """All batches of a run on one server."""

    server: str
    parts: list[BatchPart] = []

    def keys(self) -> set[str]:
        """Return the keys that some part has."""
        return {key for part in self.parts for key in part.keys}


def read_state(file: Path, server: str) -> BatchState:
    """Return the state that a file has; an empty one if there is no file."""
    try:
        state = msgspec.json.decode(file.read_bytes(), type=BatchState)
    except FileNotFoundError:
        return BatchState(server)
    except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
        message = f"not a record of batches: {error}"
        raise InputError(message, "Restore the file; it may have been edited.", file=file) from error
    if state.server != server:
        message = f"the batches of {file} are at {state.server}, not at {server}"
        raise UsageError(message, f"Give --base-url {state.server}, or another folder with --out.")
    return state


def write_state(file: Path, state: BatchState) -> None:
    """Put the state on file, all of it or nothing."""
    with opening(file, "Check the folder's permissions.", "cannot write"):
        with writing(file):
            file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, encode(state))
