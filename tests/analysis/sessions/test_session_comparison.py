"""Two runs of `classify` compared: samples or pairs, over projects or sessions."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from misstep_analysis.sessions.prevalence import ANY, Labels
from misstep_analysis.sessions.session_comparison import (
    FEWEST_PROJECTS,
    SessionChange,
    SessionComparison,
    SessionRun,
    compare_sessions,
    corrected_changes,
)
from misstep_analysis.sessions.session_comparison_tables import comparison_finding, comparison_table, corrected_table
from misstep_analysis.stats.clusters.clustered import NO_SPREAD, clustered_difference
from misstep_analysis.stats.clusters.clustered_pairs import clustered_paired_difference, sign_flip_mcnemar
from misstep_analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p, paired_score_interval
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.two_proportions import fisher_exact, newcombe
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.significance import holm
from misstep_analysis.tables.text import grid
from misstep_harness.errors import UsageError
from misstep_harness.session import Session

CATEGORIES = ("loop", "drift")

Sessions = list[tuple[Session, Labels]]


def _sessions(run: str, project: str, labels: Labels, n: int = 1, *, parent: str | None = None) -> Sessions:
    return [
        (Session(f"{project}-{labels}-{number}", f"{run}.jsonl", project=project, parent=parent), labels)
        for number in range(n)
    ]


def _run(name: str, sessions: Sequence[tuple[Session, Labels]]) -> SessionRun:
    return SessionRun(name, CATEGORIES, tuple(sessions))


def _counts(run: str, counts: Sequence[tuple[int, int]]) -> SessionRun:
    """A run whose projects have so many sessions with a loop, of so many."""
    sessions = [
        one
        for place, (shown, n) in enumerate(counts)
        for one in (
            *_sessions(run, f"p{place}", ("yes", "no"), shown),
            *_sessions(run, f"p{place}", ("no", "no"), n - shown),
        )
    ]
    return _run(run, sessions)


def _change(compared: SessionComparison, category: str = "loop") -> SessionChange:
    return next(one for one in compared.changes if one.category == category)


MANY = [(3, 10), (5, 10), (2, 10), (6, 10)]
FEWER = [(1, 10), (2, 12), (0, 10), (3, 10), (1, 5)]


def test_the_difference_of_two_samples_is_that_of_their_projects() -> None:
    result = _change(compare_sessions(_counts("before", MANY), _counts("after", FEWER)))
    expected = clustered_difference(FEWER, MANY, shared=4)
    assert (result.difference, result.p_value) == (expected.small_sample, expected.small_sample_test.p_value)
    assert (result.unit, result.projects) == ("project", (4, 5))
    assert "with 4 projects in before and 5 in after" in result.reason
    notes = comparison_table(compare_sessions(_counts("before", MANY), _counts("after", FEWER)), "made up").notes
    assert "one that both runs have is drawn once" in notes[1]


def test_a_project_counts_in_both_runs_by_its_name_and_others_by_themselves() -> None:
    after = _counts("after", FEWER)
    renamed = {"p0": "p0", "p1": "p3", "p2": "new", "p3": "newer", "p4": "newest"}
    sessions = [(structs.replace(one, project=renamed[one.project]), labels) for one, labels in after.sessions]
    result = _change(compare_sessions(_counts("before", MANY), _run("after", sessions)))
    expected = clustered_difference(FEWER, [MANY[0], MANY[3], MANY[1], MANY[2]], shared=2)
    assert (result.difference, result.p_value) == (expected.small_sample, expected.small_sample_test.p_value)


def test_with_too_few_projects_sessions_are_counted_and_the_reason_is_said() -> None:
    result = _change(compare_sessions(_counts("before", MANY[: FEWEST_PROJECTS - 1]), _counts("after", FEWER)))
    assert result.difference == newcombe(7, 47, 10, 30)
    assert result.p_value == fisher_exact(7, 47, 10, 30).p_value
    assert (result.unit, result.projects) == ("session", (3, 5))
    assert "3 projects in before and 5 in after are too few" in result.reason


def test_projects_that_are_all_alike_have_no_spread_and_sessions_are_counted() -> None:
    result = _change(compare_sessions(_counts("before", [(0, 5)] * 6), _counts("after", [(0, 5)] * 6)))
    assert (result.difference.value, result.p_value, result.unit) == (0, 1, "session")
    assert NO_SPREAD in result.reason


def _relabelled(run: SessionRun, labels: Sequence[Labels]) -> SessionRun:
    sessions = tuple((session, each) for (session, _), each in zip(run.sessions, labels, strict=True))
    return structs.replace(run, name="after", sessions=sessions)


def test_the_same_sessions_are_compared_pair_by_pair() -> None:
    before = _run("before", _sessions("all", "shop", ("yes", "no"), 10) + _sessions("all", "bank", ("no", "no"), 5))
    after = _relabelled(before, [("no", "no")] * 8 + [("yes", None)] * 2 + [("yes", "no")] + [("no", "no")] * 4)
    compared = compare_sessions(before, after)
    table = PairedTable(both=2, first_only=1, second_only=8, neither=4)
    result = _change(compared)
    assert compared.paired
    assert (result.difference, result.p_value) == (paired_score_interval(table), mcnemar_mid_p(table).p_value)
    assert (_change(compared, "drift").unchecked_pairs, _change(compared, "drift").difference.n) == (2, 13)
    assert "compared pair by pair" in " ".join(comparison_table(compared, "made up").notes)


def test_pairs_of_enough_projects_go_either_way_project_by_project() -> None:
    before = _counts("all", [(4, 6)] * 5)
    after = _relabelled(before, [("no" if place < 3 else "yes", "no") for _ in range(5) for place in range(6)])
    result = _change(compare_sessions(before, after))
    leaning, sizes = [-1] * 5, [6] * 5
    assert result.difference.value == clustered_paired_difference(leaning, sizes).value
    assert (result.p_value, result.unit) == (sign_flip_mcnemar(leaning).p_value, "project")


def test_sessions_that_one_run_alone_has_are_left_out_of_pairs_and_counted() -> None:
    before = _counts("all", MANY)
    after = structs.replace(before, name="after", sessions=(*before.sessions, *_counts("new", [(5, 5)]).sessions))
    compared = compare_sessions(before, after)
    assert (compared.paired, compared.shared, compared.sessions) == (True, 40, (40, 45))
    assert "0 of all and 5 of after" in " ".join(comparison_table(compared, "made up").notes)


def test_what_could_not_be_checked_is_missing_with_a_reason_and_never_0() -> None:
    before = _run("before", _sessions("before", "shop", ("no", "no"), 4))
    after = _run("after", _sessions("after", "shop", ("no", None), 4))
    result = _change(compare_sessions(before, after), "drift")
    assert (result.difference.value, result.p_value, result.p_adjusted, result.b.value) == (None, None, None, None)
    assert result.reason == result.difference.reason == "no session of after could be checked"
    assert "no session of after" in " ".join(
        grid(comparison_table(compare_sessions(before, after), "")).lines()[1].reasons
    )


def test_runs_of_sub_agents_are_left_out_and_counted() -> None:
    own = _counts("before", MANY)
    more = structs.replace(own, sessions=(*own.sessions, *_sessions("before", "p0", ("yes", "yes"), 3, parent="one")))
    compared = compare_sessions(more, _counts("after", FEWER))
    assert compared.changes == compare_sessions(own, _counts("after", FEWER)).changes
    assert compared.sub_agents == (3, 0)
    assert "Runs of sub-agents are left out: 3 in before and 0 in after." in comparison_table(compared, "").notes


def test_only_categories_of_both_runs_are_compared() -> None:
    after = _counts("after", FEWER)
    alone = SessionRun("after", ("drift", "other"), after.sessions)
    compared = compare_sessions(_counts("before", MANY), alone)
    assert [one.category for one in compared.changes] == ["drift", ANY]
    assert compared.in_one_run == ("loop", "other")
    with pytest.raises(UsageError, match="no category in common"):
        compare_sessions(_counts("before", MANY), SessionRun("after", ("other", "more"), after.sessions))


def test_p_values_are_adjusted_after_holm_within_the_table() -> None:
    changes = compare_sessions(_counts("before", MANY), _counts("after", FEWER)).changes
    assert tuple(one.p_adjusted for one in changes) == holm([one.p_value for one in changes]).p_values


def test_the_first_sentence_names_the_category_that_changed() -> None:
    compared = compare_sessions(_counts("before", [(9, 10)] * 3), _counts("after", [(1, 10)] * 3))
    assert comparison_finding(compared).startswith("From before to after, loop fell by 80.0 points (95% interval −")
    assert "from 90.0% of 30 to 10.0% of 30 sessions" in comparison_finding(compared)


def test_a_change_that_chance_explains_is_not_called_one() -> None:
    compared = compare_sessions(_counts("before", [(2, 10)]), _counts("after", [(1, 10)]))
    assert comparison_finding(compared).startswith("No category changed from before to after by more than chance")
    same = compare_sessions(_counts("all", MANY), _counts("all", MANY))
    assert comparison_finding(same) == "No category changed from all to all: no share differs, in 40 sessions."


_ANY_LABELS = st.tuples(*[st.sampled_from(["yes", "no", None])] * 2)
_ANY_SESSIONS = st.lists(
    st.tuples(
        st.builds(
            Session,
            item=st.uuids().map(str),
            file=st.just("file"),
            project=st.sampled_from("abcdef"),
            model=st.sampled_from([None, "one", "two"]),
            parent=st.sampled_from([None, None, None, "other"]),
        ),
        _ANY_LABELS,
    ),
    max_size=30,
)


@given(_ANY_SESSIONS)
def test_a_run_compared_with_itself_has_no_difference(sessions: Sessions) -> None:
    compared = compare_sessions(_run("a", sessions), _run("b", sessions))
    for change in compared.changes:
        known = change.a.n
        assert (change.difference.value, change.p_value, change.p_adjusted) == ((0, 1, 1) if known else (None,) * 3)


@given(_ANY_SESSIONS, _ANY_SESSIONS, st.booleans())
def test_naming_the_runs_the_other_way_turns_the_signs_and_nothing_else(first, second, paired) -> None:
    if paired:
        second = [(session, labels) for (session, _), (_, labels) in zip(first, second, strict=False)]
        first = first[: len(second)]
    a, b = _run("a", first), _run("b", second)
    there, back = compare_sessions(a, b), compare_sessions(b, a)
    for one, other in zip(there.changes, back.changes, strict=True):
        assert (one.a, one.b, one.unit) == (other.b, other.a, other.unit)
        ends = [(one.difference, other.difference.negated())]
        for left, right in ends:
            assert (left.value, left.low, left.high) == pytest.approx((right.value, right.low, right.high))
        assert one.p_value == pytest.approx(other.p_value)


def test_corrected_shares_differ_with_newcombes_interval_where_they_are_wilsons() -> None:
    a, b, unknown = wilson(30, 100), wilson(12, 90), Estimate(None, n=90, reason="nobody has labelled")
    (loops, any_) = corrected_changes({"loops": a, "any": a, "gone": a}, {"loops": b, "any": unknown})
    expected = newcombe(12, 90, 30, 100)
    assert (loops.difference.low, loops.difference.high) == pytest.approx((expected.low, expected.high))
    assert (any_.difference.value, any_.difference.reason) == (None, "nobody has labelled")
    assert corrected_changes({"loops": unknown}, {"loops": unknown}) == ()


@pytest.mark.parametrize(("b", "claim"), [(20, "no share is shown to have changed: loops"), (60, "changed so: loops")])
def test_a_corrected_share_is_said_to_have_changed_only_if_its_interval_leaves_out_0(b: int, claim: str) -> None:
    runs = (_run(name, _sessions(name, "p", ("yes", "no"), 3)) for name in "ab")
    compared = structs.replace(
        compare_sessions(*runs), corrected=corrected_changes({"loops": wilson(15, 100)}, {"loops": wilson(b, 100)})
    )
    table = corrected_table(compared, "made up")
    assert claim in table.finding
    assert "one by one" in table.rows[-1].reason
