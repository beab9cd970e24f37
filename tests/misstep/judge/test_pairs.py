"""Pairs as a user meets them: a table becomes a benchmark, a judge is asked in both orders, and a page shows all."""

import json
from pathlib import Path

import pytest

from misstep.harness.errors import InputError, UsageError
from misstep.harness.journal.records import read_pair_verdicts
from misstep.judge import app
from tests.misstep.as_a_user import CommandLine, command_of

JUDGES = """
from misstep import Verdict

class Longer:
    name, kind, labels = "longer", "pair", ("a", "b", "tie")
    async def judge(self, item, trajectory, ask):
        n = len(item.output_a) - len(item.output_b)
        return Verdict(item.id, self.name, "a" if n > 0 else "b" if n < 0 else "tie")

class First(Longer):
    name = "first"
    async def judge(self, item, trajectory, ask):
        return Verdict(item.id, self.name, "a")
"""
TABLE = """task,system_a,output_a,system_b,output_b,winner
Sort,small,<b>s</b>,large,x.sort() in place,b
Add,small,a + b  # the sum,large,a,a
Copy,large,x[:],small,copy(x),tie
"""
run = command_of(app, "run", raises=True)


@pytest.fixture
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_process: CommandLine) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("pair_judges.py").write_text(JUDGES)
    Path("pairs.csv").write_text(TABLE)
    code, out, _ = in_process("benchmark", "pairs", "pairs.csv", "--out", "bench")
    assert code == 0
    assert out.startswith("3 pairs of 3 tasks, 3 labels; go on with: misstep judge run")
    return Path("bench")


def test_a_judge_is_asked_in_both_orders_and_scored_against_people(pairs: Path) -> None:
    document = json.loads(run("pair_judges:Longer", "--benchmark", pairs, "--out", "run", "--json").stdout)
    assert document["accuracy"]["value"] == pytest.approx(2 / 3)
    assert all(len(one.orders) == 2 for one in read_pair_verdicts(Path("run")))


def test_a_judge_that_always_prefers_the_first_place_gets_no_label(pairs: Path) -> None:
    document = json.loads(run("pair_judges:First", "--benchmark", pairs, "--out", "run", "--json").stdout)
    assert (document["answered"], document["abstained"]) == (0, 3)


def test_a_run_does_not_go_on_in_other_orders(pairs: Path) -> None:
    run("pair_judges:First", "--benchmark", pairs, "--out", "run")
    with pytest.raises(UsageError, match="orders"):
        run("pair_judges:First", "--benchmark", pairs, "--out", "run", "--orders", "random")


def test_the_page_holds_both_outputs_and_no_markup_of_theirs(pairs: Path) -> None:
    run("pair_judges:Longer", "--benchmark", pairs, "--out", "run")
    page = Path("run/report.html").read_text()
    assert "<b>s</b>" not in page


def test_orders_of_a_benchmark_without_pairs_are_refused(pairs: Path) -> None:
    pairs.joinpath("benchmark.toml").write_text('labels = ["yes", "no"]\nkind = "text"\n')
    pairs.joinpath("gold.csv").write_text("item,rater,label\n")
    pairs.joinpath("items.jsonl").write_text('{"id": "1", "kind": "text", "text": "t"}\n')
    Path("plain.py").write_text(JUDGES.replace('"pair", ("a", "b", "tie")', '"text", ("yes", "no")'))
    with pytest.raises(UsageError, match="--orders has no meaning for bench"):
        run("plain:First", "--benchmark", pairs, "--out", "run", "--orders", "both")


def test_labels_other_than_those_of_pairs_are_refused(pairs: Path) -> None:
    pairs.joinpath("benchmark.toml").write_text('kind = "pair"\nlabels = ["yes", "no"]\n')
    with pytest.raises(InputError, match="are not those of pairs"):
        run("pair_judges:First", "--benchmark", pairs, "--out", "run")
