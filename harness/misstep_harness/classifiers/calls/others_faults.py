"""What comes between an agent and its call through no fault of the agent's: the network, a service, a person."""

import re

from misstep_harness.classifiers.calls.history import Act, once
from misstep_harness.classifiers.calls.programs import words
from misstep_harness.classifiers.calls.tools import squeezed
from misstep_harness.classifiers.prose import has
from misstep_harness.trajectory import ToolResult

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
