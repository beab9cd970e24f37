"""How well the audit finds errors that were planted in made-up tables: recorded figures of a benchmark, as tables.

`python -m benchmarks audit` writes them to `data/recordings/audit_detection.toml`; nothing is drawn here.
"""

from collections.abc import Iterator

from msgspec import Struct, structs

from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.tables import Row, Table, estimate_row, made_by_this
from misstep.harness.forms import toml_form
from misstep.harness.places import data_folder

MADE_BY = "python -m benchmarks audit"


class SoundTables(Struct, frozen=True, forbid_unknown_fields=True):
    """Sound tables, the checks on them, and how many of the tables raised an alarm."""

    tables: int
    checks: int
    with_alarm: int


class PlantedErrors(Struct, frozen=True, forbid_unknown_fields=True):
    """Tables with one error of a kind each.

    `undetectable` of them print exactly as a sound table would; `alarms` counts those of them that raised one, `found`
    the others. `named` of the `repairable` found errors got the planted repair as a suggestion.
    """

    kind: str
    tables: int
    undetectable: int
    alarms: int
    found: int
    repairable: int
    named: int


class WrongDigits(Struct, frozen=True, forbid_unknown_fields=True):
    """Shares of n cases, printed without their count, with one wrong digit: how many of them are found."""

    n: int
    digits: int
    shares: int
    found: int


class Detection(Struct, frozen=True, forbid_unknown_fields=True):
    """One run of the benchmark: its seed, its day, the numbers of cases it drew from, and its counts."""

    seed: int
    date: str
    smallest: int
    largest: int
    sound: SoundTables
    planted: tuple[PlantedErrors, ...]
    wrong_digits: tuple[WrongDigits, ...]


def recorded_detection() -> Detection:
    """Return the run recorded in `data/recordings`."""
    file = data_folder() / "recordings" / "audit_detection.toml"
    return toml_form(file.read_bytes(), Detection, file, f"`{MADE_BY}` writes it.")


@made_by_this
def detection_table() -> Table:
    """Return false alarms on sound tables, and for each kind of error the share found of the detectable ones."""
    run = recorded_detection()
    sound = wilson(run.sound.with_alarm, run.sound.tables)
    shares = {one.kind: wilson(one.found, one.tables - one.undetectable) for one in run.planted}
    rate = {kind: share for kind, share in shares.items() if share.n}
    weakest, strongest = (end(rate, key=lambda kind: rate[kind].value or 0) for end in (min, max))
    source = f"{_source(run)}, n from {run.smallest:,} to {run.largest:,}"
    of_sound = f"{_source(run)}, {run.sound.checks:,} checks"
    rows = [estimate_row("Sound tables with an alarm", sound, "share", "False alarms", of_sound, "generated")]
    for one in run.planted:
        rows += _kind_rows(one, shares[one.kind], source)
    alarms = sum(one.alarms for one in run.planted)
    return Table(
        "detection",
        "audit",
        "Errors planted in made-up tables",
        f"{run.sound.with_alarm} of {run.sound.tables:,} sound tables raise an alarm (at most {sound.high or 0:.2%} "
        f"with 95% confidence); of planted errors that can be told, {_percent(rate[weakest])} at the worst ({weakest}) "
        f"and {_percent(rate[strongest])} at the best are found.",
        tuple(rows),
        (
            f"Recorded figures: `{MADE_BY}` made the tables and counted, on {run.date}.",
            "An error is undetectable where some sound table prints exactly like the broken one; known by "
            "construction.",
            "Whether a kappa could be told without its matrix is not known by construction: all of them count.",
            f"Of the undetectable errors, {alarms} raised an alarm all the same.",
            "A repair counts as named where a suggestion holds what was planted: the right number, or the word for it.",
        ),
    )


@made_by_this
def detection_curve() -> Table:
    """Return how often one wrong digit of a share without its count is found, by the cases and the digits printed."""
    run = recorded_detection()
    shares = {(one.n, one.digits): wilson(one.found, one.shares) for one in run.wrong_digits}
    return Table(
        "detection_curve",
        "audit",
        "Wrong digits found in shares without counts",
        f"Out of 100 cases one wrong digit is found in {_percent(shares[100, 0])} of shares printed without digits "
        f"behind the point, and in {_percent(shares[100, 1])} of those with one.",
        tuple(
            estimate_row(_size(n), share, "share", f"{digits} digits behind the point", _source(run), "generated")
            for (n, digits), share in shares.items()
        ),
        (
            f"Recorded figures: `{MADE_BY}` made the shares and counted, on {run.date}.",
            "If there are as many cases as shares to print, every share can come, and no typo can be told.",
        ),
    )


def curve_places() -> dict[str, float]:
    """Return the places of the rows of `detection_curve` on the axis: the number of cases."""
    return {_size(one.n): float(one.n) for one in recorded_detection().wrong_digits}


def _kind_rows(one: PlantedErrors, share: Estimate, source: str) -> Iterator[Row]:
    if share.n:
        row = estimate_row(one.kind, share, "share", "Found, of those that can be told", source, "generated")
        hidden = f"{one.undetectable:,} more look like a sound table" if one.undetectable else ""
        yield structs.replace(row, reason=hidden)
    if one.repairable:
        named = wilson(one.named, one.repairable)
        yield estimate_row(one.kind, named, "share", "Planted repair named, of those found", source, "generated")


def _source(run: Detection) -> str:
    return f"seed {run.seed}"


def _size(n: int) -> str:
    return f"n = {n:,}"


def _percent(estimate: Estimate) -> str:
    return f"{estimate.value or 0:.0%} [{estimate.low or 0:.0%}, {estimate.high or 0:.0%}]"
