"""Find events of the harness in its own log: what broke that is neither the agent's work nor the task's files.

What happens before the agent starts counts where the agent took no step, what happens by the way where its run breaks
off, and a line on which it is tried again never.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from misstep_harness.triage.logs import as_told, writer_of
from misstep_harness.triage.records import Evidence

Moment = Literal["machine", "outside", "starting", "running", "verifying"]

_AMOUNT = re.compile(r"(?<![\d.])(\d{1,12}(?:\.\d{1,6})?) ?([kmg])i?b\b", re.IGNORECASE)
_UNITS = {"k": 1 / 1024, "m": 1.0, "g": 1024.0}
_FAR_BELOW = 0.5
_OF_MEMORY = re.compile(
    r"\boom(?:[ _-]?kill\w*)?\b|\bkill(?:ed|ing|s)?\b.{0,200}?\b(?:memory|rss)\b"
    r"|\bmemory\b.{0,200}?\bkill(?:ed|ing|s)?\b|\bkilled at \d",
    re.IGNORECASE,
)
_FULL = re.compile(
    r"^(?!.*/dev/loop)(?:.*100% {1,4}/|.*\b(?:df|disk|file ?system|volume)\b.* /[\w/.-]{0,100} {1,4}100%)",
    re.IGNORECASE,
)
"""A file system that is full, as `df` prints it; the read-only image of a snap always is."""

_REFUSALS = r"(?:40[1379]|429|5(?:0[0234]|29))\b"
_STATUS = re.compile(
    rf"\b(?:http|status|code|error|api)\b\W{{0,4}}(?:(?:code|status|error|response|is|was|with|returned)\W{{1,4}}){{0,3}}"
    rf"{_REFUSALS}(?! of\b| (?!errors|responses)[a-z]+s\b)|^\W{{0,4}}{_REFUSALS}(?=\s{{0,3}}(?:$|[:{{(\[-]))"
    r"|\b(?:40[137] (?:unauthorized|forbidden|proxy)|429 too many|5\d\d (?:internal|bad|service|gateway))"
)
_AGAIN = re.compile(
    r"\bretry(?:ing)?\b|\b(?:try(?:ing)?|will try) again\b|\battempt \d{1,3} ?(?:/|of) ?\d{1,3}\b"
    r"|\breconnect(?:ing|ed)\b|\bback(?:ing)? off\b|\brecovered\b|\bwarn(?:ing)?\b"
)
_NO_MORE = re.compile(
    r"\bgiv(?:ing|en?|es) up\b|\bgave up\b|\bexhausted\b|\bno more\b|\bmax(?:imum)?\.? (?:retries|attempts)"
    r"|\bafter \d{1,3}\b|\blast\b"
)
_OF_AGENT = re.compile(
    r"context[ _-]?(?:length|window)|output[ _-]?length|prompt is too long|(?:llm|model|response)[ _-]parse"
    r"|agent[ _-]?(?:execution[ _-]?|run[ _-]?)?(?:timeout|timed out)|exit_(?:cost|context|format)|limitsexceeded"
    r"|max(?:imum)?[ _-]?(?:number of )?(?:turns|steps|iterations|episodes|tokens)"
    r"|(?:turn|step|iteration|cost|token|time|budget)s?[ _-]limit"
)
_OUT_OF_TIME = re.compile(r"agent[ _-]?(?:execution[ _-]?|run[ _-]?)?(?:timeout|timed out)")

_LOST = re.compile(r"\bconnection (?:to|with) .{1,60}\blost\b")
_ERROR = re.compile(
    r"\b(?:ERROR|FATAL|CRITICAL|PANIC)\b|[A-Za-z](?:Error|Exception)\b|(?i:\b(?:fatal|panic|crash(?:ed)?|abort(?:ed|ing)?)\b)"
    r"|(?i:(?<![a-z])(?:error|exception)s?(?=\W*$|\s{0,3}[:=)\]]|\s+(?:in|while|when|during|occurred|from|code|at)\b))"
)
_TROUBLE = re.compile(
    r"fail|denied|refused|unauthori[sz]ed|forbidden|unavailable|tim(?:ed?|e-?) ?out|quota|exceeded|unable|cannot"
    r"|can.?t\b|could ?n.t|could not|not found|no such|kill|exhausted|unreachable|missing|invalid|never"
    r"|(?:did|does|was) ?n.t|(?:did|was) not|down\b|lost|broken|non-?zero"
    r"|exit(?:ed)?(?: with)?(?: code| status)?:? [1-9]|\bran out\b|\bout of\b|disappear|reclaim|terminat"
    r"|throttl|expired|corrupt|interrupt|\bsig(?:term|int|kill)\b|\bgone\b|shut ?down",
    re.IGNORECASE,
)
_STOPPED = re.compile(r"\b(?:hit|reached|unknown|too ?many ?requests|\w*backoff|errimagepull)\b", re.IGNORECASE)
_MENDED = re.compile(
    r"\bfall(?:ing|s)? ?back\b|\busing (?:the |a )?(?:local|cached)\b|\bwaiting for\b|\bnot (?:yet(?! valid)|up)\b"
)
_RESULT = re.compile(
    r"\b(?:verdict|result|outcome|reward|score|tests?|assert\w*)\b\W{1,4}(?:\w+\W+){0,3}?(?:pass|fail|true|false|\d)"
    r"|\d (?:failed|passed)|^\W*failed\b|\bassertionerror\b"
)
"""A line that says how tests ended, and nothing of what ran them."""


class Event(Struct, frozen=True):
    """A line of a log that tells of something that broke: its subcategory, its place, the line."""

    subcategory: str
    where: str
    line: str

    @property
    def evidence(self) -> Evidence:
        """Return the line as evidence."""
        return Evidence("log" if self.where.startswith("logs/") else "step", self.where, self.line)


@cache
def phrases() -> dict[Moment, dict[str, tuple[str, ...]]]:
    """When it counts → subcategory of infrastructure → what tells of it."""
    data = (Path(__file__).parent / "events.toml").read_bytes()
    return msgspec.toml.decode(data, type=dict[Moment, dict[str, tuple[str, ...]]])


def event_in(text: str, where: str, moment: Moment = "machine") -> Event | None:
    """Return the first event of a machine, or of another moment, that a text tells of, the strongest kind first."""
    lowered, lines = text.lower(), text.splitlines()
    known = ((subcategory, phrase) for subcategory, each in phrases()[moment].items() for phrase in each)
    for subcategory, phrase in known:
        if phrase not in lowered:
            continue
        for number, line in enumerate(lines, start=1):
            if phrase in line.lower() and phrase in as_told(line).lower():
                return Event(subcategory, f"{where}:{number}", line.strip()[:300])
    return None


def limit_event(logs: Mapping[str, str], memory_mb: int) -> Event | None:
    """Return a limit that the machine broke and not the agent: a full file system, or a kill far below `memory_mb`."""
    for name, text in logs.items():
        for number, line in enumerate(text.splitlines() if writer_of(name) == "harness" else (), start=1):
            at = killed_at(as_told(line))
            if (at is not None and at < _FAR_BELOW * memory_mb) or _FULL.search(line):
                return Event("sandbox_crash", f"logs/{name}:{number}", line.strip()[:300])
    return None


def killed_at(line: str) -> float | None:
    """Return the memory in MiB at which a line says that something was killed; `None` where it says no such thing."""
    match = _AMOUNT.search(line) if _OF_MEMORY.search(line) else None
    return float(match[1]) * _UNITS[match[2].lower()[0]] if match is not None else None


def agent_ran_out(own: Mapping[str, str]) -> bool:
    """Return whether the harness says that the agent's time was over."""
    return out_of_time_event(own) is not None


