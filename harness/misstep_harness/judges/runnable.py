"""A judge as a run asks it, and whether it can answer what a benchmark asks."""

from collections.abc import Callable, Mapping
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from misstep_harness.errors import InputError, MisstepError, UsageError
from misstep_harness.items import Item, Kind, Question, not_of_pairs
from misstep_harness.journal.records import encode_lines
from misstep_harness.protocols import Ask, Judge
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict

if TYPE_CHECKING:
    from misstep_harness.judges.judge_file import JudgeSpec

GENERAL = "benchmark_question"
"""The shipped judge that asks whatever a benchmark asks."""


def _every(item: Item) -> bool:  # noqa: ARG001
    return True


class RunnableJudge(Struct, frozen=True):
    """A judge, and what a run needs to know besides its name, its labels and its answers.

    - `settings`: All values that can change a verdict, for the manifest; they have types of TOML.
    - `kind`: The kind of the items that it is for.
    - `model`: The model that the command line or the judge's file names; empty if there is none.
    - `asks_model`, `needs_model`: Whether it may ask a model, and whether it cannot do without one.
    - `spec`: The prompt and its settings, of a judge that is a TOML file.
    - `category`, `covered`: The only category that it judges, and those that its recorded answers are about.
    - `sees_category`: Whether it is told which category an item asks about.
    - `dataset`: The public data set that its recorded answers come from.
    - `shown`: The places of the machine that its sandbox shows.
    - `reads_run`, `skip_reason`: Whether it looks at the run of an item; why it is not asked about an item, or "".
    - `for_question`: Makes the judge for the question of a benchmark in a folder, and for the folder of a run, if any.
    """

    judge: Judge
    settings: Mapping[str, Any]
    kind: Kind | Literal["any"] = "any"
    model: str = ""
    asks_model: bool = True
    needs_model: bool = False
    spec: "JudgeSpec | None" = None
    category: str = ""
    covered: frozenset[str] = frozenset()
    sees_category: bool = True
    dataset: str = ""
    shown: tuple[str, ...] = ()
    reads_run: Callable[[Item], bool] = _every
    skip_reason: Callable[[Item], str] = attrgetter("skip_reason")
    for_question: "Callable[[Question, Path, Path | None], RunnableJudge] | None" = None

    @property
    def name(self) -> str:
        """Return its name in its verdicts."""
        return str(self.judge.name)

    @property
    def labels(self) -> Mapping[str, str]:
        """Label → meaning; empty where each item names its own."""
        labels = self.judge.labels
        return labels if isinstance(labels, Mapping) else dict.fromkeys(labels, "")

    @property
    def prompt(self) -> str | None:
        """Return the prompt by name, version and digest."""
        return None if self.spec is None else self.spec.prompt.label

    @property
    def base_url(self) -> str | None:
        """Return the address of its model, where its file or the command line names one."""
        return None if self.spec is None else self.spec.model.base_url

    @property
    def own_categories(self) -> set[str]:
        """Return the categories whose items are its own: the declared one, or its name and that of its prompt."""
        if self.category:
            return {self.category}
        return {self.name} if self.spec is None else {self.name, self.spec.prompt.name}

    async def verdict(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:
        """Return the verdict on an item; `failed` where the judge raises or its verdict cannot be written down."""
        try:
            verdict = await self.judge.judge(item, trajectory, ask)
            if not isinstance(verdict, Verdict) or verdict.item != item.id:
                raise TypeError(f"it gave {type(verdict).__name__}, not a Verdict on item {item.id!r}")
            encode_lines([verdict])  # a verdict that cannot be encoded fails here and not in the journal
        except InputError as error:
            return self.failure(item, error.line())
        except MisstepError:
            raise
        except Exception as error:  # noqa: BLE001 (the boundary around one item)
            message = " ".join(str(error).split())
            return self.failure(item, f"judging it raised {type(error).__name__}{message and f': {message}'}")
        return verdict

    def failure(self, item: Item, reason: str) -> Verdict:
        """Return the verdict on an item that could not be judged."""
        return Verdict(item.id, self.name, None, "failed", model=self.model or None, prompt=self.prompt, error=reason)


class StoredVerdicts(Struct, frozen=True):
    """A judge whose verdicts are on record; it asks nobody."""

    name: str
    labels: dict[str, str]
    verdicts: dict[str, Verdict]
    missing: str

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> Verdict:  # noqa: ARG002
        """Return the recorded verdict; `failed` with the reason `missing` where there is none."""
        return self.verdicts.get(item.id) or Verdict(item.id, self.name, None, "failed", error=self.missing)


def no_run(item: Item) -> bool:  # noqa: ARG001
    """Return that the run of an item is not read, as of recorded answers."""
    return False


def fitted(judge: RunnableJudge, question: Question, folder: Path, run: Path | None = None) -> RunnableJudge:
    """Return a judge as it is asked what the benchmark in `folder` asks; raises `UsageError` where it cannot answer."""
    if judge.needs_model and not judge.model:
        raise UsageError(f"the judge {judge.name} names no model", "Name a model with --model.")
    _check(judge, question, folder)
    return judge if judge.for_question is None else judge.for_question(question, folder, run)


def _check(judge: RunnableJudge, question: Question, folder: Path) -> None:
    if judge.kind not in ("any", question.kind):
        message = f"judge {judge.name} is for items of kind {judge.kind}, benchmark {question.name} has {question.kind}"
        raise UsageError(message, f"Choose a judge for that kind, or {GENERAL}, which fits any.")
    labels = judge.labels
    without_tie = question.kind == "pair" and not not_of_pairs(labels)
    if labels and question.labels and labels.keys() != question.labels.keys() and not without_tie:
        message = (
            f"other labels: judge {judge.name} says {', '.join(labels)}, "
            f"benchmark {question.name} {', '.join(question.labels)}"
        )
        raise UsageError(message, _advice(labels, question, folder))


def _advice(labels: Mapping[str, str], question: Question, folder: Path) -> str:
    if {label.casefold() for label in labels} == {label.casefold() for label in question.labels}:
        return f"They differ in letter case alone: spell them in the judge's file as {folder / 'benchmark.toml'} does."
    return (
        f"Copy the judge's file with the labels of {folder / 'benchmark.toml'}, leave `labels` out of it, "
        f"or ask the judge {GENERAL}."
    )


def offered(known: Mapping[str, str], item: Item) -> dict[str, str]:
    """Return the labels that a judge may give one item, with their meaning: the item's own where it names some."""
    if not item.labels:
        if not known:
            message = f"neither the benchmark nor item {item.id!r} names a label"
            raise InputError(message, "Name labels in benchmark.toml, or for each item.", field="labels")
        return dict(known)
    unknown = [label for label in item.labels if known and label not in known]
    if unknown:
        message = f"item {item.id!r} names the label {unknown[0]!r}, which is none of {', '.join(known)}"
        advice = f"Name labels of the benchmark, or ask a judge without labels of its own, such as {GENERAL}."
        raise InputError(message, advice, field="labels")
    return {label: known.get(label, "") for label in item.labels}
