r"""Read what an answer says of an error: its exit code, an error object (JSON), or the line that says what is wrong.

"Tool output:\nError: Write failed due to the following issue:\nThe parameter `content` is missing"
→ "Error: Write failed due to the following issue: The parameter `content` is missing"
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec

from misstep_harness.classifiers.history import Act, once
from misstep_harness.trajectory import ToolResult

_EXIT_CODE = re.compile(
    r"(?:exit[ _]?code\"?|return_?code\"?|exited with(?: code)?|exit status|[\[(<]exit)[:>\s]*(-?\d+)", re.IGNORECASE
)
_SHOWING = ("read", "search", "list")
_CODE_ALONE = 60
"""Characters that an answer can have which states an exit code and nothing else."""

_BRACKETS = {"[": "]", "(": ")", "<": ">"}


@once
def exit_code(act: Act) -> int | None:
    """Return a command's exit code: as recorded, or as its answer states at the beginning or the end."""
    result = act.result
    if result is None:
        return None
    if result.exit_code is not None:
        return result.exit_code
    if act.kind in _SHOWING:  # what a file says is not about the call
        return None
    ends = result.text[:40] + "\n" + result.text[-80:]
    if "xit" not in ends and "eturn" not in ends:
        return None
    match = _EXIT_CODE.search(ends)
    return int(match.group(1)) if match else None


def says_more_than_a_code(text: str) -> bool:
    """Return whether an answer has words of a program, and not only the exit code, alone or in brackets."""
    stripped = text.strip()
    if len(stripped) > _CODE_ALONE or not (code := _EXIT_CODE.search(stripped)):
        return True
    in_brackets = stripped[:1] in _BRACKETS and stripped.endswith(_BRACKETS[stripped[:1]])
    return not in_brackets and re.search(r"\w", stripped[: code.start()] + stripped[code.end() :]) is not None


_SAYS_OF_ITSELF = re.compile(r"\"(?:error|errors|isError|is_error|success|ok|status|code|detail|message)\"")
_LONGEST = 400
"""Characters of an object without a message that are shown."""


def error_object(text: str) -> str | None:
    """Return the message of an error object; `None` where a text is none."""
    stripped = text.strip()
    if not stripped.startswith("{") or not stripped.endswith("}") or not _SAYS_OF_ITSELF.search(stripped):
        return None
    try:
        body = msgspec.json.decode(stripped)
    except msgspec.DecodeError:
        return None
    return _message(body) if isinstance(body, dict) and _is_error(body) else None


def _is_error(body: dict[str, Any]) -> bool:
    if body.get("error") or body.get("errors") or body.get("isError") is True or body.get("is_error") is True:
        return True
    if body.get("success") is False or body.get("ok") is False:
        return True
    code = body.get("code")
    if isinstance(code, int) and isinstance(body.get("message"), str):
        return code < 0 or 400 <= code < 500
    status = body.get("status", body.get("statusCode"))
    return str(status).lower() in ("error", "failed", "failure") or (isinstance(status, int) and 400 <= status < 500)


def _message(body: dict[str, Any]) -> str:
    for key in ("error", "errors", "message", "detail", "content", "reason"):
        value = body.get(key)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, dict):
            code = f"{value['code']} " if isinstance(value.get("code"), int) else ""
            value = code + str(value.get("message", value.get("text", value.get("msg", value))))
        if isinstance(value, str) and value.strip():
            code = f"{body['code']} " if key == "message" and isinstance(body.get("code"), int) else ""
            return code + value
    return str(body)[:_LONGEST]


HEAD = 400
"""Characters of an answer in which an error is looked for: complaints come first, file content later."""

FEW_LINES = 3
"""Line ends in an answer that is short."""

TITLE = 4
"""Words of a first line up to which it is a title (`ERROR:`, `3 validation errors for Call`)."""

OPENING = re.compile(
    r"\s*(?:\[?(?:[\w.]+ ){0,3}?[\w.]*(?:error|exception)\]?(?:[:!\n(]| -|(?: [\w.'\"`-]++){1,5}+:)"
    r"|<(?:tool_use_)?error>|failed\b|fatal:|invalid\b|traceback \()",
    re.IGNORECASE,
)
"""How errors open, in whatever program: `Error:`, `McpError -32602: …`, `ValueError(…`, `<error>`, `fatal:`."""

