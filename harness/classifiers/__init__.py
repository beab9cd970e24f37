"""Rule classifiers: a finished run → whether it shows one category of misbehaviour; no model is asked.

`CLASSIFIERS` is the registry, category → dotted path; an entry point in the group `misstep.classifiers` adds to it.
The categories are Wink's (sections 2.1.1 to 2.1.3). A classifier offers `classify(trajectory)`; those of this room
offer `judge(history)` as well, so that the four share one view of a run.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

from harness import registry
from harness.classifiers.history import History
from harness.protocols import Classifier
from harness.trajectory import Trajectory
from harness.verdict import Verdict

CLASSIFIERS: dict[str, str] = {
    "infinite_loop": "harness.classifiers.infinite_loop",
    "tool_call_failure": "harness.classifiers.tool_call_failure",
    "unrequested_changes": "harness.classifiers.unrequested_changes",
    "did_not_follow_instructions": "harness.classifiers.did_not_follow_instructions",
}
GROUP = "misstep.classifiers"


def categories() -> list[str]:
    """Every registered category, the shipped ones first."""
    return list(registry.names(CLASSIFIERS, GROUP))


@cache
def classifier_for(category: str) -> Classifier:
    """The classifier of a category.

    Raises
    ------
    UsageError
        No such category; the message lists the known ones.
    """
    classifier: Classifier = registry.resolve(category, CLASSIFIERS, GROUP)
    return classifier


@cache
def _judge_of(category: str) -> Any:
    return getattr(classifier_for(category), "judge", None)


def classify_all(trajectory: Trajectory, categories: Iterable[str] = tuple(CLASSIFIERS)) -> list[Verdict]:
    """One verdict a category on one trajectory, in the order asked.

    Raises
    ------
    UsageError
        A category is not registered.
    """
    history = History(trajectory)
    verdicts = []
    for category in categories:
        judge = _judge_of(category)
        verdicts.append(judge(history) if judge else classifier_for(category).classify(trajectory))
    return verdicts


__all__ = ["CLASSIFIERS", "categories", "classifier_for", "classify_all"]
