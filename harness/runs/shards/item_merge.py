"""Merge the shards of a run over items: its records in order, as if one process had made them.

Every record of the shards is kept, those of failed attempts too. Merging again changes nothing.
"""

import os
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.clients import Cache
from misstep.harness.errors import InputError, UsageError, writing
from misstep.harness.items import read_items
from misstep.harness.journal.records import (
    ATTEMPT_RECORDS,
    MANIFEST,
    VERDICTS,
    Manifest,
    Records,
    encode,
    read_manifest,
    read_records,
    read_verdicts,
    write_manifest,
    written_in,
)
from misstep.harness.runs.judging.session_benchmark import BENCHMARK
from misstep.harness.runs.run import ANSWERS
from misstep.harness.runs.shards.layout import SHARDS, Shard, ranges, shards_of
from misstep.harness.runs.shards.plan import SETTING, Plan, differences, of_whole
from misstep.harness.triage.agentic.methods import INVESTIGATIONS

Key = TypeVar("Key", bound=Struct)


class _Judged(Struct, frozen=True, gc=False):
    """The subject of a verdict."""

    item: str


class _Attempted(Struct, frozen=True, gc=False):
    """The subject of an attempt, and its number among several."""

    case: str
    sample: int = 0


class FinishedShards(Struct, frozen=True):
    """The finished shards of the run in a folder, each with its own folder, and the manifest of the whole run."""

    folder: Path
    shards: Mapping[Shard, Path]
    manifest: Manifest


def merge_judged(finished: FinishedShards, benchmark: Path) -> None:
    """Write the verdicts of all shards into the run's folder, in the order of its benchmark."""

    def in_order(judged: Mapping[_Judged, Shard]) -> Sequence[_Judged]:
        order = [key for item in read_items(benchmark) if (key := _Judged(item.id)) in judged]
        numbers = [judged[key].number for key in order]
        count = len(finished.shards)
        if len(order) < len(judged) or numbers != [place % count + 1 for place in range(len(order))]:
            advice = "Delete the folder of each shard, and run them all again."
            message = "the shards were not dealt out from the items of this benchmark"
            raise InputError(message, advice, file=finished.folder)
        return order

    _merge(finished, Records(_Judged, VERDICTS, "verdict"), in_order)


def merge_repairs(finished: FinishedShards) -> None:
    """Write the attempts of all shards into the run's folder, by number and case; otherwise as `merge_judged`."""
    records = Records(_Attempted, ATTEMPT_RECORDS.file, ATTEMPT_RECORDS.one)
    _merge(finished, records, lambda attempted: sorted(attempted, key=attrgetter("sample", "case")))


def _merge(
    finished: FinishedShards, records: Records[Key], in_order: Callable[[Mapping[Key, Shard]], Sequence[Key]]
) -> None:
    place, whole = finished.folder, finished.manifest
    earlier = read_manifest(place)
    if earlier is not None and replace(earlier, written=None) == whole:
        return
    if earlier is not None:
        differs = differences(earlier, whole)
        if differs or not earlier.finished:
            message = f"{place} holds another run besides its shards: "
            message += differs or "it is not finished, and has no shards"
            raise UsageError(message, "Merge them in another folder.")
    shard_of: dict[Key, Shard] = {}
    lengths: Counter[Key] = Counter()
    for shard, folder in finished.shards.items():
        for key, line in _keyed_lines(folder, records):
            if (other := shard_of.setdefault(key, shard)) != shard:
                message = f"shard {shard} and shard {other} both have {encode(key).decode()}"
                raise InputError(message, f"Delete {folder} and run that shard again.", file=place)
            lengths[key] += len(line)
    order = in_order(shard_of)
    ends = accumulate(lengths[key] for key in order)
    starts = {key: end - lengths[key] for key, end in zip(order, ends, strict=True)}
    (place / MANIFEST).unlink(missing_ok=True)
    building = place / f".{records.file}.{os.getpid()}-0.part"  # as the half-written files that a later writer removes
    with writing(building):
        with building.open("wb") as stream:
            for folder in finished.shards.values():  # one open file at a time, however many shards there are
                for key, line in _keyed_lines(folder, records):
                    starts[key] += os.pwrite(stream.fileno(), line, starts[key])
        building.replace(place / records.file)
        _keep_beside(finished)
        write_manifest(place, replace(whole, written=written_in(place, records.file)))


