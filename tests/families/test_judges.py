"""Judges of every kind, a rule, a prompt, a recording, Python, are run, gone on with and scored by the same code."""

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
from msgspec.structs import replace

from misstep_analysis.gold import GoldLabel, read_gold, write_gold
from misstep_analysis.judging.judged_runs import open_run
from misstep_analysis.judging.report import assessed
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import InputError, UsageError
from misstep_harness.exchange import Message, Reply, Request
from misstep_harness.items import Item, numbered_items
from misstep_harness.journal.records import VERDICTS, encode_lines, read_manifest, read_verdicts
from misstep_harness.judges import shipped_judges
from misstep_harness.judges.runnable import RunnableJudge
from misstep_harness.protocols import Ask
from misstep_harness.runs.judging.judge import run_judge, select_items
from misstep_harness.runs.judging.judge_import import imported_judge
from misstep_harness.runs.judging.known_judges import benchmark_of, known_judge
from misstep_harness.runs.judging.rules import judge_names
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict
from tests.misstep.made_up_judges import KEEN, recorded_data
from tests.misstep.made_up_runs import agents_run, benchmark_of_runs

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
def judged(tmp_path: Path) -> Callable[[str], tuple[RunnableJudge, Path]]:
    """Kind → a judge of it with its benchmark."""

    def of_kind(kind: str) -> tuple[RunnableJudge, Path]:
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
def test_it_is_run_scored_and_gone_on_with(kind, judged, tmp_path) -> None:
    judge, folder = judged(kind)
    out = tmp_path / "run"
    ended = run_judge(judge, folder, out, SCRIPTED)
    assert (ended.done, ended.failed) == (6, 0), [one.error for one in read_verdicts(out)]
    verdicts = list(read_verdicts(out))
    assert {verdict.judge for verdict in verdicts} == {judge.name}
    manifest = read_manifest(out)
    assert manifest.settings["judge"] == judge.name
    assert manifest.finished
    before = (out / VERDICTS).read_bytes()
    assert run_judge(judge, folder, out, SCRIPTED).done == 6
    assert (out / VERDICTS).read_bytes() == before
    assert assessed(open_run(out, str(folder))).scores.n == 6


