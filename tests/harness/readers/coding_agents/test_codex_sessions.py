"""Sessions in a Codex rollout: several in a file are several runs, and what a fork repeats counts where it was said."""

import json
from typing import Any

import pytest

from misstep_harness.readers.coding_agents import codex
from misstep_harness.trajectory import Source, Trajectory

SOURCE = Source("codex", "logs/rollout.jsonl")


def read(*lines: dict[str, Any]) -> list[Trajectory]:
    return list(codex.read("".join(json.dumps(line) + "\n" for line in lines).encode(), SOURCE))


def meta(name: str, second: float = 0, **more: Any) -> dict[str, Any]:
    return {"timestamp": stamp(second), "type": "session_meta", "payload": {"id": name, **more}}


def said(role: str, text: str, second: float = 0) -> dict[str, Any]:
    content = [{"type": "input_text" if role == "user" else "output_text", "text": text}]
    payload = {"type": "message", "role": role, "content": content}
    return {"timestamp": stamp(second), "type": "response_item", "payload": payload}


def event(kind: str, second: float = 0, **more: Any) -> dict[str, Any]:
    return {"timestamp": stamp(second), "type": "event_msg", "payload": {"type": kind, **more}}


def stamp(second: float) -> str:
    return f"2026-01-05T10:00:{second:06.3f}Z"


def texts(trajectory: Trajectory) -> list[str]:
    return [step.text for step in trajectory.steps]


FIRST = [said("user", "Fix it"), event("agent_message", message="Done."), said("assistant", "Done.")]
SPAWNED = {"subagent": {"thread_spawn": {"parent_thread_id": "a"}}}


def test_several_sessions_in_a_file_are_several_runs_each_at_its_line() -> None:
    result = read(meta("a"), *FIRST, meta("b"), said("user", "Now test it"), said("assistant", "Tested."))
    assert [(one.id, one.source.line, texts(one)) for one in result] == [
        ("a", 1, ["Fix it", "Done."]),
        ("b", 5, ["Now test it", "Tested."]),
    ]


def test_what_a_fork_repeats_of_a_session_in_the_same_file_counts_there() -> None:
    parent, fork = read(
        *(meta("a"), *FIRST),
        *(meta("b", forked_from_id="a"), meta("a"), *FIRST, said("user", "Try another way"), said("assistant", "Did.")),
    )
    assert (texts(parent), texts(fork)) == (["Fix it", "Done."], ["Try another way", "Did."])
    assert (fork.id, fork.parent, parent.parent) == ("b", "a", None)
    assert [line["line"] for line in fork.extra["replayed_lines"]] == [5, 6, 7, 8, 9], "nothing is lost"


def test_a_fork_of_a_fork_repeats_both() -> None:
    own = [said("user", "Try another way")]
    *_, last = read(
        *(meta("a"), *FIRST),
        *(meta("b", forked_from_id="a"), meta("a"), *FIRST, *own),
        *(meta("c", forked_from_id="b"), meta("b", forked_from_id="a"), meta("a"), *FIRST, *own, said("user", "Third")),
    )
    assert (last.id, last.parent, texts(last)) == ("c", "b", ["Third"])


FORK, NEW = meta("b", forked_from_id="a"), said("user", "New")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # a session that is taken up again after another one goes on, and one that repeats itself counts once
        (
            [meta("a"), *FIRST, meta("b"), NEW, meta("a"), said("user", "Go on")],
            {"a": ["Fix it", "Done.", "Go on"], "b": ["New"]},
        ),
        ([meta("a"), *FIRST, meta("a"), *FIRST, NEW], {"a": ["Fix it", "Done.", "New"]}),
        # a fork before its parent and from its middle
        ([FORK, FIRST[0], NEW, meta("a"), *FIRST], {"b": ["New"], "a": ["Fix it", "Done."]}),
        # without the parent the copy ends where the session is described again, and keeps its time from before the fork
        ([FORK, meta("a"), *FIRST, FORK, NEW], {"b": ["New"]}),
        ([meta("b", 50, forked_from_id="a"), meta("a", 1), *FIRST, said("user", "New", 58)], {"b": ["New"]}),
        # nothing tells a copy apart, or a sub-agent only names its parent
        ([FORK, meta("a"), *FIRST, NEW], {"b": ["Fix it", "Done.", "New"]}),
        ([meta("b", source=SPAWNED), meta("a"), said("user", "Look", 0.1), NEW], {"b": ["Look", "New"]}),
    ],
)
def test_a_copy_counts_where_it_was_first_said(lines: list[dict[str, Any]], expected: dict[str, list[str]]) -> None:
    runs = read(*lines)
    assert {run.id: texts(run) for run in runs} == expected
    assert runs[0].parent == ("a" if runs[0].id == "b" else None)


@pytest.mark.parametrize("with_parents_description", [True, False])
@pytest.mark.parametrize("asked_at", [0.4, 30.0])
def test_else_the_copy_ends_before_the_words_to_which_the_first_later_answer_is(asked_at, with_parents_description):
    copied = [line | {"timestamp": stamp(0.003)} for line in FIRST]
    described = [meta("a", 0.002)] if with_parents_description else []
    own = [said("user", "New", asked_at), said("assistant", "Did.", 31)]
    (fork,) = read(meta("b", 0.001, forked_from_id="a"), *described, *copied, *own)
    assert texts(fork) == ["New", "Did."]
    assert fork.task == "New"


def test_the_tokens_of_a_copy_are_not_those_of_the_fork() -> None:
    def count(total: int, last: int, second: float) -> dict[str, Any]:
        usage = {"total_token_usage": {"input_tokens": total}, "last_token_usage": {"input_tokens": last}}
        return event("token_count", second, info=usage)

    (fork,) = read(
        *(
            meta("b", 0.001, forked_from_id="a"),
            meta("a", 0.002),
            said("assistant", "Done.", 0.003),
            count(9, 9, 0.003),
        ),
        *(said("user", "New", 30), count(9, 9, 31), said("assistant", "Did.", 32), count(14, 5, 33)),
    )
    assert [step.tokens and step.tokens.prompt for step in fork.steps] == [None, 5]


def test_sessions_of_the_oldest_layout_one_a_line_are_runs_of_their_own() -> None:
    def document(name: str) -> dict[str, Any]:
        described = {"id": name, "timestamp": stamp(0), "instructions": ""}
        return {"session": described, "items": [said("user", f"Fix {name}")["payload"]]}

    assert [(one.id, one.task) for one in read(document("a"), document("b"))] == [("a", "Fix a"), ("b", "Fix b")]
