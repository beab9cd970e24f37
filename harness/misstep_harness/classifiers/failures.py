"""Tell whether a call came to an error, and whose: by how an answer is marked and shaped, hardly by its words.

An answer is about the call where a general word for a part of a call ("argument", "tool", "option") stands beside a
general word for a fault ("unknown", "missing", "must"). Not the agent's: a failing test, a search that finds nothing,
a compiler's complaint about the code under work, a network that is down, a call that the user declined.
"""

import re
from typing import Literal

from msgspec import Struct

from misstep_harness.classifiers import tools
from misstep_harness.classifiers.error_lines import (
    FEW_LINES,
    HEAD,
    OPENING,
    TITLE,
    cause_of,
    error_object,
    exit_code,
    from_its_error,
    has_fault_word,
    is_about_call,
    is_marked,
    line_of,
    says_more_than_a_code,
    without_particulars,
)
from misstep_harness.classifiers.history import Act, once
from misstep_harness.classifiers.prose import has
from misstep_harness.classifiers.shell import Command, commands_of, without_quotes
from misstep_harness.classifiers.tools import (
    Kind,
    bare_name,
    is_known_name,
    lacks_a_command,
    letters_of,
    path_of,
    squeezed,
    words,
    words_of,
)
from misstep_harness.trajectory import ToolCall, ToolResult

_ENVIRONMENT = re.compile(
    r"connection (?:refused|reset|timed out|error|aborted)|timed? ?out|timeout|temporary failure"
    r"|could not resolve"
    r"|(?:could not|couldn't|unable to|cannot|failed to) (?:connect|resolve (?:the )?(?:host|proxy|name))"
    r"|network (?:is )?(?:unreachable|error|down)|no space left|out of memory|cannot allocate|quota|rate limit"
    r"|too many requests|service unavailable|bad gateway|internal server error|permission denied|read-only file system"
    r"|\b(?:502|503|504|429)\b|deadlock|could not get lock|resource temporarily|overloaded|"
    r"econnrefused|enotfound|etimedout|enospc|erofs|eacces"
)
_DISK = re.compile(
    r"no space left|enospc|read-only file system|erofs|permission denied|eacces|disk quota", re.IGNORECASE
)
_PERSON = r"(?:user|human|operator|person|developer|reviewer|owner|maintainer)"
_LETS = r"(?:allow|approv|accept|grant|permit|confirm|want|wish|agree|authori[sz]|consent|proceed)\w*"
_STOPS = r"(?:reject|deny|deni|declin|refus|cancel|dismiss|disallow|skip|abort|interrupt|disapprov|veto|stop)\w*"
_NOT = r"(?:n[o']t|never)"
_LEAVE = r"(?:approval|permission|confirmation|consent)"
_DECLINED = re.compile(
    # the user (has chosen to) refuse; the user does not want to; you haven't granted it
    rf"\b{_PERSON} (?:(?:ha[sd]|ha[sv]e|was|explicitly|chose|chosen|decided|opted|to|just|manually) ){{0,3}}{_STOPS}"
    rf"|\b(?:{_PERSON}|you) (?:do|does|did|ha[sd]|have|would|will|chose|ca)(?: {_NOT}|{_NOT}) (?:\w+ ){{0,3}}?{_LETS}"
    rf"|\b{_PERSON} (?:sa(?:id|ys)|answered|replied|chose|selected)\W+no?\b"
    rf"|\b{_PERSON} [^\n.]{{0,40}}?\b(?:prevent|forb)\w+"
    # refused by the user
    rf"|\b(?:{_STOPS}|block\w*|prevented|turned down|{_NOT} (?:\w+ )?{_LETS}) (?:\w+ )?by (?:\w+ )?{_PERSON}\b"
    # permission to use it was denied; this needs an approval; the approval was not given
    rf"|\b{_LEAVE} (?:to|for) [^\n]{{1,200}}?\b(?:{_STOPS}|{_NOT} (?:been )?{_LETS})"
    rf"|\b(?:requires|needs|awaiting|waiting for|without|missing|no) (?:\w+ )?{_LEAVE}\b"
    r"|\b(?:approval|confirmation|consent) (?:(?:was|is|has|been) ){0,2}"
    rf"(?:{_STOPS}|required|{_NOT} (?:given|{_LETS}))"
    # the tool call was declined, and no word on why
    rf"|\b(?:tool|call|use|execution|operation|action|command|request)(?: was| has been| is|:)? {_STOPS}\W*(?:$|\n|\. )"
    r"|\A\W*(?:rejected|denied|declined|refused|disapproved|not approved)\W*\Z"
    r"|(?:nutzer|utilisateur|usuario|utente|\u7528\u6237|\u30e6\u30fc\u30b6\u30fc|\u043f\u043e\u043b\u044c\u0437\u043e\u0432\u0430\u0442\u0435\u043b)[^\n.]{0,40}?"
    r"(?:abgelehnt|verweigert|abgebrochen|refus|annul|rechaz|cancel|rifiut|\u62d2|\u53d6\u6d88|\u30ad\u30e3\u30f3\u30bb\u30eb|\u043e\u0442\u043a)"
)
"""How a person's refusal is told: somebody refuses, or leave is not given; never a word on the call itself."""

