"""Commands over items with `--dask`: each shard by the same line on a worker, merged into the run of the whole."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from misstep.harness.errors import MisstepError
from misstep.harness.journal.records import VERDICTS, read_manifest
from misstep.harness.runs.shards.cluster import run_line
from misstep.harness.runs.shards.layout import Shard
from tests.misstep.made_up import atif_lines


class ThisMachine:
    """A cluster of one worker, which is this process."""

    def shards_for(self, _store: object, asked: int | None) -> int:
        return asked or 2

    def require_paths(self, paths: Sequence[str]) -> None:
        assert all(Path(path).exists() for path in paths)

    def do(self, shards: Sequence[Shard], run: Callable[[Shard], None]) -> Iterator[None]:
        return map(run, shards)


@contextmanager
def this_machine(_address: str) -> Iterator[ThisMachine]:
    yield ThisMachine()


def test_the_shards_of_a_judge_are_done_by_the_line_and_merged(tmp_path, monkeypatch, in_process) -> None:
    monkeypatch.setattr("misstep.options.shard.open_cluster", this_machine)
    judge = partial(in_process, "judge")
    file = atif_lines(tmp_path / "runs.jsonl", ["one", "two", "three"])
    out = tmp_path / "run"
    line = ("run", "infinite_loop@rule", file, "--out", out)
    code, said, _ = judge(*line, "--dask", "tcp://here", "--shards=1")
    manifest = read_manifest(out)
    assert manifest.finished
    assert manifest.arguments == ["judge", *map(str, line)]
    assert len((out / VERDICTS).read_bytes().splitlines()) == 3
    assert judge(*line)[:2] == (code, said), "the line without a cluster finds the run finished"
    code, _, error = judge(*line, "--dask", "tcp://here", "--fail-under", "accuracy=0.5")
    assert (code, "--fail-under has no effect with --dask" in error) == (2, True)


def test_a_line_that_fails_on_a_worker_is_an_error_of_the_shard(tmp_path: Path) -> None:
    with pytest.raises(MisstepError, match=r"^shard 1/2: .*nowhere"):
        run_line(Shard(1, 2), ["triage", str(tmp_path / "nowhere"), "--out", str(tmp_path / "run")])
