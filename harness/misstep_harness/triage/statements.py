"""Read a line of a log as what happened in this run: settings, wishes, denied values and words on others are none."""

import re

_ELSEWHERE = re.compile(
    r"\b(?:earlier|previous|prior|another|other) (?:\w+ )?(?:runs?|attempts?|trials?|jobs?|sessions?)\b|\blast run\b"
    r"|\bin (?:the|a) test\b|\bexpected (?:\w+ )?(?:time-?out|error|failure|exception|crash|kill)\b|\bas expected\b"
    r"|\b(?:PASSED|XFAIL|XPASS)\b|^\W{0,3}ok \d|\btest\w* \.{3} ok\b",
)
"""Another run, or a test that provokes what it names."""

_QUOTED = re.compile(
    r"^\s{0,40}(?:#{1,3} |//|/\*|\* |<!--|> )"
    r"|^(?:[\dTZ.,:+/\[\] -]{6,40})?(?:\[?(?:INFO|DEBUG|NOTICE|WARN(?:ING)?)\b[\]:]{0,2} {0,8})?"
    r"[^\w{]{0,4}(?:instructions?|prompt|user|request|note|hint|policy|config(?:uration)?|settings?|options?"
    r"|defaults?|limits?)\b[\w ]{0,20}[\"']?\s{0,3}[:=]",
    re.IGNORECASE,
)
"""A comment, what somebody asked for, or a list of settings."""

_NOTHING = r"(?:false|no|none|null|nil|0+(?:\.0+)?|off|disabled|never|n/a|unset|unlimited|\[\]|\{\}|\"\"|'')"
_END = r"[\"']?(?=\s{0,3}(?:$|[,;|()\]}]|[\w./-]{1,60}[\"']?\s{0,2}[:=]))"
_DENIED = re.compile(
    rf"(?:[\w./-]{{1,40}} ){{0,3}}[\w./-]{{1,40}}[\"']?\s{{0,3}}: {{0,3}}[\"']?{_NOTHING}{_END}"
    rf"|[\w./-]{{1,60}}[\"']?\s{{0,2}}=\s{{0,2}}[\"']?{_NOTHING}{_END}",
    re.IGNORECASE,
)
"""A name with a value that says that there was none."""

_NEGATED = re.compile(
    r"\b(?:no|without(?: any)?|zero|0)\s+(?:[\w-]+\s+){0,3}"
    r"(?:errors?|failures?|time-?outs?|crash(?:es)?|warnings?|issues?|problems?|kills?|ooms?|exceptions?)\b"
    r"|\b(?:did|has|have|had|was|were|is|are|does)(?: not|n.t)(?: been)? "
    r"(?:time[sd]? out|timed out|crash|fail|kill|exceed|run out|oom)\w*"
    r"|\bnever (?:time[sd]? out|crash|fail|kill|exceed|ran out|oom)\w*"
    r"|\b(?:will|would|may|might|can) be (?:killed|terminated|stopped|evicted|throttled)\b.{0,200}"
    r"|\bif (?:the|it|an?|any) .{0,200}",
    re.IGNORECASE,
)

_REACHED = re.compile(
    r"\b(?:exceed\w*|reached|hit (?:the|its|a)|expired|ran out|gave up|giving up|killed|after \d)"
    r"|\b(?:ERROR|FATAL|CRITICAL)\b|(?:Error|Exception)\b"
)
_SETTING = re.compile(
    r"--[\w-]{0,30}(?:time-?out|limit|memory|retries|max|budget|deadline)[\w-]{0,30}(?:[ =]\S{1,40})?"
    r"|\b(?:[^\W_]{1,20}[ _-]){0,3}(?:time-?out|limit|budget|deadline|quota|retries|attempts)s?"
    r"(?:[ _-]?\w{1,20})?(?: ?\([a-z]{1,10}\))?[\"']?"
    r"\s{0,2}(?:[:=]|is\b|of\b|set to\b)?\s{0,2}[\"']?\d[\d.,]{0,12}\s?[a-z]{0,8}\b"
    r"|\b(?:max|maximum|min|minimum|default|allowed)[ _-](?:[^\W_]{1,20}[ _-]){0,3}?[^\W_]{1,20}[\"']?"
    r"\s{0,2}[:=]?\s{0,2}\d[\d.,]{0,12}",
    re.IGNORECASE,
)
"""A limit with its number; where the line says that it was reached, that happened."""

_WISH_BEFORE = re.compile(
    r"\b(?:max|maximum|min|minimum|best|top|highest|lowest|full|target|goal|expected|desired|possible|required|wanted"
    r"|threshold|mean|average|avg|median|baseline|oracle|gold|golden|reference|default|previous|earlier|prior|other|if|when"
    r"|until|need|needs|means)"
    r"[\s_-](?:[\w-]{1,20}[\s_-]){0,2}[\"']?$",
    re.IGNORECASE,
)
_WISH_AFTER = re.compile(
    r"^[\"')]{0,2}\s{0,3}(?:per (?:task|test|run)\b|if\b|when\b|for (?:each|every|passing|a pass)\b"
    r"|is (?:the )?(?:best|max)|counts?\b|means?\b|(?:\w+ ){0,2}(?:possible|required|needed|expected|to pass)\b"
    r"|\(?(?:max|best|of \d+ (?:earlier|previous|other)))",
    re.IGNORECASE,
)


def as_told(line: str) -> str:
    """Return a line without what did not happen in this run; empty where all of it is of another kind."""
    if _ELSEWHERE.search(line) or _QUOTED.search(line):
        return ""
    told = _NEGATED.sub(" ", _DENIED.sub(" ", line))
    return told if _REACHED.search(told) else _SETTING.sub(" ", told)


def is_a_wish(line: str, start: int, end: int) -> bool:
    """Return whether a result that a line names is a possible, wished or earlier one and not this run's."""
    about_others = _ELSEWHERE.search(line) is not None or _QUOTED.search(line) is not None
    return about_others or bool(_WISH_BEFORE.search(line[:start]) or _WISH_AFTER.search(line[end:]))
