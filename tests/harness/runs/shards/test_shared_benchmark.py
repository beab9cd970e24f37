"""Shards of one run share the benchmark that it makes of sessions and cases: the first that builds it puts it there."""

from pathlib import Path

import pytest

from misstep.harness.errors import UsageError
from misstep.harness.items import read_items
from misstep.harness.runs.judging.recovery_rule import RuleJudge
from misstep.harness.runs.judging.session_benchmark import asked_about, building_beside, put_in_place
from misstep.harness.runs.shards.layout import PLAN, Shard
from tests.misstep.made_up import atif_lines

LOOP = RuleJudge("infinite_loop")


def test_what_stands_there_is_not_replaced_and_one_that_was_built_at_once_is_dropped(tmp_path: Path) -> None:
    place = tmp_path / "run" / "benchmark"
    first, second, third = (building_beside(place, shared=True) for _ in range(3))
    for folder, text, gold in ((first, "a", ""), (second, "a", "i,ann,yes\n"), (third, "b", "")):
        folder.mkdir(parents=True)
        (folder / "items.jsonl").write_text(text)
        (folder / "gold.csv").write_text(gold)
    put_in_place(first, place, shared=True)
    written = (place / "items.jsonl").stat().st_ino
    put_in_place(second, place, shared=True)
    with pytest.raises(UsageError, match="is about something else"):
        put_in_place(third, place, shared=True)
    assert (place / "items.jsonl").stat().st_ino == written
    assert (place / "gold.csv").read_text() == "i,ann,yes\n"
    assert [folder.name for folder in place.parent.iterdir()] == ["benchmark"]


def test_shards_about_sessions_find_one_benchmark_and_refuse_others(tmp_path: Path) -> None:
    file, out = atif_lines(tmp_path / "runs.jsonl", ["one", "two"]), tmp_path / "run"
    folder = asked_about(LOOP, [file], "", out, shard=Shard(1, 2))
    written = (folder / "items.jsonl").stat().st_ino
    atif_lines(file, ["one", "two"])  # the same, at another time
    assert asked_about(LOOP, [file], "", out, shard=Shard(2, 2)) == folder
    assert (folder / "items.jsonl").stat().st_ino == written
    atif_lines(file, ["one", "three"])
    with pytest.raises(UsageError, match="is about something else"):
        asked_about(LOOP, [file], "", out, shard=Shard(2, 2))
    (out / PLAN).parent.mkdir()
    (out / PLAN).touch()
    with pytest.raises(UsageError, match="shards that are not merged"):
        asked_about(LOOP, [file], "", out)
    assert [item.id for item in read_items(folder)] == ["one", "two"]
