"""The commands of an investigating judge: those of any agent that look at files, and its own."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeVar, get_args

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.agent.actions import Observation
from misstep_harness.agent.environment import FileView
from misstep_harness.agent.tools import PAGE, Tool, beneath, no_file, paged, tool_named
from misstep_harness.classifiers.shell import commands as commands_in
from misstep_harness.errors import InputError, MissingPrerequisite, MisstepError
from misstep_harness.fault_mappings import FAULTS, Fault, taxonomy
from misstep_harness.judges.context import CHARACTERS_PER_TOKEN, cut_text, fitted_steps, shares, shown_step
from misstep_harness.judges.fencing import fence, readable
from misstep_harness.triage.protocols import ReadOnlyAccess, Replica, Result, SandboxAccess, TextAccess
from misstep_harness.triage.records import Evidence, EvidenceKind, Outcome, Part
from misstep_harness.workspace import Finished
from misstep_harness.workspace.differences import hunks

_UNKNOWN = "The record does not say whether the tests passed."


def taxonomy_text() -> str:
    """Return the labels with their subcategories and what each means for runs that failed and that passed."""
    lines: list[str] = []
    for label, category in taxonomy().items():
        lines.append(f"{label} ({category.name}):")
        for observed, cell in (("failed", category.failure), ("passed", category.success)):
            if cell is not None:
                lines.append(f"  of a run that {observed}: {cell.meaning}")
        lines += [f"  - {name} (of a {each.observed}): {each.meaning}" for name, each in category.subcategories.items()]
    return "\n".join(lines)


def case_text(access: TextAccess, outcome: Outcome | None, budget: int) -> str:
    """Return what a judge is shown of a case before it asks for more."""
    run = access.trajectory
    texts = {f"{INSTRUCTION} (what the agent was asked)": access.instruction or (run.task if run is not None else "")}
    texts |= {f"logs/{name}": text for name, text in access.logs.items()} | dict(access.attached)
    texts = {name: readable(text) for name, text in texts.items() if text.strip()}
    steps = () if run is None else run.steps
    opening = _UNKNOWN if outcome is None else f"The tests {outcome}, as the harness recorded it."
    room = budget * CHARACTERS_PER_TOKEN - len(opening) - (_AROUND if steps else 0)
    of_texts = room // 2 if steps else room
    chosen = _those_with_room(texts, of_texts - _AROUND)
    left_out = f"{len(texts) - len(chosen):,} further files are left out." if len(chosen) < len(texts) else ""
    around = len(left_out) + sum(_AROUND + len(name) for name in chosen)
    rooms = shares([len(texts[name]) for name in chosen], max(0, of_texts - around))
    shown = {name: cut_text(texts[name], most).text for name, most in zip(chosen, rooms, strict=True)}
    if steps:
        left = max(0, room - around - sum(rooms))
        fitted = readable(fitted_steps(steps, left, "shorten_middle", None, 0).text)
        shown["The run"] = cut_text(fitted, left).text
    salt = access.case.id
    files = [f"{name}:\n{fence(text, f'{salt} {name}')}" for name, text in shown.items()]
    return "\n\n".join(filter(None, [opening, *files, left_out]))


_AROUND = 120
"""Characters of the fence around a text and of the line that says what was cut of it, and more."""

_LEAST = 200
"""Characters of a file, if it has as many, that are worth showing."""


def _those_with_room(texts: Mapping[str, str], room: int) -> list[str]:
    sizes = accumulate(_AROUND + len(name) + min(len(text), _LEAST) for name, text in texts.items())
    return [name for name, size in zip(texts, sizes, strict=True) if size <= room]


INSTRUCTION = "instruction.md"
LOGS: Part = "logs"
STEPS = "trajectory"
_PARTS: tuple[Part, ...] = tuple(part for part in get_args(Part) if part != LOGS)


class CaseFiles:
    """The files of a case by paths such as `tests/test_app.py`, `logs/tests.log` and `trajectory/step_012`."""

    def __init__(self, texts: TextAccess, files: ReadOnlyAccess | None = None) -> None:
        self._access, self._reading = texts, files

    @cached_property
    def _texts(self) -> dict[str, str]:
        run = self._access.trajectory
        steps = enumerate(run.steps) if run is not None else ()
        instruction = {INSTRUCTION: self._access.instruction} if self._access.instruction else {}
        logs = {f"{LOGS}/{name}": text for name, text in self._access.logs.items()}
        attached = dict(self._access.attached) if self._reading is None else {}
        return instruction | logs | attached | {step_path(number): shown_step(step, number) for number, step in steps}

    @cached_property
    def _files(self) -> dict[str, tuple[Part, str]]:
        reading = self._reading
        if reading is None:
            return {}
        return {f"{part}/{path}": (part, path) for part in _PARTS for path in reading.files(part)}

    def files(self) -> list[str]:
        """Return every file, sorted."""
        return sorted([*self._texts, *self._files])

    def exists(self, path: str) -> bool:
        """Return whether there is such a file."""
        return path in self._texts or path in self._files

    def read(self, path: str) -> bytes:
        """Return the bytes of a file; raises `FileNotFoundError` if there is none that may be read."""
        if path in self._texts:
            return self._texts[path].encode(errors="replace")
        part, below = self._files.get(path, (None, ""))
        content = self._reading.read(part, below) if part and self._reading is not None else None
        if content is None:
            raise FileNotFoundError(path)
        return content

    def named(self, path: str) -> str:
        """Return the path in the tree that a name means: itself, or the one file that ends so; empty if none does.

        A file of the workspace is also in the environment, and in the replica without either; the workspace is meant.
        """
        path = path.strip("/")
        if self.exists(path) or not path:
            return path or ""
        alike = [one for one in self.files() if one.endswith(f"/{path}")]
        return next((one for one in alike if len(alike) == 1 or one == f"workspace/{path}"), "")


def step_path(number: int) -> str:
    """Return the path of a step."""
    return f"{STEPS}/step_{number:03}"


MOST_EVIDENCE_TEXT = 1_000
"""Characters of one piece of evidence that are kept."""

COMMAND = "$ "
LOOKING = ("read_directory", "read_file", "find_file", "go_to_line", "search_code", "search_code_in_file")
"""The commands that only look; evidence names them with whatever arguments."""

OWN = ("diff", "run", "test", "edit", "reset")
"""The commands of an investigation besides; evidence may name them alone."""

_STEP = re.compile(rf"(?:{STEPS}[ /])?steps?[ _]0*(\d{{1,7}})(?:\s?[-–:]\s?\d{{1,7}})?", re.IGNORECASE)
_LINE = re.compile(r"(?<=[^:])(?::L?|#L| lines? )\d+(?:\s?[-–:]\s?L?\d+)?\Z")
_SAID = re.compile(r"(?:run|command)(?: command=|: ?| )|\s\((?:exit|ended)[^()]{0,60}\)\Z")
"""What a model puts around a command that it names."""


class _Place(Struct, frozen=True):
    kind: EvidenceKind = "record"
    step: int | None = None
    fault: str = ""


class _Found(Struct, frozen=True):
    evidence: tuple[Evidence, ...]
    steps: tuple[int, ...]
    faults: tuple[str, ...]


def place_of(where: str, files: CaseFiles, commands: Collection[str] = ()) -> _Place:
    """Return what a place is that evidence names; `commands` are those that were run."""
    where = where.strip("`'\" ").removeprefix("./")
    line = where.removeprefix(COMMAND)
    if _was_run(line, commands):
        return _Place("command")
    if line != where:
        return _Place(fault=f"no command {line!r} was run")
    if (step := _STEP.fullmatch(where)) is not None:
        number = int(step[1])
        is_there = files.exists(step_path(number))
        return _Place("step", number) if is_there else _Place(fault=f"the run has no step {number}")
    path = files.named(_LINE.sub("", where))
    if path:
        return _Place("log" if path.startswith(f"{LOGS}/") else "file")
    return _Place(fault=f"there is no {where!r}")


def _was_run(named: str, commands: Collection[str]) -> bool:
    """Return whether a command was run that has this line, begins with it, or is of a program of this name.

    Of a command in several lines the first is enough, and of the commands that an investigator is given their name.
    """
    lines = {" ".join(line.split()) for command in commands for line in (command, command.partition("\n")[0])}
    plain = " ".join(named.split())
    bare = _SAID.sub("", plain).strip("`'\" ")
    if {plain, bare} & lines or plain.partition(" ")[0].rstrip(":") in {*LOOKING, *OWN} & set(commands):
        return True
    programs = {simple.program for command in commands for simple in commands_in(command)}
    return bool(bare) and (bare in programs or any(line.startswith(f"{bare} ") for line in lines))


def found_evidence(pieces: Sequence[tuple[str, str]], files: CaseFiles, commands: Collection[str] = ()) -> _Found:
    """Return the evidence in pairs of place and text."""
    placed = [(place_of(where, files, commands), where, text[:MOST_EVIDENCE_TEXT]) for where, text in pieces]
    evidence = tuple(Evidence(place.kind, where, text) for place, where, text in placed if not place.fault)
    steps = {place.step for place, _, _ in placed if place.step is not None}
    return _Found(evidence, tuple(sorted(steps)), tuple(place.fault for place, _, _ in placed if place.fault))


def subcategory_fault(label: str, subcategory: str) -> str:
    """Return what is wrong with a subcategory of a label; empty where the taxonomy has it there, or it is empty."""
    known = [name for fault, category in taxonomy().items() if fault == label for name in category.subcategories]
    if not subcategory or subcategory in known:
        return ""
    return f"{label} has no subcategory {subcategory!r}; it has {', '.join(known) or 'none'}"


T = TypeVar("T")


class GivenVerdict(Struct, frozen=True):
    """What the judge said at the end; `faults` say what of it was left out because it does not hold."""

    label: Fault
    subcategory: str
    rationale: str
    evidence: tuple[Evidence, ...]
    steps: tuple[int, ...]
    faults: tuple[str, ...] = ()


class Bench(FileView):
    """What the commands of one investigation act on; close it with `end`."""

    def __init__(self, access: ReadOnlyAccess, sandbox: SandboxAccess | None = None) -> None:
        self.case_files = CaseFiles(access, access)
        super().__init__(self.case_files)
        self.access = access
        self.commands: set[str] = set()
        self.refused = 0
        self.verdict: GivenVerdict | None = None
        self._sandbox = sandbox
        self._stack = ExitStack()
        self._replica: Replica | None = None
        self._working: asyncio.Future[Any] | None = None

    async def in_replica(self, work: Callable[[Replica], T]) -> T:
        """Return what some work in the replica gives; it begins with the agent's result, and blocks no other work."""
        return await self._in_thread(lambda: work(self._replica or self._open("workspace")))

    async def reset(self, result: Result) -> None:
        """Begin with a fresh replica of a result; raises `InputError` where the case has no such part."""
        await self._in_thread(lambda: self._open(result))

    async def end(self) -> None:
        """Wait for a command that was cut off, and throw the replica away."""
        if self._working is not None:
            await asyncio.wait([self._working])
        await asyncio.to_thread(self._stack.close)
        self.close()

    async def _in_thread(self, work: Callable[[], T]) -> T:
        working = asyncio.ensure_future(asyncio.to_thread(work))
        self._working = working
        return await asyncio.shield(working)

    def _open(self, result: Result) -> Replica:
        if self._sandbox is None:
            raise PermissionError("this access runs nothing")
        self._stack.close()
        self._replica = None
        self._replica = self._stack.enter_context(self._sandbox.replica(result))
        return self._replica