def _keyed_lines(folder: Path, records: Records[Key]) -> Iterator[tuple[Key, bytes]]:
    with (folder / records.file).open("rb") as lines:
        yield from zip(read_records(folder, records), lines, strict=True)


def _keep_beside(finished: FinishedShards) -> None:
    """Keep the shards' files beside their records: replies, so that none is asked again, and investigations.

    What killed shards left of building the benchmark is removed.
    """
    for left in finished.folder.glob(f".{BENCHMARK}-*"):
        shutil.rmtree(left)
    for folder in finished.shards.values():
        if (folder / INVESTIGATIONS).is_dir():
            shutil.copytree(folder / INVESTIGATIONS, finished.folder / INVESTIGATIONS, dirs_exist_ok=True)
        if (folder / ANSWERS).is_file():
            with closing(Cache(finished.folder / ANSWERS)) as answers:
                answers.add(folder / ANSWERS)


def finished_shards(folder: Path, plan: Plan) -> FinishedShards:
    """Return the shards of the run over items in a folder, all of them finished and of one run."""
    whole, shards = of_whole(plan.manifest), {shard: folder / shard.folder for shard in shards_of(plan.shards)}
    known = {place.name for place in shards.values()}
    for file in sorted((folder / SHARDS).iterdir()):
        if file.is_dir() and file.name not in known:
            message = f"{file} is not a shard of this run, which has {plan.shards:,}"
            raise UsageError(message, "Take it away, and merge again.")
    begun: dict[Shard, Manifest] = {}
    for shard, place in shards.items():
        again = f"Delete {place}. {_command(whole, shard)}"
        try:
            manifest = read_manifest(place)
        except InputError as error:
            raise InputError(error.found, again, file=error.file) from error
        if manifest is not None:
            begun[shard], number = manifest, manifest.settings.get(SETTING)
            differs = differences(whole, manifest)
            if differs or number != str(shard):
                is_of = differs or f"it is shard {number or 'of none'}"
                raise UsageError(f"shard {shard} of {folder} is of another run: {is_of}", again)
    _refuse_unfinished(shards, begun, whole)
    started = min(manifest.started for manifest in begun.values())
    finished = max(manifest.finished for manifest in begun.values())
    return FinishedShards(folder, shards, replace(whole, started=started, finished=finished))


def _refuse_unfinished(shards: Mapping[Shard, Path], begun: Mapping[Shard, Manifest], whole: Manifest) -> None:
    missing = [shard for shard in shards if shard not in begun]
    unfinished = [shard for shard, manifest in begun.items() if not manifest.finished]
    if not missing and not unfinished:
        return
    clauses = [
        f"{_named(those)} {'is' if len(those) == 1 else 'are'} {state}"
        for those, state in ((missing, "missing"), (unfinished, "not finished"))
        if those
    ]
    clauses += [clause for shard in unfinished[:1] if (clause := _failed(shards[shard]))]
    raise UsageError("; ".join(clauses), _command(whole, min([*missing, *unfinished])))


def _named(shards: Sequence[Shard]) -> str:
    numbers = ranges([shard.number for shard in shards])
    return f"shard{'' if len(shards) == 1 else 's'} {numbers} of {shards[0].count:,}"


def _failed(folder: Path) -> str:
    """Return how many items of an unfinished shard failed, as a clause; empty if none did."""
    if not (folder / VERDICTS).is_file():
        return ""
    last = {verdict.item: verdict.status for verdict in read_verdicts(folder, unfinished=True)}
    failed = sum(status == "failed" for status in last.values())
    return f"{failed:,} of its {len(last):,} verdicts failed, and the same line asks again" if failed else ""


def _command(whole: Manifest, shard: Shard) -> str:
    if not whole.arguments:
        return f"Run shard {shard} again."
    return f"Run: {shlex.join(['misstep', *whole.arguments])} --shard {shard}"
