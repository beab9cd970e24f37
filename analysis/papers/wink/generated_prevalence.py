"""Wink's tables 1 and 2 on a generated study: planted and found misbehaviour, and the found one corrected for errors.

The prevalences are our choice (`harness/generate/settings.toml`): no generated figure speaks for or
against a printed one; the tables show the effect of a classifier's errors, samples and tests on a known prevalence.
"""

from collections.abc import Sequence

from misstep.analysis.measures.prevalence import ANY
from misstep.analysis.measures.study_prevalence import (
    Study,
    TruthSource,
    Versions,
    alone,
    by_rating,
    by_week,
    compare_versions,
    corrected,
    sampled_by_day,
    share,
)
from misstep.analysis.papers.wink.prevalence import CATEGORIES
from misstep.analysis.published import load_paper, published_row
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.proportions import wilson
from misstep.analysis.stats.significance import Significance
from misstep.analysis.tables import Figure, Row, Table, TableHead, Unit, made_by_this, rows_in, rows_of
from misstep.analysis.tables.wording import number_text, with_interval

NAMES = {
    "infinite_loop": CATEGORIES["loops"],
    "did_not_follow_instructions": CATEGORIES["dnf"],
    "unrequested_changes": CATEGORIES["uc"],
    "tool_call_failure": CATEGORIES["tcf"],
    ANY: "Any of the four",
}

KEYS = dict(zip(NAMES, [*CATEGORIES, "any"], strict=True))
PLANTED, FOUND, CORRECTED, ALONE = "Planted", "Found by rule", "Corrected for the rule's errors", "Planted alone"
SAMPLED = "Any of the four, found by rule"
DAILY = 0.1
"""The part of each day's sessions that Wink's classifiers run on."""
_SOURCES: dict[TruthSource, str] = {"planted": "planted", "found": "by rule"}
_GENERATOR = "misstep.harness.generate.sessions.generate_sessions"

CHOSEN = "How often a misbehaviour is planted is our choice: no figure here confirms or refutes a printed one."
SEEN = (
    "The rules answer for unrequested changes and for instructions only if the record itself tells a limit, such as "
    "a mode in which a plan alone may be made: no rule knows the words of these sessions. Their shares "
    "are of those sessions, not of all."
)


_GENERATED_PREVALENCE = TableHead(
    "generated_prevalence",
    "wink",
    "Prevalence in a generated study (as Wink, table 1)",
    (CHOSEN, SEEN),
    generator=_GENERATOR,
)


@made_by_this
def generated_prevalence_table(study: Study) -> Table:
    """Return table 1 on a generated study, a group a category: printed, planted, found by rule, corrected, alone."""
    paper = load_paper("wink")
    exclusive = {one.category: one for one in alone(study).categories}
    rows: list[Row] = []
    drawn: list[Row] = []
    for category, name in NAMES.items():
        rows.append(published_row(paper[f"prevalence.{KEYS[category]}.share"], "Printed", group=name))
        shares = {
            PLANTED: share(study.sessions, category, "planted"),
            FOUND: share(study.sessions, category, "found"),
            CORRECTED: corrected(study, category),
        }
        if category in exclusive:
            one = exclusive[category]
            none = Estimate(None, n=0, reason=f"none of {len(study.sessions):,} sessions has it")
            shares[ALONE] = wilson(one.exclusive, one.count) if one.count else none
        of_category = rows_in("share", shares, name, study.source, "generated")
        rows += of_category
        drawn += of_category[:2]
    planted, put_right = share(study.sessions, ANY, "planted"), corrected(study, ANY)
    return _GENERATED_PREVALENCE.table(
        (
            f"{number_text(planted.value, 'share')} of {len(study.sessions):,} generated sessions have a planted "
            f"misbehaviour; the rules find one in {with_interval(share(study.sessions, ANY, 'found'), 'share')}, which "
            f"corrected for their errors is {with_interval(put_right, 'share')}."
        ),
        rows,
        (
            f"Corrected: Rogan and Gladen, with sensitivity and specificity of {len(study.validation):,} sessions of "
            "another seed.",
        ),
        drawn=drawn,
    )


_GENERATED_MODELS = TableHead(
    "generated_models",
    "wink",
    "Prevalence in two versions of a generated agent (as Wink, table 2)",
    (
        CHOSEN,
        SEEN,
        "All but tool call failures are planted at another rate in the second version: a difference of theirs that "
        "is not found is missed for want of sessions.",
        "Adjusted: Holm over the four categories, apart for what was planted and what was found.",
    ),
    generator=_GENERATOR,
)


