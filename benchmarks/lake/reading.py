"""`misstep classify` on a packed folder beside the same sessions as JSON Lines, and how much smaller the folder is."""

from pathlib import Path
from statistics import median

from benchmarks.lake.commands import classify, pack, size_of
from benchmarks.made_up_runs import write_runs
from benchmarks.measuring import Taken

MOST_TIMES_JSON = 1.0


def measure_reading(folder: Path, number: int, pairs: int) -> None:
    """Print the ratios of both, with one worker and with two."""
    lines, lake = folder / "runs.jsonl", folder / "lake"
    write_runs(lines, number)
    packing = pack(lines, lake)
    before, after = lines.stat().st_size, size_of(lake)
    print(f"\n{number:,} sessions, {before / 1e6:.0f} MB as JSON Lines, {after / 1e6:.0f} MB packed:", end=" ")
    print(f"{before / after:.1f} times smaller, packed in {packing.seconds:.1f} s by one worker")
    head = f"{'classify --out':12}{'JSON Lines':>16}{'Parquet':>12}{'Parquet / JSON Lines':>24}"
    print(f"\n{head}{'lowest':>9}{'highest':>9}  at most {MOST_TIMES_JSON:g}")
    for workers in (1, 2):
        taken = [_pair(lines, lake, folder, workers, backwards=bool(pair % 2), pair=pair) for pair in range(pairs)]
        name = f"{workers} worker{'s' * (workers > 1)}"
        _report(f"{name}, s", [(one.seconds, two.seconds) for one, two in taken])
        _report(f"{name}, processor s", [(one.processor_seconds, two.processor_seconds) for one, two in taken])
    same = _without_place(folder / "runs-1-0") == _without_place(folder / "lake-1-0")
    print(f"the same verdicts: {'yes' if same else 'NO'}")


def _pair(lines: Path, lake: Path, folder: Path, workers: int, *, backwards: bool, pair: int) -> tuple[Taken, Taken]:
    """JSON Lines and Parquet, one measured after the other."""
    first, second = (lake, lines) if backwards else (lines, lake)
    one, two = (classify(path, folder / f"{path.stem}-{workers}-{pair}", workers) for path in (first, second))
    return (two, one) if backwards else (one, two)


def _report(name: str, taken: list[tuple[float, float]]) -> None:
    ratios = sorted(parquet / json for json, parquet in taken)
    middle = median(ratios)
    met = "met" if middle <= MOST_TIMES_JSON else "MISSED"
    seconds = f"{median(json for json, _ in taken):8.2f}{median(parquet for _, parquet in taken):12.2f}"
    print(f"{name:20}{seconds}{middle:24.3f}{ratios[0]:9.3f}{ratios[-1]:9.3f}  {met}")


def _without_place(run: Path) -> list[dict[str, object]]:
    import msgspec

    lines = (run / "verdicts.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line) | {"file": "", "line": None} for line in lines]
