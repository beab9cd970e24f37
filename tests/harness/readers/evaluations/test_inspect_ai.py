"""Inspect eval logs: a trajectory a sample and epoch, stored texts put back, scores as outcomes, the archive too."""

import json
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from misstep_harness.errors import MissingPrerequisite, UnreadableTrajectory
from misstep_harness.readers import read_file
from misstep_harness.readers.evaluations import inspect_ai
from misstep_harness.trajectory import Source, Tokens, Trajectory, Unreadable
from tests.families.recordings import recording_of

SOURCE = Source("inspect_ai", "logs/log.json")
LOG = {"version": 2, "status": "success", "eval": {"task": "triage", "model": "openai/gpt-x", "solver": "react"}}


def read(*samples: Any, **more: Any) -> list[Trajectory]:
    return list(inspect_ai.read(json.dumps(LOG | {"samples": samples} | more).encode(), SOURCE))


def scored(*values: Any) -> Trajectory:
    scores = {f"scorer {place}": {"value": value} for place, value in enumerate(values)}
    (trajectory,) = read({"id": 1, "scores": scores})
    return trajectory


def test_the_sample_is_two_epochs_of_one_sample_with_what_the_events_say_of_a_step() -> None:
    first, second = inspect_ai.read(recording_of("inspect_ai"), SOURCE)
    assert (first.id, second.id) == ("a1", "a1-e2")
    assert (first.model, first.task) == ("openai/gpt-x", "Which file?")
    assert (first.outcome.status, first.outcome.reward) == ("passed", None)
    assert (second.outcome.status, second.outcome.reward) == ("unknown", 0.5)
    assert [step.role for step in first.steps] == ["system", "user", "agent", "agent"]
    assert first.extra["log"]["status"] == "success"
    assert first.extra["target"] == "a.py"
    step = first.steps[2]
    assert step.reasoning == "List them."
    assert [(call.name, call.arguments, call.id) for call in step.calls] == [("bash", {"cmd": "ls"}, "c1")]
    (result,) = step.results
    assert (result.text, result.is_error) == ("a long text", True), "the stored text is in its place"
    assert result.extra["error"] == {"type": "timeout", "message": "over 30 s"}
    assert (step.tokens, step.seconds) == (Tokens(90, 7, 50), 1.5)
    assert step.timestamp == "2026-01-05T10:00:00+00:00"


@pytest.mark.parametrize(("stored", "text"), [("tc://77", "the text"), ("attachment://gone", "attachment://gone")])
def test_an_older_log_stores_texts_in_its_transcript_and_a_reference_to_nothing_stays(stored: str, text: str) -> None:
    transcript = {"events": [], "content": {"77": "the text"}}
    (trajectory,) = read({"id": 1, "messages": [{"role": "user", "content": stored}], "transcript": transcript})
    assert trajectory.steps[0].text == text


@pytest.mark.parametrize(
    ("values", "status", "reward"),
    [
        (["C"], "passed", None),
        (["I"], "failed", None),
        ([1], "passed", 1.0),
        ([0.0], "failed", 0.0),
        ([True], "passed", None),
        (["P"], "unknown", None),
        ([0.3], "unknown", 0.3),
        ([{"a": 1}], "unknown", None),
        (["C", 1], "passed", None),
        (["C", "I"], "unknown", None),
        ([], "unknown", None),
        ([float("nan")], "unknown", None),
    ],
)
def test_scores_are_an_outcome_where_all_scorers_say_the_same(values, status, reward) -> None:
    trajectory = scored(*values)
    assert (trajectory.outcome.status, trajectory.outcome.reward) == (status, reward)
    assert len(trajectory.extra.get("scores", ())) == len(values), "each is kept"


def test_what_is_nested_so_deep_that_it_cannot_be_worked_on_is_unreadable() -> None:
    content = b"[" * 700 + b"]" * 700
    sample = b'{"id": 1, "messages": [{"role": "user", "content": ' + content + b"}]}"
    with pytest.raises(UnreadableTrajectory, match="nested too deep"):
        list(inspect_ai.read(json.dumps(LOG).encode()[:-1] + b', "samples": [' + sample + b"]}", SOURCE))


