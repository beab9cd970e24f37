"""Judges of every kind, a rule, a prompt, a recording, Python, are run, gone on with and scored by the same code."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.clients import ClientSettings
from harness.errors import UsageError
from harness.exchange import Message, Reply, Request
from harness.items import Item
from harness.journal.records import VERDICTS, read_manifest, read_verdicts
from harness.judges import shipped_judges
from harness.protocols import Ask, Judge
from harness.runs.judge import run_judge
from harness.runs.known_judges import benchmark_of, known_judge
from harness.runs.rule_judge import rule_judges
from harness.trajectory import Trajectory
from harness.verdict import Verdict
from studies.judging.scores import write_scores
from tests.misstep.made_up_recorded import KEEN, recorded_data
from tests.misstep.made_up_runs import benchmark_of_runs

KINDS = ("prompted", "rule", "recorded", "python")


def says_yes(request: Request) -> str:
    """A model's reply to whatever is asked."""
    return json.dumps({"reasoning": f"of {len(request.messages)} messages", "label": "yes"})


class AsksAboutRuns:
    """Asks twice, in words of its own."""

    name = "asks_about_runs"
    labels = ("yes", "no")

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:
        """The second reply decides."""
        assert trajectory is not None
        for number in range(2):
            outcome = await ask(Request(ask.model, (Message("user", f"{trajectory.id} {number}"),)))
        assert isinstance(outcome, Reply)
        return Verdict(item.id, self.name, "yes")


@pytest.fixture
def judged(tmp_path: Path) -> Callable[[str], tuple[Judge, Path]]:
    """Kind → a judge of it with its benchmark."""

    def of_kind(kind: str) -> tuple[Judge, Path]:
        if kind == "recorded":
            judge = known_judge(f"trail/{KEEN}", data=recorded_data(tmp_path / "data"))
            return judge, benchmark_of(judge, "", tmp_path / "data")
        names = {
            "prompted": "infinite_loop",
            "rule": "infinite_loop@rule",
            "python": "tests.families.test_judges:AsksAboutRuns",
        }
        return known_judge(names[kind], model="small-1"), benchmark_of_runs(tmp_path / "gates", 6)

    return of_kind


SCRIPTED = ClientSettings(client="scripted", script="tests.families.test_judges:says_yes")


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_run_scored_and_gone_on_with(
    kind: str, judged: Callable[[str], tuple[Judge, Path]], tmp_path: Path
) -> None:
    judge, folder = judged(kind)
    out = tmp_path / "run"
    ended = run_judge(judge, folder, out, SCRIPTED)
    assert (ended.done, ended.failed) == (6, 0), [one.error for one in read_verdicts(out)]
    verdicts = list(read_verdicts(out))
    assert {verdict.judge for verdict in verdicts} == {judge.name}
    manifest = read_manifest(out)
    assert manifest is not None
    assert manifest.settings["judge"] == judge.name
    assert manifest.finished
    before = (out / VERDICTS).read_bytes()
    assert run_judge(judge, folder, out, SCRIPTED).done == 6
    assert (out / VERDICTS).read_bytes() == before
    assert write_scores(out, folder).scores.n == 6


@pytest.mark.parametrize("kind", KINDS)
def test_a_benchmark_with_other_labels_is_refused(
    kind: str, judged: Callable[[str], tuple[Judge, Path]], tmp_path: Path
) -> None:
    judge, folder = judged(kind)
    other = tmp_path / "other"
    other.mkdir()
    (other / "items.jsonl").write_bytes((folder / "items.jsonl").read_bytes())
    kind_line = next(line for line in (folder / "benchmark.toml").read_text().splitlines() if line.startswith("kind"))
    (other / "benchmark.toml").write_text(f'name = "other"\n{kind_line}\nlabels = ["up", "down"]\n')
    with pytest.raises(UsageError, match="labels"):
        run_judge(judge, other, tmp_path / "run", SCRIPTED)


def test_a_rule_judges_the_items_of_its_own_category_alone() -> None:
    judge = known_judge("infinite_loop@rule")
    items = [
        Item(str(place), "misbehaviour", "runs.jsonl", extra=extra)
        for place, extra in enumerate([{}, {"category": "infinite_loop"}, {"category": "tool_call_failure"}])
    ]
    assert [bool(judge.skip_reason(item)) for item in items] == [False, False, True]


def test_the_rule_and_the_prompt_of_one_category_have_different_names() -> None:
    names = (*shipped_judges(), *rule_judges())
    assert {"infinite_loop", "infinite_loop@rule"} <= set(names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("nobody@rule", "Rules are"),
        ("no.such.module:Judge", "cannot be loaded"),
        ("pathlib:Path", "is not a judge"),
        ("tests.families.test_judges:says_yes", "is not a judge"),
    ],
)
def test_what_is_no_judge_is_said_before_anything_is_asked(named: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        known_judge(named)
