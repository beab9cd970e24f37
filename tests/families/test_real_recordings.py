"""The readers on the public recordings: each in its format, with as many steps and calls as its set documents."""

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from misstep.harness.readers import all_readers, read_file
from misstep.harness.readers.files import sample_file
from misstep.harness.readers.interchange.atif import read, to_atif
from misstep.harness.trajectory import Source, Trajectory

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
    found = list(read_file(path))
    readable = [one for one in found if isinstance(one, Trajectory)]
    assert readable == found
    return readable


def agent_steps(trajectory: Trajectory) -> int:
    return sum(step.role == "agent" for step in trajectory.steps)


def calls(trajectory: Trajectory) -> int:
    return sum(len(step.calls) for step in trajectory.steps)


def results(trajectory: Trajectory) -> int:
    return sum(len(step.results) for step in trajectory.steps)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_recording_is_of_one_format_and_the_same_after_atif(folder: str, data_folder: Path) -> None:
    for path in recordings(data_folder / folder):
        sample = sample_file(path)
        assert [reader.FORMAT for reader in all_readers() if reader.refuse(sample) is None] == [FOLDERS[folder]], path
        found = read_all(path)
        assert found, path
        for trajectory in found:
            written = msgspec.json.encode(to_atif(trajectory))
            assert list(read(written, Source("atif", "elsewhere"))) == [trajectory]


def test_swe_agent_has_227_steps_in_runs_and_one_demonstration_without_a_run(data_folder: Path) -> None:
    found = {path.name: read_all(path)[0] for path in recordings(data_folder / "agent_trajs/sweagent")}
    demonstration = found.pop("demo__function_calling_simple.traj.gz")
    assert len(found) + 1 == 22
    assert sum(agent_steps(one) for one in found.values()) == 227
    assert agent_steps(demonstration) == 5


def test_swe_smith_runs_have_a_call_and_a_result_in_each_of_their_37_17_and_22_steps(data_folder: Path) -> None:
    paths = sorted((data_folder / "agent_trajs/swesmith").glob("trajectories__*.traj.gz"))
    found = [read_all(path)[0] for path in paths]
    assert [agent_steps(one) for one in found] == [37, 17, 22]
    assert [calls(one) for one in found] == [37, 17, 22]
    assert [results(one) for one in found] == [37, 17, 22]
    assert [round(one.extra["info"]["model_stats"]["instance_cost"], 3) for one in found] == [0.344, 0.248, 0.302]


def test_swe_smith_training_conversations_are_chats(data_folder: Path) -> None:
    found = read_all(data_folder / "agent_trajs/swesmith/ft_xml_example.jsonl.gz")
    assert [one.source.format for one in found] == ["openai_chat"] * 3
    assert sum(agent_steps(one) for one in found) == 103


def test_mini_swe_agent_steps_and_exit_codes_are_those_of_its_table(data_folder: Path) -> None:
    table = {row["instance_id"]: row for row in rows(data_folder / "mini_swe_agent_runs/runs.csv")}
    found = [read_all(path)[0] for path in recordings(data_folder / "mini_swe_agent_runs/trajectories")]
    assert len(found) == 16
    for trajectory in found:
        row = table[trajectory.id]
        assert agent_steps(trajectory) == int(row["api_calls"])
        assert len(trajectory.extra["step_of_message"]) == int(row["n_messages"])
        codes = [result.exit_code for step in trajectory.steps for result in step.results]
        assert sum(code not in (0, None) for code in codes) == int(row["nonzero_returncodes"])
        assert trajectory.outcome.status == "unknown"


def test_codetracer_runs_have_the_steps_calls_and_results_of_their_table(data_folder: Path) -> None:
    for row in rows(data_folder / "codetracer_runs/outcomes.csv"):
        (trajectory,) = read_all(data_folder / f"codetracer_runs/trajectories/{row['trial']}.json")
        counted = (len(trajectory.steps), calls(trajectory), results(trajectory))
        assert counted == (int(row["n_steps"]), int(row["n_tool_calls"]), int(row["n_observation_results"]))


def test_atif_samples_have_the_steps_of_their_description(data_folder: Path) -> None:
    folder = data_folder / "transcript_formats/atif"
    (openhands,) = read_all(folder / "openhands_hello-world.trajectory.json")
    assert Counter(step.role for step in openhands.steps) == {"system": 3, "agent": 2, "user": 1}
    (terminus,) = read_all(folder / "terminus_2_linear-history.trajectory.json")
    assert terminus.extra["continued_trajectory_ref"] == "trajectory.cont-1.json"


def test_tau_bench_has_200_trajectories_of_5308_messages_of_which_84_passed(data_folder: Path) -> None:
    found = read_all(data_folder / "taubench/gpt-4o-airline.json.gz")
    assert len(found) == len({one.id for one in found}) == 200
    assert sum(len(one.extra["step_of_message"]) for one in found) == 5308
    assert sum(agent_steps(one) for one in found) == 2454
    assert sum(calls(one) for one in found) == sum(results(one) for one in found) == 1164
    assert Counter(one.outcome.status for one in found) == {"passed": 84, "failed": 116}
    expected = {f"{row['task_id']}-{row['trial']}": row for row in rows(data_folder / "taubench/rewards.csv")}
    for one in found:
        assert len(one.extra["step_of_message"]) == int(expected[one.id]["n_messages"])
        assert one.outcome.reward == float(expected[one.id]["reward"])


def test_tau_bench_records_of_another_set_have_the_same_shape(data_folder: Path) -> None:
    folder = data_folder / "agentrx/tau_retail"
    full = read_all(folder / "tau_dataset_full.json.gz")
    failed = read_all(folder / "tau_dataset_failed.json.gz")
    assert Counter(one.outcome.status for one in full) == {"passed": 73, "failed": 27}
    assert len(failed) == 29


def test_an_openai_conversation_has_its_13_tool_calls_answered(data_folder: Path) -> None:
    found = read_all(data_folder / "transcript_formats/openai_chat/airline_chats.jsonl")
    assert [one.id for one in found] == ["airline_chats-1", "airline_chats-2", "airline_chats-3"]
    assert sum(calls(one) for one in found) == sum(results(one) for one in found) == 13
