"""What an Inspect log says of all its samples, and how much of it stands with each of them.

Every trajectory of a log has it as `extra["log"]`. Where that would repeat too much, the first sample alone has all of
it, and the others say what matters for each and where the rest is.
"""

from typing import Any

UNREADABLE = "misstep_unreadable"
"""The field of a line of an archive that says why its sample is not there."""

_REPEATED_LIMIT = 64 << 10
"""Characters: what all copies together may come to, where the samples themselves are not longer."""

_OF_LOG = ("version", "status")
_OF_EVAL = ("task", "model", "solver", "created", "run_id", "task_id")
_LONGEST = 1000


def is_too_long(length: int, samples: int, whole: int) -> bool:
    """Return whether what a log of `whole` characters says is too long to be repeated with each of its samples."""
    return length * (samples - 1) > max(_REPEATED_LIMIT, whole)


def brief(about: dict[str, Any], where: str) -> dict[str, Any]:
    """The short fields of a log that tell its samples from those of another, and `where` the whole of it stands."""
    described = about.get("eval")
    told = {
        "eval": _short(described, _OF_EVAL) if isinstance(described, dict) else {},
        **({"whole_log": where} if where else {}),
    }
    return _short(about, _OF_LOG) | told


def _short(fields: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    found = {name: fields[name] for name in names if isinstance(fields.get(name), str | int)}
    return {name: value[:_LONGEST] if isinstance(value, str) else value for name, value in found.items()}
