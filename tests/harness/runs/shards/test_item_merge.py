"""Runs over items in shards: merged they are the run that one process would have made; what is not whole is refused."""

import json
import shutil
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.harness.clients import ClientSettings
from misstep.harness.errors import InputError, UsageError
from misstep.harness.exchange import Failure, Outcome, Request
from misstep.harness.journal.records import MANIFEST, VERDICTS, read_manifest, read_verdicts
from misstep.harness.judges.judge_file import JudgeSpec, read_judge
from misstep.harness.judges.prompted_judge import PromptedJudge
from misstep.harness.runs.judging.item_selection import Sampling
from misstep.harness.runs.judging.judge import run_judge
from misstep.harness.runs.kind import RunEnd
from misstep.harness.runs.run import ANSWERS
from misstep.harness.runs.shards.layout import PLAN, Shard, shards_of
from misstep.harness.runs.shards.plan import dealt, read_plan
from misstep.harness.runs.shards.store import FolderStore
from misstep.studies.judged_runs import open_run
from misstep.studies.judging.scored import write_scores
from misstep.studies.kinds.judged import JudgedRuns
from tests.misstep.made_up_judges import PROMPT, benchmark, judge_file

N = 7
TEXTS = ["apple", "carrot", "apple mumble", "leek", "apple pie", "bean", "pea", "plum"]
"""What items are about; the last one comes in later."""

asked: Counter[str] = Counter()
failing: set[str] = set()


def answer(request: Request) -> Outcome | str:
    """A model: fruit if there is an apple; it mumbles at times, and fails about what is in `failing`."""
    text = next(line for line in request.messages[-1].content.splitlines() if line in TEXTS)
    asked[text] += 1
    if text in failing:
        return Failure("server_error", "it fails")
    if "mumble" in text:
        return "the answer is fruit"
    return json.dumps({"reasoning": "r", "label": "fruit" if "apple" in text else "vegetable"})


SCRIPTED = ClientSettings(client="scripted", script=f"{__name__}:answer", attempts=1, failures_to_stop=100)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    asked.clear()
    failing.clear()
    return benchmark(tmp_path / "plants", TEXTS[:N])


@pytest.fixture
def spec(tmp_path: Path, folder: Path) -> JudgeSpec:  # noqa: ARG001 (in this order)
    return read_judge(judge_file(tmp_path))


def part(spec: JudgeSpec, folder: Path, out: Path, shard: Shard | None, **more: object) -> RunEnd:
    line = ["judge", "run", "j.toml", "--out", out.name]
    line += [] if shard is None else ["--shard", str(shard)]
    arguments = {"concurrency": 1, "shard": shard, "arguments": line} | more
    return run_judge(PromptedJudge(spec), folder, out, SCRIPTED, **arguments)  # type: ignore[arg-type]


def merge(out: Path) -> None:
    store = FolderStore(out)
    result = read_plan(store)
    assert result is not None
    JudgedRuns().merge(store, *result, "")


def files(out: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in out.iterdir() if file.suffix in (".toml", ".jsonl", ".json")}


@pytest.mark.parametrize(("count", "size"), [(1, None), (3, None), (3, 5), (9, None)])
def test_merged_shards_are_the_run_of_the_whole_to_the_byte(tmp_path, folder, spec, count, size) -> None:
    sampling = None if size is None else Sampling(size)
    part(spec, folder, tmp_path / "whole", None, sampling=sampling)
    write_scores(open_run(tmp_path / "whole", str(folder)))
    for shard in reversed([*shards_of(count)]):
        assert part(spec, folder, tmp_path / "run", shard, sampling=sampling).finished
    assert set(asked.values()) == {2}  # once for the whole, once in one shard
    merge(tmp_path / "run")
    merged, whole = files(tmp_path / "run"), files(tmp_path / "whole")
    assert merged["scores.json"] == whole["scores.json"]
    assert merged[VERDICTS] == whole[VERDICTS]
    manifests = [read_manifest(tmp_path / name) for name in ("run", "whole")]
    settings, inputs = ([getattr(each, name) for each in manifests] for name in ("settings", "inputs"))
    assert settings[0] == settings[1]
    assert inputs[0] == inputs[1]
    assert manifests[0] is not None
    assert manifests[0].arguments == ["judge", "run", "j.toml", "--out", "run"]
    merge(tmp_path / "run")
    assert files(tmp_path / "run") == merged


@given(n=st.integers(0, 40), count=st.integers(1, 50))
def test_each_thing_is_dealt_to_one_shard_and_none_has_two_more_than_another(n: int, count: int) -> None:
    hands = [list(dealt(range(n), shard)) for shard in shards_of(count)]
    assert sorted(chain.from_iterable(hands)) == list(range(n))
    assert {place % count for place in range(n)} == {number for number, hand in enumerate(hands) if hand}
    assert max(map(len, hands)) - min(map(len, hands)) <= 1