_DECLINED_PIECES = (
    "user", "human", "operator", "person", "developer", "reviewer", "owner", "maintainer", "you ", "approv",
    "permission", "confirm", "consent", "reject", "deny", "deni", "declin", "refus", "cancel", "dismiss", "disallow",
    "skip", "abort", "veto", "interrupt", "stop", "nutzer", "utilisateur", "usuario", "utente", "\u7528\u6237",
    "\u30e6\u30fc\u30b6\u30fc", "\u043f\u043e\u043b\u044c\u0437\u043e\u0432\u0430\u0442\u0435\u043b",
)  # fmt: skip
"""Pieces of which an answer has at least one where `_DECLINED` matches."""

_RECORDED = re.compile(r"(?:user)?(?:reject|den(?:y|ied)|declin|disapprov|cancel|skip)\w*")
_FIELDS = words(
    "status state decision outcome result approval approvalstate behavior permission confirmationstate observation type"
)
"""Where a record says what became of a call, in small letters without punctuation."""

_LOOKED_AT = 400
_SHORT = 1_000
_EARLY = 100
"""A refusal fills a short answer, or begins a longer one that quotes the person."""


def of_the_environment(head: str) -> bool:
    """Return whether the network, the disk or a service did not do its part."""
    return _ENVIRONMENT.search(head.lower()) is not None


def of_the_disk(words: str) -> bool:
    """Return whether a file could not be written, whatever was to be written."""
    return _DISK.search(words) is not None


def refuses(text: str) -> bool:
    """Return whether a text tells that somebody would not let a call happen."""
    head = text[:_LOOKED_AT].lower()
    if not has(head, _DECLINED_PIECES):
        return False
    match = _DECLINED.search(head.replace("’", "'"))
    return match is not None and (len(text) < _SHORT or match.start() < _EARLY)


@once
def declined(act: Act) -> bool:
    """Return whether somebody would not let a call happen: as its record says, or else its answer."""
    result = act.result
    if result is None:
        return False
    if result.extra and (_recorded(result) or any(isinstance(v, str) and refuses(v) for v in result.extra.values())):
        return True
    shown = result.exit_code == 0 or (result.is_error is False and act.kind in ("read", "search", "list"))
    return not shown and refuses(result.text)


def _recorded(result: ToolResult) -> bool:
    inside = (value for value in result.extra.values() if isinstance(value, dict))
    for record in (result.extra, *inside):
        if record.get("approved") is False:
            return True
        match = (value for name, value in record.items() if isinstance(value, str) and squeezed(name) in _FIELDS)
        if any(_RECORDED.fullmatch(squeezed(value)) for value in match):
            return True
    return False


_TAIL = 200
"""Characters at the end of a shell's answer, where the shell's own complaint is, after a program's output."""

Fault = Literal[
    "malformed call", "unknown tool", "invalid arguments", "failed edit", "wrong usage", "missing file", "error"
]
"""What went wrong; `error` is any other error that is not known to be somebody else's."""

_HIT = re.compile(r"[^\s:]+:\d+[:\s]")
"""How a search lists what it found: `src/app.py:12: …`."""

