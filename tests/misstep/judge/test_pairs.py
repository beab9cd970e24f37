"""Pairs as a user meets them: a table becomes a benchmark, a judge is asked in both orders, and a page shows all."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from misstep.judge import app
from misstep_harness.errors import InputError, UsageError
from misstep_harness.journal.records import read_pair_verdicts
from tests.docs.documents import ROOT
from tests.harness.clients.faulty_server import Play, answer, completion, serving
from tests.misstep.as_a_user import CommandLine, command_of, in_a_thread

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
EXAMPLES = ROOT / "examples"
run = command_of(app, "run", raises=True)


@pytest.fixture
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_process: CommandLine) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("pair_judges.py").write_text(JUDGES)
    Path("pairs.csv").write_text(TABLE)
    code, out, _ = in_process("benchmark", "make", "pairs.csv", "--kind", "pair", "--out", "bench")
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


def test_a_model_sees_each_pair_in_both_orders_and_is_asked_nothing_twice(pairs: Path) -> None:
    asked: list[str] = []

    def choose(request: dict[str, Any]) -> Play:
        asked.append(request["messages"][-1]["content"])
        return answer(completion('{"reasoning": "the first", "label": "a", "score": 0.9, "steps": []}'))

    with in_a_thread(serving(choose=choose)) as server:
        line = (EXAMPLES / "better_output.toml", "--benchmark", pairs, "--model", "m", "--base-url", server.base_url)
        run(*line, "--out", "both", "--concurrency", "1")
        in_both_orders = len(asked)
        run(*line, "--out", "both")
        assert in_both_orders == len(asked) == 6
        run(*line, "--out", "drawn", "--orders", "random")
        assert len(asked) == 9
    sorting = [text for text in asked[:6] if "x.sort() in place" in text]
    assert sorted(text.index("<b>s</b>") < text.index("x.sort() in place") for text in sorting) == [False, True]
    assert all("</data" in text.partition("Output B:")[0].partition("Output A:")[2] for text in sorting)
    verdicts = list(read_pair_verdicts(Path("both")))
    assert [(one.item, one.label, one.undecided, one.input_tokens) for one in verdicts] == [
        (f"{task}/{systems}", None, True, 2 * (verdicts[0].input_tokens or 0) // 2)
        for task, systems in (("Sort", "small/large"), ("Add", "small/large"), ("Copy", "large/small"))
    ]
    assert {one.label for one in read_pair_verdicts(Path("drawn"))} <= {"a", "b"}


def test_a_page_and_a_table_for_people_show_both_outputs(pairs: Path, in_process: CommandLine) -> None:
    run("pair_judges:Longer", "--benchmark", pairs, "--out", "run")
    in_process("annotate", "run", "--sample", "3", "--tasks", "tasks.csv")
    with Path("tasks.csv").open() as stream:
        texts = {row["item"]: row["text"] for row in csv.DictReader(stream)}
    assert "Output A:\n<b>s</b>\n\nOutput B:\nx.sort() in place" in texts["Sort/small/large"]
