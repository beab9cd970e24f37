"""Jobs of Harbor: the `result.json` of each trial, whose verifier is the judge.

A file (made up)::

    {"task_name": "mend-gate", "trial_name": "mend-gate__k7", "source": "gates", "agent_info": {"name": "a"},
     "verifier_result": {"rewards": {"reward": 1.0}}, "exception_info": null}

Each reward is a judge, whose label is the number (`1`, `0`); the item is the trial. A verifier that wrote no reward
leaves `exception_info`: it is unreadable, and a trial that ended with another exception and without a reward has
failed.

Sources: https://www.harborframework.com/docs, https://www.mintlify.com/harbor-framework/harbor/api/trial-result,
https://github.com/harbor-framework/harbor.
"""

from collections.abc import Iterator
from typing import Any

from misstep_harness.values import plain
from misstep_harness.verdict import Status
from misstep_harness.verdict_readers.written import Place, WrittenVerdict, mapping, scalars, text

NAME = "a trial of Harbor"

REWARD = "reward"
_OF_VERIFIER = ("Reward", "Verifier")


def is_own(value: dict[str, Any]) -> bool:
    """Return whether an object is the result of a trial."""
    return value.keys() >= {"trial_name", "task_name"} and ("verifier_result" in value or "exception_info" in value)


def verdicts(value: dict[str, Any], place: Place) -> Iterator[WrittenVerdict]:
    """Return the rewards of a trial."""
    item = text(value["trial_name"])
    if not item:
        raise place.error("the trial has no name", "Restore the file from the job.", "trial_name")
    names = scalars(value)
    rewards = mapping(mapping(value.get("verifier_result")).get("rewards"))
    for judge, reward in rewards.items():
        if isinstance(reward, int | float):
            yield WrittenVerdict(item, plain(reward), place, judge, names=names)
        else:
            error = "the verifier gave no number"
            yield WrittenVerdict(item, None, place, judge, "unreadable", error=error, names=names)
    if not rewards:
        raised = mapping(value.get("exception_info"))
        kind, message = text(raised.get("exception_type")), text(raised.get("exception_message"))
        by_verifier = not kind or kind.startswith(_OF_VERIFIER)
        error = f"the trial has no reward: {kind or 'no exception is on record'}{': ' if message else ''}{message}"
        status: Status = "unreadable" if by_verifier else "failed"
        yield WrittenVerdict(item, None, place, REWARD, status, error=error, names=names)