_VALIDATOR = re.compile(
    r"\bInputValidationError\b|\b\d+ validation errors? for \w|\[type=\w+, input_value="
    r"|\"(?:instancePath|schemaPath)\"\s*:|[\"']loc[\"']\s*:\s*[\[(]|[\"']code[\"']\s*:\s*[\"'](?:invalid_\w+|unrecognized_keys|too_(?:small|big))[\"']"
)
"""Fixed shapes of pydantic's, zod's and JSON schema's reports."""

_VALIDATORS = ("alidation error", "InputVal", "[type=", "Path", "loc", "invalid_", "unrecognized_keys", "too_")
"""Pieces of which each of them has one."""

_CLIENT_ERROR = re.compile(
    r"\b(?:HTTP(?:/[\d.]+)?|status(?:[ _]code)?\"?)[:= ]{1,3}4\d\d\b|\b4\d\d (?:client error|bad request)",
    re.IGNORECASE,
)
_CODES: dict[int, Fault] = {
    -32700: "malformed call",
    -32601: "unknown tool",
    -32602: "invalid arguments",
    -32600: "malformed call",
}
_CODE = re.compile(r"-32[67]0[0-2]\b")
"""JSON-RPC 2.0, section 5.1: parse error, method not found, invalid params, invalid request."""

_COMPLAINING = (
    "error", "fail", "not ", "no ", "nothing", "invalid", "unknown", "missing", "n't", "must", "expected",
    "requir", "unab", "cannot", "fatal", "exception", "bad ", "wrong", "malformed", "lack", "reject", "unsup",
    "unrec", "unav", "undef", "unpars", "unexp", "illegal", "incorrect", "absent", "usage", "corrupt",
    "multiple", "mismatch", "never", "precede", "status", "http", "specify", "occurrences", "validation",
)  # fmt: skip
"""Pieces of which every text has one that is marked by nothing and complains all the same."""

_IDENTIFIER = re.compile(r"[A-Za-z_]\w+")
_A_TOOL = re.compile(r"\b(?:tools?|functions?|actions?|commands?|methods?|calls?)\b", re.IGNORECASE)
_WANTS_A_COMMAND = re.compile(
    r"\b(?:please|must|should)\b[^\n]{0,40}?\b(?:provide|supply|specify|include|give|contain)\b"
    r"|\b(?:no|missing|without(?: a| an)?) (?:command|action)\b|\bempty (?:command|action)\b(?! ?['\"`])"
    r"|\b(?:command|action) (?:is|was|must|cannot|can't)(?: not)?(?: be)? (?:empty|missing|required|blank)",
    re.IGNORECASE,
)
"""What is answered to a call of a shell without a command, where that is wrong and no question for new output."""

_UNREADABLE = re.compile(r"\b(?:pars\w+|decod\w+|malformed|valid json|formatted|format)\b", re.IGNORECASE)
_NOT_DONE = re.compile(
    r"\b(?:not|no|nothing|0|cannot|can't|couldn't|didn't|doesn't|unable|fail(?:ed|s|ure)?|multiple|never|invalid|corrupt|"
    r"\d+ (?:matches|occurrences)|errors?|rejected|missing|unrecogni[sz]ed|must|requires|precede|mismatch\w*)\b"
)
_NO_FILE = re.compile(
    r"no such file|enoent|not (?:exist|found|a file|a directory)|(?:n't|cannot|not) (?:exist|find)|"
    r"non-?existent|\bmissing (?:file|path|directory|folder)|\b(?:file|path|directory|folder)\b[^\n]{0,40}\bmissing",
    re.IGNORECASE,
)
_PART_OF_CALL = re.compile(
    r"\b(?:required|positional|keyword|arguments?|param(?:eter)?s?|propert(?:y|ies)|fields?)\b|\[type=|input_value",
    re.IGNORECASE,
)
_NO_SUCH = re.compile(r"no such file|not a directory|does not exist|(?:can't|cannot) open", re.IGNORECASE)
_SHELLS_OWN = re.compile(r"(?::|^) (?:-c: |eval: )?line \d+: |: cannot execute\b")
"""How shells begin what they say of a command line, whatever name they were given."""

_PROGRAM = re.compile(r"[a-z][\w.+-]*", re.IGNORECASE)
_OF_A_LINE = re.compile(
    r"\b(?:options?|arguments?|operands?|flags?|switch|expressions?|syntax|usage|not found|unexpected|unterminated|"
    r"unmatched|quot\w+|characters?|token|specify|delimiter|precede\w*|valid \w+|invalid \w+|subcommand|"
    r"is not a \w+ command|format|directive|predicate)\b",
    re.IGNORECASE,
)
"""Words for parts of a command line: a complaint with one is about the line rather than about what it works on."""

