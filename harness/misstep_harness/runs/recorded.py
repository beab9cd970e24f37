"""Run the recorded verdicts of real judges as judges named `DATASET/JUDGE`, offline and without a key.

Items of the benchmark of which the recording says nothing are not in the run.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct

from misstep_harness.benchmarks.folders import benchmark_folder, benchmark_named, set_folder
from misstep_harness.benchmarks.inputs import inputs_of
from misstep_harness.datasets import RECORDED, recorded_verdicts
from misstep_harness.datasets.upstream import digest_of
from misstep_harness.errors import MissingPrerequisite, UsageError
from misstep_harness.items import Item, Kind, Question, read_question
from misstep_harness.judges.fit import check_fit
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict


class RecordedJudge(Struct, frozen=True):
    """A judge whose verdicts a public data set ships; it asks nobody."""

    dataset: str
    name: str
    model: str
    kind: Kind
    labels: dict[str, str]
    verdicts: dict[str, Verdict]
    data_digest: str
    uses_model: ClassVar[bool] = False

    @property
    def full_name(self) -> str:
        """Return the name by which a command line knows it."""
        return f"{self.dataset}/{self.name}"

    def settings(self) -> dict[str, Any]:
        """Return the set, its digest, and the model that answered."""
        settings = {"judge": self.name, "recorded": True, "data_set": self.dataset, "data_digest": self.data_digest}
        return settings | ({"model": self.model} if self.model else {})

    def reads_run(self, item: Item) -> bool:  # noqa: ARG002
        """Return that it looks at no run."""
        return False

    def skip_reason(self, item: Item) -> str:
        """Return an item that the recording says nothing of is not in the run."""
        return "" if item.id in self.verdicts else "the recording has no verdict on them"

    def fitted(self, question: Question, folder: Path) -> "RecordedJudge":
        """Return the judge as it is."""
        check_fit(self, question, folder)
        return self

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:  # noqa: ARG002
        """Return the recorded verdict."""
        return self.verdicts[item.id]


def recorded_datasets() -> tuple[str, ...]:
    """Return the sets that ship judges' verdicts."""
    return tuple(sorted(RECORDED.names()))


def is_recorded(named: str) -> bool:
    """Return whether a judge's name is that of a recorded one; a file of that name has precedence."""
    dataset, slash, _ = named.partition("/")
    return bool(slash) and dataset in recorded_datasets() and not Path(named).exists()


def recorded_judges(dataset: str, data: Path | None = None) -> dict[str, RecordedJudge]:
    """Return the recorded judges of a set: name → judge."""
    question = read_question(benchmark_folder(dataset, data))
    folder = set_folder(dataset, data)
    digest = digest_of(folder)
    form = question.kind, question.labels
    return {
        name: RecordedJudge(dataset, name, _model(verdicts), *form, {one.item: one for one in verdicts}, digest)
        for name, verdicts in recorded_verdicts(dataset, folder).items()
    }


def recorded_judge(named: str, data: Path | None = None) -> RecordedJudge:
    """Return the recorded judge `DATASET/JUDGE`."""
    dataset, _, name = named.partition("/")
    judges = recorded_judges(dataset, data)
    if name not in judges:
        known = ", ".join(judge.full_name for judge in judges.values())
        raise UsageError(f"unknown recorded judge {named!r}", f"Recorded: {known}.")
    return judges[name]


def recorded_at_hand(data: Path | None = None) -> tuple[list[RecordedJudge], list[str]]:
    """Return all recorded judges of the sets that are available, and the sets that are not."""
    judges: list[RecordedJudge] = []
    absent: list[str] = []
    for dataset in recorded_datasets():
        try:
            judges += recorded_judges(dataset, data).values()
        except MissingPrerequisite:
            absent.append(dataset)
    return judges, absent


def recorded_benchmark(judge: RecordedJudge, benchmark: str = "", data: Path | None = None) -> Path:
    """Return the folder of the benchmark that a recorded judge's verdicts are about."""
    folder = benchmark_folder(judge.dataset, data)
    if benchmark not in ("", judge.dataset):
        named = benchmark_named(benchmark, data)
        if inputs_of(named).digest != inputs_of(folder).digest:
            message = (
                f"the verdicts of {judge.full_name} are about the benchmark {judge.dataset}, not about {benchmark}"
            )
            raise UsageError(message, f"Leave --benchmark out, or give --benchmark {judge.dataset}.")
    return folder


def _model(verdicts: Sequence[Verdict]) -> str:
    models = {verdict.model for verdict in verdicts}
    return (models.pop() or "") if len(models) == 1 else ""
