"""Simulated raters with a stated model of errors, to test the pipeline of annotation studies."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Struct

from misstep.analysis.measures.triage.annotated import AnnotatedStudy, disputed
from misstep.analysis.measures.triage.cases import AGENT, TASK
from misstep.harness.places import data_folder
from misstep.harness.records.annotation import Phase, RaterAnswer
from misstep.harness.records.attribution import FAULTS, taxonomy

EVIDENCE = "simulated raters with a stated model of errors"


class SimulatedRater(Struct, frozen=True, forbid_unknown_fields=True):
    """A rater: how often it says “task” at the border; elsewhere, true label → label → how often it gives it."""

    name: str
    task_at_border: float
    other_subcategory: float = 0.0
    errors: dict[str, dict[str, float]] = {}


class ErrorModel(Struct, frozen=True, forbid_unknown_fields=True):
    """The cases and the raters: `border` is the share of the cases of task and agent that lie between the two."""

    n: int
    border: float
    labels: dict[str, float]
    raters: tuple[SimulatedRater, ...]
    calibration: int = 0


class SimulatedCase(Struct, frozen=True):
    """A case: its true label and subcategory, and whether it lies at the border of task and agent."""

    item: str
    label: str
    subcategory: str
    at_border: bool


def error_model() -> ErrorModel:
    """Return the model of the data file."""
    file = data_folder() / "annotation" / "simulated_raters.toml"
    return msgspec.toml.decode(file.read_bytes(), type=ErrorModel)


def simulated_study(model: ErrorModel, seed: int = 0) -> AnnotatedStudy:
    """Return the answers of the raters of a model."""
    rng = random.Random(seed)  # noqa: S311 (no secret)
    cases = list(_cases(model, rng))
    answers = [
        _answer(case, rater, "calibration" if number < model.calibration else "independent", rng)
        for number, case in enumerate(cases)
        for rater in model.raters
    ]
    items, raters = tuple(case.item for case in cases), tuple(rater.name for rater in model.raters)
    study = AnnotatedStudy(items, raters, tuple(answers), tuple(FAULTS))
    return msgspec.structs.replace(study, answers=(*answers, *_talked_over(study)))


def _cases(model: ErrorModel, rng: random.Random) -> Iterator[SimulatedCase]:
    names, shares = list(model.labels), list(model.labels.values())
    finer = subcategories()
    for number in range(1, model.n + 1):
        (label,) = rng.choices(names, shares)
        at_border = rng.random() < model.border and label in (AGENT, TASK)
        yield SimulatedCase(f"case {number}", label, rng.choice(finer[label]) if finer[label] else "", at_border)


def _answer(case: SimulatedCase, rater: SimulatedRater, phase: Phase, rng: random.Random) -> RaterAnswer:
    if case.at_border:
        label = TASK if rng.random() < rater.task_at_border else AGENT
    else:
        errors = rater.errors.get(case.label, {})
        (label,) = rng.choices([case.label, *errors], [1 - sum(errors.values()), *errors.values()])
    known = subcategories()[label]
    finer = case.subcategory if label == case.label else ""
    if known and (not finer or rng.random() < rater.other_subcategory):
        finer = rng.choice([one for one in known if one != finer])
    return RaterAnswer(case.item, rater.name, phase, label, finer, "low" if case.at_border else "high")


def _talked_over(study: AnnotatedStudy) -> Iterator[RaterAnswer]:
    blind = study.blind()
    for item in disputed(study):
        own = [blind[item, rater] for rater in study.raters]
        (label, count), *_ = Counter(one.label for one in own).most_common()
        for one in own:
            answer = next(other for other in own if other.label == label) if count > 1 else one
            yield msgspec.structs.replace(answer, rater=one.rater, phase="reconciliation")


def subcategories() -> Mapping[str, tuple[str, ...]]:
    """Label → its subcategories among failed runs."""
    return {
        label: tuple(name for name, one in category.subcategories.items() if one.observed == "failure")
        for label, category in taxonomy().items()
    }