def test_a_merge_names_what_is_missing_and_not_finished_and_the_line_that_mends_it(tmp_path, folder, spec) -> None:
    out = tmp_path / "run"
    failing.add("leek")
    for number in (1, 2):
        part(spec, folder, out, Shard(number, 4))
    assert not part(spec, folder, out, Shard(4, 4)).finished
    with pytest.raises(UsageError) as refused:
        merge(out)
    assert refused.value.line() == (
        "shard 3 of 4 is missing; shard 4 of 4 is not finished; 1 of its 1 verdicts failed, and the same line asks"
        " again. Run: misstep judge run j.toml --out run --shard 3/4"
    )
    failing.clear()
    asked.clear()
    for shard in shards_of(4):
        assert part(spec, folder, out, shard).finished
    assert asked == Counter(["apple mumble", "pea", "leek"])
    merge(out)
    assert Counter(verdict.item for verdict in read_verdicts(out)) == {f"i{n}": 1 + (n == 3) for n in range(N)}


def test_a_shard_of_another_run_is_refused_at_its_start_and_at_the_merge(tmp_path, folder, spec) -> None:
    out = tmp_path / "run"
    part(spec, folder, out, Shard(1, 2))
    with pytest.raises(UsageError, match="cut into 2 shards and is now cut into 3"):
        part(spec, folder, out, Shard(2, 3))
    with pytest.raises(UsageError, match="sample was not given and is now 3"):
        part(spec, folder, out, Shard(2, 2), sampling=Sampling(3))
    other = read_judge(judge_file(tmp_path, PROMPT.replace("Labels:", "The labels:")))
    with pytest.raises(UsageError, match="the prompt changed"):
        part(other, folder, out, Shard(2, 2))
    part(other, folder, tmp_path / "other", Shard(2, 2))
    place = out / Shard(2, 2).folder
    shutil.copytree(tmp_path / "other" / Shard(2, 2).folder, place)
    with pytest.raises(UsageError, match=rf"2/2 of .* another run: the prompt changed.* Delete {place}.* --shard 2/2$"):
        merge(out)
    place = place.rename(out / Shard(4, 8).folder)
    with pytest.raises(UsageError, match=f"{place} is not a shard of this run, which has 2"):
        merge(out)
    shutil.rmtree(place)
    place = out / Shard(2, 2).folder
    shutil.copytree(out / Shard(1, 2).folder, place)
    with pytest.raises(UsageError, match="it is shard 1/2"):
        merge(out)


def test_a_merged_run_is_gone_on_with_as_any_other(tmp_path: Path, folder: Path, spec: JudgeSpec) -> None:
    out = tmp_path / "run"
    for shard in shards_of(2):
        part(spec, folder, out, shard)
    merge(out)
    asked.clear()
    assert part(spec, folder, out, None).finished
    assert not asked
    with (folder / "items.jsonl").open("a") as items:
        items.write('{"id": "new", "kind": "text", "text": "plum"}\n')
    assert part(spec, folder, out, None).done == N + 1
    assert asked == Counter(["plum"])  # the replies of the shards are kept
    assert (out / ANSWERS).exists()


def test_a_merge_that_was_killed_is_no_run_until_it_is_done_again(tmp_path, folder, spec, monkeypatch) -> None:
    out = tmp_path / "run"
    for shard in shards_of(2):
        part(spec, folder, out, shard)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("misstep.harness.runs.shards.item_merge.write_manifest", killed)
        with pytest.raises(KeyboardInterrupt):
            merge(out)
    with pytest.raises(UsageError, match="not merged"):
        part(spec, folder, out, None)
    merge(out)
    assert part(spec, folder, out, None).done == N
    assert [verdict.item for verdict in read_verdicts(out)] == [f"i{number}" for number in range(N)]


def test_records_that_are_missing_or_lie_in_two_shards_are_refused(tmp_path, folder, spec) -> None:
    out = tmp_path / "run"
    for shard in shards_of(2):
        part(spec, folder, out, shard)
    file = out / Shard(1, 2).folder / VERDICTS
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[1:]))
    with pytest.raises(InputError, match=r"3 lines .* but the finished run had 4 lines"):
        merge(out)
    manifest = file.with_name(MANIFEST)
    without = manifest.read_text().partition("[written]")[0]
    manifest.write_text(without)
    assert read_manifest(file.parent) is not None
    with pytest.raises(InputError, match="not dealt out from the items of this benchmark"):
        merge(out)
    file.write_bytes(b"".join([*lines, (out / Shard(2, 2).folder / VERDICTS).read_bytes()]))
    with pytest.raises(InputError, match="shard 2/2 and shard 1/2 both have"):
        merge(out)
    assert not (out / VERDICTS).exists()
    assert (out / PLAN).exists()
