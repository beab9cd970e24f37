"""A zip archive of JSON or JSON Lines, a file an annotator, as annotation tools export them: one list of records."""

import io
import zipfile
import zlib
from pathlib import PurePosixPath

from misstep.analysis.labels.content import MOST_BYTES, decoded
from misstep.analysis.labels.records import LabelRecords, json_records
from misstep.harness.errors import InputError

_WHO = "annotator"
_ENDINGS = (".jsonl", ".json")


def packed_records(content: bytes, file: str) -> LabelRecords | None:
    """The records of all files of an archive, each with its file's name as `annotator`; `None` where it has no JSON."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return None
    values, places, left = [], [], MOST_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in sorted(one for one in archive.namelist() if one.endswith(_ENDINGS)):
                with archive.open(name) as member:
                    unpacked = member.read(left + 1)
                left -= len(unpacked)
                if left < 0:
                    raise InputError(f"it unpacks to over {MOST_BYTES >> 20} MiB", "Pack fewer files.", file=file)
                if unpacked.strip():
                    records = json_records(decoded(unpacked, f"{file}/{name}"), f"{file}/{name}")
                    values += [{_WHO: PurePosixPath(name).stem} | value for value in records.values]
                    places += records.places
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise InputError(f"not a zip archive that can be read: {error}", "Export it again.", file=file) from error
    return LabelRecords(file, values, places, "record") if values else None
