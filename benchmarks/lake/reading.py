"""`misstep classify` on a packed folder beside the same sessions as JSON Lines, and how much smaller the folder is."""

from pathlib import Path
from statistics import median

from benchmarks.lake.commands import classify, pack, size_of
from benchmarks.made_up_runs import write_runs

MOST_TIMES_JSON = 1.0


def measure_reading(folder: Path, number: int, pairs: int) -> None:
    """Print the ratios of both, with one worker and with two."""
    lines, lake = folder / "runs.jsonl", folder / "lake"
    write_runs(lines, number)
    packing = pack(lines, lake)
    before, after = lines.stat().st_size, size_of(lake)
    print(f"\n{number:,} sessions, {before / 1e6:.0f} MB as JSON Lines, {after / 1e6:.0f} MB packed:", end=" ")
    print(f"{before / after:.1f} times smaller, packed in {packing.seconds:.1f} s by one worker")
    print(f"\n{'classify --out':12}{'JSON Lines, s':>16}{'Parquet, s':>12}{'Parquet / JSON Lines':>40}")
    for workers in (1, 2):
        taken = []
        for pair in range(pairs):
            paths = [(lines, "json"), (lake, "parquet")]
            seconds = {
                name: classify(path, folder / f"{name}-{workers}-{pair}", workers).seconds
                for path, name in (paths if pair % 2 else reversed(paths))
            }
            taken.append((seconds["json"], seconds["parquet"]))
        ratios = sorted(parquet / json for json, parquet in taken)
        middle = median(ratios)
        verdict = "met" if middle <= MOST_TIMES_JSON else "MISSED"
        shown = f"{middle:.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f}; at most {MOST_TIMES_JSON:g}: {verdict})"
        name = f"{workers} worker{'s' * (workers > 1)}"
        print(f"{name:12}{median(one for one, _ in taken):16.2f}{median(two for _, two in taken):12.2f}{shown:>40}")
    same = _without_place(folder / "json-1-0") == _without_place(folder / "parquet-1-0")
    print(f"the same verdicts: {'yes' if same else 'NO'}")


def _without_place(run: Path) -> list[dict[str, object]]:
    import msgspec

    lines = (run / "verdicts.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line) | {"file": "", "line": None} for line in lines]
