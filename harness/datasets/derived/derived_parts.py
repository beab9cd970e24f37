"""How files that hold a part of upstream's rows are made, and a table of mini-swe-agent's runs.

Which rows a part has is in `data/datasets/<set>.kept.csv`, a row an id.
"""

import csv
import io
import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import Struct

from misstep.harness.datasets.derived.derived_runs import Inputs, table
from misstep.harness.datasets.upstream import csv_rows
from misstep.harness.places import data_folder

_OPENS, _CLOSES = "```bash", "\n```"
_RETURN_CODE = re.compile(r"<returncode>(-?\d++)</returncode>")
_ROW_END = b"\r\n"


class _Kept(Struct, frozen=True):
    file: str
    id: str


def kept_rows(name: str, file: str) -> Callable[[Inputs], bytes]:
    """What keeps the header and some rows of a CSV file byte for byte; rows end in CRLF, lines within cells in LF."""

    def derive(inputs: Inputs) -> bytes:
        kept = _kept(name, file)
        (data,) = inputs.values()
        header, *rows = data.split(_ROW_END)
        parts = [header, *(row for row in rows if row.partition(b",")[0].decode() in kept)]
        return b"".join(part + _ROW_END for part in parts)

    return derive


def kept_keys(name: str, file: str) -> Callable[[Inputs], bytes]:
    """Return what keeps some keys of a JSON object, in upstream's order and laid out anew."""

    def derive(inputs: Inputs) -> bytes:
        kept = _kept(name, file)
        (data,) = inputs.values()
        part = {key: value for key, value in json.loads(data).items() if key in kept}
        return (json.dumps(part, indent=1) + "\n").encode()

    return derive


def _kept(name: str, file: str) -> set[str]:
    rows = csv_rows(data_folder() / "datasets" / f"{name}.kept.csv", _Kept)
    return {row.id for row in rows if row.file == file}


class _Message(Struct):
    role: str
    content: str


class _Model(Struct):
    instance_cost: float
    api_calls: int


class _Info(Struct):
    exit_status: str
    model_stats: _Model


class _MiniRun(Struct):
    info: _Info
    messages: list[_Message]
    instance_id: str


def mini_runs(inputs: Inputs) -> bytes:
    """The runs of mini-swe-agent beside their outcomes in `results_summary.csv`, one row each, in order of instance."""
    summary = next(data for path, data in inputs.items() if path.endswith(".csv"))
    outcomes = {row["instance_id"]: row for row in csv.DictReader(io.StringIO(summary.decode(), newline=""))}
    made: dict[str, tuple[Any, ...]] = {}
    for path, data in inputs.items():
        if path.endswith(".json"):
            run = msgspec.json.decode(data, type=_MiniRun)
            made[run.instance_id] = (*outcomes[run.instance_id].values(), *_counts(run), len(data))
    counts = ("exit_status", "n_messages", "n_assistant", "api_calls", "cost_usd", "nonzero_returncodes")
    header = ("instance_id", "resolved", "patch_applied", *counts, "repeated_commands", "adjacent_repeats", "bytes")
    return table(header, (made[instance] for instance in sorted(made)))


def _counts(run: _MiniRun) -> tuple[Any, ...]:
    """Exit status, messages, turns, calls, cost, failures, and commands equal to an earlier one and to the last one."""
    turns = [message.content for message in run.messages if message.role == "assistant"]
    commands = [command for command in map(_command, turns) if command is not None]
    codes = [_RETURN_CODE.match(message.content) for message in run.messages if message.role == "user"]
    return (
        run.info.exit_status,
        len(run.messages),
        len(turns),
        run.info.model_stats.api_calls,
        round(run.info.model_stats.instance_cost, 6),
        sum(code is not None and int(code[1]) != 0 for code in codes),
        len(commands) - len(set(commands)),
        sum(first == second for first, second in pairwise(commands)),
    )


def _command(turn: str) -> str | None:
    """Return the first block of shell commands in what an agent said."""
    _, opened, rest = turn.partition(_OPENS)
    block, closed, _ = rest.partition(_CLOSES)
    return block.strip() if opened and closed else None
