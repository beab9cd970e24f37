"""A made-up benchmark of triage with a run of a judge, as folders; one case's evidence is hostile."""

from collections.abc import Sequence
from pathlib import Path

from misstep.harness.journal.records import (
    SCHEMA,
    VERDICTS,
    Manifest,
    encode,
    encode_lines,
    replace_file,
    write_manifest,
)
from misstep.harness.records.attribution import FAULTS, Evidence, TriageVerdict
from misstep.harness.records.triage_case import CASE
from misstep.harness.runs.judging.benchmark_inputs import inputs_of
from tests.misstep.made_up_runs import HOSTILE, agents_run

GOLD = ("agent/timeout", "agent/logical_failure", "task/brittle_tests", "infrastructure/network_issue", "pass")


def triage_benchmark(folder: Path, n: int = 10, *, labelled: bool = True) -> Path:
    """A benchmark of n cases in families of five, with subcategories and construction, as the generator writes it."""
    items, gold, finer, made = [], [], [], []
    for number in range(n):
        name = f"case-{number}"
        label, _, subcategory = GOLD[number % len(GOLD)].partition("/")
        (folder / name).mkdir(parents=True)
        (folder / name / CASE).write_text(f'id = "{name}"\n')
        (folder / name / "trajectory.json").write_bytes(encode(agents_run(number, 4)))
        item = {"id": name, "kind": "triage", "trajectory": f"{name}/trajectory.json", "task": "Mend it."}
        items.append(item | {"extra": {"case": name}})
        gold.append(f"{name},construction,{label}\n")
        finer += [f"{name},construction,{subcategory}\n"] if subcategory else []
        made.append(f"{name},family-{number // len(GOLD)},scoring,plain,\n")
    labels = "".join(f'{label} = "{label}"\n' for label in FAULTS)
    (folder / "benchmark.toml").write_text(
        f'name = "cases"\nkind = "triage"\nevidence = "generated"\n[labels]\n{labels}'
    )
    (folder / "items.jsonl").write_bytes(encode_lines(items))
    (folder / "gold.csv").write_text("item,rater,label\n" + ("".join(gold) if labelled else ""))
    if labelled:
        (folder / "gold_subcategories.csv").write_text("item,rater,label\n" + "".join(finer))
        (folder / "gold_construction.csv").write_text("item,family,set,variant,partner\n" + "".join(made))
    return folder


def triage_run(folder: Path, benchmark: Path, answers: Sequence[str], judge: str = "triage@made-up") -> Path:
    """The finished run of a judge that gave these answers, each as `label/subcategory`; an empty one is left open."""
    evidence = (Evidence("log", "logs/tests.log:3", HOSTILE), Evidence("command", "python -m unittest", "FAILED"))
    verdicts = [
        TriageVerdict(
            f"case-{number}",
            judge,
            answer.partition("/")[0] or None,
            "answered" if answer else "abstained",
            rationale="It says so.",
            seconds=0.5,
            subcategory=answer.partition("/")[2],
            evidence=evidence,
            access="sandbox",
        )
        for number, answer in enumerate(answers)
    ]
    folder.mkdir(parents=True)
    replace_file(folder / VERDICTS, encode_lines(verdicts))
    time, where = "2026-01-01T10:00:00+00:00", str(benchmark.resolve())
    asked = {"judge": judge, "benchmark": "cases"}
    write_manifest(
        folder, Manifest(SCHEMA, "judge run", [], "0.1.0", "3.11.7", time, asked, inputs_of(benchmark), where, time)
    )
    return folder