def test_a_text_that_is_referred_to_again_and_again_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_ai, "EXPANSION_LIMIT", 10_000)
    sample = {"id": 1, "attachments": {"a": "x" * 1000}}
    message = {"role": "user", "content": "attachment://a"}
    (trajectory,) = read(sample | {"messages": [message] * 5})
    assert [len(step.text) for step in trajectory.steps] == [1000] * 5
    parts = {"role": "user", "content": [{"type": "text", "text": "attachment://a"}] * 50}
    for messages in ([message] * 50, [parts], [message | {"content": [{"deep": [["tc://a"] * 50]}]}]):
        with pytest.raises(UnreadableTrajectory, match="refers to its attachments so often"):
            read(sample | {"messages": messages})


def test_what_a_log_says_of_all_samples_stands_with_the_first_alone_where_it_is_long() -> None:
    short = read(*[{"id": n} for n in range(3)], plan={"prompt": "x"})
    assert all(trajectory.extra["log"]["plan"] == {"prompt": "x"} for trajectory in short)
    first, *others = read(*[{"id": n} for n in range(30)], plan={"prompt": "x" * 1_000_000})
    assert first.extra["log"]["plan"] == {"prompt": "x" * 1_000_000}
    for trajectory in others:
        assert trajectory.extra["log"]["whole_log"] == first.id
        assert "plan" not in trajectory.extra["log"]
        assert trajectory.model == first.model


