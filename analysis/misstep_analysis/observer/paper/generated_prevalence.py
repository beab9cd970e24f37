"""Wink's table 1 on a generated study: planted and found misbehaviour, and the found one corrected for errors.

The prevalences are our choice (`settings.toml` of the generator): no generated figure speaks for or against a printed
one; the table shows the effect of a classifier's errors on a known prevalence.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Literal, get_args

from msgspec import Struct

from misstep_analysis.observer.paper.prevalence import CATEGORIES
from misstep_analysis.published import load_paper, published_row
from misstep_analysis.sessions.prevalence import ANY, YES, Prevalence, prevalence, share
from misstep_analysis.stats.correction import rogan_gladen
from misstep_analysis.stats.estimate import Estimate, informative
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import Row, Table, TableHead, made_by_this, rows_in
from misstep_analysis.tables.wording import number_text, with_interval

NAMES = {
    "infinite_loop": CATEGORIES["loops"],
    "did_not_follow_instructions": CATEGORIES["dnf"],
    "unrequested_changes": CATEGORIES["uc"],
    "tool_call_failure": CATEGORIES["tcf"],
    ANY: "Any of the four",
}

_KEYS = dict(zip(NAMES, [*CATEGORIES, "any"], strict=True))
PLANTED = "Planted"
_NOTHING_ANSWERED = "the classifier answered for no session"

TruthSource = Literal["planted", "found"]


class StudiedSession(Struct, frozen=True):
    """One session: the categories that are planted in it, and the rule's label for each category."""

    item: str
    planted: frozenset[str]
    found: dict[str, str | None]

    def shows(self, category: str, source: TruthSource) -> bool | None:
        """Return whether it shows a category or any, as planted or as found; `None` where that was not answered."""
        if source == "planted":
            return bool(self.planted) if category == ANY else category in self.planted
        if category == ANY:
            return YES in self.found.values()
        label = self.found[category]
        return None if label is None else label == YES


class Study(Struct, frozen=True):
    """Sessions, others on which the classifiers' errors are measured, the categories, and where it all comes from."""

    sessions: tuple[StudiedSession, ...]
    validation: tuple[StudiedSession, ...]
    categories: tuple[str, ...]
    source: str


_GENERATED_PREVALENCE = TableHead(
    "generated_prevalence",
    "wink",
    "Prevalence in a generated study (as Wink, table 1)",
    (
        "How often a misbehaviour is planted is our choice: no figure here confirms or refutes a printed one.",
        "The rules answer for unrequested changes and for instructions only if the record itself tells a limit, such "
        "as a mode in which a plan alone may be made: no rule knows the words of these sessions. Their shares "
        "are of those sessions, not of all.",
    ),
    generator="misstep_harness.generate.sessions.generate_sessions",
)


@made_by_this
def generated_prevalence_table(study: Study) -> Table:
    """Return table 1 on a generated study, a group a category: printed, planted, found by rule, corrected, alone."""
    paper = load_paper("wink")
    exclusive = {one.category: one for one in _alone(study).categories}
    rows: list[Row] = []
    drawn: list[Row] = []
    for category, name in NAMES.items():
        rows.append(published_row(paper[f"prevalence.{_KEYS[category]}.share"], "Printed", group=name))
        shares: dict[str, Estimate] = {
            PLANTED: shown_share(study.sessions, category, "planted"),
            "Found by rule": shown_share(study.sessions, category, "found"),
            "Corrected for the rule's errors": corrected_share(study, category),
        }
        if category in exclusive:
            one = exclusive[category]
            none = Estimate(None, n=0, reason=f"none of {len(study.sessions):,} sessions has it")
            shares["Planted alone"] = wilson(one.exclusive, one.count) if one.count else none
        of_category = rows_in("share", shares, name, study.source, "generated")
        rows += of_category
        drawn += of_category[:2]
    planted, by_rule = (shown_share(study.sessions, ANY, source) for source in get_args(TruthSource))
    put_right = corrected_share(study, ANY)
    return _GENERATED_PREVALENCE.table(
        (
            f"{number_text(planted.value, 'share')} of {len(study.sessions):,} generated sessions have a planted "
            f"misbehaviour; the rules find one in {with_interval(by_rule, 'share')}, which "
            f"corrected for their errors is {with_interval(put_right, 'share')}."
        ),
        rows,
        (
            f"Corrected: Rogan and Gladen, with sensitivity and specificity of {len(study.validation):,} sessions of "
            "another seed.",
        ),
        drawn=drawn,
    )


def shown_share(sessions: Iterable[StudiedSession], category: str, source: TruthSource) -> Estimate:
    """Return the share of the answered sessions that show a category or any, with Wilson's interval."""
    shown = [one for session in sessions if (one := session.shows(category, source)) is not None]
    return share(sum(shown), len(shown), _NOTHING_ANSWERED)


def _alone(study: Study) -> Prevalence:
    """Counts and shares as planted, also of the sessions that show one category and nothing else."""
    labels = (tuple(YES if name in one.planted else "no" for name in study.categories) for one in study.sessions)
    return prevalence(study.categories, Counter(labels))


def corrected_share(study: Study, category: str) -> Estimate:
    """Return the share found, corrected by the sensitivity and specificity measured on the validation sessions."""
    flagged = [one for session in study.sessions if (one := session.shows(category, "found")) is not None]
    if not flagged:
        return Estimate(None, n=0, reason=_NOTHING_ANSWERED)
    pairs = [(session.shows(category, "found"), session.shows(category, "planted")) for session in study.validation]
    sensitive = [one is True for one, truth in pairs if one is not None and truth]
    left_alone = [one is False for one, truth in pairs if one is not None and not truth]
    counts = [(sum(answers), len(answers)) for answers in (flagged, sensitive, left_alone)]
    return informative(rogan_gladen(counts[0], counts[1], counts[2]).estimate)
