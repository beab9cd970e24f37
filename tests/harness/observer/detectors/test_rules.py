"""The rules as a detector of a run that goes on."""

import pytest

from misstep_harness.classifiers import infinite_loop
from misstep_harness.observer.detectors import RuleFailed, feedback
from misstep_harness.trajectory import Step
from tests.harness.observer.made_up_runs import asked, call, read, run


def _found(*steps: Step) -> list[tuple[str, tuple[int, ...]]]:
    return [(one.category, one.steps) for one in feedback(run(*steps)).misbehaviours]


def test_an_old_loop_does_not_hide_a_shorter_new_one() -> None:
    steps = [asked(), *[read()] * 6, *[read(f"{number}.py") for number in range(5)], *[read("b.py")] * 3]
    assert _found(*steps) == [("infinite_loop", tuple(range(1, 7))), ("infinite_loop", (12, 13, 14))]


def test_a_long_loop_shows_its_first_and_its_last_steps() -> None:
    ((_, steps),) = _found(asked(), *[read()] * 90)
    assert (steps[0], steps[-1], len(steps)) == (1, 90, 20)


def test_what_was_ruled_out_is_found_with_all_that_the_agent_made_before() -> None:
    steps = [asked(), read(), call("write_file", "ok", path="config.yaml", content="a: 1"), read("b.py")]
    assert _found(*steps) == [("unrequested_changes", (2,)), ("did_not_follow_instructions", (2,))]


def test_a_run_without_misbehaviour_gives_nothing() -> None:
    assert not feedback(run(asked(), read(), read("b.py"))).found
    assert not feedback(run()).found


def test_a_rule_that_breaks_is_not_nothing_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(history: object) -> None:  # noqa: ARG001
        raise ValueError("no licence")

    monkeypatch.setattr(infinite_loop, "repeated_calls", breaks)
    with pytest.raises(RuleFailed, match="no licence"):
        feedback(run(asked(), read()))
    assert _found(asked(), call("write_file", "ok", path="config.yaml", content="a: 1"))
