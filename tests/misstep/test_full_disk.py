"""A full disk is one sentence that names the file, exit 3; what is written stays, and the same line goes on with it."""

import errno
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.clients.batches import BatchState, read_state, write_state
from misstep_harness.clients.cache import Cache
from misstep_harness.clients.cost_limit import SpendingLog
from misstep_harness.datasets.benchmark import built_in_place
from misstep_harness.errors import CannotWrite, InputError
from misstep_harness.exchange import Message, Reply, Request
from misstep_harness.journal.records import VERDICTS, read_verdicts
from misstep_harness.journal.run_folder import PROGRESS
from tests.harness.clients.faulty_server import Play, answer, completion, serving
from tests.misstep.as_a_user import files_end_at, in_a_thread
from tests.misstep.made_up import atif_lines
from tests.misstep.made_up_judges import benchmark, judge_file

TEXTS = [f"apple {number}" if number % 2 else f"leek {number}" for number in range(12)]


class Model:
    """Answers at length, and counts what it was asked."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, request: dict[str, Any]) -> Play:
        text = next(text for text in TEXTS if f"{text}\n" in request["messages"][-1]["content"])
        self.asked[text] += 1
        label = "fruit" if "apple" in text else "vegetable"
        return answer(completion(json.dumps({"reasoning": "It grows on a tree. " * 10, "label": label})))


@pytest.mark.parametrize(
    ("further", "file"),
    [((), "run/answers.sqlite"), (("--record", "said.jsonl"), "run/answers.sqlite"), (("--cache", "kept"), "kept")],
)
def test_a_judges_run_that_the_disk_had_no_room_for_goes_on_when_there_is_room(tmp_path, in_process, further, file):
    judge_file(tmp_path)
    benchmark(tmp_path / "plants", TEXTS)
    model = Model()
    options = [further[0], str(tmp_path / further[1])] if further else []
    with in_a_thread(serving(choose=model)) as server:
        line = ["run", tmp_path / "judge.toml", "--benchmark", tmp_path / "plants", "--out", tmp_path / "run"]
        line += ["--base-url", server.base_url, "--concurrency", "1", *options]
        with files_end_at(2600):
            code, _, output = in_process("judge", *line)
        assert code == 3, output
        assert output.startswith(f"misstep: {tmp_path / file}: cannot write: ")
        assert output.endswith("run the same command again: it keeps what is written already.\n")
        assert output.count("\n") == 1
        verdicts = tmp_path / "run" / VERDICTS
        kept = {verdict.item for verdict in read_verdicts(verdicts, unfinished=True)}
        assert len(kept) < len(TEXTS)
        before = Counter(model.asked)
        code, _, output = in_process("judge", *line)
        assert code == 0, output
    assert not {f"i{TEXTS.index(text)}" for text in model.asked - before} & kept
    assert sorted(verdict.item for verdict in read_verdicts(verdicts)) == sorted(f"i{n}" for n in range(len(TEXTS)))


@pytest.mark.parametrize("size", [0, 300, 4000])
def test_a_classification_that_the_disk_had_no_room_for_ends_as_one_that_had(tmp_path, in_process, size) -> None:
    atif_lines(tmp_path / "runs.jsonl", (f"a{number}" for number in range(20)))
    assert in_process("classify", tmp_path / "runs.jsonl", "--out", tmp_path / "whole")[0] == 0
    line = [tmp_path / "runs.jsonl", "--out", tmp_path / "run"]
    with files_end_at(size):
        code, _, output = in_process("classify", *line)
    assert (code, output.count("\n")) == (3, 1), output
    assert f"misstep: {tmp_path / 'run'}/" in output
    assert in_process("classify", *line)[0] == 0
    for name in (VERDICTS, "scores.json"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not (tmp_path / "run" / PROGRESS).exists()


def test_a_benchmark_that_the_disk_has_no_room_for_names_its_folder_and_leaves_none(tmp_path: Path) -> None:
    with (
        files_end_at(100),
        pytest.raises(CannotWrite, match=r"made: cannot write: File too large"),
        built_in_place(tmp_path / "made") as building,
        (building / "items.jsonl").open("wb") as stream,
    ):
        stream.write(b"x" * 200)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "line",
    [
        ["generate", "trajectories", "--n", "1", "--out", "new/made"],
        ["convert", "runs.jsonl", "--out", "new/atif"],
        ["classify", "runs.jsonl", "--out", "new/run"],
        ["view", "runs.jsonl", "--out", "new/pages/page.html"],
        ["reproduce", "wink", "--out", "new/reports"],
    ],
    ids=lambda line: line[0],
)
def test_a_folder_that_the_disk_has_no_room_for_is_one_sentence(tmp_path, in_process, monkeypatch, line) -> None:
    """A device may have room for bytes and none for one more file."""
    atif_lines(tmp_path / "runs.jsonl", ["one"])
    (tmp_path / "new").mkdir()
    monkeypatch.chdir(tmp_path)
    make = os.mkdir

    def full(path: Any, *rest: Any, **named: Any) -> None:
        if not str(path).startswith("new"):
            return make(path, *rest, **named)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    with monkeypatch.context() as patched:
        patched.setattr(os, "mkdir", full)
        code, _, output = in_process(*line)
    assert (code, output.count("\n")) == (3, 1), output
    assert output.startswith("misstep: new/")
    assert "cannot write: No space left on device. Free some space there and run the same command again" in output


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_the_state_of_batches_without_room_is_no_fault_of_the_server(tmp_path, monkeypatch, number) -> None:
    write_state(tmp_path / "batches.json", BatchState("https://one.invalid"))

    def full(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", full)
        with pytest.raises(CannotWrite, match=r"batches\.json: cannot write"):
            write_state(tmp_path / "batches.json", BatchState("https://other.invalid"))
        patched.setattr(Path, "mkdir", full)
        with pytest.raises(CannotWrite, match=r"batches\.json: cannot write"):
            write_state(tmp_path / "new" / "batches.json", BatchState("https://other.invalid"))
    assert read_state(tmp_path / "batches.json", "https://one.invalid") == BatchState("https://one.invalid")


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_place_that_may_not_be_written_is_no_fault_of_the_server(tmp_path, monkeypatch, number) -> None:
    def refused(path: Path, *_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number), str(path))

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refused)
        with pytest.raises(InputError, match=r"batches\.json: cannot write: .* Check the folder's permissions"):
            write_state(tmp_path / "batches.json", BatchState("https://one.invalid"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_results_that_cannot_be_printed_are_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "misstep", "--version"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 3
    assert done.stderr.startswith("misstep: the output: cannot write: No space left on device. ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_one_sentence(tmp_path, in_process) -> None:
    atif_lines(tmp_path / "runs.jsonl", ["one"])
    (tmp_path / "run").mkdir(mode=0o500)
    code, _, output = in_process("classify", tmp_path / "runs.jsonl", "--out", tmp_path / "run")
    assert (code, output.count("\n")) == (2, 1), output
    assert "Permission denied" in output


def test_a_spending_log_that_was_cut_in_a_number_counts_the_whole_numbers(tmp_path: Path) -> None:
    file = tmp_path / "spent"
    file.write_bytes(b"0.5\n0.2")
    spending_log = SpendingLog(file)
    assert spending_log.total_usd == 0.5
    spending_log.add(0.25)
    with files_end_at(file.stat().st_size + 2), pytest.raises(CannotWrite, match="spent: cannot write"):
        spending_log.add(0.125)
    spending_log.close()
    again = SpendingLog(file)
    assert again.total_usd == 0.75
    again.close()


def test_a_cache_without_room_says_so_and_keeps_what_it_has(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    cache.put("a", _request("a"), _reply("yes"))
    size = max(path.stat().st_size for path in tmp_path.iterdir())
    with files_end_at(size), pytest.raises(CannotWrite, match="cache: cannot write"):
        cache.put("b", _request("b" * 100_000), _reply("no"))
    assert cache.get("b") is None
    cache.put("b", _request("b"), _reply("no"))
    assert [kept.text for key in "ab" if (kept := cache.get(key)) is not None] == ["yes", "no"]
    cache.close()


def _request(text: str) -> Request:
    return Request("m", (Message("user", text),))


def _reply(text: str) -> Reply:
    return Reply(text, None, "stop", "m", 1, 1, 1.0, None)
