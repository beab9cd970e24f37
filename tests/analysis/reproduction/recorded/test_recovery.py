"""The study of loops without intervention: where a loop could first be seen, and what followed."""

from misstep_analysis.reproduction.recorded.recovery import first_seen, unaided_loops, what_followed
from misstep_harness.trajectory import Source, Step, ToolCall, ToolResult, Trajectory


def call(path: str) -> Step:
    return Step(
        "agent",
        calls=(ToolCall("read_file", {"path": path}, id="1"),),
        results=(ToolResult(f"the text of {path}", call_id="1"),),
    )


def run(*steps: Step) -> Trajectory:
    return Trajectory(id="r", source=Source("made up"), task="Sort the apples.", steps=steps)


RUN = run(*[call("a.py")] * 3, call("b.py"), call("c.py"), call("a.py"))


def test_a_loop_is_seen_at_its_third_call_though_it_goes_on() -> None:
    assert first_seen(RUN, (0, 1, 2, 5)) == 2
    assert first_seen(RUN, (0, 1)) is None


def test_the_same_call_again_is_counted_in_the_agents_steps() -> None:
    assert what_followed(RUN, 2) == (3, 3)
    asked = run(call("a.py"), Step("user", "Go on."), call("b.py"), call("a.py"))
    assert what_followed(asked, 0) == (2, 2)
    assert what_followed(asked, 2) == (None, 1)


def test_recorded_loops_of_public_runs_are_in_runs_of_some_steps_more(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MISSTEP_DATA", str(tmp_path))
    loops = unaided_loops(("llm_agents_study",))
    assert len(loops) >= 20
    assert all(loop.again is None or 1 <= loop.again <= loop.left for loop in loops)
