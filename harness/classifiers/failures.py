"""How tools say that a call failed, and whether the agent was at fault.

An answer such as `Error: unknown tool 'serch'` is the agent's own error; a failing test, a search that finds nothing,
a compiler's complaint about the code under work, a network that is down are not. `PHRASES` is the one list of what
agent frameworks, editors and shells print; each is looked for near the beginning of an answer only.
"""

import re
from typing import Literal

from msgspec import Struct

from harness.classifiers.history import Act
from harness.classifiers.tools import Kind, kind_of

Fault = Literal["malformed call", "unknown tool", "invalid arguments", "failed edit", "wrong usage", "missing file"]

HEAD = 400
"""Characters of an answer in which a framework's complaint stands: complaints come first, file content later."""

_TAIL = 200
"""Characters at the end of a shell's answer, where the shell's own complaint stands after a program's output."""

PHRASES: tuple[tuple[Fault, str], ...] = (
    # The call could not be read at all.
    (
        "malformed call",
        r"(?:could not|couldn't|cannot|can't|failed to|unable to|error(?: while)?) pars(?:e|ing) (?:the |"
        r"your )?"
        r"(?:\w+ ){0,2}(?:tool|function|arguments|action|call|json)",
    ),
    (
        "malformed call",
        r"\b(?:tool call|function call|tool_call|arguments?|parameters?) (?:is|are|was|were) (?:malformed|"
        r"not valid json)",
    ),
    ("malformed call", r"\b(?:malformed|unparse?able) (?:tool|function|action|arguments|json in)"),
    (
        "malformed call",
        r"invalid json (?:in|for|was|passed|provided|arguments?)|arguments? (?:must be|is not|"
        r"are not) (?:a )?valid json",
    ),
    # mini-swe-agent and SWE-agent: the reply does not hold one command in the form asked for.
    ("malformed call", r"please always provide exactly one action|your (?:last )?output was not formatted correctly"),
    ("malformed call", r"no (?:valid )?(?:tool|function) calls? (?:was |were )?found"),
    # The tool does not exist.
    (
        "unknown tool",
        r"\b(?:unknown|unrecogni[sz]ed|unsupported|no such|non-?existent|invalid) (?:tool|function|"
        r"action)\b(?! (?:call )?(?:argument|param|input))",
    ),
    (
        "unknown tool",
        r"\b(?:tool|function|action) (?:named |called |with name )?[`'\"]?[\w.\-]+[`'\"]? (?:was |is |"
        r"does )?"
        r"(?:not (?:found|exist|available|registered|recogni[sz]ed|known|supported|defined|a valid)|"
        r"unknown|doesn't exist)",
    ),
    ("unknown tool", r"no (?:tool|function) (?:named|called|with (?:the )?name|by the name)\b"),
    (
        "unknown tool",
        r"[`'\"][\w.\-]+[`'\"] is not (?:a (?:valid|known|registered|supported)|an available) (?:tool|"
        r"function|action)",
    ),
    # The arguments are wrong.
    (
        "invalid arguments",
        r"inputvalidationerror|input validation error|schema validation|invalid_?(?:tool_?)?(?:arguments?|"
        r"params?|parameters?)_?error",
    ),
    (
        "invalid arguments",
        r"missing (?:\d+ )?(?:a |the |one or more )?required (?:\w+ )?(?:arguments?|parameters?|propert|"
        r"fields?|keys?|inputs?)",
    ),
    (
        "invalid arguments",
        r"\brequired (?:argument|parameter|property|field)s?\b[^\n]{0,40}(?:missing|not provided|must be|"
        r"is required|undefined)",
    ),
    (
        "invalid arguments",
        r"(?:argument|parameter|property|field)s? [`'\"]?[\w.\-]+[`'\"]? (?:is|are) (?:missing|required)\b",
    ),
    ("invalid arguments", r"must have required propert|(?:is a|is) required property"),
    (
        "invalid arguments",
        r"\b(?:invalid|illegal|bad|wrong|unexpected|unknown|unsupported|unrecogni[sz]ed) "
        r"(?:value for )?(?:tool |function |input |keyword )?(?:arguments?|parameters?|params?|"
        r"`?view_range`?)\b",
    ),
    ("invalid arguments", r"\(\) (?:got an unexpected|missing \d+ required|takes (?:\d+|from))"),
    ("invalid arguments", r"\d+ validation errors? for (?:call|\w*(?:args|arguments|input|params|tool|schema)\b)"),
    (
        "invalid arguments",
        r"(?:expected|must be) (?:type )?(?:a |an )?(?:string|array|number|integer|boolean|"
        r"object)[,;]? (?:but )?(?:received|got)\b",
    ),
    ("invalid arguments", r"<tool_use_error>\s*(?:inputvalidation|invalid|error: invalid)"),
    # An edit did not fit the file.
    (
        "failed edit",
        r"no replacement (?:was|were) (?:performed|made)|did not appear verbatim|no changes? (?:was|"
        r"were) (?:made|applied)\b",
    ),
    (
        "failed edit",
        r"(?:string|text|snippet|content|old_str(?:ing)?|oldstring|search (?:block|text|string)|"
        r"old text) "
        r"(?:to (?:replace|be replaced|find|search) )?(?:(?:was|is|could) )?(?:not (?:be )?found|"
        r"not match|does not (?:exist|match|appear))",
    ),
    (
        "failed edit",
        r"(?:could not|couldn't|cannot|can't|failed to|unable to|"
        r"did not) find (?:the )?(?:\w+ )?(?:string|text|old_str|oldstring|context|expected lines|match|"
        r"block)",
    ),
    (
        "failed edit",
        r"(?:patch|hunk)\b[^\n]{0,40}(?:does not apply|did not apply|not apply|failed|rejected|"
        r"could not be applied)|patch failed|corrupt patch|malformed patch",
    ),
    (
        "failed edit",
        r"failed to apply (?:the )?(?:patch|edit|diff|change)|(?:invalid|no valid) (?:patch|hunk|context)\b|"
        r"failed to find (?:expected lines|context)",
    ),
    (
        "failed edit",
        r"search/?replace block failed|failed to (?:exactly )?match|0 occurrences (?:found|of)|"
        r"found 0 (?:matches|occurrences)",
    ),
    (
        "failed edit",
        r"multiple (?:occurrences|matches) (?:of|found|for)|found \d+ (?:matches|"
        r"occurrences)[^\n]{0,60}(?:unique|replace_all|expected 1|but)|(?:is|are) not unique",
    ),
    ("failed edit", r"old_str(?:ing)? and new_str(?:ing)? (?:are|must be)[^\n]{0,20}(?:same|identical|different)"),
    (
        "failed edit",
        r"file has not been read yet|must (?:first )?(?:read|view|open) (?:the )?file (?:first|before)|"
        r"(?:file )?has been (?:unexpectedly )?modified since",
    ),
    # SWE-agent refuses edits that break the syntax, and edits outside the file.
    (
        "failed edit",
        r"your (?:proposed )?edit (?:has|have|command) [^\n]{0,40}(?:syntax error|not applied|failed)|"
        r"edit (?:was )?not applied",
    ),
    # A shell or a program does not understand the command line.
    (
        "wrong usage",
        r"^(?:\S*sh: )?(?:eval: )?(?:line \d+: |\d+: )?[^\s:]+:+ (?:command )?not found$|"
        r"command not found: \S+$"
        r"|^[^\n]{0,40}: [^\n]{0,60}: command not found$|is not recogni[sz]ed as an internal or external",
    ),
    (
        "wrong usage",
        r"(?:unrecogni[sz]ed|unknown|invalid|illegal|unexpected|ambiguous) (?:command[- ]line )?(?:option|"
        r"flag|switch|arguments?)\b",
    ),
    ("wrong usage", r"no such (?:option|command|subcommand)\b|is not a \w+ command\b|unknown (?:sub)?command"),
    (
        "wrong usage",
        r"^usage: [\s\S]{0,400}\berror: |(?:the following|one of the) arguments? (?:are|is) required|"
        r"option requires an argument",
    ),
    (
        "wrong usage",
        r"syntax error near unexpected token|unexpected eof while looking for|unterminated (?:quoted|`s'|"
        r"address)|missing (?:argument to|operand)",
    ),
    ("wrong usage", r"no such (?:file or directory)?[^\n]{0,10}exec|cannot execute"),
    # The file that a tool was to read is not there.
    (
        "missing file",
        r"(?:no such file or directory|file (?:does not exist|not found|doesn't exist)|"
        r"path [^\n]{0,120}does not exist|cannot find the (?:file|path))",
    ),
)