def out_of_time_event(own: Mapping[str, str]) -> Event | None:
    """Return the line of the harness by which the agent's time was over."""
    for where, line in _lines(own, again=True):
        if _OUT_OF_TIME.search(as_told(line).lower()):
            return Event("harness_bug", where, line[:300])
    return None


def broken_event(own: Mapping[str, str]) -> Event | None:
    """Return the first line of the harness on a break of its own, whenever it was; none that was put right."""
    return next((event for placed in _lines(own) if (event := _broken(placed)) is not None), None)


def _broken(placed: tuple[str, str]) -> Event | None:
    line = as_told(placed[1])
    if _RESULT.search(line.lower()) or _MENDED.search(line.lower()):
        return None
    machine = _known(placed, ("machine",))
    if machine is not None and machine.subcategory == "sandbox_crash":
        return machine
    in_trouble = any(pattern.search(line) for pattern in (_ERROR, _TROUBLE, _STATUS, _STOPPED))
    named = machine is not None and machine.subcategory == "network_issue"
    return (
        (machine if named else _known(placed, ("outside", "starting", "running", "verifying"))) if in_trouble else None
    )


def outside_event(own: Mapping[str, str]) -> Event | None:
    """Return the first break of what an environment is fetched from, in the harness's words, that was not mended."""
    placed = (one for one in _lines(own) if not _MENDED.search(one[1].lower()) and not _RESULT.search(one[1].lower()))
    known = (_known(one, ("outside", "starting")) for one in placed)
    return next((one for one in known if one is not None and one.subcategory == "network_issue"), None)


