"""Tell who wrote which log of a case, the tests, the agent or the harness, and how the harness says that it ended."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import PurePath
from typing import Literal

import msgspec
from msgspec import Struct

from misstep_harness.trajectory import Trajectory
from misstep_harness.triage.records import Evidence, Outcome
from misstep_harness.values import NOT_JSON

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


TESTS_LOG = "tests.log"
LOG_OF_ITEM = "item.log"
"""The name under which a judge of texts sees the text of an item that has no case: nobody knows who wrote it."""

SOLVED = 1.0
"""The reward from which on a run counts as passed."""

Writer = Literal["tests", "agent", "harness"]

_OF_TESTS = re.compile(r"(?:^|[^a-z])(?:(?:py|unit)?tests?|verif\w*|grad(?:er|ing)|eval\w*|report|reward)(?:[^a-z]|$)")
_OF_AGENT = re.compile(r"(?:^|[^a-z])(?:agent|terminal|session|trajectory|patch|commands|pane)(?:[^a-z]|$)|\.diff$")
_OF_HARNESS = re.compile(
    r"(?:^|[^a-z])(?:harness|trial|job|runner|run_instance|docker|container|build|setup|host)(?:[^a-z]|$)"
)
_VERDICT = re.compile(
    r"\b(?:result|verdict|outcome|final[ _-]status)[\"']?\s{0,3}[:=]\s{0,3}[\"']?"
    r"(?:(pass(?:ed)?|success(?:ful)?|solved|resolved)|fail(?:ed|ure)?|unsolved|unresolved)\b"
    r"|(?<![a-z])(?:resolved|solved|success|passed)[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:(true|yes)|false|no)\b"
    r"|(?<![a-z])reward[\"']?\s{0,3}[:=]\s{0,3}[\"']?(-?\d{1,6}(?:\.\d{1,9})?)(?!\w|\.\d)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"-?\d{1,6}(?:\.\d{1,9})?")
_REPORT = re.compile(
    r"\"summary\"\s{0,9}:\s{0,9}\{[^{}]{0,2000}\}|<testsuite\s(?:[^<>\"']|\"[^<\"]{0,500}\"|'[^<']{0,500}'){0,500}+>"
)
_COUNT = re.compile(r"\b(tests|failed|failures|errors|skipped)[\"']?\s*[:=]\s*[\"']?(\d{1,9})")
_ATTEMPT = re.compile(r"\battempt\W{0,3}\d", re.IGNORECASE)
"""A line on one of several attempts, which the last of them or the run's own line replaces."""

_LAST_LINES = 5
_SHORTEST_ECHO = 8
_MOST_PREFIX = 8
"""Words of a prefix, such as a time and a level, before what a log repeats."""


class TestsLog(Struct, frozen=True):
    """What the tests printed, and the log that has it; both are empty where no log has it."""

    __test__ = False  # no test of pytest's

    name: str = ""
    text: str = ""

    def evidence(self, text: str) -> tuple[Evidence, ...]:
        """Return a piece of the log as evidence; none without a log."""
        return (Evidence("log", f"logs/{self.name}", text),) if self.name and text else ()


def writer_of(name: str) -> Writer:
    """Return who writes a log of this name."""
    lowered = name.lower()
    if lowered == TESTS_LOG or _OF_TESTS.search(lowered):
        return "tests"
    return "agent" if _OF_AGENT.search(lowered) else "harness"


def tests_log(logs: Mapping[str, str]) -> TestsLog:
    """Return what the tests printed: in their own log, else in the one log that there is and that may be anybody's."""
    named = [name for name in logs if writer_of(name) == "tests" and not name.endswith(".json")]
    only = [name for name in logs if len(logs) == 1 and not _OF_HARNESS.search(name.lower())]
    chosen = TESTS_LOG if TESTS_LOG in logs else next(iter(named or only), "")
    return TestsLog(chosen, logs[chosen]) if chosen else TestsLog()


def own_words(logs: Mapping[str, str], run: Trajectory | None, instruction: str = "") -> dict[str, str]:
    """Name → text of what the harness wrote itself: a line that repeats what was asked or commands printed is empty."""
    own = {name: text for name, text in logs.items() if writer_of(name) == "harness"}
    printed = [result.text for step in run.steps for result in step.results] if run is not None and own else []
    printed += [instruction, *(step.text for step in (run.steps if run is not None else ()) if step.role == "user")]
    printed += [text for name, text in logs.items() if own and writer_of(name) == "agent"]
    echoes = {line.strip() for text in printed for line in text.splitlines()}
    echoes = {line for line in echoes if len(line) >= _SHORTEST_ECHO}
    if not echoes:
        return own
    return {
        name: "\n".join("" if _repeats(line, echoes) else line for line in text.splitlines())
        for name, text in own.items()
    }


