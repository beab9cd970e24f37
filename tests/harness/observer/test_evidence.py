"""What guidance may quote of a run: the agent's calls and the user's words, never what a tool answered."""

from msgspec.structs import replace

from misstep_harness.classifiers.history import History
from misstep_harness.intervention import Feedback, Misbehaviour
from misstep_harness.observer.evidence import call_text, evidence_of, known_tools, with_evidence
from misstep_harness.trajectory import Step, ToolCall, Trajectory
from tests.harness.observer.made_up_runs import asked, call, read, run


def _evidence(category: str, steps: tuple[int, ...], trajectory: Trajectory) -> dict[str, str]:
    return evidence_of(Misbehaviour(category, steps), History(trajectory))


def test_a_loop_names_its_call_and_how_often_it_came() -> None:
    evidence = _evidence("infinite_loop", (1, 2, 4), run(asked("Mend it."), read(), read(), read("b.py"), read()))
    assert evidence == {"request": "Mend it.", "call": "read_file(file_path='a.py')", "times": "3"}


def test_a_failing_tool_names_its_last_call_and_the_parameters_of_a_call_that_worked() -> None:
    failing = [call("edit", "no such text", error=True, path=f"{name}.py", old="x") for name in "bc"]
    evidence = _evidence(
        "tool_call_failure", (2, 3), run(asked(), call("edit", "done", path="a.py", new="y"), *failing)
    )
    assert evidence["tool"] == "edit"
    assert evidence["call"] == "edit(path='c.py', old='x')"
    assert evidence["parameters"] == "path, new"
    assert "tools" not in evidence


def test_a_tool_that_is_not_there_is_answered_by_those_that_are() -> None:
    unknown = call("open_file", "Error: unknown tool 'open_file'", error=True)
    assert _evidence("tool_call_failure", (2,), run(asked(), read(), unknown))["tools"] == "read_file"
    unlucky = call("edit", "Error: no such text in the file", error=True)
    assert "tools" not in _evidence("tool_call_failure", (2,), run(asked(), read(), unlucky))


def test_the_record_and_our_own_agent_define_their_tools() -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    definitions = [{"type": "function", "function": {"name": "edit", "parameters": schema}}, {"name": 7}, "x"]
    defined = replace(run(asked()), extra={"agent": {"tool_definitions": definitions}})
    assert list(known_tools(History(defined))) == ["edit"]
    assert "properties" in known_tools(History(defined))["edit"]
    own = replace(run(asked()), agent="engineering_agent/model", source=replace(run().source, format="misstep"))
    assert known_tools(History(own))["read_file"].startswith("read_file file_path=<")
    wrong = replace(own, steps=(asked(), call("open_file", "There is no command 'open_file'.", error=True)))
    assert "read_file" in _evidence("tool_call_failure", (1,), wrong)["tools"]


def test_a_broken_limit_is_quoted_as_the_user_worded_it() -> None:
    changed = call("write_file", "ok", path="config.yaml", content="a: 1")
    evidence = _evidence("unrequested_changes", (2,), run(asked(), read(), changed))
    assert evidence["constraint"] == "Do not touch config.yaml."
    assert evidence["changed"] == "config.yaml"


def test_nothing_that_a_tool_answered_is_quoted() -> None:
    text = "run the script below"
    trajectory = run(asked(), *[call("edit", text, error=True, path="a.py")] * 4)
    results = [Misbehaviour(category, (1, 2, 3, 4)) for category in ("infinite_loop", "tool_call_failure", "elsewhere")]
    feedback = with_evidence(Feedback(tuple(results)), trajectory)
    assert text not in str([one.evidence for one in feedback.misbehaviours])


def test_a_quotation_is_one_short_line_that_ends_no_quotation_of_ours() -> None:
    text = call_text(ToolCall("bash", {"command": 'echo `x` "y"\n<|im_start|>' + "z" * 9_999}))
    assert len(text) <= 200
    assert not set('`"\n') & set(text)
    assert "<|" not in text
    assert len(call_text(ToolCall("bash", "[" * 9_999))) <= 200
    assert len(call_text(ToolCall("x" * 9_999, {"y" * 999: "z"} | {str(n): [n] * 99 for n in range(99)}))) <= 200


def test_what_a_detector_names_itself_stays() -> None:
    named = Feedback((Misbehaviour("infinite_loop", (1,), evidence={"call": "its own"}),))
    assert with_evidence(named, run(asked(), read())).misbehaviours[0].evidence["call"] == "its own"


def test_evidence_of_steps_that_are_no_calls_is_the_request_alone() -> None:
    talk = run(asked("Mend it."), *[Step("agent", "I will do it.")] * 3)
    for category in ("infinite_loop", "tool_call_failure", "unrequested_changes"):
        assert _evidence(category, (1, 2, 3), talk) == {"request": "Mend it."}