@pytest.mark.parametrize("kind", ["prompted", "rule", "python"])
def test_a_field_of_the_users_own_takes_no_run_away(kind, judged, tmp_path) -> None:
    judge, folder = judged(kind)
    items = (folder / "items.jsonl").read_text()
    (folder / "items.jsonl").write_text(items.replace('"site":"north"', '"case":"ABC-7"'))
    assert '"case":"ABC-7"' in (folder / "items.jsonl").read_text()
    run_judge(judge, folder, tmp_path / "run", SCRIPTED)
    assert {one.status for one in read_verdicts(tmp_path / "run")} == {"answered"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_benchmark_with_other_labels_is_refused(kind, judged, tmp_path) -> None:
    judge, folder = judged(kind)
    other = tmp_path / "other"
    other.mkdir()
    (other / "items.jsonl").write_bytes((folder / "items.jsonl").read_bytes())
    kind_line = next(line for line in (folder / "benchmark.toml").read_text().splitlines() if line.startswith("kind"))
    (other / "benchmark.toml").write_text(f'name = "other"\n{kind_line}\nlabels = ["up", "down"]\n')
    with pytest.raises(UsageError, match="labels"):
        run_judge(judge, other, tmp_path / "run", SCRIPTED)


CATEGORIES = ("infinite_loop", "tool_call_failure")


def asked_twice(folder: Path, n: int = 8) -> Path:
    """Runs of which every other loops, each asked about in two categories whose gold labels are opposites."""
    moving = agents_run(0)
    looping = agents_run(0, text="stuck")
    looping = replace(looping, steps=looping.steps[:1] * 6)
    benchmark_of_runs(folder, n, lambda number: replace(moving if number % 2 else looping, id=f"run-{number}"))
    items = [item for _, item in numbered_items(folder)]
    loops = {item.id: row.label for item, row in zip(items, read_gold(folder), strict=True)}
    asked = [(item, category) for item in items for category in CATEGORIES]
    named = [replace(item, id=f"{item.id}/{one}", extra={"category": one}) for item, one in asked]
    (folder / "items.jsonl").write_bytes(encode_lines(named))
    opposite = {"yes": "no", "no": "yes"}
    labels = [loops[item.id] if one == CATEGORIES[0] else opposite[loops[item.id]] for item, one in asked]
    write_gold(folder, (GoldLabel(item.id, "ann", label) for item, label in zip(named, labels, strict=True)))
    return folder


def loops(text: str) -> str:
    """The truth of `infinite_loop`, for whoever sees the run."""
    return "yes" if "stuck" in text else "no"


class KnowsLoops:
    """Says the truth about loops, whatever is asked."""

    name, labels = "infinite_loop", ("yes", "no")

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:  # noqa: ARG002
        return Verdict(item.id, self.name, loops("".join(step.text for step in trajectory.steps)))


class DeclaresLoops(KnowsLoops):
    """The same by another name."""

    name, category = "anything", "infinite_loop"


class KnowsAll(KnowsLoops):
    """Says the truth of every category."""

    name = "knows_all"

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:
        verdict = await super().judge(item, trajectory, ask)
        turned = {"yes": "no", "no": "yes"}[verdict.label or ""]
        return verdict if item.extra["category"] == CATEGORIES[0] else replace(verdict, label=turned)


def says_loops(request: Request) -> str:
    """The truth about loops as a reply."""
    return json.dumps({"reasoning": "", "label": loops(request.messages[-1].content)})


@pytest.fixture
def truthful(tmp_path: Path) -> Callable[[str], tuple[RunnableJudge, Path]]:
    """A judge that answers the truth, by its kind, with its benchmark."""

    def of_kind(kind: str) -> tuple[RunnableJudge, Path]:
        folder = asked_twice(tmp_path / "gates")
        if kind == "imported":
            rows = [f"{row.item},{row.label}" for row in read_gold(folder) if row.item.endswith(CATEGORIES[0])]
            (tmp_path / "theirs.csv").write_text("\n".join(["item,label", *rows]))
            return imported_judge(tmp_path / "theirs.csv", folder).judge, folder
        own = tmp_path / "own.toml"
        own.write_text('name = "own"\nkind = "misbehaviour"\nprompt = "judges/infinite_loop"\nlabels = ["yes", "no"]\n')
        names = {"rule": "infinite_loop@rule", "prompted": CATEGORIES[0], "file": str(own)}
        return known_judge(names.get(kind, f"{__name__}:{kind}"), model="small-1"), folder

    return of_kind


@pytest.mark.parametrize("kind", ["rule", "prompted", "file", "KnowsLoops", "DeclaresLoops", "KnowsAll", "imported"])
def test_one_that_answers_the_planted_truth_of_what_it_is_asked_scores_1(kind, truthful, tmp_path) -> None:
    judge, folder = truthful(kind)
    out, settings = tmp_path / "run", ClientSettings(client="scripted", script=f"{__name__}:says_loops")
    run_judge(judge, folder, out, settings)
    scores = assessed(open_run(out, str(folder))).scores
    assert scores.n == (16 if kind == "KnowsAll" else 8)
    assert (scores.accuracy_all.value, scores.cohen_kappa_all.value) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("named", "asked"),
    [
        (["infinite_loop", "tool_call_failure"], 1),
        (["infinite_loop", ""], 2),
        (["backend", "frontend"], 2),  # the sorting field is not a question
        (["tool_call_failure", "unrequested_changes"], 0),
    ],
)
def test_a_judge_of_one_category_is_asked_about_no_other(named: list[str], asked: int, tmp_path: Path) -> None:
    folder = benchmark_of_runs(tmp_path / "gates", 2)
    items = [
        replace(item, extra={"category": one} if one else {})
        for (_, item), one in zip(numbered_items(folder), named, strict=True)
    ]
    (folder / "items.jsonl").write_bytes(encode_lines(items))
    prompted = known_judge("infinite_loop", model="m")
    for judge in (known_judge("infinite_loop@rule"), prompted):
        with nullcontext() if asked else pytest.raises(InputError, match="another category"):
            assert select_items(judge, folder).n == asked


def test_who_cannot_tell_categories_apart_is_said_to_be_asked_about_all(tmp_path: Path) -> None:
    folder = asked_twice(tmp_path / "gates", 2)
    judge = known_judge("tests.families.test_judges:AsksAboutRuns")
    assert "2 categories (infinite_loop, tool_call_failure)" in select_items(judge, folder).sentence


def test_the_rule_and_the_prompt_of_one_category_have_different_names() -> None:
    names = (*shipped_judges(), *judge_names())
    assert {"infinite_loop", "infinite_loop@rule"} <= set(names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("nobody@rule", "Rules are"),
        ("no.such.module:Judge", "cannot be loaded"),
        ("pathlib:Path", "is not a judge"),
        ("tests.families.test_judges:says_yes", "is not a judge"),
    ],
)
def test_what_is_no_judge_is_said_before_anything_is_asked(named: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        known_judge(named)
