"""Run the recorded verdicts of real judges as judges named `DATASET/JUDGE`, offline and without a key.

Items of the benchmark of which the recording says nothing are not in the run.
"""

from collections.abc import Sequence
from pathlib import Path

from misstep_harness.benchmarks import benchmark_named
from misstep_harness.benchmarks.folders import benchmark_folder, set_folder
from misstep_harness.benchmarks.inputs import inputs_of
from misstep_harness.datasets import RECORDED, recorded_verdicts
from misstep_harness.datasets.upstream import digest_of
from misstep_harness.errors import MissingPrerequisite, UsageError
from misstep_harness.items import Question, read_question
from misstep_harness.judges.runnable import RunnableJudge, StoredVerdicts, no_run
from misstep_harness.verdict import Verdict

_MISSING = "the recording has no verdict on them"


def recorded_datasets() -> tuple[str, ...]:
    """Return the sets that ship judges' verdicts."""
    return tuple(sorted(RECORDED.names()))


def is_recorded(named: str) -> bool:
    """Return whether a judge's name is that of a recorded one; a file of that name has precedence."""
    dataset, slash, _ = named.partition("/")
    return bool(slash) and dataset in recorded_datasets() and not Path(named).exists()


def recorded_judges(dataset: str, data: Path | None = None) -> dict[str, RunnableJudge]:
    """Return the recorded judges of a set: name → judge."""
    question = read_question(benchmark_folder(dataset, data))
    folder = set_folder(dataset, data)
    digest = digest_of(folder)
    return {
        name: _recorded_judge(dataset, question, digest, name, verdicts)
        for name, verdicts in recorded_verdicts(dataset, folder).items()
    }


def _recorded_judge(
    dataset: str, question: Question, digest: str, name: str, verdicts: Sequence[Verdict]
) -> RunnableJudge:
    model, of_item = _model(verdicts), {one.item: one for one in verdicts}
    return RunnableJudge(
        StoredVerdicts(name, question.labels, of_item, _MISSING),
        {"judge": name, "recorded": True, "data_set": dataset, "data_digest": digest}
        | ({"model": model} if model else {}),
        kind=question.kind,
        model=model,
        asks_model=False,
        dataset=dataset,
        reads_run=no_run,
        skip_reason=lambda item: "" if item.id in of_item else _MISSING,
    )


def full_name(judge: RunnableJudge) -> str:
    """Return the name by which a command line knows a recorded judge."""
    return f"{judge.dataset}/{judge.name}"


def recorded_judge(named: str, data: Path | None = None) -> RunnableJudge:
    """Return the recorded judge `DATASET/JUDGE`."""
    dataset, _, name = named.partition("/")
    judges = recorded_judges(dataset, data)
    if name not in judges:
        known = ", ".join(full_name(judge) for judge in judges.values())
        raise UsageError(f"unknown recorded judge {named!r}", f"Recorded: {known}.")
    return judges[name]


def recorded_at_hand(data: Path | None = None) -> tuple[list[RunnableJudge], list[str]]:
    """Return all recorded judges of the sets that are available, and the sets that are not."""
    judges: list[RunnableJudge] = []
    absent: list[str] = []
    for dataset in recorded_datasets():
        try:
            judges += recorded_judges(dataset, data).values()
        except MissingPrerequisite:
            absent.append(dataset)
    return judges, absent


def recorded_benchmark(judge: RunnableJudge, benchmark: str = "", data: Path | None = None) -> Path:
    """Return the folder of the benchmark that a recorded judge's verdicts are about."""
    folder = benchmark_folder(judge.dataset, data)
    if benchmark not in ("", judge.dataset):
        named = benchmark_named(benchmark, data)
        if inputs_of(named).digest != inputs_of(folder).digest:
            message = (
                f"the verdicts of {full_name(judge)} are about the benchmark {judge.dataset}, not about {benchmark}"
            )
            raise UsageError(message, f"Leave --benchmark out, or give --benchmark {judge.dataset}.")
    return folder


def _model(verdicts: Sequence[Verdict]) -> str:
    models = {verdict.model for verdict in verdicts}
    return (models.pop() or "") if len(models) == 1 else ""
