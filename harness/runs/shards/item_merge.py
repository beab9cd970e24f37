"""The shards of a run over items merged: its records in the order of the benchmark, as if one process had made them.

Every record of the shards is kept as it is, those of failed attempts too. The manifest is that of the whole run,
begun with its first shard and finished with its last. Merging again changes nothing.
"""

import os
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
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
from misstep.harness.runs.shards.layout import SHARDS, Shard, shards_of, stretches
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
    """The shards of a run, all of them finished, and the manifest of the run that they make."""

    shards: tuple[Shard, ...]
    manifest: Manifest


def merge_judged(out: Path, finished: FinishedShards, benchmark: Path) -> None:
    """Write the verdicts of all shards into a run's folder, in the order of its benchmark."""

    def in_order(judged: Mapping[_Judged, Shard]) -> Sequence[_Judged]:
        order = [key for item in read_items(benchmark) if (key := _Judged(item.id)) in judged]
        numbers = [judged[key].number for key in order]
        count = len(finished.shards)
        if len(order) < len(judged) or numbers != [place % count + 1 for place in range(len(order))]:
            advice = "Delete the folder of each shard, and run them all again."
            raise InputError("the shards were not dealt out from the items of this benchmark", advice, file=out)
        return order

    _merge(out, finished, Records(_Judged, VERDICTS, "verdict"), in_order)


def merge_repairs(out: Path, finished: FinishedShards) -> None:
    """Write the attempts of all shards into a run's folder, by number and case; otherwise as `merge_judged`."""

    def in_order(attempted: Collection[_Attempted]) -> Sequence[_Attempted]:
        return sorted(attempted, key=lambda one: (one.sample, one.case))

    _merge(out, finished, Records(_Attempted, ATTEMPT_RECORDS.file, ATTEMPT_RECORDS.one), in_order)


def _merge(
    out: Path, finished: FinishedShards, records: Records[Key], in_order: Callable[[Mapping[Key, Shard]], Sequence[Key]]
) -> None:
    earlier = read_manifest(out)
    if earlier is not None and replace(earlier, written=None) == finished.manifest:
        return
    if earlier is not None and (differs := differences(earlier, finished.manifest) or _unfinished(earlier)):
        raise UsageError(f"{out} holds another run besides its shards: {differs}", "Merge them in another folder.")
    shard_of: dict[Key, Shard] = {}
    lengths: Counter[Key] = Counter()
    for shard in finished.shards:
        for key, line in _keyed_lines(out / shard.folder, records):
            if (other := shard_of.setdefault(key, shard)) != shard:
                message = f"shard {shard} and shard {other} both have {encode(key).decode()}"
                raise InputError(message, f"Delete {out / shard.folder} and run that shard again.", file=out)
            lengths[key] += len(line)
    order = in_order(shard_of)
    ends = accumulate(lengths[key] for key in order)
    starts = {key: end - lengths[key] for key, end in zip(order, ends, strict=True)}
    (out / MANIFEST).unlink(missing_ok=True)
    building = out / f".{records.file}.{os.getpid()}-0.part"  # as the half-written files that a later writer removes
    with writing(building):
        with building.open("wb") as stream:
            for shard in finished.shards:  # one open file at a time, however many shards there are
                for key, line in _keyed_lines(out / shard.folder, records):
                    starts[key] += os.pwrite(stream.fileno(), line, starts[key])
        building.replace(out / records.file)
        _keep_beside(out, finished.shards)
        write_manifest(out, replace(finished.manifest, written=written_in(out, records.file)))


def _unfinished(manifest: Manifest) -> str:
    return "" if manifest.finished else "it is not finished, and has no shards"


def _keyed_lines(folder: Path, records: Records[Key]) -> Iterator[tuple[Key, bytes]]:
    """Return the lines of a shard's records with the subject of each."""
    with (folder / records.file).open("rb") as lines:
        yield from zip(read_records(folder, records), lines, strict=True)


