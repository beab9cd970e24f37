"""What the commands of an investigating judge act on: the files of the case, a replica, and the verdict it comes to."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, TypeVar

from msgspec import Struct

from misstep.harness.agent.environment import FileView
from misstep.harness.records.attribution import Evidence, Fault
from misstep.harness.triage.agentic.case_files import CaseFiles
from misstep.harness.triage.protocols import ReadOnlyAccess, Replica, Result, SandboxAccess

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
        self.given: GivenVerdict | None = None
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