MOST_SHOWN = 12_000
"""Characters of one observation."""

_RESULTS: tuple[Result, ...] = get_args(Result)


def fenced(tool: Tool[Bench]) -> Tool[Bench]:
    """Return the command with what it shows cut and fenced."""

    async def run(arguments: Mapping[str, str], bench: Bench) -> Observation:
        shown = await tool.run(arguments, bench)
        if not shown.is_error:
            bench.commands.add(tool.name)
        if shown.is_error or shown.ends:
            return shown
        return replace(shown, text=fence(cut_text(shown.text, MOST_SHOWN).text, tool.name))

    return replace(tool, run=run)


async def _diff(arguments: Mapping[str, str], bench: Bench) -> Observation:
    first, second = beneath(arguments["first"]), beneath(arguments["second"])
    paths = bench.files.files()
    are_files = bench.files.exists(first) or bench.files.exists(second)
    pairs = [(first, second)] if are_files else _pairs(paths, first, second)
    if lacking := next((one for one in (first, second) if are_files and not bench.files.exists(one)), ""):
        return no_file(lacking, bench)
    if not pairs:
        return no_file(first, bench)
    lines = [line for one, other in pairs for line in _difference(bench, one, other)]
    return paged(lines, "diff", arguments) if lines else Observation("They are the same.")