_TRACE = re.compile(
    r"^Traceback \(most recent|^[ \t]+at [^\n]+:\d+\)?$|^thread '[^\n]+ panicked at|^goroutine \d+ \[", re.MULTILINE
)
_GENERAL = (
    "a an the tool tools command call execution executing running use function action operation request step error "
    "errors failed failure failing exception reported returned occurred exited exit status code with non zero result "
    "results output stdout stderr response was is has of in to while during when and none unsuccessful tool_use_error"
)
_HOLLOW = re.compile(rf"[\W\d_]*+(?:(?:{'|'.join(_GENERAL.split())})(?![a-z])[\W\d_]*+)++\Z", re.IGNORECASE)
"""What says that something failed, or whose answer it is, and not what is wrong: `[error] tool reported failure`."""

_PART = r"tools?|arguments?|args?|kwargs?|param(?:eter)?s?|propert(?:y|ies)|schema|json|function calls?|tool[ _]calls?"
_FAULTY = (
    r"invalid|unknown|missing|required?|requires|unexpected|not|no|un(?:supported|recogni[sz]ed|available|defined|parsable|"
    r"parseable)|malformed|must|expected|cannot|can't|couldn't|doesn't|isn't|unable|fail(?:ed|s|ure)?|illegal|bad|wrong|"
    r"incorrect|absent|lacks?|reject\w*|error"
)
_ABOUT_CALL = re.compile(
    rf"\b(?:{_FAULTY})\b[^\n]{{0,60}}?\b(?:\w*_)?(?:{_PART})\b|\b(?:{_PART})\b[^\n]{{0,60}}?\b(?:{_FAULTY})\b"
    r"|\b(?:invalid|unknown|unrecogni[sz]ed|unsupported|no such|non-?existent|malformed) (?:action|function|command|"
    r"method|call|value for|type for|required field)\b"
    r"|\bmissing required \w+|\b(?:function|action) \S+ (?:is|does|was|not)\b"
)
_FAULT_WORD = re.compile(rf"\b(?:{_FAULTY})\b")

_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`")
_PARTICULAR = re.compile(r"[\d_/\\=<>{}\[\]~]|\b[a-z]+[A-Z]|\b\w+\.\w")
"""What of a message names the case at hand: quoted values, figures, paths, ids, names of files and of variables."""

_MARK = 80
"""Characters at the end of an answer in which a harness marks it."""

_MARKS = ("[error]", "[failed]", "[failure]")


def is_about_call(text: str) -> bool:
    """Return whether a text has a word for a part of a call beside one for a fault."""
    return _ABOUT_CALL.search(text.lower()) is not None


def has_fault_word(text: str) -> bool:
    """Return whether a text has a word for a fault."""
    return _FAULT_WORD.search(text.lower()) is not None


def without_particulars(text: str) -> str:
    """Return a message with `~` for each word that is particular to the call."""
    return " ".join(["~" if _PARTICULAR.search(word) else word for word in _QUOTED.sub("~", text).split()])


def telling(lines: Iterable[str]) -> Iterator[str]:
    """Return the lines that say more than that something failed."""
    return (line for line in lines if not _HOLLOW.match(line))


def line_of(text: str) -> str:
    """Return the line that says what is wrong: the last of a traceback, else the first, with the next after a title."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if not lines:
        return text.strip()
    if _TRACE.search(text):
        return lines[-1][:HEAD]
    saying = list(islice(telling(lines), 2)) or lines
    title = len(saying) > 1 and (saying[0].endswith(":") or len(saying[0].split()) <= TITLE)
    return (f"{saying[0]} {saying[1]}" if title else saying[0])[:HEAD]


def from_its_error(head: str, *, shows: bool) -> str:
    """Return a short answer from the line on which an error opens: harnesses put a line of their own before it."""
    if head.count("\n") > FEW_LINES or OPENING.match(head) or (not shows and is_about_call(line_of(head))):
        return head
    place = head.find("\n") + 1
    while place:
        end = head.find("\n", place) + 1
        line = head[place:end] if end else head[place:]
        match = OPENING.match(line) or (not shows and is_about_call(line))
        if line.startswith(("{", "[{")) or (match and not _HOLLOW.match(line)):
            return head[place:]
        place = end
    return head


def cause_of(words: str, name: str) -> str:
    """Return what is wrong, without clauses before it that say only that the tool failed; nothing where that is all."""
    clause, colon, rest = words.partition(":")
    while colon and rest.strip() and _HOLLOW.match(clause.replace(name, "tool")):
        words = rest
        clause, colon, rest = words.partition(":")
    return "" if _HOLLOW.match(words) else words


def is_marked(result: ToolResult) -> bool:
    """Whether an answer is marked as an error: in the record, or by a last line of the harness's that says no more."""
    if result.is_error is True or result.exit_code not in (None, 0):
        return True
    end = result.text[-_MARK:]
    last = end.rstrip().rpartition("\n")[2] if "[" in end else ""
    return last.startswith(_MARKS) and _HOLLOW.match(last) is not None
