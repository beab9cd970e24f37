"""`python -m benchmarks.audit [--tables N] [--seed S]`: printed, written to RESULTS.md beside this, and recorded.

The notebook of the audit shows `data/recordings/audit_detection.toml`. The rules of the audit were worked out on seeds
1 to 3; the default is another. The whole run takes ten minutes on one core with the default 1,000 tables of each kind.
"""

import argparse
import datetime
import platform
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import tomli_w
from msgspec import to_builtins

from benchmarks.audit.detection import (
    BANDS,
    CURVE_DIGITS,
    CURVE_SIZES,
    PlantedResult,
    Sound,
    detectable,
    on_planted_errors,
    on_sound_tables,
    planted_counts,
    wrong_digits,
)
from benchmarks.audit.generated_draws import LARGEST, SMALLEST
from benchmarks.audit.planted_errors import KINDS
from misstep.analysis.audit.detection import Detection, SoundTables, WrongDigits
from misstep.analysis.stats.proportions import wilson
from misstep.harness.places import data_folder

RESULTS = Path(__file__).with_name("RESULTS.md")
_MOST_ALARMS = 20


def main(arguments: Sequence[str]) -> None:
    """Run everything, write the page and record the counts."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit")
    parser.add_argument("--tables", type=int, default=1_000, help="made-up tables of each kind; sound ones ten times")
    parser.add_argument("--seed", type=int, default=21, help="random seed for the tables")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    sound = on_sound_tables(options.seed, 10 * options.tables)
    _progress("sound tables", started)
    results = {}
    for kind in KINDS:
        results[kind] = on_planted_errors(options.seed, kind, options.tables)
        _progress(kind, started)
    curve = tuple(wrong_digits(options.seed, max(1, options.tables // 5)))
    _progress("wrong digits", started)
    text = page(sound, results, curve, options.tables, options.seed)
    RESULTS.write_text(text, "utf-8")
    recorded = data_folder() / "recordings" / "audit_detection.toml"
    recorded.parent.mkdir(exist_ok=True)
    recorded.write_text(recording(sound, results, curve, options.seed), "utf-8")
    print(text)


def recording(
    sound: Sound, results: Mapping[str, Sequence[PlantedResult]], curve: Sequence[WrongDigits], seed: int
) -> str:
    """Return the counts as TOML, in the form that `analysis.audit.detection` reads."""
    run = Detection(
        seed=seed,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        smallest=SMALLEST,
        largest=LARGEST,
        sound=SoundTables(sound.tables, sound.checks, sound.tables_with_alarm),
        planted=tuple(planted_counts(kind, each) for kind, each in results.items()),
        wrong_digits=tuple(curve),
    )
    return f"# Written by `python -m benchmarks audit`; counts of generated cases.\n\n{tomli_w.dumps(to_builtins(run))}"


def page(
    sound: Sound, results: Mapping[str, Sequence[PlantedResult]], curve: Sequence[WrongDigits], tables: int, seed: int
) -> str:
    """Return the results as Markdown: false alarms first, then every kind of error, then by the number of cases."""
    errors = sum(map(len, results.values()))
    contradicted = sum(one.detected for each in results.values() for one in each if one.undetectable)
    lines = [
        "# The audit on made-up tables",
        "",
        _alarms(sound),
        f"Of {errors:,} planted errors {sum(one.detected for each in results.values() for one in each):,} are found;"
        f" {contradicted:,} of those that look like a sound table raised an alarm all the same.",
        "",
        f"Made by `python -m benchmarks.audit --tables {tables} --seed {seed}` with Python {platform.python_version()}."
        " The rules were worked out on seeds 1 to 3.",
        "",
        "*Undetectable*: a sound table prints exactly the same, known by how the error was made; a question mark where"
        " that is not known. *Found*: of the others, with a 95% Wilson interval. *Named*: a suggestion holds the"
        " planted repair, of those found; a dash where the sentence itself gives the right value and no repair is due.",
        "",
        "| planted error | tables | undetectable | found of the others | found of all | repair named |",
        "|---|--:|--:|--:|--:|--:|",
        *(_kind(kind, each) for kind, each in results.items()),
        "",
        "## Found by the number of cases",
        "",
        "Of those that are not undetectable; how many these are in brackets.",
        "",
        f"| planted error | {' | '.join(f'n = {low:,} to {high:,}' for low, high in BANDS)} |",
        f"|---|{'--:|' * len(BANDS)}",
        *(_by_size(kind, each) for kind, each in results.items() if {one.n for one in each} - set(range(BANDS[0][0]))),
        "",
        "## One wrong digit in a share without its count",
        "",
        f"Share found among {curve[0].shares:,} for each number of cases, by the digits printed behind the point"
        " (undetectable ones included).",
        "",
        f"| n | {' | '.join(str(digits) for digits in CURVE_DIGITS)} |",
        f"|--:|{'--:|' * len(CURVE_DIGITS)}",
        *_curve(curve),
    ]
    for alarm in sound.alarms[:_MOST_ALARMS]:
        lines += ["", f"False alarm ({alarm.table}; {alarm.check}, {alarm.figure}): {alarm.sentence}"]
    return "\n".join(lines) + "\n"


def _alarms(sound: Sound) -> str:
    high = wilson(sound.tables_with_alarm, sound.tables).high or 0.0
    three = f", by the rule of three {3 / sound.tables:.3%}" if not sound.tables_with_alarm else ""
    return (
        f"{sound.tables_with_alarm} of {sound.tables:,} sound tables with {sound.checks:,} checks raise a false alarm"
        f" (95% upper limit {high:.3%} of tables{three})."
    )


def _kind(kind: str, results: Sequence[PlantedResult]) -> str:
    counts = planted_counts(kind, results)
    unknown = any(one.undetectable is None for one in results)
    hidden = "?" if unknown else f"{counts.undetectable:,}"
    of_all = f"{(counts.found + counts.alarms) / counts.tables:.1%}"
    cells = f"{_share(counts.found, counts.tables - counts.undetectable)} | {of_all}"
    return f"| {kind} | {counts.tables:,} | {hidden} | {cells} | {_share(counts.named, counts.repairable)} |"


def _by_size(kind: str, results: Sequence[PlantedResult]) -> str:
    cells = []
    for low, high in BANDS:
        could = [one for one in detectable(results) if low <= one.n <= high]
        hits = sum(one.detected for one in could)
        cells.append(f"{hits / len(could):.1%} ({len(could):,})" if could else "–")
    return f"| {kind} | {' | '.join(cells)} |"


def _curve(curve: Sequence[WrongDigits]) -> Iterator[str]:
    values = {(one.n, one.digits): one.found / one.shares for one in curve}
    for n in CURVE_SIZES:
        cells = [values.get((n, digits)) for digits in CURVE_DIGITS]
        yield f"| {n:,} | {' | '.join('–' if cell is None else f'{cell:.1%}' for cell in cells)} |"


def _share(hits: int, n: int) -> str:
    estimate = wilson(hits, n)
    if estimate.value is None:
        return "–"
    return f"{estimate.value:.1%} [{estimate.low:.1%}, {estimate.high:.1%}]"


def _progress(what: str, started: float) -> None:
    print(f"{what}: after {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