@made_by_this
def generated_models_table(study: Study) -> Table:
    """Return table 2 on a generated study: both versions by category, planted and by rule, with Holm's tests."""
    first, second = sorted({session.version for session in study.sessions})
    compared: dict[TruthSource, tuple[Versions, ...]] = {source: compare_versions(study, source) for source in _SOURCES}
    rows = [
        row
        for source, versions in compared.items()
        for one in versions
        for row in _version_rows(one, source, (first, second), study)
    ]
    significant = [
        NAMES[one.category] for one in compared["planted"] if one.adjusted is not None and one.adjusted < 0.05
    ]
    named = f" ({', '.join(significant).lower()})" if significant else ""
    return _GENERATED_MODELS.table(
        (
            f"Of the four categories as planted, {len(significant)} differ between the versions at the 5% level after "
            f"Holm's adjustment{named}; tool call failures are planted equally often in both."
        ),
        rows,
    )


def _version_rows(one: Versions, source: TruthSource, names: Sequence[str], study: Study) -> list[Row]:
    group = f"{NAMES[one.category]}, {_SOURCES[source]}"
    adjusted = Significance(None, one.adjusted, one.test.n, "Holm", one.test.reason if one.adjusted is None else "")
    figures: list[tuple[str, Figure, Unit]] = [
        *((name, share, "share") for name, share in zip(names, one.shares, strict=True)),
        ("Difference", one.difference, "difference"),
        ("p-value", one.test, "p"),
        ("p-value, Holm", adjusted, "p"),
    ]
    return rows_of(figures, group, study.source, "generated")


_WEEKS = TableHead(
    "weeks",
    "wink",
    "Prevalence week by week, and in a daily sample (as Wink, sections 2.2.1 and 2.2.2)",
    (CHOSEN, "Each week has a planted factor of its own as well (`weeks` in the settings of the generator)."),
    generator=_GENERATOR,
)


@made_by_this
def weeks_table(study: Study, seed: int) -> Table:
    """Return prevalence week by week, and from a sample of a tenth of each day."""
    rows: list[Row] = []
    drawn: list[Row] = []
    for category, name in NAMES.items():
        for source in _SOURCES:
            if source == "planted" or category in (ANY, "infinite_loop", "tool_call_failure"):
                group = f"{name}, {_SOURCES[source]}"
                shares = {f"Week {week}": one for week, one in by_week(study, category, source).items()}
                weeks = rows_in("share", shares, group, study.source, "generated")
                rows += weeks
                drawn += weeks if (category, source) == (ANY, "planted") else []
    whole, sample = share(study.sessions, ANY, "found"), sampled_by_day(study, DAILY, seed)
    samples = {"All sessions": whole, "A tenth of each day": sample}
    rows += rows_in("share", samples, SAMPLED, study.source, "generated")
    inside = sample.low is not None and sample.high is not None and sample.low <= (whole.value or 0) <= sample.high
    return _WEEKS.table(
        (
            f"A tenth of each day, {sample.n} sessions, gives {with_interval(sample, 'share')} with a misbehaviour by "
            f"rule; all sessions give {number_text(whole.value, 'share')}, which is "
            f"{'inside' if inside else 'outside'} that interval."
        ),
        rows,
        drawn=drawn,
    )


_RATINGS = TableHead(
    "ratings",
    "wink",
    "Prevalence among the disliked sessions, beside all (as Wink, sections 2.1 and 2.2)",
    (
        CHOSEN,
        "A fifth of the sessions is rated. Of the rated ones, 70% with a misbehaviour and 20% without one are "
        "disliked; which misbehaviour it is makes no difference.",
    ),
    generator=_GENERATOR,
)


@made_by_this
def ratings_table(study: Study) -> Table:
    """Return prevalence among the sessions that users disliked, liked and did not rate, beside all."""
    rows = [
        row
        for category, name in NAMES.items()
        for row in rows_in(
            "share", by_rating(study, category, "planted"), f"{name}, {_SOURCES['planted']}", study.source, "generated"
        )
    ]
    rated = by_rating(study, ANY, "planted")
    return _RATINGS.table(
        (
            f"Of the disliked sessions {with_interval(rated['Disliked'], 'share')} have a planted misbehaviour, of all "
            f"{with_interval(rated['All'], 'share')}: how frequent something is among the disliked does not say how "
            "frequent it is in all."
        ),
        rows,
    )
