"""Workspaces in memory and scripted sub-agents, for tests of the agent."""

from collections.abc import Callable, Sequence

from misstep_harness.agent.environment import AppliedEdit, Environment
from misstep_harness.agent.protocols import Patcher, PatchRequest
from misstep_harness.errors import InputError
from misstep_harness.exchange import Failure, Outcome, Request
from misstep_harness.protocols import Ask
from misstep_harness.workspace.suite.report import SuiteReport


class FilesInMemory:
    """A workspace's files in a dict."""

    def __init__(self, files: dict[str, str]) -> None:
        self.data = {path: text.encode() for path, text in files.items()}

    def files(self) -> list[str]:
        return sorted(self.data)

    def exists(self, path: str) -> bool:
        return path in self.data

    def read(self, path: str) -> bytes:
        if path not in self.data:
            raise FileNotFoundError(path)
        return self.data[path]

    def write(self, path: str, data: bytes) -> None:
        self.data[path] = data

    def remove(self, path: str) -> None:
        del self.data[path]


class NoModel:
    """A way to ask that nobody answers."""

    model = ""

    async def __call__(self, request: Request) -> Outcome:  # noqa: ARG002
        return Failure("circuit_open", "no model")


class ScriptedPatcher:
    """Gives prepared replies and keeps what it was asked."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.requests: list[PatchRequest] = []

    async def patch(self, request: PatchRequest, ask: Ask) -> str:  # noqa: ARG002
        self.requests.append(request)
        return self.replies.pop(0)


def replace_reply(reply: str, read: Callable[[str], str | None], path: str) -> AppliedEdit:
    """A toy edit format: `old => new`, refused where `old` is not there."""
    old, _, new = reply.partition(" => ")
    text = read(path) or ""
    if old not in text:
        raise InputError(f"{old!r} is not in the file", file=path)
    return AppliedEdit({path: text.replace(old, new)}, ("exact",))


def environment(
    files: dict[str, str],
    *replies: str,
    reports: Sequence[SuiteReport] | None = None,
    found: str | None = None,
    diffs: dict[str, str] | None = None,
    patcher: Patcher | None = None,
    judged: str | None = None,
) -> Environment:
    """An environment over files in memory, with prepared replies, test reports, static analysis and verdict."""
    left = list(reports or ())

    async def run_tests() -> SuiteReport:
        return left.pop(0)

    async def analysis(paths: tuple[str, ...]) -> str:  # noqa: ARG001
        return found or ""

    async def judge() -> tuple[str, bool]:
        return judged or "", False

    return Environment(
        FilesInMemory(files),
        patcher=patcher or ScriptedPatcher(*replies),
        apply_reply=replace_reply,
        ask=NoModel(),
        run_tests=None if reports is None else run_tests,
        static_analysis=None if found is None else analysis,
        patch_judge=None if judged is None else judge,
        diffs=diffs,
        tasks={"7": "Mend the price.\nIt is wrong."},
    )