_USAGE = re.compile(r"\Ausage: |^error: [^\n]*\n+usage: |^usage: [\s\S]{0,300}\berror: ", re.MULTILINE | re.IGNORECASE)
_WORKING = tools.words(
    "test tests lint linter build compile typecheck check diagnostics execute eval evaluate python pytest ci validate"
)
_LOOKING: frozenset[Kind] = frozenset(("read", "search", "list", "look"))
_EDITING: frozenset[Kind] = frozenset(("edit", "write", "patch", "undo"))
_EDITORS = tools.words("patch apply_patch str_replace_editor edit_anthropic edit")
_MAY_EDIT = ("edit", "patch", "apply")
"""Names of which a command line that edits has one: each of `_EDITORS` and `git apply`."""

_SHELLS = tools.words("bash sh zsh dash eval line")
_SPEAKERS = _SHELLS | {"error", "fatal"}
_NO_SUCH_PROGRAM = (126, 127)


class CallFailure(Struct, frozen=True, gc=False):
    """An error in a call: of what sort, and the words that say so."""

    fault: Fault
    words: str

    @property
    def evened(self) -> str:
        """Return the words without what is particular to the call: equal for the same error about other things."""
        return without_particulars(self.words).lower()


@once
def own_failure(act: Act) -> CallFailure | None:
    """Return the error in a call, `None` without one or if something else was at fault."""
    if act.call.parse_error is not None:
        return CallFailure("malformed call", act.call.parse_error)
    result = act.result
    if result is None or not result.text or (act.kind == "shell" and exit_code(act) == 0):
        return None
    text = result.text
    head = text if len(text) <= HEAD else text[:HEAD]
    failure = (
        _in_shell(act, result, head)
        if act.line
        else _in_tool(act, result, from_its_error(head, shows=act.kind in _LOOKING))
    )
    if failure is None or declined(act):
        return None
    if failure.fault == "failed edit":
        return None if of_the_disk(failure.words) else failure
    ours = failure.fault in ("malformed call", "unknown tool", "invalid arguments")
    return failure if ours or not of_the_environment(head) else None


def _may_complain(text: str) -> bool:
    """Return a cheap look whether a text has a piece of a word that complaints have."""
    return has(text.lower(), _COMPLAINING)


def _in_tool(act: Act, result: ToolResult, head: str) -> CallFailure | None:
    kind = act.kind
    if result.is_error is False and (kind in _LOOKING or len(result.text) > HEAD):
        return None
    error = error_object(head if len(head) < HEAD else result.text[: 4 * HEAD])
    message = error if error is not None else head
    marked = is_marked(result) or error is not None
    if not marked and ((kind in _LOOKING and len(result.text) > HEAD) or not (act.line == "" or _may_complain(head))):
        return None
    reported = has(message, _VALIDATORS) and _VALIDATOR.search(message) is not None
    shaped = marked or reported or OPENING.match(head) is not None
    shaped = shaped or ("4" in head and ("tatus" in head or "HTTP" in head or "lient" in head) and _is_clients(head))
    short = len(result.text) <= HEAD and head.count("\n") <= FEW_LINES
    if not shaped and not short and kind not in _EDITING:
        return None
    code = _CODE.search(message) if "-32" in message else None
    words = line_of(message)
    path = path_of(act.call) if kind in _LOOKING else ""
    if marked and path and path in words and _NO_SUCH.search(words):
        return CallFailure("missing file", words)
    if kind not in _LOOKING or marked or OPENING.match(head) or _VALIDATOR.match(head.lstrip(" [{")):
        if code is not None:
            return CallFailure(_CODES.get(int(code.group()), "malformed call"), words)
        if reported:
            return CallFailure("invalid arguments", words)
    if kind in _LOOKING and not marked and (not short or _HIT.match(head)):
        return None
    if act.line is not None:
        if short and (_WANTS_A_COMMAND.search(words) or (marked and lacks_a_command(act.call))):
            return CallFailure("malformed call", words)
        return CallFailure(_part(act, words), words) if shaped and _about_call(act, words) else None
    if is_work(act):
        return None
    refused = kind in _EDITING and _not_done(words) and not _wrote(act.call, head)
    if kind in _EDITING and (marked or shaped or refused):
        missing = _no_file(words) and re.search(r"\b(?:file|path|directory|enoent)\b", words, re.IGNORECASE)
        about_call = kind == "write" and not missing and _about_call(act, words)
        return CallFailure(
            "invalid arguments" if about_call else "missing file" if missing and kind != "edit" else "failed edit",
            words,
        )
    if (
        (shaped or short)
        and _about_call(act, words)
        and not (kind in _LOOKING and _no_file(words) and not _A_TOOL.search(words))
    ):
        return CallFailure(_part(act, words), words)
    if not shaped:
        return CallFailure("missing file", words) if path and path in words and _no_file(words) else None
    return CallFailure("missing file" if kind in _LOOKING and _no_file(words) else "error", words)


