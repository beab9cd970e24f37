"""Check every trajectory, whichever reader it comes from: JSON values, of bounded depth and bounded size.

A set in an argument or a value nested a thousand deep costs its own trajectory where it is read, and nothing
afterwards.

Find in a recorded run what Misstep told its agent: a step of its own for each, marked as an intervention.

Only what a program or a person put before the agent is looked at: a tool may answer with a text that has a reminder in
it, and has told nobody anything.
"""

from collections.abc import Collection, Iterator
from types import NoneType
from typing import Any

import msgspec
from msgspec.structs import replace

from misstep_harness.errors import ReaderFailed, UnreadableTrajectory
from misstep_harness.intervention import ABOUT, INTERVENTION
from misstep_harness.places import path_text
from misstep_harness.protocols import Reader, Sample, Unit
from misstep_harness.readers.input.decoding import EXPANSION_LIMIT, unreadable
from misstep_harness.reminder import own_reminders
from misstep_harness.trajectory import Source, Step, Trajectory

INJECTED = "injected"
"""Where readers keep what a program put into a person's text."""

_OPENING, _HOOK = "<system-reminder>", " hook"
"""What older versions of Claude Code write around a hook's words, in three lines."""


def with_interventions(run: Trajectory) -> Trajectory:
    """Return a run whose delivered reminders are steps of the system, numbered in their order as in live runs."""
    if any(INTERVENTION in step.extra for step in run.steps):
        return run
    steps = [each for step in run.steps for each in _apart(step)]
    if len(steps) == len(run.steps) and not any(ABOUT in step.extra for step in steps):
        return run
    number = 0
    for place, step in enumerate(steps):
        if ABOUT in step.extra:
            steps[place] = replace(step, extra={**step.extra, INTERVENTION: number})
            number += 1
    return replace(run, steps=tuple(steps))


def _apart(step: Step) -> Iterator[Step]:
    injected = step.extra.get(INJECTED)
    put_in = [text for text in injected if isinstance(text, str)] if isinstance(injected, list) else []
    words, about, _ = ("", (), "") if step.role == "agent" else own_reminders("\n".join([step.text, *put_in]))
    if not words:
        yield step
        return
    rest = own_reminders(step.text)[2]
    around = rest.startswith(_OPENING) and _HOOK in rest and rest.count("\n") <= 2
    says_more = bool(step.calls or step.results or (rest.strip() and not around))
    if says_more:
        yield replace(step, text=rest)
    extra = {} if says_more else step.extra
    yield Step("system", words, timestamp=step.timestamp, extra={**extra, ABOUT: list(about)})


DEPTH_LIMIT = 256
"""How deep the values of a trajectory may be nested: what is deeper cannot be shown, compared or written safely."""

_TIMES_LONGER = 4
"""How many times the length of its bytes what is read of them may have, beyond 64 MiB: texts are kept raw as well."""

_PLAIN = (int, float, bool, NoneType)
_OWN_PACKAGE = "misstep_harness.readers."
_decoder = msgspec.json.Decoder(Trajectory)


def read_value(data: bytes, reader: Reader, source: Source) -> Iterator[Trajectory]:
    """Return the trajectories of one value or file, each checked; what a reader raises costs what it was reading."""
    left = _TIMES_LONGER * len(data) + EXPANSION_LIMIT
    try:
        for row in reader.read(data, source):
            own = row if is_own(reader) else _as_stated(row, reader, source)
            left -= checked(own, source, left)
            yield with_interventions(own)
    except UnreadableTrajectory:
        raise
    except RecursionError as error:
        raise unreadable("the data are nested too deep", source) from error
    except (Exception, SystemExit) as error:  # a reader from elsewhere may raise anything
        raise reader_failed(reader, error, source.file, source.line) from error


def refusal(reader: Reader, sample: Sample) -> str | None:
    """Return what a reader says of a file."""
    try:
        return reader.refuse(sample)
    except (Exception, SystemExit) as error:  # a reader from elsewhere may raise anything
        raise reader_failed(reader, error, path_text(sample.path)) from error


