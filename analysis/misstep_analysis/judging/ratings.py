"""Judges that rate runs on a scale, against the ratings that people gave: whether they agree, and who rates higher."""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.judging.units import judging_table, resampled_estimate
from misstep_analysis.stats.decisions.relative_change import ratio_of_sums
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.raters import coefficients
from misstep_analysis.stats.raters.coefficients import NO_DISAGREEMENT
from misstep_analysis.stats.raters.patterns import FloatArray, distinct_rows
from misstep_analysis.stats.resampling import bootstrap
from misstep_analysis.tables import Fields, Row, Table, made_by_this, measured_on, rows_from
from misstep_analysis.tables.wording import number_text, with_interval

ALPHA = "Krippendorff's alpha"
HIGHER = "Judge's rating less people's"
ALIKE = "Rated alike"
NONE_SHARED = "no run was rated by both"
_NONE = "No judge's recorded ratings are available."

_FIELDS: Fields = (
    (ALPHA, "alpha", "coefficient"),
    (HIGHER, "higher", "coefficient"),
    (ALIKE, "alike", "share"),
)

Given = Mapping[str, float]


class JudgedRatings(Struct, frozen=True):
    """The ratings of one judge and of people.

    - `judge`: Run → what the judge gave it, `None` where it gave no answer.
    """

    title: str
    dataset: str
    source: str
    people: Mapping[str, Given]
    judge: Mapping[str, Given | None]


class RatedAspect(Struct, frozen=True):
    """One aspect: how far judge and people agree, by how much the judge's mean is higher, how often they are equal."""

    judged: JudgedRatings
    aspect: str
    alpha: Estimate
    higher: Estimate
    alike: Estimate

    def __str__(self) -> str:
        return f"{self.judged.title}, {self.aspect}"


def rated_aspects(judged: JudgedRatings, resamples: int = 10_000, seed: int = 0) -> list[RatedAspect]:
    """Return each aspect that people rated, in the order in which they are first rated; intervals are over runs."""
    aspects = dict.fromkeys(aspect for of_run in judged.people.values() for aspect in of_run)
    return [_rated(judged, aspect, resamples, seed) for aspect in aspects]


def _rated(judged: JudgedRatings, aspect: str, resamples: int, seed: int) -> RatedAspect:
    pairs = [
        (people[aspect], grades[aspect])
        for run, grades in judged.judge.items()
        if grades is not None and aspect in grades and aspect in (people := judged.people.get(run, {}))
    ]
    if not pairs:
        nothing = Estimate(None, n=0, reason=NONE_SHARED)
        return RatedAspect(judged, aspect, nothing, nothing, nothing)
    ratings = np.array(pairs, dtype=np.float64)
    more = ratings[:, 1] - ratings[:, 0]
    higher = ratio_of_sums(more, np.ones(len(more)))
    method = "mean, t over runs, 95%" if higher.low is not None else ""
    return RatedAspect(
        judged,
        aspect,
        interval_alpha(ratings, resamples, seed),
        structs.replace(higher, method=method),
        wilson(int(np.count_nonzero(more == 0)), len(more)),
    )


def interval_alpha(ratings: FloatArray, resamples: int = 10_000, seed: int = 0) -> Estimate:
    """Krippendorff's alpha of two raters on an interval scale, with the percentile bootstrap over runs."""
    values, codes = np.unique(ratings, return_inverse=True)
    counts = np.eye(len(values), dtype=np.int64)[codes.reshape(ratings.shape)].sum(axis=1)
    kinds = distinct_rows(counts)

    def statistic(sets: FloatArray) -> FloatArray:
        return coefficients.alpha(sets, kinds.rows, "interval", values)

    value = float(statistic(kinds.items[None, :].astype(np.float64))[0])
    drawn = bootstrap(statistic, kinds.items, resamples, np.random.default_rng(seed))
    return resampled_estimate(value, drawn, len(ratings), "runs", NO_DISAGREEMENT)


@made_by_this
def ratings_table(judged: Sequence[JudgedRatings], notes: Sequence[str] = (), seed: int = 0) -> Table:
    """How far judges' ratings agree with people's, aspect by aspect; `seed` is of the bootstrap."""
    aspects = [one for ratings in judged for one in rated_aspects(ratings, seed=seed)]
    rows: list[Row] = []
    for one in aspects:
        rows += measured_on(one.judged.dataset, rows_from(one, _FIELDS, str(one), one.judged.source))
    return judging_table(
        "recorded_ratings",
        "Ratings of runs by recorded judges, against people's",
        _finding(aspects),
        rows,
        (
            "Alpha takes the ratings as an interval scale. One person's or group's rating a run: how far people agree "
            "with each other is not known.",
            *(
                f"{one.title}: {missing:,} of {len(one.judge):,} runs got no answer and are left out."
                for one in judged
                if (missing := sum(answer is None for answer in one.judge.values()))
            ),
            *notes,
        ),
        tuple(dict.fromkeys(one.dataset for one in judged)),
    )


def _finding(aspects: Sequence[RatedAspect]) -> str:
    known = [one for one in aspects if one.alpha.value is not None]
    if not known:
        return _NONE
    lowest, highest = (end(known, key=lambda one: one.alpha.value or 0.0) for end in (min, max))
    shown = [one for one in known if one.higher.low is not None and one.higher.high is not None]
    furthest = max((abs(one.higher.value or 0.0) for one in shown), default=0.0)
    up = sum((one.higher.low or 0.0) > 0 for one in shown)
    down = sum((one.higher.high or 0.0) < 0 for one in shown)
    return (
        f"Alpha of judge and people runs from {with_interval(lowest.alpha, 'coefficient')} for {lowest} to "
        f"{with_interval(highest.alpha, 'coefficient')} for {highest}; of {len(shown)} mean ratings {up} are "
        f"shown to be higher than people's and {down} lower, by up to {number_text(furthest, 'coefficient')} points."
    )