_PATTERNS = [(fault, re.compile(pattern, re.IGNORECASE | re.MULTILINE)) for fault, pattern in PHRASES]

_HINTS = (
    "rror", "nvalid", "ot found", "nknown", "sage: ", "ailed", "issing", "not ", "n't ", "o such", "EOF", "o repl",
    "ultiple", "lease always", "unexpected", "pars", "rejected", "equires", "occurrences",
)  # fmt: skip
"""Pieces of which each phrase has at least one: an answer without any of them is not looked at further."""

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
_EXIT_CODE = re.compile(r"(?:exit code|returncode|exited with(?: code)?|exit status)[:>\s]*(-?\d+)", re.IGNORECASE)
_ERROR_WORD = re.compile(
    r"\s*(?:\[?\w*error\w*\]?[:!\s]|<(?:tool_use_)?error>|failed\b|fatal:|exception\b|traceback \()", re.IGNORECASE
)

_ABOUT: dict[Fault, frozenset[Kind]] = {
    "failed edit": frozenset(("edit", "write", "patch", "undo", "shell", "change", "delete", "rename")),
    "wrong usage": frozenset(("shell", "run", "test")),
    "missing file": frozenset(("read", "edit", "write", "patch", "delete", "rename", "list", "undo")),
}
"""Which kinds of call a complaint can be about; complaints that are not listed can be about any."""

