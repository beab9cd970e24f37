"""Pack sessions of any known format into a folder of Parquet files; a command that was stopped goes on.

What is packed is the session as ATIF, in the order and under the ids of `classify`. The bytes depend on the inputs
alone, not on the number of processes nor on where the work was stopped.
"""

from collections.abc import Iterator, Sequence
from functools import cache, partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.copies import is_address
from misstep.harness.journal.classified import Names
from misstep.harness.journal.inputs import file_state, inputs_of_files
from misstep.harness.journal.records import encode
from misstep.harness.journal.workers import enough_workers, in_order
from misstep.harness.lake.chat_messages import chat_messages
from misstep.harness.lake.columns import CLUSTER, ID, PackedRow, row_of
from misstep.harness.lake.drivers import missing_lake
from misstep.harness.lake.index import read_columns, write_scout_index
from misstep.harness.lake.manifest import MANIFEST, AskedColumns, PackManifest, Tally, standing, write_manifest
from misstep.harness.lake.packing import FOR_SCANNERS, USUAL, Chunk, Parts, Sizes, chunks, hidden
from misstep.harness.lake.store import Store, open_store
from misstep.harness.places import path_text
from misstep.harness.progress import Progress
from misstep.harness.readers import READERS, FoundFile
from misstep.harness.readers.input.decoding import LINE_LIMIT
from misstep.harness.readers.interchange.atif import to_atif
from misstep.harness.readers.interchange.atif_repeats import folded
from misstep.harness.runs.file_batches import Batch, batches, check_named, describe, found_files, read_in, total_bytes
from misstep.harness.runs.inputs import no_trajectory
from misstep.harness.sharing import Places, private_places, without_places
from misstep.harness.trajectory import Skipped, Trajectory, Unreadable
from misstep.harness.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

_TOO_LONG = f"as ATIF it comes to over {LINE_LIMIT >> 20} MiB, more than is read of a row"


class _Batch(Struct, frozen=True):
    """The sessions of one batch of the inputs, and the rest of it."""

    chunks: list[Chunk]
    unreadable: list[Unreadable]
    skipped: int


def pack(
    paths: Sequence[Path], place: str, *, messages: bool = False, workers: int | None = None, sizes: Sizes | None = None
) -> PackManifest:
    """Pack all trajectories of files and folders; what an earlier, stopped command has packed is not packed again."""
    if find_spec("pyarrow") is None:
        raise missing_lake("packing")
    check_named(paths)
    store = open_store(place)
    files = list(found_files(paths, left_out=None if is_address(place) else Path(place)))
    places = private_places(map(path_text, paths))
    states = (file_state(file.path) for file in files)
    inputs = inputs_of_files(replace(state, file=without_places(state.file, places)) for state in states)
    manifest = standing(store, AskedColumns(inputs, messages, __version__))
    if manifest.state == "packing":
        write_manifest(store, manifest)
        sizes = sizes or (FOR_SCANNERS if messages else USUAL)
        manifest = _packed(store, manifest, files, workers or enough_workers(total_bytes(files)), sizes, places)
        if not (manifest.parts or manifest.tally.unreadable):
            store.remove(MANIFEST)
            raise no_trajectory(paths, manifest.tally.skipped)
    return manifest if manifest.state == "finished" else _named(store, manifest)


def _packed(
    store: Store, manifest: PackManifest, files: Sequence[FoundFile], workers: int, sizes: Sizes, places: Places
) -> PackManifest:
    with TemporaryDirectory() as name, Progress("sessions") as progress:
        counting = _Counting(manifest.tally, progress)
        for one in manifest.parts:
            counting.know(store, hidden(one.name))
        parts = Parts(Path(name), sizes, len(manifest.parts), manifest.fit)
        todo = islice(batches(files), manifest.tally.batches, None)
        packed = in_order(
            partial(_pack_batch, messages=manifest.asked.messages, chunk_bytes=sizes.chunk, places=places),
            todo,
            workers,
            describe,
        )
        for part in parts.write(counting.named(packed)):
            file = Path(name) / part.name
            store.put(hidden(part.name), file)
            file.unlink()
            manifest = replace(manifest, parts=(*manifest.parts, part), tally=counting.tally, fit=parts.fit)
            write_manifest(store, manifest)
    return replace(manifest, tally=counting.tally, state="naming")


