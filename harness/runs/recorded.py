"""Recorded verdicts of a real judge as a run: the folder that asking it would have made, offline and without a key.

A recorded judge is named `DATASET/JUDGE`, as `misstep judge list` does. It is asked nothing: items of the benchmark of
which the recording says nothing are not in the run.
"""

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import typer
from msgspec import Struct

from harness import registry
from harness.datasets.recorded import GROUP, RECORDED, recorded_verdicts
from harness.datasets.upstream import digest_of
from harness.errors import MissingPrerequisite, UsageError
from harness.items import Kind, read_question
from harness.journal.records import SCHEMA, VERDICTS, Manifest, write_verdicts
from harness.journal.run_folder import RunInProgress
from harness.runs.benchmark_inputs import inputs_of
from harness.runs.benchmarks import benchmark_folder, set_folder
from harness.verdict import Verdict
from harness.version import __version__
from studies.judged_runs import benchmark_named

_NOTHING_TO_ASK = frozenset({"judge", "benchmark", "out", "data", "json"})
"""The parameters of `judge run` that mean something where nothing is asked."""


class RecordedJudge(Struct, frozen=True):
    """A judge whose verdicts a public data set ships.

    Parameters
    ----------
    dataset, name
        The set and the judge's name in it.
    model
        The model that answered; `None` where the set does not say.
    kind, labels
        What the set's main benchmark asks, which the verdicts are about.
    verdicts
        One an item, in the order of the items.
    """

    dataset: str
    name: str
    model: str | None
    kind: Kind
    labels: tuple[str, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def full_name(self) -> str:
        """The name by which a command line knows it."""
        return f"{self.dataset}/{self.name}"


def recorded_datasets() -> tuple[str, ...]:
    """The sets that ship judges' verdicts."""
    return tuple(sorted(registry.names(RECORDED, GROUP)))


def is_recorded(named: str) -> bool:
    """Whether a judge's name is that of a recorded one; a file of that name has precedence."""
    dataset, slash, _ = named.partition("/")
    return bool(slash) and dataset in recorded_datasets() and not Path(named).exists()


def recorded_judges(dataset: str, data: Path | None = None) -> dict[str, RecordedJudge]:
    """The recorded judges of a set: name → judge.

    Raises
    ------
    UsageError
        The set ships no judge's answers.
    MissingPrerequisite
        The set is not at hand.
    InputError
        One of its files is missing or has another shape.
    """
    question = read_question(benchmark_folder(dataset, data))
    return {
        name: RecordedJudge(dataset, name, _model(verdicts), question.kind, tuple(question.labels), tuple(verdicts))
        for name, verdicts in recorded_verdicts(dataset, set_folder(dataset, data)).items()
    }


def recorded_at_hand(data: Path | None = None) -> tuple[list[RecordedJudge], list[str]]:
    """All recorded judges of the sets that are at hand, and the sets that are not."""
    found: list[RecordedJudge] = []
    absent: list[str] = []
    for dataset in recorded_datasets():
        try:
            found += recorded_judges(dataset, data).values()
        except MissingPrerequisite:
            absent.append(dataset)
    return found, absent


def run_recorded(
    named: str, out: Path, benchmark: str = "", data: Path | None = None, arguments: Sequence[str] = ()
) -> Path:
    """Make the run of a recorded judge in `out`; the folder of its benchmark.

    Parameters
    ----------
    named
        The judge, `DATASET/JUDGE`.
    out
        The run's folder; where the same run stands there, it stays.
    benchmark
        The benchmark that the verdicts are about, by name or folder; by default that one.
    data
        Where public data sets lie.
    arguments
        Those of the command line.

    Raises
    ------
    UsageError
        No such judge, another benchmark, or `out` holds another run.
    MissingPrerequisite, InputError
        The set is not at hand, or has another shape.
    """
    dataset, _, name = named.partition("/")
    judges = recorded_judges(dataset, data)
    if name not in judges:
        known = ", ".join(judge.full_name for judge in judges.values())
        raise UsageError(f"no recorded judge {named!r}", f"Recorded: {known}.")
    folder = benchmark_folder(dataset, data)
    inputs = inputs_of(folder)
    if benchmark not in ("", dataset) and inputs_of(benchmark_named(benchmark, data)).digest != inputs.digest:
        said = f"the verdicts of {named} are about the benchmark {dataset}, not about {benchmark}"
        raise UsageError(said, f"Leave --benchmark out, or give --benchmark {dataset}.")
    judge = judges[name]
    manifest = Manifest(
        schema=SCHEMA,
        command="judge run",
        arguments=list(arguments),
        misstep=__version__,
        python=platform.python_version(),
        started=_now(),
        asked=_asked(judge, digest_of(set_folder(dataset, data))),
        inputs=inputs,
        folder=str(folder.resolve()),
    )
    with RunInProgress(out, manifest, str) as run:
        if not run.finished:
            write_verdicts(out / VERDICTS, judge.verdicts)
            run.finish(_now())
    return folder


def refuse_asking(context: typer.Context) -> None:
    """Refuse options of the command line that say how a model is asked.

    Raises
    ------
    UsageError
        One was given; names it.
    """
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name not in _NOTHING_TO_ASK and source is not None and source.name == "COMMANDLINE":
            raise UsageError(f"{parameter.opts[0]} with a recorded judge, which is not asked", "Leave it out.")


def _asked(judge: RecordedJudge, digest: str) -> dict[str, str | int | float | bool | list[str]]:
    asked: dict[str, str | int | float | bool | list[str]] = {
        "judge": judge.name,
        "recorded": True,
        "data_set": judge.dataset,
        "data_digest": digest,
        "benchmark": judge.dataset,
    }
    return asked if judge.model is None else asked | {"model": judge.model}


def _model(verdicts: Sequence[Verdict]) -> str | None:
    models = {verdict.model for verdict in verdicts}
    return models.pop() if len(models) == 1 else None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
