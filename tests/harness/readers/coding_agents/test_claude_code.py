"""Claude Code sessions: turns over many lines, results with their calls, the person's own words, sub-agents apart."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.readers.coding_agents import claude_code
from misstep_harness.readers.files import sample_file
from misstep_harness.readers.interchange.atif import from_atif, to_atif
from misstep_harness.trajectory import Source, Tokens, Trajectory
from tests.families.recordings import recording_of

SOURCE = Source("claude_code", "logs/some-session.jsonl")


def read(*lines: dict[str, Any], unfinished: str = "") -> list[Trajectory]:
    data = "".join(json.dumps(line) + "\n" for line in lines) + unfinished
    return list(claude_code.read(data.encode(), SOURCE))


def line(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content} | more.pop("message", {})
    return {"type": kind, "sessionId": "s1", "message": message} | more


def roles(trajectory: Trajectory) -> list[tuple[str, str]]:
    return [(step.role, step.text) for step in trajectory.steps]


def test_the_sample_is_a_session_and_its_sub_agent_and_lines_with_one_message_id_are_one_turn() -> None:
    session, agent = claude_code.read(recording_of("claude_code"), SOURCE)
    assert (session.id, session.parent, session.agent, session.model) == ("s1", None, "claude-code", "claude-x")
    assert session.task == "Rename the flag"
    assert roles(session) == [("user", "Rename the flag"), ("agent", ""), ("agent", "Done.")]
    assert session.extra["session"]["gitBranch"] == "main"
    assert session.extra["other_lines"][0]["value"]["type"] == "summary"
    assert (agent.id, agent.parent) == ("s1/a7", "s1")
    assert roles(agent) == [("user", "Search for flags"), ("agent", "Found two.")]
    step = session.steps[1]
    assert step.reasoning == "Look."
    assert [call.name for call in step.calls] == ["Bash"]
    assert step.tokens == Tokens(prompt=9, completion=5)
    assert step.extra["more_lines"][0]["uuid"] == "u3"
    (result,) = step.results
    assert (result.is_error, result.exit_code) == (True, 2)
    assert result.extra["toolUseResult"] == {"stderr": "no such file"}


def test_the_prompt_is_what_was_new_written_to_the_cache_and_read_from_it() -> None:
    usage = {"input_tokens": 2, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 30, "output_tokens": 7}
    (session,) = read(line("assistant", "Yes.", message={"usage": usage | {"service_tier": "x"}}))
    assert session.steps[0].tokens == Tokens(prompt=132, completion=7, cached=100, cache_written=30)
    assert session.steps[0].extra["usage"]["service_tier"] == "x"


@pytest.mark.parametrize(
    ("apart", "written", "hour"),
    [
        ({"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 30}, 30, 30),
        ({"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 0}, 30, 0),
        ({"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20}, 30, 20),
        ({"ephemeral_1h_input_tokens": 20}, 30, 20),
        ({}, 30, None),
    ],
)
def test_what_is_written_to_the_cache_is_told_apart_by_how_long_it_is_kept_also_in_atif(
    apart: dict[str, int], written: int, hour: int | None
) -> None:
    usage = {"input_tokens": 2, "cache_creation_input_tokens": 30, "output_tokens": 7, "cache_creation": apart}
    message = {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": "Yes."}], "usage": usage}
    (session,) = read({"type": "assistant", "sessionId": "s", "uuid": "u", "message": message})
    assert session.steps[0].tokens == Tokens(32, 7, cache_written=written, cache_written_1h=hour)
    assert from_atif(to_atif(session)) == session


def test_a_result_stands_with_its_call_also_when_the_turn_goes_on_after_it() -> None:
    def use(name: str) -> dict[str, Any]:
        block = {"type": "tool_use", "id": name, "name": "Read", "input": {"file_path": name}}
        return line("assistant", [block], message={"id": "m1"})

    def result(name: str) -> dict[str, Any]:
        return line("user", [{"type": "tool_result", "tool_use_id": name, "content": [{"type": "text", "text": name}]}])

    (session,) = read(line("user", "Read both"), use("a"), result("a"), use("b"), result("b"))
    (step,) = session.steps[1:]
    assert [call.id for call in step.calls] == ["a", "b"]
    assert [(outcome.call_id, outcome.text) for outcome in step.results] == [("a", "a"), ("b", "b")]


@pytest.mark.parametrize(
    "injected",
    [
        line("user", "<system-reminder>Do not edit x.py</system-reminder>"),
        line("user", [{"type": "text", "text": "Only read files."}], isMeta=True),
        line("user", "You may only speak Latin.", isCompactSummary=True),
        line("user", "<command-name>/clear</command-name>\n<command-args></command-args>"),
        line("user", "<local-command-stdout>done</local-command-stdout>"),
        line("user", "<bash-input>ls</bash-input>"),
        line("user", '<teammate-message teammate_id="lead">Look at a.py</teammate-message>'),
        line("user", "Stop hook: the tests fail", isSynthetic=True),
        line("user", "Only shown", isVisibleInTranscriptOnly=True),
        line("user", "The task ended", origin={"kind": "task-notification"}),
        line("user", "[Request interrupted by user for tool use]"),
        line("user", "This session is being continued from a previous conversation that ran out of context. In it:"),
        {"type": "system", "sessionId": "s1", "content": "Conversation compacted"},
        line("assistant", "API Error", isApiErrorMessage=True, message={"model": "<synthetic>"}),
    ],
)
def test_what_the_program_adds_is_no_step_of_user_or_agent(injected: dict[str, Any]) -> None:
    (session,) = read(line("user", "Fix it"), injected)
    assert [step.role for step in session.steps] == ["user", "system"]
    assert session.task == "Fix it"


def test_what_the_program_puts_into_a_persons_text_stands_apart() -> None:
    reminder = "<system-reminder>Do not edit x.py</system-reminder>"
    (session,) = read(line("user", [{"type": "text", "text": reminder}, {"type": "text", "text": "Fix <b>it</b>"}]))
    assert roles(session) == [("user", "Fix <b>it</b>")]
    assert session.steps[0].extra["injected"] == [reminder]
    (unclosed,) = read(line("user", "What is a <system-reminder>?"))
    assert roles(unclosed) == [("user", "What is a <system-reminder>?")]


def test_the_words_behind_a_command_are_the_persons() -> None:
    wrapper = "<command-name>/fix</command-name>\n<command-args>only a.py</command-args>"
    (session,) = read(line("user", wrapper))
    assert roles(session) == [("user", "/fix only a.py")]
    assert session.steps[0].extra["wrapper"] == wrapper


@pytest.mark.parametrize(
    ("words", "origin", "typed"),
    [("use List<int>, not <b>", None, "/fix use List<int>, not <b>"), ("", {"kind": "human"}, "/fix")],
)
def test_a_command_is_typed_whatever_signs_are_in_its_words_and_without_words_if_the_line_says_so(
    words: str, origin: Any, typed: str
) -> None:
    wrapper = f"<command-name>/fix</command-name>\n<command-args>{words}</command-args>"
    (session,) = read(line("user", wrapper, origin=origin))
    assert roles(session) == [("user", typed)]


@pytest.mark.parametrize(
    ("content", "is_error"),
    [
        ([{"type": "web_search_result", "url": "https://example.org"}], None),
        ({"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}, True),
    ],
)
def test_what_a_tool_on_the_server_answers_is_the_result_of_its_call(content: Any, is_error: bool | None) -> None:
    call = {"type": "server_tool_use", "id": "w1", "name": "web_search", "input": {"query": "flags"}}
    answer = {"type": "web_search_tool_result", "tool_use_id": "w1", "content": content}
    (session,) = read(line("assistant", [call, answer]))
    (result,) = session.steps[0].results
    assert (result.call_id, result.is_error) == ("w1", is_error)
    assert result.extra["content"]


def test_what_is_typed_meanwhile_may_have_parts_and_what_a_teammate_says_is_not_typed() -> None:
    def queued(prompt: Any) -> dict[str, Any]:
        attached = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"}
        return {"type": "attachment", "sessionId": "s1", "attachment": attached}

    picture = {"type": "image", "source": {}}
    (session,) = read(
        queued([{"type": "text", "text": "Like this"}, picture]), queued("<teammate-message>Hi</teammate-message>")
    )
    assert roles(session) == [("user", "Like this")]


def test_what_a_person_types_while_the_agent_works_is_the_persons() -> None:
    queued = {"type": "queued_command", "prompt": "Leave b.py alone", "commandMode": "prompt"}
    (session,) = read(line("user", "Fix it"), {"type": "attachment", "sessionId": "s1", "attachment": queued})
    assert roles(session)[1] == ("user", "Leave b.py alone")


def test_lines_of_unknown_types_are_kept_and_do_no_harm() -> None:
    (session,) = read(line("user", "Fix it"), {"type": "hologram", "sessionId": "s1", "depth": 3}, {})
    assert len(session.steps) == 1
    assert [kept["value"] for kept in session.extra["other_lines"]] == [
        {"type": "hologram", "sessionId": "s1", "depth": 3},
        {},
    ]


def test_sub_agents_without_an_id_are_told_apart_by_the_root_of_their_lines() -> None:
    def side(uuid: str, parent: str | None) -> dict[str, Any]:
        return line("user", uuid, uuid=uuid, parentUuid=parent, isSidechain=True)

    sides = [side("a1", None), side("b1", None), side("a2", "a1"), side("b2", "b1")]
    for lines in ([line("user", "Go"), *sides], [*sides, line("user", "Go")]):
        assert [(run.id, len(run.steps)) for run in read(*lines)] == [("s1", 1), ("s1/a1", 2), ("s1/b1", 2)]


def test_streamed_lines_have_snake_case_names_and_a_sub_agent_is_known_by_its_call() -> None:
    def streamed(content: str, call: str | None) -> dict[str, Any]:
        message = {"role": "assistant", "content": [{"type": "text", "text": content}]}
        return {
            "type": "assistant",
            "session_id": "s2",
            "parent_tool_use_id": call,
            "message": message,
            "uuid": content,
        }

    outcome = read({"type": "system", "subtype": "init", "session_id": "s2"}, streamed("a", None), streamed("b", "t1"))
    assert [(trajectory.id, trajectory.parent) for trajectory in outcome] == [("s2", None), ("s2/t1", "s2")]


def test_a_document_of_log_lines_is_a_session_named_by_its_file() -> None:
    document = json.dumps({"loglines": [line("user", "Fix it") | {"sessionId": None}], "title": "x"}, indent=1)
    (session,) = claude_code.read(document.encode(), SOURCE)
    assert session.id == "some-session"
    assert session.extra["wrapper"] == {"title": "x"}


@pytest.mark.parametrize(
    ("about", "said", "why"),
    [
        (
            {"parentUuid": None},
            {"type": "user", "message": {"role": "user", "parts": [{"text": "Fix it"}]}},
            "Qwen Code",
        ),
        ({"timestamp": 1767607200000}, {"type": "message", "role": "user", "text": "Fix it"}, "numbers"),
    ],
)
def test_sessions_of_qwen_code_and_droid_whose_lines_look_alike_are_refused(
    tmp_path: Path, about: dict[str, Any], said: dict[str, Any], why: str
) -> None:
    path = tmp_path / "session.jsonl"
    lines = ({"type": "system", "subtype": "init"} | about, said)
    path.write_text("\n".join(json.dumps({"sessionId": "s1"} | line) for line in lines))
    assert why in str(claude_code.refuse(sample_file(path)))


def test_a_file_of_summaries_holds_no_trajectory() -> None:
    assert read({"type": "summary", "summary": "Renaming", "leafUuid": "u9"}) == []


def turn(session: str, uuid: str, text: str, kind: str = "user", **more: Any) -> dict[str, Any]:
    return line(kind, text, sessionId=session, uuid=uuid, **more)


def test_several_sessions_in_a_file_are_several_runs_each_at_its_line() -> None:
    outcome = read(turn("a", "1", "Fix it"), turn("a", "2", "Done.", "assistant"), turn("b", "3", "Test it"))
    assert [(one.id, one.source.line, len(one.steps)) for one in outcome] == [("a", 1, 2), ("b", 3, 1)]


def test_a_session_taken_up_in_a_file_of_its_own_leaves_what_it_repeats_to_the_earlier_one() -> None:
    old, again = turn("a", "1", "Fix it"), turn("some-session", "2", "And test it", parentUuid="1")
    (session,) = read(old, again)
    assert (session.id, session.parent, session.task) == ("some-session", "a", "And test it")
    assert [one["line"] for one in session.extra["replayed_lines"]] == [1]


def test_the_lines_of_a_forked_session_that_say_where_they_are_from_count_there() -> None:
    copied = turn("b", "1", "Fix it", forkedFrom={"sessionId": "a", "messageUuid": "0"})
    (session,) = read(copied, turn("b", "2", "Try another way"))
    assert (session.id, session.parent, roles(session)) == ("b", "a", [("user", "Try another way")])


def test_a_line_that_a_second_session_in_the_file_has_again_counts_once() -> None:
    first, second = read(turn("a", "1", "Fix it"), turn("b", "1", "Fix it"), turn("b", "2", "Test it"))
    assert (len(first.steps), roles(second)) == (1, [("user", "Test it")])
