"""Limits that figures have to keep, such as `tool_call_failure>5%`, for pipelines that stop otherwise."""

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from msgspec import Struct

from misstep.analysis.stats.estimate import Estimate
from misstep.harness.errors import UsageError

End = Literal["value", "lower", "upper"]
Decision = Literal["passed", "failed", "undecided"]

_FAILS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_SIGN = re.compile(r"[<>]=?|=")
_ENDS: dict[str, End] = {".lower": "lower", ".upper": "upper"}


class Gate(Struct, frozen=True):
    """A limit: the gate fails where the figure, or an end of its 95% interval, is `sign` the limit."""

    figure: str
    end: End
    sign: str
    limit: float
    text: str


class Outcome(Struct, frozen=True):
    """What became of a gate, and the figure behind it."""

    gate: Gate
    estimate: Estimate
    decision: Decision


def fail_on(text: str) -> Gate:
    """Return the gate of a condition that fails, such as `tool_call_failure>5%` or `any.lower >= 0.1`."""
    return _read(text, ("<", ">", "<=", ">="), "tool_call_failure>5%")


def fail_under(text: str) -> Gate:
    """Return the gate of a least value, such as `accuracy=0.85` or `accuracy.lower=85%`."""
    gate = _read(text, ("=",), "accuracy=0.85")
    return Gate(gate.figure, gate.end, "<", gate.limit, text)


def decide(gates: Iterable[Gate], figures: Mapping[str, Estimate]) -> list[Outcome]:
    """Return the outcome of each gate."""
    return [_decided(gate, figures) for gate in gates]


def _read(text: str, signs: tuple[str, ...], example: str) -> Gate:
    found = list(_SIGN.finditer(text))
    last = found[-1] if found else None
    if last is not None and last[0] in signs:
        figure, limit = text[: last.start()].strip(), _number(text[last.end() :].strip())
        suffix = next((suffix for suffix in _ENDS if figure.endswith(suffix)), "")
        if figure and limit is not None:
            return Gate(figure.removesuffix(suffix), _ENDS.get(suffix, "value"), last[0], limit, text)
    raise UsageError(f"{text!r} is not a limit", f"Write it like {example!r}; FIGURE.lower means the interval's end.")


def _number(text: str) -> float | None:
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        return None
    return number / 100 if text.endswith("%") else number


def _decided(gate: Gate, figures: Mapping[str, Estimate]) -> Outcome:
    estimate = figures.get(gate.figure)
    if estimate is None:
        raise UsageError(f"there is no figure {gate.figure!r}", f"Known: {', '.join(figures)}.")
    measured = {"value": estimate.value, "lower": estimate.low, "upper": estimate.high}[gate.end]
    if measured is None:
        return Outcome(gate, estimate, "undecided")
    return Outcome(gate, estimate, "failed" if _FAILS[gate.sign](measured, gate.limit) else "passed")
