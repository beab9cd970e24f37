"""Prevalence from counted sets of categories, of all sessions and by stratum."""

from collections import Counter
from collections.abc import Collection, Sequence

from misstep.analysis.measures.prevalence import Labels, Prevalence, prevalence
from misstep.harness.records.whole_counts import CategorySet


def counted_prevalence(rows: Collection[CategorySet], categories: Sequence[str] = ()) -> Prevalence:
    """Return the counts and shares of each category and of any."""
    named = tuple(categories) or categories_of(rows)
    patterns: Counter[Labels] = Counter()
    for kind in rows:
        label_of = dict.fromkeys(kind.found, "yes") | dict.fromkeys(kind.absent, "no")
        patterns[tuple(label_of.get(category) for category in named)] += kind.n
    return prevalence(named, patterns)


def counted_strata(rows: Collection[CategorySet]) -> dict[str, dict[str, Prevalence]]:
    """Return what sessions are told apart by → stratum → its prevalence; the strata with the most sessions first."""
    named = categories_of(rows)
    found: dict[str, dict[str, Prevalence]] = {}
    for by in sorted({kind.by for kind in rows} - {""}):
        strata = sorted({kind.stratum for kind in rows if kind.by == by})
        each = {
            one: counted_prevalence([kind for kind in rows if (kind.by, kind.stratum) == (by, one)], named)
            for one in strata
        }
        found[by] = dict(sorted(each.items(), key=lambda pair: -pair[1].n))
    return found


def categories_of(rows: Collection[CategorySet]) -> tuple[str, ...]:
    """Return all categories that sessions were judged for, or were to be."""
    return tuple(sorted({category for kind in rows for category in kind.categories}))
