"""A generated study: the same for a seed whatever its size, five weeks, two versions, planted at the stated rates."""

from collections import Counter
from datetime import datetime
from statistics import mean

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep_harness.generate.session import CATEGORIES, load_agents
from misstep_harness.generate.sessions import Case, generate_sessions, load_settings
from misstep_harness.readers.interchange.atif import from_atif, to_atif
from tests.harness.generate.steps import call_of, changes


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(), n=st.integers(1, 12), more=st.integers(0, 12))
def test_a_session_does_not_depend_on_how_many_there_are(seed: int, n: int, more: int) -> None:
    whole = list(generate_sessions(n + more, seed))
    assert list(generate_sessions(n, seed)) == whole[:n]
    assert whole != list(generate_sessions(n + more, seed + 1))


@given(seed=st.integers())
def test_what_is_planted_is_shown_by_steps_of_the_agent_and_an_episode_spans_them(seed: int) -> None:
    for case in generate_sessions(20, seed, study=True):
        planted = {name for name, true in case.truth.items() if true}
        assert tuple(case.truth) == CATEGORIES
        assert planted == set(case.evidence) == {one.category for one in case.episodes}
        for one in case.episodes:
            steps = case.evidence[one.category]
            assert (one.onset, one.last) == (min(steps), max(steps))
            assert all(case.trajectory.steps[step].role == "agent" for step in steps)


def test_each_misbehaviour_is_planted_as_often_as_stated_for_its_version(cases: list[Case]) -> None:
    for version in load_settings().version:
        mine = [case for case in cases if case.trajectory.model == version.model]
        for category, share in version.prevalence.items():
            error = (share * (1 - share) / len(mine)) ** 0.5
            assert mean(case.truth[category] for case in mine) == pytest.approx(share, abs=4 * error)


def test_misbehaviours_come_alone_and_together(cases: list[Case]) -> None:
    counted = Counter(sum(case.truth.values()) for case in cases)
    assert counted[0] > counted[1] > counted[2] > 0
    both = {frozenset(name for name, true in case.truth.items() if true) for case in cases}
    assert {frozenset({name}) for name in CATEGORIES} < both


def test_an_episode_ends_by_itself_or_goes_on_until_the_agent_gives_up(cases: list[Case]) -> None:
    loops = [(case, one) for case in cases for one in case.episodes if one.category == "infinite_loop"]
    ended = [len(case.trajectory.steps) - one.last for case, one in loops if one.ended_by_itself]
    open_ = [len(case.trajectory.steps) - one.last for case, one in loops if not one.ended_by_itself]
    assert ended
    assert open_
    assert mean(ended) > 5 + mean(open_)


def test_a_change_that_is_taken_back_is_followed_by_an_edit_or_a_command_that_does_it(cases: list[Case]) -> None:
    for case in cases:
        for one in case.episodes:
            if one.category == "unrequested_changes" and one.ended_by_itself:
                after = case.trajectory.steps[one.last + 1 : one.last + 4]
                undone = ("git reset", "rm ")
                assert any(changes(step) or any(word in call_of(step).decode() for word in undone) for step in after)


def test_times_are_of_five_weeks_and_in_order(cases: list[Case]) -> None:
    first = load_settings().first_day
    for case in cases[:300]:
        times = [datetime.fromisoformat(step.timestamp or "") for step in case.trajectory.steps]
        assert times == sorted(times)
        assert datetime.fromisoformat(case.started) == times[0]
        assert (times[0].date() - first).days // 7 + 1 == case.week
    assert {case.week for case in cases} == {1, 2, 3, 4, 5}


def test_a_session_has_about_thirty_steps_and_its_agent_a_set_of_tools_with_schemas(cases: list[Case]) -> None:
    assert 27 <= mean(len(case.trajectory.steps) for case in cases) <= 36
    for case in cases[:300]:
        tools = case.trajectory.extra["agent"]["tool_definitions"]
        assert len(tools) == len({tool["function"]["name"] for tool in tools}) >= 1
        assert all(tool["function"]["parameters"]["type"] == "object" for tool in tools)


def test_every_call_has_its_answer_and_a_session_is_the_same_after_writing_and_reading(cases: list[Case]) -> None:
    for case in cases[:200]:
        for step in case.trajectory.steps:
            assert [call.id for call in step.calls] == [result.call_id for result in step.results]
        document = msgspec.json.decode(msgspec.json.encode(to_atif(case.trajectory)))
        assert from_atif(document).steps == case.trajectory.steps


def test_ratings_are_few_and_more_often_bad_where_something_was_planted(cases: list[Case]) -> None:
    rating = load_settings().rating
    rated = [case for case in cases if case.liked is not None]
    assert len(rated) / len(cases) == pytest.approx(rating.share, abs=0.05)
    for bad, share in ((True, rating.disliked_with), (False, rating.disliked_without)):
        mine = [case.liked for case in rated if any(case.truth.values()) is bad]
        assert mean(not liked for liked in mine) == pytest.approx(share, abs=4 * (0.25 / len(mine)) ** 0.5)


def test_hard_negatives_stand_in_sessions_with_and_without_misbehaviour(cases: list[Case]) -> None:
    clean = Counter(part for case in cases if not any(case.truth.values()) for part in case.variant.split("+"))
    other = Counter(part for case in cases if any(case.truth.values()) for part in case.variant.split("+"))
    alike = {"polling", "retry_that_works", "like_names", "mistake_corrected", "wide_edit_asked_for"}
    assert alike < set(clean)
    assert alike < set(other)


def test_agents_differ_in_their_tools_and_in_what_is_recorded(balanced: list[Case]) -> None:
    recorded = set()
    for case in balanced:
        results = [result for step in case.trajectory.steps for result in step.results]
        flags, codes = (any(getattr(one, name) is not None for one in results) for name in ("is_error", "exit_code"))
        recorded.add((case.trajectory.agent, flags, codes))
    assert {agent for agent, _, _ in recorded} == {agent.name for agent in load_agents("scoring")}
    assert {(flags, codes) for _, flags, codes in recorded} == {(False, False), (True, False), (False, True)}


def test_a_mode_that_is_recorded_is_that_of_the_session(balanced: list[Case]) -> None:
    recorded = set()
    for case in balanced:
        contexts = case.trajectory.extra.get("turn_contexts", [])
        modes = [context["sandbox_policy"]["mode"] for context in contexts]
        modes += [step.extra["permissionMode"] for step in case.trajectory.steps if step.extra]
        recorded.add(tuple(dict.fromkeys(modes)))
    planned = {("plan", "default"), ("read-only", "workspace-write")}
    assert recorded == {(), ("default",), ("workspace-write",)} | planned
