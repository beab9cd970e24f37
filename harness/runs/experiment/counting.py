"""What a session took, counted from its steps: the same on every machine."""

from collections.abc import Iterable, Sequence

import msgspec

from misstep.harness.runs.experiment.drawing import rates
from misstep.harness.trajectory import Step

CHARACTERS_A_TOKEN = 4


def tokens_of(steps: Sequence[Step]) -> tuple[int, int]:
    """Input and output tokens: each command is asked for with all texts before it, four characters a token."""
    before = given = made = 0
    for step in steps:
        written = _written(step)
        if step.role == "agent":
            given += before // CHARACTERS_A_TOKEN
            made += written // CHARACTERS_A_TOKEN
        before += written + sum(len(result.text) for result in step.results)
    return given, made


def seconds_of(steps: Iterable[Step], tokens: tuple[int, int]) -> float:
    """Seconds of work: each command, each token and each run of the tests counts as `rates.toml` says."""
    each = rates().seconds
    names = [call.name for step in steps if step.role == "agent" for call in step.calls]
    tests = sum(name in ("run_tests", "edit") for name in names)
    taken = len(names) * each["command"] + tests * each["tests"]
    return round(taken + tokens[0] * each["input_token"] + tokens[1] * each["output_token"], 1)


def failed_calls(steps: Iterable[Step]) -> tuple[int, int]:
    """Commands, and those whose result is an error."""
    results = [result for step in steps if step.role == "agent" for result in step.results]
    return len(results), sum(bool(result.is_error) for result in results)


def _written(step: Step) -> int:
    calls = (msgspec.json.encode(call.arguments) for call in step.calls)
    return len(step.text) + len(step.reasoning or "") + sum(map(len, calls))
