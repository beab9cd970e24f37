"""The agent's commands run again, in order, in a replica of the environment as it was."""

import json
import shlex
from collections.abc import Iterator, Sequence
from itertools import accumulate, takewhile
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.triage.protocols import Replica
from misstep.harness.triage.rules.run_record import RecordedCommand
from misstep.harness.workspace import Limits

_MOST_COMMANDS = 200
_MOST_SECONDS = 120.0
_BATCH = 60_000
"""Bytes of commands that are handed to one process; the kernel takes no longer argument than 128 KiB."""

_RUNNER = """
import json, os, signal, subprocess, sys
seconds, shell, *commands = json.loads(sys.argv[1])
for command in commands:
    process = subprocess.Popen([shell, "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        text, code = process.communicate(timeout=seconds)[0], process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, code = process.communicate()[0], 124
    text = text.decode(errors="replace")[:4000]
    os.write(1, (json.dumps({"text": text, "code": code if code >= 0 else 128 - code}) + "\\n").encode())
"""


class Repeated(Struct, frozen=True):
    """A command of the record, and how it ended when it was run again."""

    recorded: RecordedCommand
    code: int
    output: str

    @property
    def mended(self) -> bool:
        """Return whether it failed in the record, and does not fail again."""
        return self.recorded.failed and self.code == 0

    @property
    def worse(self) -> bool:
        """Return whether it worked in the record, and fails now."""
        return self.recorded.code == 0 and self.code != 0


class _Told(Struct):
    text: str
    code: int


def repeat(replica: Replica, commands: Sequence[RecordedCommand], limits: Limits) -> tuple[Repeated, ...]:
    """Run the commands of a record again; where one breaks a limit, the next goes on with the files as they are."""
    return tuple(_repeat(replica, list(commands[:_MOST_COMMANDS]), limits))


def _repeat(replica: Replica, commands: list[RecordedCommand], limits: Limits) -> Iterator[Repeated]:
    while commands:
        sizes = accumulate(len(json.dumps(command.line)) * 2 for command in commands)
        n = sum(1 for _ in takewhile(lambda size: size <= _BATCH, sizes))
        batch = list(commands[: max(n, 1)])
        work: list[Any] = [limits.seconds, "sh", *(command.line for command in batch)]
        together = replace(limits, seconds=min(_MOST_SECONDS, 5 + limits.seconds * len(batch)))
        line = f"python -c {shlex.quote(_RUNNER)} {shlex.quote(json.dumps(work))}"
        finished = replica.run(line, together)
        answers = [msgspec.json.decode(line, type=_Told) for line in finished.output.splitlines() if _is_told(line)]
        for command, one in zip(batch, answers, strict=False):
            yield Repeated(command, one.code, one.text)
        if len(answers) < len(batch):  # the next command ended everything
            yield Repeated(batch[len(answers)], 137, f"ended by the limit on {finished.ended}")
        commands = commands[len(answers) + (len(answers) < len(batch)) :]


def _is_told(line: str) -> bool:
    return line.startswith('{"text": ') and line.endswith("}")