_FRAMEWORK: frozenset[Fault] = frozenset(("malformed call", "unknown tool", "invalid arguments"))
"""Complaints of the framework, which a shell can only print as the output of a program under work."""


class Failure(Struct, frozen=True, gc=False):
    """An error of the agent's own making: of what sort, and the words that say so."""

    fault: Fault
    words: str


def own_failure(act: Act) -> Failure | None:
    """The agent's own error in a call, `None` where there was none or something else was at fault."""
    if act.call.parse_error is not None:
        return Failure("malformed call", act.call.parse_error)
    result = act.result
    if result is None or not result.text:
        return None
    if result.exit_code == 0 and kind_of(act.call) == "shell":
        return None
    text = result.text
    head = text if len(text) <= HEAD else text[:HEAD]
    for hint in _HINTS:
        if hint in head:
            break
    else:
        if len(text) <= HEAD or not result.exit_code:
            return None
    return _recognised(act, head)


def _recognised(act: Act, head: str) -> Failure | None:
    result = act.result
    kind = kind_of(act.call)
    if result is None or _DECLINED.search(head):
        return None
    code = exit_code(act)
    if kind == "shell":
        if code == 0:
            return None
        text = result.text
        head = head if len(text) <= HEAD else head + "\n" + text[-_TAIL:]
    elif kind in ("read", "search", "list", "look") and not _complains(act, head):
        return None
    for fault, pattern in _PATTERNS:
        if kind not in _ABOUT.get(fault, (kind,)) or (kind == "shell" and fault in _FRAMEWORK and not _only_line(head)):
            continue
        match = pattern.search(head)
        if match:
            if fault in ("wrong usage", "missing file") and _ENVIRONMENT.search(head):
                return None
            start = head.rfind("\n", 0, match.start()) + 1
            return Failure(fault, head[start : match.end() + 60].strip())
    if kind == "shell" and code in (126, 127):
        return Failure("wrong usage", head.strip()[:80])
    return None


def _complains(act: Act, head: str) -> bool:
    """Whether an answer that should be content is a complaint: marked as an error, or short and beginning as one."""
    result = act.result
    if result is None or result.is_error:
        return result is not None
    opening = head[:80]
    return len(result.text) <= HEAD and (
        any(hint in opening for hint in ("rror", "nvalid", "nknown", "issing"))
        or "ot found" in head
        or "not exist" in head
    )


def _only_line(head: str) -> bool:
    """Whether an answer is one short complaint rather than a program's output."""
    return head.count("\n") <= 2 and not head.startswith("Traceback")


def exit_code(act: Act) -> int | None:
    """A command's exit code: as recorded, or as its answer states at the beginning or the end."""
    result = act.result
    if result is None:
        return None
    if result.exit_code is not None:
        return result.exit_code
    match = _EXIT_CODE.search(result.text[:40]) or _EXIT_CODE.search(result.text[-80:])
    return int(match.group(1)) if match else None


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
    if _DECLINED.search(head) and len(result.text) < 1000:
        return True
    return own_failure(act) is not None or (kind_of(act.call) != "shell" and _ERROR_WORD.match(head) is not None)


def environment_failure(act: Act) -> bool:
    """Whether an answer tells of the network, the disk or another service rather than of the call."""
    result = act.result
    return result is not None and _ENVIRONMENT.search(result.text[:HEAD]) is not None
