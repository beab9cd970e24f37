"""The run that is in a JSON object of something else, as in an item of a benchmark."""

from pathlib import Path
from typing import Any

import msgspec

from misstep.harness.errors import InputError, UnknownFormat, UnreadableTrajectory
from misstep.harness.protocols import Sample
from misstep.harness.readers import all_readers, reader_for
from misstep.harness.readers.checking import read_value
from misstep.harness.readers.files import HEAD, recognise
from misstep.harness.trajectory import Source, Trajectory

_OWN = "misstep"
_PLACE = "inline"
_INLINE = "Give it as Misstep writes runs, as an object of a known format, or as the path of a file."


def inline_run(value: dict[str, Any], item: str) -> Trajectory:
    """Return the run that is in an item itself, in any known format; one without a name has the item's id."""
    field = f"item {item!r}: trajectory"
    try:
        data = msgspec.json.encode(value)
        sample = Sample(Path(_PLACE), "document", value, data[:HEAD].decode(errors="replace"))
        try:
            reader = recognise(sample, all_readers())
        except UnknownFormat as error:
            said = f"not a run of a known format; read as Misstep's own format: {_not_own(data, error)}"
            raise InputError(said, _INLINE, field=field) from error
        runs = list(read_value(data, reader, Source(reader.FORMAT, _PLACE)))
    except RecursionError as error:
        raise InputError("not a run: the data are nested too deep", _INLINE, field=field) from error
    except UnreadableTrajectory as error:
        raise InputError(f"not a run: {error.found}", _INLINE, field=field) from error
    if len(runs) != 1:
        raise InputError(f"{len(runs)} runs were found where one is expected", "Put the runs into a file.", field=field)
    return msgspec.structs.replace(runs[0], id=item) if runs[0].id == _PLACE else runs[0]


def _not_own(data: bytes, refused: UnknownFormat) -> str:
    """Return what is wrong with a run that somebody wrote by hand: most wanted to write it as Misstep does."""
    try:
        next(reader_for(_OWN).read(data, Source(_OWN, _PLACE)))
    except UnreadableTrajectory as error:
        return error.found
    return refused.reasons[_OWN]
