"""What an agent's commands act on: a workspace, its index, the tests and the feedback that its setting allows."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from misstep_harness.agent.protocols import Patcher, PatchRequest
from misstep_harness.edits import apply_edit
from misstep_harness.errors import MisstepError
from misstep_harness.exchange import Outcome, Reply, Request
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Tokens
from misstep_harness.workspace.suite.report import SuiteReport

if TYPE_CHECKING:
    from misstep_harness.agent.code_index import CodeIndex


class ReadableFiles(Protocol):
    """Files to look at, by paths below their root."""

    def files(self) -> list[str]:
        """Return every file, sorted."""

    def exists(self, path: str) -> bool:
        """Return whether there is such a file."""

    def read(self, path: str) -> bytes:
        """Return the bytes of a file; raises `OSError` or `MisstepError` where it cannot be read."""


class _Files(ReadableFiles, Protocol):
    def write(self, path: str, data: bytes) -> None:
        """Write a file."""

    def remove(self, path: str) -> None:
        """Remove a file."""


class Edited(Struct, frozen=True, omit_defaults=True):
    """What came of one edit: the patcher's reply, which files changed by which rule, or why it was refused."""

    path: str
    reply: str
    rules: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    refused: str = ""


ApplyReply = Callable[[str, Callable[[str], str | None], str], "AppliedEdit"]
"""Reads a patcher's reply and gives the new texts: reply, how a file is read, the file that it is about."""


class AppliedEdit(Struct, frozen=True):
    """The new text of each file that an edit changes, `None` if it goes, and the rule that each part matched by."""

    files: Mapping[str, str | None]
    rules: tuple[str, ...]


def replies_in(edit_format: str) -> ApplyReply:
    """Return the way to read replies in an edit format."""

    def apply_reply(reply: str, read: Callable[[str], str | None], path: str) -> AppliedEdit:
        applied = apply_edit(edit_format, reply, read, path)
        return AppliedEdit(applied.files, tuple(receipt.rule for receipt in applied.receipts))

    return apply_reply


class FileView:
    """What the commands that look at files act on: the files, and their index."""

    def __init__(self, files: ReadableFiles) -> None:
        self.files: ReadableFiles = files
        self._index: CodeIndex | None = None

    @property
    def index(self) -> "CodeIndex":
        """Return the index of the files, made when it is first searched."""
        if self._index is None:
            from misstep_harness.agent.code_index import CodeIndex

            self._index = CodeIndex(self.files.files(), self.files.read)
        return self._index

    def close(self) -> None:
        """Close the index."""
        if self._index is not None:
            self._index.close()

    def text(self, path: str) -> str | None:
        """Return a file as text, with its line ends; `None` if there is none or it is not text."""
        if not self.files.exists(path):
            return None
        try:
            return self.files.read(path).decode()
        except (OSError, UnicodeDecodeError):
            return None


class _CountedAsk:
    def __init__(self, ask: Ask) -> None:
        self.model = ask.model
        self.tokens: list[Tokens] = []
        self._ask = ask

    async def __call__(self, request: Request) -> Outcome:
        outcome = await self._ask(request)
        if isinstance(outcome, Reply):
            self.tokens.append(Tokens(outcome.input_tokens, outcome.output_tokens, cost_usd=outcome.cost_usd))
        return outcome


class Environment(FileView):
    """What the commands of one run act on.

    - `patcher`, `apply_reply`, `ask`: The sub-agent that writes edits, what reads its replies, and its way to a model.
    - `run_tests`: Runs the oracle's tests; `None` where the setting gives the agent no test execution.
    - `static_analysis`: Analyses the files that an edit changed, and gives the feedback, empty where nothing is wrong;
      `None` where the setting gives none.
    - `patch_judge`: Gives what a judge says of the whole change so far, and whether it rejects it; it is asked after an
      edit with which the tests pass and no other check complains. `None` without a judge.
    - `diffs`, `tasks`: By number: what `get_diff_details` and `get_task_details` give.
    """

    def __init__(
        self,
        files: _Files,
        *,
        patcher: Patcher,
        apply_reply: ApplyReply,
        ask: Ask,
        run_tests: Callable[[], Awaitable[SuiteReport]] | None = None,
        static_analysis: Callable[[tuple[str, ...]], Awaitable[str]] | None = None,
        patch_judge: Callable[[], Awaitable[tuple[str, bool]]] | None = None,
        diffs: Mapping[str, str] | None = None,
        tasks: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(files)
        self.files: _Files = files
        self.run_tests, self.static_analysis = run_tests, static_analysis
        self.patch_judge = patch_judge
        self.diffs = diffs or {}
        self.tasks = tasks or {}
        self.edits: list[Edited] = []
        self.history = ""
        self._patcher, self._apply_reply = patcher, apply_reply
        self._ask = _CountedAsk(ask)

    @property
    def patcher_tokens(self) -> tuple[Tokens, ...]:
        """Return what each reply of the patching sub-agent took."""
        return tuple(self._ask.tokens)

    async def reply_of_patcher(self, path: str, content: str, instructions: str) -> str:
        """Return what the patching sub-agent writes for one file."""
        return await self._patcher.patch(PatchRequest(path, content, instructions, self.history), self._ask)

    def apply(self, reply: str, path: str) -> AppliedEdit:
        """Apply a reply to the workspace, whole or not at all."""
        applied = self._apply_reply(reply, self.text, path)
        before = {name: self.text(name) for name in applied.files}
        try:
            self._put(applied.files)
        except (OSError, MisstepError):
            self._put(before)
            raise
        return applied

    def _put(self, files: Mapping[str, str | None]) -> None:
        for name, text in files.items():
            if text is not None:
                self.files.write(name, text.encode())
            elif self.files.exists(name):
                self.files.remove(name)
            if self._index is not None:
                self._index.update(name)
