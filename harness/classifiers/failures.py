"""How tools say that a call failed, and whether the agent was at fault.

An answer such as `Error: unknown tool 'serch'` is the agent's own error; a failing test, a search that finds nothing,
a compiler's complaint about the code under work, a network that is down are not. What agent frameworks, editors and
shells print is listed in `harness.classifiers.complaints`; it is looked for near the beginning of an answer only.
"""

import re
from functools import cache
from typing import get_args

from msgspec import Struct

from harness.classifiers.complaints import Fault, first_complaint
from harness.classifiers.history import Act, once
from harness.classifiers.tools import Kind

HEAD = 400
"""Characters of an answer in which a framework's complaint stands: complaints come first, file content later."""

_TAIL = 200
"""Characters at the end of a shell's answer, where the shell's own complaint stands after a program's output."""

_ENVIRONMENT = re.compile(
    r"connection (?:refused|reset|timed out|error|aborted)|timed? ?out|timeout|temporary failure|could not resolve"
    r"|network (?:is )?(?:unreachable|error|down)|no space left|out of memory|cannot allocate|quota|rate limit"
    r"|too many requests|service unavailable|bad gateway|internal server error|permission denied|"
    r"read-only file system"
    r"|\b(?:502|503|504|429)\b|deadlock|could not get lock|resource temporarily|overloaded|"
    r"econnrefused|enotfound|etimedout",
    re.IGNORECASE,
)
_DECLINED = re.compile(
    r"user (?:doesn't|does not|rejected|denied|declined|cancell?ed|interrupted)|"
    r"rejected by (?:the )?user|requires approval"
    r"|request interrupted|operation (?:was )?cancell?ed|permission to use",
    re.IGNORECASE,
)
_DECLINED_PIECES = ("user ", "rejected by", "requires approval", "interrupted", "cancel", "permission to use")
"""Pieces of which an answer has at least one where `_DECLINED` matches."""

_EXIT_CODE = re.compile(r"(?:exit code|returncode|exited with(?: code)?|exit status)[:>\s]*(-?\d+)", re.IGNORECASE)
_FEW_LINES = 3
_HIT = re.compile(r"[^\s:]+:\d+[:\s]")
"""How a search lists what it found: `src/app.py:12: …`."""

_ERROR_WORD = re.compile(
    r"\s*(?:\[?\w*error\]?[:!\n]|<(?:tool_use_)?error>|failed\b|fatal:|exception\b|traceback \()", re.IGNORECASE
)

_ABOUT: dict[Fault, frozenset[Kind]] = {
    "failed edit": frozenset(("edit", "write", "patch", "undo", "shell", "change", "delete", "rename")),
    "wrong usage": frozenset(("shell", "run", "test")),
    "missing file": frozenset(("read", "edit", "write", "patch", "delete", "rename", "list", "undo")),
}
"""Which kinds of call a complaint can be about; complaints that are not listed can be about any."""

_LOOKING: frozenset[Kind] = frozenset(("read", "search", "list", "look"))
"""Kinds of call whose answer is content unless it says otherwise."""

_FRAMEWORK: frozenset[Fault] = frozenset(("malformed call", "unknown tool", "invalid arguments"))
"""Complaints of the framework, which a shell can only print as the output of a program under work."""


class Failure(Struct, frozen=True, gc=False):
    """An error of the agent's own making: of what sort, and the words that say so."""

    fault: Fault
    words: str


@once
def own_failure(act: Act) -> Failure | None:
    """The agent's own error in a call, `None` where there was none or something else was at fault."""
    if act.call.parse_error is not None:
        return Failure("malformed call", act.call.parse_error)
    result = act.result
    if result is None or not result.text:
        return None
    kind = act.kind
    if kind == "shell" and result.exit_code == 0:
        return None
    text = result.text
    head = text if len(text) <= HEAD else text[:HEAD]
    if kind in _LOOKING and not _complains(act, head):
        return None
    failure = _recognised(act, kind, head)
    return None if failure is None or _declined(head) else failure


def _recognised(act: Act, kind: Kind, head: str) -> Failure | None:
    looked_at = head
    if kind == "shell":
        code = exit_code(act)
        text = act.result.text if act.result else ""
        if code == 0:
            return None
        looked_at = head if len(text) <= HEAD else head + "\n" + text[-_TAIL:]
    by_framework = kind != "shell" or _is_only_line(looked_at)
    complaint = first_complaint(looked_at, _possible(kind, by_framework))
    if complaint is None:
        return Failure("wrong usage", head.strip()[:80]) if kind == "shell" and code in (126, 127) else None
    fault, match = complaint
    if fault in ("wrong usage", "missing file") and _ENVIRONMENT.search(looked_at):
        return None
    start = looked_at.rfind("\n", 0, match.start()) + 1
    return Failure(fault, looked_at[start : match.end() + 60].strip())


@cache
def _possible(kind: Kind, framework: bool) -> frozenset[Fault]:
    """What can be wrong with a call of a kind, where the framework may or may not be who complains."""
    faults: tuple[Fault, ...] = get_args(Fault)
    return frozenset(
        fault for fault in faults if kind in _ABOUT.get(fault, (kind,)) and (framework or fault not in _FRAMEWORK)
    )


def _declined(head: str) -> bool:
    """Whether somebody would not let the call happen."""
    lowered = head.lower()
    return any(piece in lowered for piece in _DECLINED_PIECES) and _DECLINED.search(head) is not None


def _complains(act: Act, head: str) -> bool:
    """Whether an answer that should be content may be a complaint: marked as an error, or short and no list of hits."""
    result = act.result
    if result is None or result.is_error:
        return result is not None
    return len(result.text) <= HEAD and head.count("\n") <= _FEW_LINES and _HIT.match(head) is None


def _is_only_line(head: str) -> bool:
    """Whether an answer is one complaint in one line, as a framework makes it, rather than a program's output."""
    return "\n" not in head.strip() and _HIT.match(head) is None


@once
def exit_code(act: Act) -> int | None:
    """A command's exit code: as recorded, or as its answer states at the beginning or the end."""
    result = act.result
    if result is None:
        return None
    if result.exit_code is not None:
        return result.exit_code
    ends = result.text[:40] + "\n" + result.text[-80:]
    if "xit" not in ends and "eturncode" not in ends:
        return None
    match = _EXIT_CODE.search(ends)
    return int(match.group(1)) if match else None


@once
def failed(act: Act) -> bool:
    """Whether a call came to nothing, whoever was at fault."""
    result = act.result
    if act.call.parse_error is not None:
        return True
    if result is None:
        return False
    if result.is_error or exit_code(act) not in (0, None):
        return True
    head = result.text[:HEAD]
    if len(result.text) < 1000 and _declined(head):
        return True
    if own_failure(act) is not None:
        return True
    kind = act.kind
    return kind != "shell" and (kind not in _LOOKING or _complains(act, head)) and _ERROR_WORD.match(head) is not None


def environment_failure(act: Act) -> bool:
    """Whether an answer tells of the network, the disk or another service rather than of the call."""
    result = act.result
    return result is not None and _ENVIRONMENT.search(result.text[:HEAD]) is not None
