"""Draws of made-up tables: the truth, the size and the style of each come from a seed of its own.

The tables of one seed can be made again alone, in any order: table 17 of seed 1 is always the same.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from random import Random

from benchmarks.audit.generated_shapes import (
    amounts_of,
    comparison_of,
    copies_of,
    judge_of,
    kappa_of,
    means_of,
    shares_alone_of,
    shares_of,
)
from benchmarks.audit.generated_tables import SOUND_RULES, Letter, MadeTable, Style
from misstep.analysis.stats.printed.usual_tests import HOW_MANY
from misstep.analysis.tables import Unit

SMALLEST, LARGEST = 5, 100_000
ANSWER_STEPS = tuple(map(Fraction, ("1", "1", "0.5", "0.25", "0.2", "0.1", "5", "2.5")))
MOST_SEARCHED = 60
"""The largest number of items of a kappa without its matrix: that of the search for a matrix."""


def draw_for(seed: int, kind: str, place: int) -> Random:
    """Return the source of chance of one table."""
    return Random(f"{seed} {kind} {place}")  # noqa: S311 (made-up tables hold no secrets)


def sound_table(seed: int, place: int) -> MadeTable:
    """Return a sound table; the shapes take turns."""
    draw = draw_for(seed, "sound", place)
    return SHAPES[place % len(SHAPES)](draw)


def draw_size(draw: Random, largest: int = LARGEST) -> int:
    """Return a number of cases, small and large ones alike on a log scale."""
    return round(math.exp(draw.uniform(math.log(SMALLEST), math.log(largest))))


def draw_style(draw: Random) -> Style:
    """Return a way to print."""
    return Style(
        draw.choice(SOUND_RULES), draw.randint(0, 3), draw.random() < 0.5, draw.choice(("-", "\N{MINUS SIGN}"))
    )


def draw_share_unit(draw: Random) -> Unit:
    """Draw a unit: most papers print shares in percent, some as fractions."""
    return draw.choice(("share", "share", "share", "coefficient"))


def parts_of(draw: Random, n: int, how_many: int) -> list[int]:
    """Draw whole counts that add up to n; some may be 0."""
    cuts = sorted(draw.randint(0, n) for _ in range(how_many - 1))
    return [high - low for low, high in zip([0, *cuts], [*cuts, n], strict=True)]


def draw_shares(draw: Random) -> MadeTable:
    """Draw counts and shares of two to eight classes."""
    n = draw_size(draw)
    return shares_of(draw_style(draw), n, parts_of(draw, n, draw.randint(2, 8)), draw_share_unit(draw))


def draw_shares_alone(draw: Random) -> MadeTable:
    """Draw up to seven shares without their counts, some over repeated runs."""
    n, repeats = draw_size(draw), draw.choice((1, 1, 3, 5, 10))
    counts = [draw.randint(0, n * repeats) for _ in range(draw.randint(1, 7))]
    return shares_alone_of(draw_style(draw), n, counts, repeats, draw_share_unit(draw))


def draw_means(draw: Random) -> MadeTable:
    """Draw up to four means of answers on a scale, some of them below 0."""
    n, step = draw_size(draw), draw.choice(ANSWER_STEPS)
    lowest = draw.choice((0, 1, -3))
    totals = [draw.randint(lowest * n, 7 * n) for _ in range(draw.randint(1, 4))]
    return means_of(draw_style(draw), n, step, totals)


def draw_arms(draw: Random) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return two arms of like size whose shares lie near enough for p-values of every size."""
    n1 = draw_size(draw)
    n2 = n1 if draw.random() < 0.3 else max(SMALLEST, round(n1 * draw.uniform(0.5, 2)))
    share = draw.uniform(0.02, 0.98)
    apart = draw.gauss(0, 1.5) * math.sqrt(share * (1 - share) * (1 / n1 + 1 / n2))
    return (round(share * n1), n1), (round(min(1, max(0, share + apart)) * n2), n2)


def draw_comparison(draw: Random) -> MadeTable:
    """Return two arms and the p-value of one of the usual tests."""
    return comparison_of(draw_style(draw), *draw_arms(draw), draw.randrange(HOW_MANY), draw.randint(2, 4))


def draw_amounts(draw: Random) -> MadeTable:
    """Return two to six measured amounts, some printed in thousands with a letter."""
    letter: Letter = draw.choice(("", "", "k"))
    most = draw.choice((10, 1_000, 100_000)) * (1_000 if letter else 1)
    amounts = [Fraction(draw.randint(most, 100 * most), 97) for _ in range(draw.randint(2, 6))]
    return amounts_of(draw_style(draw), amounts, letter)


def draw_judge(draw: Random) -> MadeTable:
    """Return a judge that is right on most items of both classes, as judges are, or on none."""
    n = draw_size(draw)
    positives = draw.randint(1, n - 1)
    tp = round(positives * draw.uniform(0.3, 1))
    tn = round((n - positives) * draw.uniform(0.3, 1))
    return judge_of(draw_style(draw), tp, n - positives - tn, positives - tp, tn)


def draw_cells(draw: Random, n: int) -> list[list[int]]:
    """Draw a matrix of two raters with two to four labels who agree more often than not; two or more are used."""
    labels = draw.randint(2, 4)
    chances = [(4 if one == other else 1) * draw.random() for one in range(labels) for other in range(labels)]
    cells = [[0] * labels for _ in range(labels)]
    for place, count in enumerate(_shared_out(draw, n, chances)):
        cells[place // labels][place % labels] = count
    used = {place for place in range(labels) for other in range(labels) if cells[place][other]}
    used |= {other for place in range(labels) for other in range(labels) if cells[place][other]}
    return cells if len(used) > 1 else draw_cells(draw, n)


def draw_kappa(draw: Random) -> MadeTable:
    """Return two raters and their matrix."""
    return kappa_of(draw_style(draw), draw_cells(draw, draw_size(draw)))


def draw_kappa_alone(draw: Random) -> MadeTable:
    """Return two raters without their matrix."""
    return kappa_of(draw_style(draw), draw_cells(draw, draw_size(draw, largest=MOST_SEARCHED)), shown=False)


def draw_copies(draw: Random) -> MadeTable:
    """Return a number and a share that are in two places."""
    n = draw_size(draw)
    letter: Letter = draw.choice(("", "k")) if n >= 1_000 else ""
    return copies_of(draw_style(draw), n, draw.randint(0, n), draw.randint(0, 3), letter)


def _shared_out(draw: Random, n: int, chances: list[float]) -> list[int]:
    whole = sum(chances)
    counts = [int(n * chance / whole) for chance in chances]
    for place in draw.choices(range(len(chances)), chances, k=n - sum(counts)):
        counts[place] += 1
    return counts


SHAPES: tuple[Callable[[Random], MadeTable], ...] = (
    draw_shares,
    draw_shares_alone,
    draw_means,
    draw_comparison,
    draw_amounts,
    draw_judge,
    draw_kappa,
    draw_kappa_alone,
    draw_copies,
)
