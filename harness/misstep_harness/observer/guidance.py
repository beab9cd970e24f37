"""Word what an agent is told: DOs and DON'Ts from a store of one file a category, filled from evidence (section 3.3).

`misstep help guidance` has the form of such a file. A folder of the user's own files goes before the ones here.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct

from misstep_harness.errors import InputError, UsageError
from misstep_harness.forms import nearest, toml_form
from misstep_harness.intervention import INTERVENTION, Misbehaviour
from misstep_harness.prompting import fill, placeholders_in
from misstep_harness.registry import Registry
from misstep_harness.reminder import reminder
from misstep_harness.trajectory import Step

OTHER = "other"
"""The file for categories that have none of their own."""

FRAME = "frame"
"""The file with what is above and below all guidance."""

_FOLDER = Path(__file__).with_name("guidance")
_FORM = "`misstep help guidance` shows the form."

PLACEHOLDERS = frozenset({"call", "changed", "constraint", "parameters", "request", "times", "tool", "tools"})


class Level(Struct, frozen=True, forbid_unknown_fields=True):
    """The texts of one level.

    - `says`: Sentences; the first whose placeholders all have values is used. The last has none.
    - `do`, `dont`: Lines of a list each; a line with a placeholder that has no value is left out.
    """

    says: tuple[str, ...]
    do: tuple[str, ...]
    dont: tuple[str, ...]


class CategoryGuidance(Struct, frozen=True, forbid_unknown_fields=True):
    """What an observer says on one category of misbehaviour: the file `CATEGORY.toml` in the folder of `--guidance`.

    A category without a file is spoken of in Misstep's own words; `other.toml` is for categories that Misstep does not
    know. `frame.toml`, with `opening`, `do`, `dont`, `request` and `closing`, is what is above and below all guidance.

    The evidence fills these placeholders: {call}, {times}, {tool}, {tools}, {parameters}, {constraint}, {changed} and
    {request}.

    - `levels`: Three tables: a first word, a firmer one, and the call for a new plan or for the user.

    Examples
    --------
    # infinite_loop.toml
    [[levels]]
    says = ["You have made the call `{call}` {times} times.", "You repeat yourself."]
    do = ["Use the answer to `{call}` that you have."]
    dont = ["Make the call again while nothing has changed."]

    [[levels]]
    says = ["You still repeat yourself."]
    do = ["Take a step that you have not tried."]
    dont = ["Look once more."]

    [[levels]]
    says = ["You are stuck."]
    do = ["Write a new plan, or ask the user."]
    dont = ["Go on before that."]
    """

    levels: Annotated[tuple[Level, ...], Meta(min_length=3, max_length=3)]


class _Frame(Struct, frozen=True, forbid_unknown_fields=True):
    opening: tuple[str, str, str]
    do: str
    dont: str
    request: str
    closing: str


Form = TypeVar("Form", CategoryGuidance, _Frame)


@cache
def categories() -> tuple[str, ...]:
    """Return the categories with guidance of their own."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml") if path.stem not in (OTHER, FRAME)))


GUIDANCE: Registry[Any] = Registry("misstep.guidance", {})
"""Packages whose folder has files of guidance, or paths of such folders."""


def checked_guidance(folder: Path | None) -> str:
    """Return a folder of guidance as the path that `guidance` takes, each of its files read; without one, nothing.

    Any other name is that of an entry point.
    """
    if folder is None:
        return ""
    if not folder.is_dir() and str(folder) in GUIDANCE.names():
        folder = _installed(str(folder))
    if not folder.is_dir():
        raise UsageError(f"--guidance {folder} is not a folder", f"Name a folder with files CATEGORY.toml; {_FORM}")
    files = sorted(folder.glob("*.toml"))
    if not files:
        raise UsageError(
            f"--guidance {folder} has no file CATEGORY.toml", f"Known categories: {', '.join(categories())}."
        )
    for file in files:
        if file.stem == FRAME:
            _decoded(file, _Frame)
            continue
        for number, level in enumerate(_decoded(file, CategoryGuidance).levels):
            _check(level, file, f"levels[{number}]")
    return str(folder.resolve())


def _installed(name: str) -> Path:
    target = GUIDANCE.load(name)
    return Path(target.__file__).parent if isinstance(target, ModuleType) and target.__file__ else Path(target)


def _check(level: Level, file: Path, where: str) -> None:
    for name, lines in (("says", level.says), ("do", level.do), ("dont", level.dont)):
        for place, line in enumerate(lines):
            for unknown in sorted(placeholders_in(line) - PLACEHOLDERS):
                advice = f"{nearest(unknown, PLACEHOLDERS)}Placeholders: {', '.join(sorted(PLACEHOLDERS))}."
                field = f"{where}.{name}[{place}]"
                raise InputError(f"unknown placeholder {{{unknown}}}", advice, file=file, field=field)
    if not level.says or placeholders_in(level.says[-1]):
        advice = "End the list with a sentence that has no placeholder, so that it can always be said."
        raise InputError("no sentence can be said without evidence", advice, file=file, field=f"{where}.says")


def guidance(spoken: Sequence[tuple[Misbehaviour, int]], folder: str = "") -> str:
    """Return guidance on misbehaviours, each at its level, as one reminder; texts in `folder` come first."""
    frame = _read(FRAME, _Frame, folder)
    highest = max(level for _, level in spoken)
    requests = (fault.evidence["request"] for fault, _ in spoken if fault.evidence.get("request"))
    request = next((fill(frame.request, {"request": text}) for text in requests), "")
    sections = dict.fromkeys(_section(fault, level, frame, folder) for fault, level in spoken)
    text = "\n\n".join(filter(None, (frame.opening[highest - 1], *sections, request, frame.closing)))
    return reminder(text, (fault.category for fault, _ in spoken))


def guidance_step(text: str, number: int) -> Step:
    """Guidance as a step of the run, marked with the number of its intervention."""
    return Step("system", text, extra={INTERVENTION: number})


def of_category(category: str, folder: str = "") -> CategoryGuidance:
    """Return what the store holds on a category."""
    is_known = category in categories() or (folder and category not in (OTHER, FRAME))
    texts: CategoryGuidance = _read(category if is_known else OTHER, CategoryGuidance, folder)
    return texts


def _section(fault: Misbehaviour, level: int, frame: _Frame, folder: str) -> str:
    texts = of_category(fault.category, folder).levels[level - 1]
    values = {name: value for name, value in fault.evidence.items() if value}
    lines = [next(iter(_filled(texts.says, values)), "")]
    for title, listed in ((frame.do, texts.do), (frame.dont, texts.dont)):
        if filled := _filled(listed, values):
            lines += [title, *(f"- {line}" for line in filled)]
    return "\n".join(filter(None, lines))


def _filled(lines: Iterable[str], values: Mapping[str, str]) -> list[str]:
    return [fill(line, values) for line in lines if placeholders_in(line) <= values.keys()]


@cache
def _read(name: str, form: type[Form], folder: str) -> Form:
    places = [Path(folder), _FOLDER] if folder else [_FOLDER]
    beside = [name, OTHER] if form is CategoryGuidance else [name]
    files = (place / f"{one}.toml" for one in beside for place in places if "/" not in one)
    return _decoded(next(file for file in files if file.is_file()), form)


def _decoded(file: Path, form: type[Form]) -> Form:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(error.strerror or str(error), "Check its permissions.", file=file) from error
    return toml_form(data, form, file, _FORM)