def _difference(bench: Bench, one: str, other: str) -> list[str]:
    """Return the lines in which two files differ; of files that are no text, whether they do."""
    paths = [path for path in (one, other) if bench.files.exists(path)]
    if any(bench.text(path) is None for path in paths):
        contents = [_content(bench, path) for path in paths]
        alike = len(contents) == 2 and None not in contents and contents[0] == contents[1]
        return [] if alike else [f"{one} and {other} are not the same, or too large to be compared, and no text"]
    before, after = ([f"{line}\n" for line in (bench.text(path) or "").splitlines()] for path in (one, other))
    changed = [line.rstrip("\n") for line in hunks(before, after)]
    return [f"--- {one}", f"+++ {other}", *changed] if changed else []


def _content(bench: Bench, path: str) -> bytes | None:
    with suppress(OSError):
        return bench.files.read(path)
    return None


def _pairs(paths: list[str], first: str, second: str) -> list[tuple[str, str]]:
    folders = (f"{first}/", f"{second}/")
    below = {path.removeprefix(folder) for folder in folders for path in paths if path.startswith(folder)}
    return [(f"{first}/{path}", f"{second}/{path}") for path in sorted(below)]


async def _run(arguments: Mapping[str, str], bench: Bench) -> Observation:
    line = arguments["command"].strip()
    if not line:
        return Observation("command is empty.", is_error=True)
    return await _finished(bench, line, lambda replica: replica.run(line))


