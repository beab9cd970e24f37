"""Rule classifiers: a finished run → whether it shows one category of misbehaviour (Wink, 2.1.1 to 2.1.3).

A classifier offers `classify(trajectory)`; those of this room offer `judge(history)` too, to share one view of a run.
"""

from collections.abc import Callable, Iterable
from functools import cache, partial

import msgspec

from misstep_harness.classifiers.history import History
from misstep_harness.errors import UsageError
from misstep_harness.protocols import Classifier
from misstep_harness.registry import Registry, raised
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict

CLASSIFIERS: Registry[Classifier] = Registry(
    "misstep.classifiers",
    {
        "infinite_loop": "misstep_harness.classifiers.infinite_loop",
        "tool_call_failure": "misstep_harness.classifiers.tool_call_failure",
        "unrequested_changes": "misstep_harness.classifiers.overstepping:UNREQUESTED_CHANGES",
        "did_not_follow_instructions": "misstep_harness.classifiers.overstepping:DID_NOT_FOLLOW_INSTRUCTIONS",
    },
)
classifier_for = CLASSIFIERS.load

_LONGEST_ERROR = 500
_decoder = msgspec.json.Decoder(Verdict)


def categories() -> list[str]:
    """Return every registered category, the shipped ones first."""
    return list(CLASSIFIERS.names())


def chosen_categories(listed: str) -> tuple[str, ...]:
    """Return the categories that are asked for, in the order of the registry; all where none is named."""
    known = categories()
    wanted = {name.strip() for name in listed.split(",") if name.strip()}
    unknown = sorted(wanted.difference(known))
    if unknown:
        raise UsageError(f"unknown category {', '.join(unknown)}", f"Known: {', '.join(known)}.")
    chosen = tuple(name for name in known if not wanted or name in wanted)
    for name in wanted:
        classifier_for(name)
    return chosen


def classify_all(trajectory: Trajectory, categories: Iterable[str] = tuple(CLASSIFIERS)) -> list[Verdict]:
    """Return one verdict a category on one trajectory, in the order asked."""
    history = History(trajectory)
    return [_verdict(category, history) for category in categories]


def _verdict(category: str, history: History) -> Verdict:
    way = _way(category)
    if isinstance(way, str):
        return _failed(category, history.trajectory, way)
    try:
        return way(history)
    except (Exception, SystemExit) as error:  # noqa: BLE001 (a classifier from elsewhere may raise anything)
        return _failed(category, history.trajectory, raised(error))


def _failed(category: str, trajectory: Trajectory, why: str) -> Verdict:
    where = CLASSIFIERS.origin(category)
    error = f"the classifier {category!r} ({where}) failed: {why[:_LONGEST_ERROR]}"
    return Verdict(trajectory.id, category, None, status="failed", error=error)


@cache
def _way(category: str) -> Callable[[History], Verdict] | str:
    if category not in CLASSIFIERS.names():
        classifier_for(category)
    try:
        classifier = classifier_for(category)
        if category in CLASSIFIERS:
            judge: Callable[[History], Verdict] = classifier.judge  # type: ignore[attr-defined]
            return judge
        return partial(_checked, category, classifier.classify)
    except (UsageError, AttributeError) as error:
        return str(error)


def classifier_fault(category: str) -> str | None:
    """Return why a registered classifier cannot be used; `None` where it can."""
    way = _way(category)
    return way if isinstance(way, str) else None


def _checked(category: str, classify: Callable[[Trajectory], Verdict], history: History) -> Verdict:
    trajectory = history.trajectory
    verdict = classify(trajectory)
    if not isinstance(verdict, Verdict):
        raise TypeError(f"{type(verdict).__name__} where a Verdict belongs")
    verdict = _decoder.decode(msgspec.json.encode(verdict))
    answer = (verdict.item, verdict.judge, verdict.label in (None, "yes", "no"))
    if answer != (trajectory.id, category, True):
        raise TypeError(f"a verdict of {verdict.judge!r} on {verdict.item!r} with the label {verdict.label!r}")
    return verdict


__all__ = ["CLASSIFIERS", "categories", "classifier_fault", "classifier_for", "classify_all"]