def reader_failed(reader: Reader, error: BaseException, file: str, line: int | None = None) -> ReaderFailed:
    """Return the error for a reader that broke: which, of which package, and what it raised."""
    message = " ".join(str(error).split())
    raised = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return ReaderFailed(f"the reader {reader.FORMAT!r} of {package_of(reader)} failed: {raised}", file=file, line=line)


class UnusableReader:
    """A registered reader that cannot be loaded, or lacks what makes one: it fails on each file.

    - `target`: Where it should be: `package.module` or `package.module:name`.
    - `why`: What was raised.
    """

    UNIT: Unit = "value"

    def __init__(self, name: str, target: str, why: BaseException) -> None:
        self.FORMAT = name
        self.__name__ = target
        self.why = why

    def refuse(self, sample: Sample) -> str | None:  # noqa: ARG002 (it does not get so far)
        """Raise what was raised when it was loaded."""
        raise self.why

    def read(self, data: bytes, source: Source) -> Iterator[Trajectory]:  # noqa: ARG002
        """Raise what was raised when it was loaded."""
        raise self.why


def package_of(reader: Any) -> str:
    """Return the module that a reader is, or comes from."""
    return str(getattr(reader, "__name__", None) or type(reader).__module__)


def is_own(reader: Any) -> bool:
    """Return whether a reader is one of Misstep's, which the family tests hold to the types of a trajectory."""
    return package_of(reader).startswith(_OWN_PACKAGE)


def _as_stated(trajectory: Trajectory, reader: Reader, source: Source) -> Trajectory:
    try:
        return _decoder.decode(msgspec.json.encode(trajectory))
    except (msgspec.MsgspecError, TypeError, ValueError) as error:
        raise reader_failed(reader, error, source.file, source.line) from error


def checked(trajectory: Trajectory, source: Source, left: int = EXPANSION_LIMIT) -> int:
    """Return how many characters a trajectory comes to, all that it repeats counted each time."""
    length, tops = _measured(trajectory)
    for _ in range(DEPTH_LIMIT):
        if length > left:
            why = f"repeats so much that it comes to over {EXPANSION_LIMIT >> 20} MiB more than the file says"
            raise unreadable(why, source)
        if not tops:
            return length
        below: list[dict[str, Any] | list[Any]] = []
        for top in tops:
            length += _add_below(top, below, source)
            if length > left:
                break
        tops = below
    raise unreadable("the data are nested too deep", source)


def _measured(trajectory: Trajectory) -> tuple[int, list[Any]]:
    """Return the characters of a trajectory's own texts, and the objects that are of any JSON value."""
    named = filter(None, (trajectory.agent, trajectory.model, trajectory.parent))
    length = len(trajectory.id) + len(trajectory.task) + sum(map(len, named))
    tops: list[Any] = [trajectory.extra] if trajectory.extra else []
    for step in trajectory.steps:
        length += len(step.text) + len(step.reasoning) + len(step.speaker or "") + len(step.timestamp or "")
        if step.extra:
            tops.append(step.extra)
        for call in step.calls:
            length += len(call.name) + len(call.id or "") + len(call.parse_error or "")
            if call.arguments:
                tops.append(call.arguments)
            if call.extra:
                tops.append(call.extra)
        for result in step.results:
            length += len(result.text) + len(result.call_id or "")
            if result.extra:
                tops.append(result.extra)
    return length, tops


def _add_below(top: Any, below: list[Any], source: Source) -> int:
    values: Collection[Any] = (top,)
    length = 0
    if top.__class__ is dict:
        for name in top:
            if name.__class__ is not str:
                raise unreadable(f"a name of type {type(name).__name__}, where JSON has only texts", source)
            length += len(name)
        values = top.values()
    elif top.__class__ is list:
        values = top
    length += len(values)
    for value in values:
        kind = value.__class__
        if kind is str:
            length += len(value)
        elif kind is dict or kind is list:
            if value:
                below.append(value)
        elif kind not in _PLAIN:
            raise unreadable(f"a value of type {type(value).__name__}, which JSON does not have", source)
    return length
