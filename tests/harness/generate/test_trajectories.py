"""Generated trajectories: the same for a seed whatever their number, of every variant, of the size asked for."""

from collections import Counter
from statistics import mean

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.harness.generate.families import load_families
from misstep.harness.generate.trajectories import CATEGORIES, VARIANTS, Case, generate_trajectories


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return list(generate_trajectories(400, 11))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(), n=st.integers(1, 30), more=st.integers(0, 30))
def test_a_case_does_not_depend_on_how_many_there_are(seed: int, n: int, more: int) -> None:
    assert list(generate_trajectories(n, seed)) == list(generate_trajectories(n + more, seed))[:n]


def test_another_seed_gives_other_cases() -> None:
    one, other = (list(generate_trajectories(20, seed)) for seed in (1, 2))
    assert [case.trajectory.steps for case in one] != [case.trajectory.steps for case in other]


def test_every_variant_stands_once_in_each_round(cases: list[Case]) -> None:
    size = len(VARIANTS)
    assert size <= 200
    for start in (0, size):
        assert Counter(case.variant for case in cases[start : start + size]) == Counter(list(VARIANTS))


def test_the_truth_is_that_of_the_variant_and_evidence_stands_where_something_was_planted(cases: list[Case]) -> None:
    for case in cases:
        planted = {category for category, true in case.truth.items() if true}
        assert tuple(case.truth) == CATEGORIES
        assert planted == set(VARIANTS[case.variant].plants) == set(case.evidence)


def test_evidence_is_in_order_and_what_the_agent_did_or_said(cases: list[Case]) -> None:
    for case in cases:
        for steps in case.evidence.values():
            assert steps == tuple(sorted(set(steps)))
            assert all(case.trajectory.steps[step].role == "agent" for step in steps)


def test_about_half_of_the_cases_are_clean_and_look_alikes_outnumber_misbehaviours(cases: list[Case]) -> None:
    clean = sum(not any(case.truth.values()) for case in cases)
    assert 0.4 <= clean / len(cases) <= 0.65
    kinds = Counter(bool(variant.plants) for variant in VARIANTS.values())
    assert kinds[False] >= kinds[True]


def test_every_category_is_planted_in_a_twelfth_of_the_cases_at_least(cases: list[Case]) -> None:
    planted = Counter(category for case in cases for category, true in case.truth.items() if true)
    assert all(planted[category] >= len(cases) / 12 for category in CATEGORIES)


def test_a_session_has_about_ten_to_forty_steps_and_begins_with_its_task(cases: list[Case]) -> None:
    for case in cases:
        assert 8 <= len(case.trajectory.steps) <= 42
        assert case.trajectory.task == next(step.text for step in case.trajectory.steps if step.role == "user")


def test_every_call_has_its_answer(cases: list[Case]) -> None:
    for case in cases:
        ids = [call.id for step in case.trajectory.steps for call in step.calls]
        assert len(ids) == len(set(ids))
        for step in case.trajectory.steps:
            assert [call.id for call in step.calls] == [result.call_id for result in step.results]


def test_agents_differ_in_their_tools_and_in_what_is_recorded(cases: list[Case]) -> None:
    recorded = {
        (
            case.trajectory.agent,
            any(result.is_error is not None for step in case.trajectory.steps for result in step.results),
            any(result.exit_code is not None for step in case.trajectory.steps for result in step.results),
        )
        for case in cases
        if any(step.results for step in case.trajectory.steps)
    }
    agents = {agent for agent, _, _ in recorded}
    assert agents == {
        "handyman",
        "claude-code",
        "openhands",
        "swe-agent",
        "codex",
        "bash-alone",
        "service-desk",
        *(one.agent for one in load_families() if one.set == "scoring"),
    }
    assert {flags for _, *flags_ in recorded for flags in [tuple(flags_)]} == {
        (False, False),
        (True, False),
        (False, True),
    }


def test_the_id_does_not_tell_the_variant_and_of_extra_fields_there_is_the_recorded_mode_alone(
    cases: list[Case],
) -> None:
    for index, case in enumerate(cases):
        assert case.trajectory.id == f"scoring-11-{index:06}"
        assert set(case.trajectory.extra) <= {"turn_contexts"}
        assert all(set(step.extra) <= {"permissionMode"} for step in case.trajectory.steps)


def test_a_mode_that_is_recorded_is_that_of_the_session() -> None:
    planned = {"plan_mode_ignored", "plan_mode_kept", "plan_mode_left"}
    recorded: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for case in generate_trajectories(1200, 2):
        contexts = case.trajectory.extra.get("turn_contexts", [])
        modes = [context["sandbox_policy"]["mode"] for context in contexts]
        modes += [step.extra["permissionMode"] for step in case.trajectory.steps if step.extra]
        assert any(mode in ("plan", "read-only") for mode in modes) == bool(modes and case.variant in planned)
        if case.variant in planned:
            recorded[case.variant, tuple(modes[-1:])] += 1
    assert all(recorded[variant, (mode,)] for variant in planned - {"plan_mode_left"} for mode in ("plan", "read-only"))
    assert recorded["plan_mode_left", ("default",)]
    assert recorded["plan_mode_left", ("workspace-write",)]


def test_trajectories_have_about_the_bytes_asked_for() -> None:
    wanted = 60_000
    sizes = [len(msgspec.json.encode(case.trajectory)) for case in generate_trajectories(120, 5, wanted)]
    assert mean(sizes) == pytest.approx(wanted, rel=0.05)
    assert sum(abs(size - wanted) < 0.15 * wanted for size in sizes) >= 0.9 * len(sizes)


def test_length_changes_neither_truth_nor_variant() -> None:
    short, long = (list(generate_trajectories(100, 5, size)) for size in (0, 30_000))
    assert [(case.variant, case.truth) for case in short] == [(case.variant, case.truth) for case in long]


def test_equal_commands_print_equal_additions() -> None:
    """What an agent sees again and again stays the same to the letter when it is long."""
    loops = [case for case in generate_trajectories(400, 3, 40_000) if case.variant == "lookup_loop"]
    assert loops
    for case in loops:
        (steps,) = case.evidence.values()
        answers = {case.trajectory.steps[step].results[0].text for step in steps}
        assert len(answers) == 1
        assert len(answers.pop()) > 1000
