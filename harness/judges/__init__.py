"""What to ask about an item, and how to read the answer: prompted judges. Nothing here knows how an answer is got.

A judge is a TOML file (`judge_file`). `SHIPPED` holds those that come with Misstep; an entry point in the group
`misstep.judges` adds the path of another (`package.module:NAME`).
"""

from pathlib import Path

from harness import registry
from harness.errors import UsageError
from harness.judges.judge_file import JudgeSpec, read_judge

JUDGES: dict[str, str] = {}
GROUP = "misstep.judges"

_SHIPPED = Path(__file__).parent / "shipped"


def shipped_judges() -> tuple[str, ...]:
    """The names of the judges that are known without a file."""
    return tuple(sorted({path.stem for path in _SHIPPED.glob("*.toml")} | registry.names(JUDGES, GROUP).keys()))


def read_known(named: str) -> JudgeSpec:
    """The judge in a file, or one that is known by name.

    Raises
    ------
    UsageError
        There is no such file and no such judge; lists those that there are.
    InputError
        The file breaks the form.
    """
    if named.endswith(".toml") or Path(named).is_file():
        return read_judge(Path(named))
    file = _SHIPPED / f"{named}.toml"
    if file.is_file() and file.parent == _SHIPPED:
        return read_judge(file)
    if named in registry.names(JUDGES, GROUP):
        return read_judge(Path(registry.resolve(named, JUDGES, GROUP)))
    raise UsageError(f"no judge {named!r}", f"Give a TOML file, or one of: {', '.join(shipped_judges())}.")