def _repeats(line: str, echoes: set[str]) -> bool:
    words = line.split(" ")
    return any(" ".join(words[start:]).strip() in echoes for start in range(min(len(words), _MOST_PREFIX)))


class Recorded(Struct, frozen=True):
    """An outcome that a line of a log says, with its place."""

    outcome: Outcome
    where: str
    line: str

    @property
    def evidence(self) -> Evidence:
        """Return the line as evidence."""
        return Evidence("log", self.where, self.line)


def outcomes_in(logs: Mapping[str, str]) -> tuple[Recorded, ...]:
    """Return what the logs say of the outcome: one line of each outcome, so that two lines contradict each other.

    Lines of the harness and files of rewards count; reports of tests count where none of these says anything.
    """
    named = {name: text for name, text in logs.items() if name != TESTS_LOG and writer_of(name) != "agent"}
    records = [one for name, text in named.items() for one in _printed_outcomes(name, text)]
    records = records or [one for name, text in named.items() for one in _reported(name, text)]
    return tuple({one.outcome: one for one in records}.values())


def outcome_in(logs: Mapping[str, str]) -> Outcome | None:
    """Return whether the run passed, as the logs say it; `None` where none does, or two contradict each other."""
    recorded = outcomes_in(logs)
    return recorded[0].outcome if len(recorded) == 1 else None


def after_the_outcome(own: Mapping[str, str]) -> dict[str, str]:
    """Return the harness's words with the lines up to its last on the outcome empty; without one, its last lines."""
    return {name: _tail(text.splitlines()) for name, text in own.items()}


def _tail(lines: list[str]) -> str:
    verdict_lines = [number for number, line in enumerate(lines, start=1) if _VERDICT.search(line)]
    start = verdict_lines[-1] if verdict_lines else max(len(lines) - _LAST_LINES, 0)
    return "\n".join([*[""] * start, *lines[start:]])


def _printed_outcomes(name: str, text: str) -> Iterator[Recorded]:
    if PurePath(name).name.startswith("reward"):
        number = _reward_of(text)
        if number is not None:
            yield Recorded(_by_reward(number), f"logs/{name}:1", text.strip()[:300])
            return
    lines = [
        Recorded(outcome, f"logs/{name}:{number}", line.strip()[:300])
        for number, line in enumerate(text.splitlines(), start=1)
        for outcome in sorted(
            {_outcome_of(match) for match in _VERDICT.finditer(line) if not is_a_wish(line, *match.span())}
        )
    ]
    yield from [one for one in lines if not _ATTEMPT.search(one.line)] or lines[-1:]


def _reward_of(text: str) -> float | None:
    if _NUMBER.fullmatch(text.strip()):
        return float(text)
    with suppress(*NOT_JSON):
        rewards = msgspec.json.decode(text, type=dict[str, float])
        return rewards.get("reward", min(rewards.values(), default=None))
    return None


def _reported(name: str, text: str) -> Iterator[Recorded]:
    """What a report of tests says: the summary of CTRF, or the suites of JUnit."""
    reports = list(_REPORT.finditer(text))
    counts = [{one[1]: int(one[2]) for one in _COUNT.finditer(report[0])} for report in reports]
    if any(one.get("tests", 0) > one.get("skipped", 0) for one in counts):
        failed = any(one.get(name) for one in counts for name in ("failed", "failures", "errors"))
        line = text.count("\n", 0, reports[0].start()) + 1
        shown = " ".join(reports[0][0].split())[:300]
        yield Recorded("failed" if failed else "passed", f"logs/{name}:{line}", shown)


def _outcome_of(match: re.Match[str]) -> Outcome:
    good, yes, reward = match.groups()
    return _by_reward(float(reward)) if reward is not None else "passed" if good or yes else "failed"


def _by_reward(reward: float) -> Outcome:
    return "passed" if reward >= SOLVED else "failed"


def outcome_of_run(run: Trajectory | None) -> Outcome | None:
    """Return whether the run passed, as it says itself, in words or by its reward."""
    if run is None:
        return None
    if run.outcome.status != "unknown":
        return run.outcome.status
    return None if run.outcome.reward is None else _by_reward(run.outcome.reward)
