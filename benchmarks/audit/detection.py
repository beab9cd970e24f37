"""How well the audit does on made-up tables: alarms on sound ones, planted errors found, and repairs named.

Three questions are kept apart: whether an error was found; whether it could be found at all, known by its
construction; and whether a suggestion names the planted repair.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from msgspec import Struct, structs

from benchmarks.audit.generated_draws import LARGEST, SMALLEST, draw_for, draw_style, sound_table
from benchmarks.audit.generated_shapes import shares_alone_of
from benchmarks.audit.planted_errors import planted_error, wrong_digit
from misstep.analysis.audit.checks import check_all
from misstep.analysis.audit.detection import PlantedErrors, WrongDigits
from misstep.analysis.tables import FAILED

CURVE_SIZES = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
CURVE_DIGITS = (0, 1, 2, 3)
BANDS = ((SMALLEST, 99), (100, 999), (1_000, 9_999), (10_000, 2 * LARGEST))
"""Numbers of cases that are told apart; two arms together may have twice the largest number."""


class Alarm(Struct, frozen=True):
    """A check that contradicts figures that a sound table prints."""

    table: str
    check: str
    figure: str
    sentence: str


class Sound(Struct, frozen=True):
    """The results on sound tables."""

    tables: int
    checks: int
    tables_with_alarm: int
    alarms: tuple[Alarm, ...]


class PlantedResult(Struct, frozen=True):
    """The result of one planted error; `named` is `None` without a repair to name."""

    n: int
    undetectable: bool | None
    detected: bool
    named: bool | None


def on_sound_tables(seed: int, tables: int) -> Sound:
    """Check sound tables, and keep every alarm."""
    checks, with_alarm, alarms = 0, 0, []
    for place in range(tables):
        table = sound_table(seed, place)
        results = check_all(table.paper())
        failed = [(figure, checked) for figure, checked in results if checked.status in FAILED]
        checks += len(results)
        with_alarm += bool(failed)
        alarms += [
            Alarm(f"{table.shape}, table {place} of seed {seed}", checked.check, figure.printed, checked.sentence)
            for figure, checked in failed
        ]
    return Sound(tables, checks, with_alarm, tuple(alarms))


def on_planted_errors(seed: int, kind: str, tables: int) -> list[PlantedResult]:
    """Check tables with one error of a kind each."""
    return [_planted_result(seed, kind, place) for place in range(tables)]


def detectable(results: Sequence[PlantedResult]) -> list[PlantedResult]:
    """Return those that some check could find; if that is not known, all."""
    return [one for one in results if not one.undetectable]


def planted_counts(kind: str, results: Sequence[PlantedResult]) -> PlantedErrors:
    """Return the counts of one kind of error, as they are recorded."""
    could, repairable = detectable(results), [one.named for one in results if one.detected and one.named is not None]
    return PlantedErrors(
        kind=kind,
        tables=len(results),
        undetectable=len(results) - len(could),
        alarms=sum(one.detected for one in results if one.undetectable),
        found=sum(one.detected for one in could),
        repairable=len(repairable),
        named=sum(repairable),
    )


def wrong_digits(seed: int, shares: int) -> Iterator[WrongDigits]:
    """Return how often one wrong digit of a share without its count is found, by number of cases and printed digits."""
    for digits in CURVE_DIGITS:
        for n in CURVE_SIZES:
            if n <= 200 * 10**digits:
                detected = sum(_is_wrong_digit_found(seed, n, digits, place) for place in range(shares))
                yield WrongDigits(n, digits, shares, detected)


def _planted_result(seed: int, kind: str, place: int) -> PlantedResult:
    planted = planted_error(seed, kind, place)
    failed = [checked for _, checked in check_all(planted.table.paper()) if checked.status in FAILED]
    named = any(words in checked.suggestion for checked in failed for words in planted.repair)
    return PlantedResult(planted.table.n, planted.undetectable, bool(failed), named if planted.repair else None)


def _is_wrong_digit_found(seed: int, n: int, digits: int, place: int) -> bool:
    draw = draw_for(seed, f"curve {n} {digits}", place)
    style = structs.replace(draw_style(draw), digits=digits)
    table = shares_alone_of(style, n, [draw.randint(0, n)])
    typed = structs.replace(table["share1"], typed=wrong_digit(draw, table.printed("share1")))
    broken = table.changed(structs.replace(typed, value=Fraction(0)))
    return any(checked.status in FAILED for _, checked in check_all(broken.paper()))