def _named(store: Store, manifest: PackManifest) -> PackManifest:
    """Give each file its name; only now a reader of the folder sees them."""
    write_manifest(store, manifest)
    there = set(store.names(""))
    for part in manifest.parts:
        if hidden(part.name) in there:
            store.move(hidden(part.name), part.name)
    if manifest.parts:
        write_scout_index(store, [part.name for part in manifest.parts])
    manifest = replace(manifest, state="finished")
    write_manifest(store, manifest)
    return manifest


class _Counting:
    """Gives each session its id and its cluster, and counts."""

    def __init__(self, tally: Tally, progress: Progress) -> None:
        self.tally = tally
        self._progress = progress
        self._names = Names()
        self._clusters: dict[str, str] = {}

    def know(self, store: Store, part: str) -> None:
        """Take up the ids and clusters of a file that was written before."""
        columns = read_columns(store, part, (ID, CLUSTER))
        for name, cluster in zip(columns[ID], columns[CLUSTER], strict=True):
            self._names.give(name)
            self._note(name, cluster)

    def named(self, batches: Iterator[_Batch]) -> Iterator[Chunk]:
        """Return the chunks of all batches; those before `tally` were given earlier."""
        begun = self.tally.chunks
        for batch in batches:
            for number, chunk in enumerate(batch.chunks[begun:], begun + 1):
                rows, renamed = self._named(chunk.rows)
                self.tally = replace(
                    self.tally,
                    chunks=number,
                    sessions=self.tally.sessions + len(rows),
                    text_bytes=self.tally.text_bytes + chunk.text_bytes,
                    renamed=self.tally.renamed + renamed,
                )
                self._progress.advance(len(rows))
                yield replace(chunk, rows=rows)
            begun = 0
            self.tally = replace(
                self.tally,
                batches=self.tally.batches + 1,
                chunks=0,
                unreadable=(*self.tally.unreadable, *batch.unreadable),
                skipped=self.tally.skipped + batch.skipped,
            )

    def _named(self, rows: "pa.RecordBatch") -> tuple["pa.RecordBatch", int]:
        wanted, parents = rows.column(ID).to_pylist(), rows.column(CLUSTER).to_pylist()
        names = [self._names.give(name) for name in wanted]
        clusters = []
        for name, parent in zip(names, parents, strict=True):
            clusters.append(self._clusters.get(parent, parent))
            self._note(name, clusters[-1])
        columns = {ID: names, CLUSTER: clusters}
        for column, values in columns.items():
            place = rows.schema.get_field_index(column)
            rows = rows.set_column(place, rows.schema.field(place), _texts(values))
        return rows, sum(name != one for name, one in zip(names, wanted, strict=True))

    def _note(self, name: str, cluster: str) -> None:
        if cluster != name:
            self._clusters[name] = cluster


def _texts(values: list[str]) -> "pa.Array":
    import pyarrow as pa

    return pa.array(values, pa.large_string())


def _pack_batch(batch: Batch, messages: bool, chunk_bytes: int, places: Places) -> _Batch:
    """Return one batch read; a session that is too long to be read from a row again counts as unreadable."""
    unreadable: list[Unreadable] = []
    skipped = 0

    def rows() -> Iterator[PackedRow]:
        nonlocal skipped
        for reader, placed in read_in(batch):
            session = placed if isinstance(placed, Unreadable | Skipped) else placed.found
            if isinstance(session, Unreadable):
                unreadable.append(replace(session, file=without_places(session.file, places)))
            elif isinstance(session, Trajectory):
                file = without_places(session.source.file, places)
                session = replace(session, source=replace(session.source, file=file))
                document = encode(folded(to_atif(session)))
                if len(document) >= LINE_LIMIT:
                    unreadable.append(Unreadable(session.source.file, session.source.line, _TOO_LONG))
                    continue
                chat = encode(chat_messages(session)) if messages else None
                yield row_of(session, document, reader, _version(reader), chat)
            else:
                skipped += 1

    return _Batch(list(chunks(rows(), chunk_bytes)), unreadable, skipped)


@cache
def _version(reader: str) -> str:
    return READERS.version(reader)
