"""Commands over items on several machines: shards, the merge that joins them, and what is refused in one line."""

import json
from pathlib import Path

import fsspec
import pytest

from misstep.harness.journal.records import ATTEMPT_RECORDS, SCORES, VERDICTS, read_manifest, read_verdicts
from misstep.harness.repair.scoring import Affirmed
from misstep.options.model import ModelOptions, client_settings
from tests.harness.repair.cases import price_case
from tests.misstep.as_a_user import CommandLine
from tests.misstep.made_up import atif_lines
from tests.misstep.made_up_judges import benchmark, judge_file


def test_a_rule_about_sessions_gives_the_same_bytes_in_shards(tmp_path: Path, in_process: CommandLine) -> None:
    file = atif_lines(tmp_path / "runs.jsonl", ["one", "two", "three", "four", "five"])
    whole, out = tmp_path / "whole" / "run", tmp_path / "shards" / "run"
    line = ("run", "infinite_loop@rule", file, "--out")
    _, printed, _ = in_process("judge", *line, whole)
    code, output, _ = in_process("judge", *line, out, "--shard", "2/2")
    text = f"shard 2/2 is done: 2 items, in {out}/shards/00002-of-00002\nwhen all 2 are done: misstep merge {out}\n"
    assert (code, output) == (0, text)
    code, _, error = in_process("merge", out)
    assert code == 2
    mending = f"misstep judge {' '.join(map(str, line))} {out} --shard 1/2"
    assert error == f"misstep: shard 1 of 2 is missing. Run: {mending}\n"
    others = (("report", out), ("judge", "compare", out, whole), ("classify", file, "--out", out))
    for unmerged in (*others, ("judge", *line, out)):
        code, _, error = in_process(*unmerged)
        assert (code, "not merged. Run: misstep merge" in error) == (2, True), error
    code, output, _ = in_process("judge", *line, out, "--shard=1/2", "--json")
    folder = f"{out}/shards/00001-of-00002"
    assert json.loads(output) == {"shard": 1, "shards": 2, "n": 3, "folder": folder}
    (out / "benchmark").rename(tmp_path / "moved")
    assert "Name it with --benchmark" in in_process("merge", out)[2]
    code, output, _ = in_process("merge", out, "--benchmark", tmp_path / "moved")
    assert (code, output) == (0, printed)
    (tmp_path / "moved").rename(out / "benchmark")
    assert in_process("merge", out)[:2] == (0, printed)
    for name in (VERDICTS, SCORES):
        assert (out / name).read_bytes() == (whole / name).read_bytes()
    assert in_process("judge", *line, out)[:2] == (0, printed)
    code, _, error = in_process("merge", out, "--fail-on", "yes>5%")
    assert (code, "Give --fail-under to the command without --shard" in error) == (2, True)
    assert in_process("report", out, "--out", tmp_path / "page.html")[0] == 0


def test_each_machine_fetches_sessions_at_an_address_into_its_own_cache(tmp_path, in_process, monkeypatch) -> None:
    file, out = atif_lines(tmp_path / "runs.jsonl", ["one", "two", "three"]), tmp_path / "run"
    fsspec.filesystem("memory").pipe("/judged/runs.jsonl", file.read_bytes())
    for machine in (1, 2):
        monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path / f"cache-{machine}"))
        line = ("run", "infinite_loop@rule", "memory://judged", "--out", out, "--shard", f"{machine}/2")
        assert in_process("judge", *line)[0] == 0
    assert in_process("merge", out)[0] == 0
    assert [verdict.item for verdict in read_verdicts(out)] == ["one", "two", "three"]
    written = [path for path in out.rglob("*") if path.is_file()]
    assert not [path for path in written if b"cache-" in path.read_bytes()]
    assert "memory://judged/runs.jsonl:1" in (out / "benchmark" / "items.jsonl").read_text()


def test_attempts_at_a_case_stay_in_one_shard_and_are_merged_by_number_and_case(tmp_path, in_process, monkeypatch):
    monkeypatch.setattr("misstep.harness.runs.repair.affirm", lambda *_: Affirmed(False, "its tests pass before"))
    for name in ("a", "b", "c"):
        price_case(tmp_path / "cases" / name, id=name)
    line = (tmp_path / "cases", "--attempts", "2", "--workers", "1", "--unsafe-no-sandbox", "--out")
    whole, out = tmp_path / "whole" / "run", tmp_path / "shards" / "run"
    in_process("repair", "run", *line, whole)
    for number in (3, 1, 2):
        assert in_process("repair", "run", *line, out, "--shard", f"{number}/3")[0] == 0
    assert in_process("merge", out)[0] == 0
    for name in (ATTEMPT_RECORDS.file, SCORES):
        assert (out / name).read_bytes() == (whole / name).read_bytes()
    assert in_process("repair", "report", out)[0] == 0
    manifest = read_manifest(out)
    assert "--shard" not in manifest.arguments


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("judge run judge.toml --benchmark plants --out s3://bucket/run --shard 1/2", "such a run needs a file system"),
        (
            "judge run judge.toml --benchmark plants --out run --shard 1/2 --fail-under accuracy=1",
            "--fail-under is about",
        ),
        ("judge run judge.toml --benchmark plants --out run --shard 3/2", "unknown shard 3/2"),
        ("triage cases --shard 1/2", "--shard needs --out"),
        ("triage cases --shard 1/2 --out run --curate kept", "--curate is about the whole run"),
        ("triage cases --shard 1/2 --out memory://run", "such a run needs a file system"),
        ("repair run cases --out run --shard 1/2 --test-command pytest", "--shard 1/2 with a git repository"),
        ("repair run cases --out gs://bucket/run", "such a run needs a file system"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(tmp_path, in_process, monkeypatch, line, message) -> None:
    monkeypatch.chdir(tmp_path)
    judge_file(tmp_path)
    benchmark(tmp_path / "plants", ["apple"])
    code, output, error = in_process(*line.split())
    assert (code, output) == (2, "")
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_shards_share_the_cost_limit() -> None:
    assert client_settings(ModelOptions(max_cost=2.0, shards=8)).max_cost_usd == 0.25
    assert client_settings(ModelOptions(max_cost=2.0)).max_cost_usd == 2.0