async def _test(arguments: Mapping[str, str], bench: Bench) -> Observation:  # noqa: ARG001
    return await _finished(bench, bench.access.case.file.test_command, lambda replica: replica.test_as_is())


async def _finished(bench: Bench, line: str, work: Any) -> Observation:
    try:
        ended: Finished = await bench.in_replica(work)
    except MissingPrerequisite:
        raise
    except InputError as error:
        return Observation(error.line(), is_error=True)
    except MisstepError as error:  # the time for the case is over
        raise TimeoutError(error.line()) from error
    bench.commands.add(line)
    how = f"exit code {ended.exit_code}" if ended.exit_code is not None else f"ended by its limit: {ended.ended}"
    return Observation(f"{COMMAND}{line}\n{ended.output}\n[{how}, {ended.seconds:.1f} s]")


async def _edit(arguments: Mapping[str, str], bench: Bench) -> Observation:
    path, old, new = beneath(arguments["file_path"]), arguments["old"], arguments["new"]

    def edit(replica: Replica) -> None:
        content = replica.read(path)
        if content is None:
            raise InputError(f"The replica has no file {path!r}.")
        text = content.decode(errors="surrogateescape")
        if not old or text.count(old) != 1:
            n = text.count(old) if old else 0
            raise InputError(f"old stands {n} times in {path}, and must stand there once.")
        replica.write(path, text.replace(old, new).encode(errors="surrogateescape"))

    return await _done(bench.in_replica(edit), f"{path} was changed in the replica.")