def _no_file(words: str) -> bool:
    return _NO_FILE.search(words) is not None and _PART_OF_CALL.search(words) is None


def _not_done(message: str) -> bool:
    first = message[:_FIRST_WORDS]
    return bool(_NOT_DONE.search(first.lower()) and _NOT_DONE.search(without_particulars(first).lower()))


def _wrote(call: ToolCall, head: str) -> bool:
    """Return whether an answer begins with a line that the call wrote: it shows the edit."""
    line = head.strip().partition("\n")[0].lstrip(" \t0123456789:|+>-").rstrip()
    texts = call.arguments.values() if isinstance(call.arguments, dict) else [call.arguments]
    lines = (
        written.strip() for text in texts if isinstance(text, str) and line in text for written in text.split("\n")
    )
    return bool(line) and line in lines


def _is_clients(head: str) -> bool:
    return _CLIENT_ERROR.search(head) is not None


def is_work(act: Act) -> bool:
    """Return whether a tool runs, checks or builds the code under work, where a fault is not an error of the call."""
    name = act.call.name
    return act.kind == "test" or (act.kind == "run" and is_known_name(name)) or not _WORKING.isdisjoint(words_of(name))


def _about_call(act: Act, words: str) -> bool:
    """Whether an error is about how its call is made: by a word for that, or by naming its tool or an argument."""
    cause = cause_of(words, bare_name(act.call.name))
    if is_about_call(cause):
        return True
    if not cause or not has_fault_word(words):
        return False
    named = {word for word in _IDENTIFIER.findall(cause) if "_" in word or f"`{word}`" in cause or f"'{word}'" in cause}
    arguments = act.call.arguments
    return bare_name(act.call.name) in named or (isinstance(arguments, dict) and not named.isdisjoint(arguments))


def _part(act: Act, words: str) -> Fault:
    if (
        _A_TOOL.search(words)
        and squeezed(act.call.name) in letters_of(words)
        and not re.search(r"argument|param|field|propert|option", words, re.IGNORECASE)
    ):
        return "unknown tool"
    return "malformed call" if _UNREADABLE.search(words) else "invalid arguments"