def packed_by_zstandard(path: Path, files: dict[str, bytes]) -> None:
    """A zip archive as newer versions of Inspect write it; Python writes none before 3.14."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as writer:
        for name, content in files.items():
            writer.writestr(name, pyarrow.compress(content, codec="zstd", asbytes=True))
            member = writer.getinfo(name)
            member.compress_type, member.file_size, member.CRC = 93, len(content), zlib.crc32(content)


def packed_by_zip(path: Path, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as writer:
        for name, content in files.items():
            writer.writestr(name, content)


@pytest.mark.parametrize("pack", [packed_by_zip, packed_by_zstandard])
def test_an_archive_gives_the_same_trajectories_and_a_broken_sample_harms_no_other(tmp_path, pack) -> None:
    document = json.loads(recording_of("inspect_ai"))
    first, second = document.pop("samples")
    path, plain = tmp_path / "some.file", tmp_path / "plain.file"
    plain.write_bytes(recording_of("inspect_ai"))
    files = {"header.json": document, "samples/a1_epoch_1.json": first, "samples/a1_epoch_2.json": second}
    packed = {name: json.dumps(content, indent=2).encode() for name, content in files.items()}
    pack(path, dict(sorted((packed | {"samples/a1_epoch_1_broken.json": b'{"id": '}).items())))
    runs = [(one.id, one.steps, one.outcome) for one in read_file(path) if isinstance(one, Trajectory)]
    assert runs == [(one.id, one.steps, one.outcome) for one in read_file(plain) if isinstance(one, Trajectory)]
    assert len(runs) == 2
    assert [one.line for one in read_file(path) if isinstance(one, Unreadable)] == [2]


def test_a_sample_that_zstandard_packed_and_that_was_changed_is_unreadable_by_name(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    packed_by_zstandard(
        path, {"header.json": b'{"version": 2, "eval": {"task": "t"}}', "samples/a.json": b'{"id": "a"}'}
    )
    content = path.read_bytes()
    path.write_bytes(content.replace(b'{"id": "a"}', b'{"id": "b"}'))
    (result,) = read_file(path)
    assert isinstance(result, Unreadable)
    assert "samples/a.json in the archive cannot be unpacked" in result.error


def test_without_pyarrow_the_archive_that_zstandard_packed_names_what_is_missing(tmp_path, monkeypatch) -> None:
    path = tmp_path / "log.eval"
    packed_by_zstandard(path, {"header.json": b"{}", "samples/a.json": b'{"id": "a"}'})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPrerequisite, match=r"zstandard packed .*log\.eval.*misstep\[files\]"):
        list(read_file(path))


@pytest.mark.data
def test_the_public_logs_are_read(data_folder: Path) -> None:
    folder = data_folder / "transcript_formats" / "inspect_ai"
    figures = {
        path.name: [
            (run.id, run.outcome.status, len(run.steps), sum(len(step.results) for step in run.steps))
            for run in read_file(path)
            if isinstance(run, Trajectory)
        ]
        for path in sorted(folder.glob("*.json"))
    }
    assert figures == {
        "log_formats.json": [("1", "failed", 3, 0)],
        "log_tool_call_error.json": [("1-e4", "unknown", 1, 11)],
        "security-guide.json": [(name, "passed", 3, 0) for name in ("1", "2", "3")],
    }
    (run,) = read_file(folder / "log_tool_call_error.json")
    assert isinstance(run, Trajectory)
    assert all(result.is_error for result in run.steps[0].results)


@pytest.mark.parametrize("samples", [{}, {"samples": []}, {"samples": None}])
def test_a_log_without_samples_says_so(samples: dict[str, Any]) -> None:
    log = {"version": 2, "status": "error", "eval": {"task": "triage", "model": "m"}} | samples
    with pytest.raises(UnreadableTrajectory, match=r"samples: the log has no samples \(its status: error\)"):
        list(inspect_ai.read(json.dumps(log).encode(), SOURCE))


def said(**message: Any) -> Trajectory:
    (trajectory,) = read({"id": 1, "messages": [message]})
    return trajectory


@pytest.mark.parametrize(
    ("message", "role"),
    [
        ({"content": "\nPlease proceed to the next step using your best judgement. If you believe…"}, "system"),
        ({"content": "[CONTEXT COMPACTION SUMMARY]\n\nSo far", "metadata": {"summary": True}}, "system"),
        ({"content": "The critic agent has completed its work."}, "system"),
        ({"content": [{"type": "image", "image": "data:"}], "tool_call_id": ["c1"]}, "system"),
        ({"content": "The critic agent has completed its work. Now you."}, "user"),
        ({"content": "Which file?", "source": "input"}, "user"),
        ({"content": "Leave b.py alone", "source": "operator"}, "user"),
    ],
)
def test_what_an_agent_of_inspect_says_in_the_user_s_name_is_the_program_s(message: dict[str, Any], role: str) -> None:
    assert [step.role for step in said(role="user", **message).steps] == [role]


def test_a_tool_that_the_server_of_the_model_ran_is_a_call_with_its_result() -> None:
    def used(name: str, **more: Any) -> dict[str, Any]:
        return {"type": "tool_use", "tool_type": "web_search", "id": name, "name": "search", "arguments": "{}"} | more

    step = said(
        role="assistant", content=[used("w1", result="two pages"), used("w2", result="", error="too many")]
    ).steps[0]
    assert [(call.name, call.arguments, call.id) for call in step.calls] == [("search", {}, "w1"), ("search", {}, "w2")]
    assert [(result.text, result.is_error) for result in step.results] == [("two pages", None), ("too many", True)]


def test_of_thoughts_that_are_kept_secret_the_summary_is_read() -> None:
    secret = {"type": "reasoning", "reasoning": "gAAAA", "summary": "List them.", "redacted": True}
    plain = {"type": "reasoning", "reasoning": "Then read.", "summary": None}
    assert said(role="assistant", content=[secret, plain]).steps[0].reasoning == "List them.\nThen read."


@pytest.mark.parametrize(
    ("fields", "is_error"),
    [
        ({"error": {"type": "cancelled", "message": "Cancelled by user"}}, None),
        ({"error": {"type": "permission", "message": "not allowed"}}, True),
        ({"tool_error": "not allowed"}, True),
        ({}, None),
    ],
)
def test_a_call_failed_by_its_error_unless_it_was_cancelled(fields: dict[str, Any], is_error: bool | None) -> None:
    call = {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "function": "bash", "arguments": {}}]}
    (run,) = read({"id": 1, "messages": [call, {"role": "tool", "tool_call_id": "c1", "content": ""} | fields]})
    assert [result.is_error for result in run.steps[0].results] == [is_error]


@pytest.mark.parametrize(("total", "prompt"), [(147, 140), (97, 90), (None, 140)])
def test_the_prompt_is_the_input_and_what_is_cached_where_that_is_counted_apart(total: int | None, prompt: int) -> None:
    usage = {
        "input_tokens": 90,
        "output_tokens": 7,
        "input_tokens_cache_read": 50,
        "total_tokens": total,
        "total_cost": 1,
    }
    event = {"event": "model", "output": {"usage": usage, "choices": [{"message": {"id": "m1"}}]}}
    (run,) = read({"id": 1, "messages": [{"role": "assistant", "id": "m1", "content": "Hi"}], "events": [event]})
    assert run.steps[0].tokens == Tokens(prompt, 7, 50, 1.0)
