"""How well the audit does on made-up tables: alarms on sound ones, planted errors found, and repairs named.

Three questions are kept apart: whether an error was found; whether it could be found at all, which is known by how it
was made; and whether a suggestion names what was planted.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from msgspec import Struct, structs

from analysis.audit.checks import check_all
from analysis.audit.generated_draws import LARGEST, SMALLEST, draw_for, draw_style, sound_table
from analysis.audit.generated_shapes import shares_alone_of
from analysis.audit.planted_errors import KINDS, planted_error, wrong_digit
from analysis.stats.proportions import wilson
from analysis.tables import FAILED, Row, Table, estimate_row, made_by_this

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
    """What sound tables gave: how many tables and checks there were, and every false alarm."""

    tables: int
    checks: int
    tables_with_alarm: int
    alarms: tuple[Alarm, ...]


class Found(Struct, frozen=True):
    """What became of one planted error; `named` is `None` where there is no repair to name."""

    n: int
    undetectable: bool | None
    detected: bool
    named: bool | None


def on_sound_tables(seed: int, tables: int) -> Sound:
    """Check sound tables, and keep every alarm."""
    checks, with_alarm, alarms = 0, 0, []
    for place in range(tables):
        made = sound_table(seed, place)
        results = check_all(made.paper())
        failed = [(figure, checked) for figure, checked in results if checked.status in FAILED]
        checks += len(results)
        with_alarm += bool(failed)
        alarms += [
            Alarm(f"{made.shape}, table {place} of seed {seed}", checked.check, figure.printed, checked.sentence)
            for figure, checked in failed
        ]
    return Sound(tables, checks, with_alarm, tuple(alarms))


def on_planted_errors(seed: int, kind: str, tables: int) -> list[Found]:
    """Check tables with one error of a kind each."""
    return [_found(seed, kind, place) for place in range(tables)]


def detectable(found: Sequence[Found]) -> list[Found]:
    """Those that some check could find; where that is not known, all."""
    return [one for one in found if not one.undetectable]


@made_by_this
def detection_table(seed: int = 1, tables: int = 100) -> Table:
    """False alarms on sound tables, and for each kind of error the share found of those that could be found.

    Parameters
    ----------
    seed
        Of the made-up tables.
    tables
        How many tables of each kind; sound ones are ten times as many.
    """
    sound = on_sound_tables(seed, 10 * tables)
    rows = [_alarm_row(sound, seed)]
    source = f"seed {seed}, {tables:,} tables of each kind, n from {SMALLEST} to {LARGEST:,}"
    alarms = 0
    for kind in KINDS:
        found = on_planted_errors(seed, kind, tables)
        alarms += sum(one.detected for one in found if one.undetectable)
        rows += _kind_rows(kind, found, source)
    caught = [row for row in rows[1:] if row.group == _FOUND]
    weakest = min(caught, key=lambda row: float(row.value or 0))
    high = rows[0].high or 0.0
    finding = (
        f"{sound.tables_with_alarm} of {sound.tables:,} sound tables raise an alarm (at most {high:.2%} with 95% "
        f"confidence); of planted errors that can be told, {_percent(weakest)} at the worst ({weakest.quantity}) "
        f"and {_percent(max(caught, key=lambda row: float(row.value or 0)))} at the best are found."
    )
    notes = (
        "An error is undetectable where some sound table prints exactly like the broken one; known by construction.",
        "Whether a kappa could be told without its matrix is not known by construction: all of them count.",
        f"Of the undetectable errors, {alarms} raised an alarm all the same.",
        "A repair counts as named where a suggestion holds what was planted: the right number, or the word for it.",
    )
    return Table("detection", "audit", "Errors planted in made-up tables", finding, tuple(rows), notes)


@made_by_this
def detection_curve(seed: int = 1, tables: int = 200) -> Table:
    """How often one wrong digit of a share without its count is found, by the number of cases and the digits printed.

    Parameters
    ----------
    seed
        Of the made-up shares.
    tables
        How many shares for each number of cases and of digits.
    """
    rows = [
        _curve_row(seed, n, digits, tables) for digits in CURVE_DIGITS for n in CURVE_SIZES if n <= 200 * 10**digits
    ]
    at = {row.group: row for row in rows if row.quantity == _size(100)}
    least, most = at[_series(0)], at[_series(1)]
    finding = (
        f"Out of 100 cases one wrong digit is found in {_percent(least)} of shares printed without digits behind the "
        f"point, and in {_percent(most)} of those with one."
    )
    notes = ("Where there are as many cases as shares to print, every share can come, and no typo can be told.",)
    return Table("detection_curve", "audit", "Wrong digits found in shares without counts", finding, tuple(rows), notes)


def curve_places() -> dict[str, float]:
    """Where the rows of `detection_curve` stand on the axis: the number of cases."""
    return {_size(n): float(n) for n in CURVE_SIZES}


_FOUND = "Found, of those that can be told"
_NAMED = "Planted repair named, of those found"


def _found(seed: int, kind: str, place: int) -> Found:
    planted = planted_error(seed, kind, place)
    failed = [checked for _, checked in check_all(planted.table.paper()) if checked.status in FAILED]
    named = any(words in checked.suggestion for checked in failed for words in planted.repair)
    return Found(planted.table.n, planted.undetectable, bool(failed), named if planted.repair else None)


def _alarm_row(sound: Sound, seed: int) -> Row:
    estimate = wilson(sound.tables_with_alarm, sound.tables)
    source = f"seed {seed}, {sound.checks:,} checks"
    return estimate_row("Sound tables with an alarm", estimate, "share", "False alarms", source, "generated")


def _kind_rows(kind: str, found: Sequence[Found], source: str) -> Iterator[Row]:
    could, repairable = detectable(found), [one.named for one in found if one.detected and one.named is not None]
    undetectable = len(found) - len(could)
    said = f"{undetectable:,} more look like a sound table" if undetectable else ""
    for group, of, hits, reason in (
        (_FOUND, len(could), sum(one.detected for one in could), said),
        (_NAMED, len(repairable), sum(repairable), ""),
    ):
        if not of:
            continue
        estimate = wilson(hits, of)
        yield Row(
            quantity=kind,
            value=estimate.value,
            low=estimate.low,
            high=estimate.high,
            n=of,
            evidence="generated",
            source=source,
            unit="share",
            method=estimate.method,
            group=group,
            reason=reason or estimate.reason,
        )


def _curve_row(seed: int, n: int, digits: int, tables: int) -> Row:
    caught = 0
    for place in range(tables):
        draw = draw_for(seed, f"curve {n} {digits}", place)
        style = structs.replace(draw_style(draw), digits=digits)
        made = shares_alone_of(style, n, [draw.randint(0, n)])
        typed = structs.replace(made["share1"], typed=wrong_digit(draw, made.printed("share1")))
        broken = made.changed(structs.replace(typed, value=Fraction(0)))
        caught += any(checked.status in FAILED for _, checked in check_all(broken.paper()))
    found = wilson(caught, tables)
    return estimate_row(_size(n), found, "share", _series(digits), f"seed {seed}", "generated")


def _size(n: int) -> str:
    return f"n = {n:,}"


def _series(digits: int) -> str:
    return f"{digits} digits behind the point"


def _percent(row: Row) -> str:
    return f"{float(row.value or 0):.0%} [{row.low or 0:.0%}, {row.high or 0:.0%}]"