def _in_shell(act: Act, result: ToolResult, head: str) -> CallFailure | None:
    code = exit_code(act)
    text = result.text
    line = act.line or ""
    marked = code not in (None, 0) or is_marked(result)
    unmarked_data = not marked and code is None and result.is_error is None and len(text) > HEAD
    may_edit = not marked and has(without_quotes(line), _MAY_EDIT)
    if unmarked_data and not may_edit:
        return None
    looked_at = head if len(text) <= HEAD else f"{head}\n{text[-_TAIL:]}"
    if not marked and code is None and result.is_error is None and not _may_complain(looked_at):
        return None
    if code in _NO_SUCH_PROGRAM:
        return CallFailure("wrong usage", line_of(looked_at))
    spoken = marked or may_edit or _may_speak(looked_at, line)
    addressed = len(text) <= HEAD and squeezed(act.call.name) in letters_of(head)
    if not spoken and not addressed:
        return None
    called = {command.program for command in commands_of(act) if not _is_own(command)}
    editing = not called.isdisjoint(_EDITORS) or ("git" in called and "apply" in line)
    if editing and _not_done(head):
        return CallFailure("failed edit", line_of(head))
    if unmarked_data:
        return None
    if _USAGE.search(looked_at) and "\noptions:" not in looked_at:
        return CallFailure("wrong usage", line_of(looked_at))
    speakers = called | (set(_PROGRAM.findall(line)) if marked and called.isdisjoint(tools.BUILDS) else set())
    faults = [(fault, line.strip()) for line in looked_at.split("\n") if (fault := _complaint(line, speakers, marked))]
    if faults:
        return CallFailure(*next((one for one in faults if one[0] != "error"), faults[0]))
    short = len(text) <= HEAD and head.count("\n") <= FEW_LINES
    words = line_of(from_its_error(head, shows=act.kind in _LOOKING))
    itself = marked or addressed or OPENING.match(words)
    programs_own = not called.isdisjoint(tools.BUILDS) and len(words.split()) > TITLE
    if short and itself and not programs_own and _about_call(act, words):
        return CallFailure(_part(act, words), words)
    if marked and called.isdisjoint(tools.BUILDS) and _VALIDATOR.match(head):
        return CallFailure("invalid arguments", words)
    only_line = (
        bool(called)
        and "\n" not in looked_at.strip()
        and not _HIT.match(looked_at)
        and says_more_than_a_code(looked_at)
    )
    if only_line and (marked or OPENING.match(head)) and called.isdisjoint(tools.BUILDS):
        own = "malformed call" if marked and _UNREADABLE.search(looked_at) else "error"
        return CallFailure(own, line_of(looked_at))  # type: ignore[arg-type]
    return None


def _may_speak(text: str, line: str) -> bool:
    """Return a cheap look whether an answer opens as an error, or a line of it as what a program or a shell says."""
    if OPENING.match(text) or "age: " in text.lower():
        return True
    bare = without_quotes(line)
    for one in text.split("\n"):
        speaker, colon, _ = one.partition(":")
        if colon:
            name = speaker.rsplit("/", 1)[-1].strip()
            if name in _SPEAKERS or without_quotes(name) in bare:
                return True
    return False


def _is_own(command: Command) -> bool:
    """Return whether a command runs a program of the project: `./serve`, `scripts/check.sh`."""
    word = command.words[0] if command.words else ""
    return word.startswith("./") or word.endswith((".sh", ".py", ".js")) or ("/" in word and not word.startswith("/"))


def _complaint(line: str, called: set[str], marked: bool) -> Fault | None:
    """What is wrong where a line is `program: complaint` of a program that was called, or of the shell itself."""
    if marked and _SHELLS_OWN.search(line):
        return "wrong usage"
    speaker, colon, rest = line.partition(":")
    if not colon or not rest.strip() or "warning" in rest.lower():
        return None
    name = speaker.rsplit("/", 1)[-1].strip()
    if name in ("error", "fatal") and "git" in called:
        return "wrong usage" if _OF_A_LINE.search(rest) else "error"
    if name not in _SHELLS and (name not in called or name in tools.BUILDS):
        return None
    if not marked and not _NOT_DONE.search(rest.lower()) and not is_about_call(rest):
        return None
    if _NO_SUCH.search(rest) and "command not found" not in rest and name not in _SHELLS:
        return "missing file"
    return "wrong usage" if _OF_A_LINE.search(rest) else "error"


_FIRST_WORDS = 120
"""Characters in which an editor says that it did not edit; what comes after may be the file."""


@once
def failed(act: Act) -> bool:
    """Return whether a call came to nothing, whoever was at fault."""
    result = act.result
    if act.call.parse_error is not None or result is None:
        return result is not None or act.call.parse_error is not None
    if is_marked(result) or exit_code(act) not in (0, None) or declined(act) or own_failure(act) is not None:
        return True
    head = result.text[:HEAD]
    return act.kind != "shell" and act.kind not in _LOOKING and OPENING.match(head) is not None


def environment_failure(act: Act) -> bool:
    """Return whether a call came to nothing for the network, the disk or a service, whatever a file says of these.

    Some harnesses say "no error" of a command that failed: its exit code counts first.
    """
    result = act.result
    code = exit_code(act)
    if result is None or code == 0 or (code is None and result.is_error is False):
        return False
    short = act.kind not in _LOOKING and result.text.count("\n") <= FEW_LINES
    return (short or failed(act)) and of_the_environment(result.text[:HEAD])
