"""The commands of an investigating judge: those of any agent that look at files, and its own."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack, suppress
from typing import Any, TypeVar, get_args

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.agent.actions import Observation
from misstep_harness.agent.environment import FileView
from misstep_harness.agent.tools import PAGE, Tool, beneath, no_file, paged, tool_named
from misstep_harness.errors import InputError, MissingPrerequisite, MisstepError
from misstep_harness.fault_mappings import FAULTS, Fault
from misstep_harness.judges.context import cut_text
from misstep_harness.judges.fencing import fence
from misstep_harness.triage.agentic.case_files import COMMAND, LOOKING, CaseFiles, found_evidence, subcategory_fault
from misstep_harness.triage.protocols import ReadOnlyAccess, Replica, Result, SandboxAccess
from misstep_harness.triage.records import Evidence
from misstep_harness.workspace import Finished
from misstep_harness.workspace.differences import hunks

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