async def _reset(arguments: Mapping[str, str], bench: Bench) -> Observation:
    result = next((known for known in _RESULTS if known == arguments["result"].strip()), None)
    if result is None:
        return Observation(f"result is one of {', '.join(_RESULTS)}.", is_error=True)
    return await _done(bench.reset(result), f"The replica holds the {result} and the tests as they were.")


async def _done(work: Awaitable[None], message: str) -> Observation:
    try:
        await work
    except InputError as error:
        return Observation(error.line(), is_error=True)
    return Observation(message)


async def _verdict(arguments: Mapping[str, str], bench: Bench) -> Observation:
    label, subcategory = arguments["label"].strip(), arguments.get("subcategory", "").strip()
    faults = [] if label in FAULTS else [f"the label {label!r} is none of {', '.join(FAULTS)}"]
    of_subcategory = "" if faults else subcategory_fault(label, subcategory)
    lines = [line.strip() for line in arguments["evidence"].splitlines() if line.strip()]
    pieces = [(where.strip(), text.strip()) for where, _, text in (line.partition(" | ") for line in lines)]
    checked = found_evidence(pieces, bench.case_files, bench.commands)
    details = [*([of_subcategory] if of_subcategory else []), *checked.faults]
    if not pieces:
        details.append("evidence is empty: write a line `place | what stands there` for each piece")
    if not arguments["reasoning"].strip():
        faults.append("reasoning is empty")
    doubtful = bool(of_subcategory) or not checked.evidence
    if faults or (doubtful and not bench.refused):  # said once; a model that insists has given its answer
        bench.refused += 1
        return Observation(f"The verdict is not taken: {'; '.join([*faults, *details])}.", is_error=True)
    named = "" if of_subcategory else subcategory
    reasoning = arguments["reasoning"].strip()
    bench.verdict = GivenVerdict(label, named, reasoning, checked.evidence, checked.steps, tuple(details))  # type: ignore[arg-type]
    return Observation("The investigation has ended.", ends=True)


DIFF = Tool(
    "diff",
    "Compare two files, or all files of two folders such as environment and workspace.",
    {"first": "path of a file or folder", "second": "path of another"},
    _diff,
    PAGE,
)
RUN = Tool("run", "Run a shell line in the replica.", {"command": "the shell line"}, _run)
TEST = Tool("test", "Run the test command in the replica, with the tests as they stand there now.", {}, _test)
EDIT = Tool(
    "edit",
    "Replace a text in a file of the replica, such as an assertion of a test.",
    {
        "file_path": "path in the replica, such as tests/test_app.py",
        "old": "text that stands there once",
        "new": "text",
    },
    _edit,
)
RESET = Tool(
    "reset",
    "Begin with a fresh replica; at first it holds the workspace.",
    {"result": "environment, workspace or solution"},
    _reset,
)
VERDICT = Tool(
    "verdict",
    "End the investigation with a label.",
    {
        "label": "task, agent, infrastructure or pass",
        "evidence": "a line `place | what stands there` for each piece; a place is a step, a file:line or $ command",
        "reasoning": "what happened, and why it has that cause",
    },
    _verdict,
    {"subcategory": "one of the label's subcategories; left out for pass"},
)


def tools_of(*, sandbox: bool) -> tuple[Tool[Bench], ...]:
    """Return the commands of a judge that can read, and with `sandbox` of one that can run things as well."""
    looking: list[Tool[Bench]] = [tool_named(name) for name in LOOKING]  # type: ignore[misc]
    running = [RUN, TEST, EDIT, RESET] if sandbox else []
    return (*map(fenced, [*looking, DIFF, *running]), VERDICT)
