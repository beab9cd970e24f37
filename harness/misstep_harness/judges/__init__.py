"""What to ask about an item, and how to read the answer: prompted judges. Nothing here knows how an answer is got."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from misstep_harness.errors import UsageError
from misstep_harness.registry import Registry

if TYPE_CHECKING:
    from misstep_harness.judges.judge_file import JudgeSpec

JUDGES: Registry[Any] = Registry("misstep.judges", {})
"""Paths of judges' files, and judges in Python."""

_SHIPPED = Path(__file__).parent / "shipped"


def shipped_judges() -> tuple[str, ...]:
    """Return the names of Misstep's own judges with a prompt."""
    return tuple(sorted(path.stem for path in _SHIPPED.glob("*.toml")))


def added_judges() -> tuple[str, ...]:
    """Return the names of the judges of other packages; a name of Misstep's own stays Misstep's."""
    return tuple(sorted(JUDGES.names().keys() - set(shipped_judges())))


def read_known(named: str) -> "JudgeSpec":
    """Return the judge in a file, or one that is known by name."""
    from misstep_harness.judges.judge_file import read_judge

    if named.endswith(".toml") or Path(named).is_file():
        return read_judge(Path(named))
    file = _SHIPPED / f"{named}.toml"
    if file.is_file() and file.parent == _SHIPPED:
        return read_judge(file)
    known = ", ".join(sorted({*shipped_judges(), *added_judges()}))
    raise UsageError(f"unknown judge {named!r}", f"Give a TOML file, or one of: {known}.")
