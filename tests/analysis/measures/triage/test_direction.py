"""Which way the errors of a judge of triage go, and what hangs on single families."""

from misstep.analysis.measures.triage.direction import direction
from misstep.analysis.measures.triage.families import left_out
from tests.analysis.measures.triage.made_up import judged_cases


def test_errors_that_all_go_to_the_task_are_a_bias() -> None:
    cases = judged_cases(["agent"] * 16 + ["task"] * 16, {"weak": ["task"] * 8 + ["agent"] * 8 + ["task"] * 16})
    found = direction(cases.sample("weak"))
    assert (found.n_agent_to_task, found.n_task_to_agent) == (8, 0)
    assert found.agent_to_task.value == 0.5
    assert found.p_value is not None
    assert found.p_value < 0.01
    assert found.difference.low is not None
    assert found.difference.low > 0


def test_over_families_that_err_as_a_whole_the_same_errors_show_no_bias() -> None:
    said = ["task"] * 8 + ["agent"] * 8 + ["task"] * 16
    cases = judged_cases(["agent"] * 16 + ["task"] * 16, {"weak": said}, [f"f{n // 8}" for n in range(32)])
    found = direction(cases.sample("weak"))
    assert found.p_value is not None
    assert found.p_value >= 0.5


def test_a_case_left_open_is_no_error_and_is_counted() -> None:
    cases = judged_cases(["agent", "agent", "task"], {"shy": ["", "agent", "task"]})
    found = direction(cases.sample("shy"))
    assert found.agent_to_task.n == 1
    assert found.unanswered["agent"].value == 0.5
    assert (found.p_value, found.reason) == (None, "there is no such error")


def test_leaving_out_the_one_family_that_is_judged_wrong_gives_a_perfect_kappa() -> None:
    gold = ["agent", "task", "infrastructure", "pass"] * 3
    said = [*gold[:8], "task", "agent", "pass", "infrastructure"]
    cases = judged_cases(gold, {"judge": said}, [f"f{n // 4}" for n in range(12)])
    found = left_out(cases.sample("judge"), cases.clusters)
    assert found.families[0].name == "family f2"
    assert (found.families[0].right.value, found.families[0].kappa_without) == (0.0, 1.0)
    assert found.kappa is not None
    assert found.lowest is not None
    assert found.lowest.kappa_without is not None
    assert found.lowest.kappa_without < found.kappa < 1.0
