"""The readers on the public recordings: each in its format, with as many steps and calls as its set documents."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from misstep_harness.readers import all_readers, read_file
from misstep_harness.readers.files import recognise, sample_file
from misstep_harness.readers.interchange.atif import read, to_atif
from misstep_harness.trajectory import Source, Trajectory

pytestmark = pytest.mark.data

FOLDERS = {
    "transcript_formats/aider": "aider",
    "transcript_formats/atif": "atif",
    "transcript_formats/claude_code": "claude_code",
    "transcript_formats/codex_cli": "codex",
    "transcript_formats/gemini_cli": "gemini_cli",
    "transcript_formats/inspect_ai": "inspect_ai",
    "transcript_formats/mini_swe_agent": "mini_swe_agent",
    "transcript_formats/openai_chat": "openai_chat",
    "transcript_formats/openhands": "openhands",
    "transcript_formats/swe_agent": "swe_agent",
    "agent_trajs/mini-swe-agent": "mini_swe_agent",
    "agent_trajs/sweagent": "swe_agent",
    "agentrx/tau_retail": "taubench",
    "codetracer_runs/trajectories": "atif",
    "mini_swe_agent_runs/trajectories": "mini_swe_agent",
}


def recordings(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.iterdir()) if path.name not in ("LICENSE", "SOURCE.toml", "FACTS.md"))


def read_all(path: Path) -> list[Trajectory]:
    """The trajectories of a file, none of which is unreadable."""
    results = list(read_file(path))
    readable = [one for one in results if isinstance(one, Trajectory)]
    assert readable == results
    return readable


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_recording_is_of_one_format_and_the_same_after_atif(folder: str, data_folder: Path) -> None:
    for path in recordings(data_folder / folder):
        sample = sample_file(path)
        assert FOLDERS[folder] == recognise(sample, all_readers()).FORMAT, path
        result = read_all(path)
        assert result, path
        for trajectory in result:
            content = msgspec.json.encode(to_atif(trajectory))
            assert list(read(content, Source("atif", "elsewhere"))) == [trajectory]


FIGURES = {  # steps, calls, results, user's steps, prompt tokens; that of Aider rounds its tokens
    "aider/published_complex-change.md": (28, 15, 15, 10, None),
    "aider/question.chat.history.md": (3, 0, 0, 1, None),
    "aider/streaming.chat.history.md": (8, 3, 3, 1, None),
    "aider/toolcall.chat.history.md": (4, 1, 1, 1, None),
    "claude_code/compaction_session.jsonl": (6, 0, 0, None, 180),
    "claude_code/sample_session.json": (21, 12, 12, None, 0),
    "claude_code/sample_session.jsonl": (5, 2, 2, None, 0),
    "claude_code/task_list.jsonl": (12, 12, 12, None, 330_915),
    "gemini_cli/task_list.jsonl": (10, 8, 8, 1, 101_783),
    "gemini_cli/toolcall_session.jsonl": (4, 2, 2, 1, 20_006),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_sample_is_read_whole(name: str, data_folder: Path) -> None:
    (run,) = read_all(data_folder / "transcript_formats" / name)
    calls = [call.id for step in run.steps for call in step.calls]
    results = [result.call_id for step in run.steps for result in step.results]
    assert set(results) <= set(calls)
    prompt = sum(step.tokens.prompt or 0 for step in run.steps if step.tokens)
    user = sum(step.role == "user" for step in run.steps)
    figures = (len(run.steps), len(calls), len(results), user, prompt)
    assert all(expected in (None, figure) for expected, figure in zip(FIGURES[name], figures, strict=True)), figures


def test_swe_smith_training_conversations_are_chats(data_folder: Path) -> None:
    result = read_all(data_folder / "agent_trajs/swesmith/ft_xml_example.jsonl.gz")
    assert [one.source.format for one in result] == ["openai_chat"] * 3
    assert sum(step.role == "agent" for one in result for step in one.steps) == 103


def test_atif_samples_have_the_steps_of_their_description(data_folder: Path) -> None:
    folder = data_folder / "transcript_formats/atif"
    (openhands,) = read_all(folder / "openhands_hello-world.trajectory.json")
    assert Counter(step.role for step in openhands.steps) == {"system": 3, "agent": 2, "user": 1}
    (terminus,) = read_all(folder / "terminus_2_linear-history.trajectory.json")
    assert terminus.extra["continued_trajectory_ref"] == "trajectory.cont-1.json"


def test_tau_bench_records_of_another_set_have_the_same_shape(data_folder: Path) -> None:
    folder = data_folder / "agentrx/tau_retail"
    full = read_all(folder / "tau_dataset_full.json.gz")
    failed = read_all(folder / "tau_dataset_failed.json.gz")
    assert Counter(one.outcome.status for one in full) == {"passed": 73, "failed": 27}
    assert len(failed) == 29


def test_an_openai_conversation_has_its_13_tool_calls_answered(data_folder: Path) -> None:
    result = read_all(data_folder / "transcript_formats/openai_chat/airline_chats.jsonl")
    assert [one.id for one in result] == ["airline_chats-1", "airline_chats-2", "airline_chats-3"]
    steps = [step for one in result for step in one.steps]
    assert sum(len(step.calls) for step in steps) == sum(len(step.results) for step in steps) == 13