def _keep_beside(out: Path, shards: Iterable[Shard]) -> None:
    """Keep the shards' files beside their records: replies, so that none is asked again, and investigations.

    What killed shards left of building the benchmark is removed.
    """
    for left in out.glob(f".{BENCHMARK}-*"):
        shutil.rmtree(left)
    for folder in (out / shard.folder for shard in shards):
        if (folder / INVESTIGATIONS).is_dir():
            shutil.copytree(folder / INVESTIGATIONS, out / INVESTIGATIONS, dirs_exist_ok=True)
        if (folder / ANSWERS).is_file():
            answers = Cache(out / ANSWERS)
            try:
                answers.add(folder / ANSWERS)
            finally:
                answers.close()


def finished_shards(out: Path, plan: Plan) -> FinishedShards:
    """Return the shards of a run over items, all of them finished and of one run."""
    whole, shards = of_whole(plan.manifest), tuple(shards_of(plan.shards))
    known = {(out / shard.folder).name for shard in shards}
    for file in sorted((out / SHARDS).iterdir()):
        if file.is_dir() and file.name not in known:
            message = f"{file} is not a shard of this run, which has {plan.shards:,}"
            raise UsageError(message, "Take it away, and merge again.")
    begun = {shard: manifest for shard in shards if (manifest := _begun(out, shard, whole)) is not None}
    _refuse_foreign(out, begun, whole)
    _refuse_unfinished(out, shards, begun, whole)
    started = min(manifest.started for manifest in begun.values())
    finished = max(manifest.finished for manifest in begun.values())
    return FinishedShards(shards, replace(whole, started=started, finished=finished))


def _begun(out: Path, shard: Shard, whole: Manifest) -> Manifest | None:
    try:
        return read_manifest(out / shard.folder)
    except InputError as error:
        advice = f"Delete {out / shard.folder}. {_command(whole, shard)}"
        raise InputError(error.found, advice, file=error.file) from error


def _refuse_foreign(out: Path, manifests: Mapping[Shard, Manifest], whole: Manifest) -> None:
    for shard, manifest in manifests.items():
        number = manifest.settings.get(SETTING)
        differs = differences(whole, manifest) or ("" if number == str(shard) else f"it is shard {number or 'of none'}")
        if differs:
            message = f"shard {shard} of {out} is of another run: {differs}"
            raise UsageError(message, f"Delete {out / shard.folder}. {_command(whole, shard)}")


def _refuse_unfinished(
    out: Path, shards: Sequence[Shard], manifests: Mapping[Shard, Manifest], whole: Manifest
) -> None:
    missing = [shard for shard in shards if shard not in manifests]
    unfinished = [shard for shard, manifest in manifests.items() if not manifest.finished]
    if not missing and not unfinished:
        return
    clauses = [
        f"{_named(those)} {'is' if len(those) == 1 else 'are'} {state}"
        for those, state in ((missing, "missing"), (unfinished, "not finished"))
        if those
    ]
    clauses += [clause for shard in unfinished[:1] if (clause := _failed(out / shard.folder))]
    raise UsageError("; ".join(clauses), _command(whole, min([*missing, *unfinished])))


def _named(shards: Sequence[Shard]) -> str:
    numbers = stretches([shard.number for shard in shards])
    return f"shard{'' if len(shards) == 1 else 's'} {numbers} of {shards[0].count:,}"


def _failed(folder: Path) -> str:
    """Return how many items of an unfinished shard failed, as a clause; empty where none did."""
    if not (folder / VERDICTS).is_file():
        return ""
    last = {verdict.item: verdict.status for verdict in read_verdicts(folder, unfinished=True)}
    failed = sum(status == "failed" for status in last.values())
    return f"{failed:,} of its {len(last):,} verdicts failed, and the same line asks again" if failed else ""


def _command(whole: Manifest, shard: Shard) -> str:
    """Return the command line of a shard."""
    if not whole.arguments:
        return f"Run shard {shard} again."
    return f"Run: {shlex.join(['misstep', *whole.arguments])} --shard {shard}"