def harness_event(own: Mapping[str, str]) -> Event | None:
    """The first event of a machine in the harness's own words; none where these end with a limit of the agent's."""
    for name, text in own.items():
        told = "\n".join(map(as_told, text.splitlines()))
        if not _OF_AGENT.search(told.lower()) and (event := event_in(text, f"logs/{name}")) is not None:
            return event
    return None


def told_event(own: Mapping[str, str], *moments: Moment) -> Event | None:
    """Return the last line of the harness that tells of an event of these moments and of no further try."""
    return next((event for line in reversed(list(_lines(own))) if (event := _known(line, moments)) is not None), None)


def last_error(own: Mapping[str, str]) -> Event | None:
    """Return the last error in the harness's own words, whatever it is; `None` where that is a limit of the agent's."""
    for where, line in reversed(list(_lines(own))):
        if _OF_AGENT.search(as_told(line).lower()):
            return None
        if (event := _error(where, line, _ERROR)) is not None:
            return event
    return None


def trouble_in(own: Mapping[str, str]) -> Event | None:
    """Return why an agent may not have begun: the last line that tells of an event, of an error, or of any trouble."""
    lines = [*_lines(own, again=True)]
    known = (event for one in reversed(lines) if (event := _known(one, get_args(Moment))) is not None)
    errors = (event for one in reversed(lines) for pattern in (_ERROR, _TROUBLE) if (event := _error(*one, pattern)))
    return next(known, None) or next(errors, None)


def _error(where: str, line: str, pattern: re.Pattern[str]) -> Event | None:
    told = as_told(line)
    if not pattern.search(told) or _RESULT.search(told.lower()) or killed_at(told) is not None:
        return None
    kind = _known((where, line), get_args(Moment))
    return Event(kind.subcategory if kind is not None else "harness_bug", where, line[:300])


def _lines(own: Mapping[str, str], *, again: bool = False) -> Iterator[tuple[str, str]]:
    for name, text in own.items():
        for number, line in enumerate(text.splitlines(), start=1):
            lowered = line.lower()
            if line.strip() and (again or _NO_MORE.search(lowered) or not _AGAIN.search(lowered)):
                yield f"logs/{name}:{number}", line.strip()


def _known(placed: tuple[str, str], moments: tuple[Moment, ...]) -> Event | None:
    where, line = placed
    lowered = as_told(line).lower()
    if _OF_AGENT.search(lowered):
        return None
    for moment in moments:
        for subcategory, known in phrases().get(moment, {}).items():
            if any(phrase in lowered for phrase in known):
                return Event(subcategory, where, line[:300])
    if "running" in moments and (_STATUS.search(lowered) or _LOST.search(lowered)):
        return Event("network_issue", where, line[:300])
    return None
