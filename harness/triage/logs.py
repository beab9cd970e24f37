"""Tell who wrote which log of a case, the tests, the agent or the harness, and how the harness says that it ended."""

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from misstep.harness.records.attribution import Evidence
from misstep.harness.records.triage_case import Outcome
from misstep.harness.trajectory import Trajectory

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
    r"|(?<![a-z])(?:resolved|solved|success)[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:(true|yes)|false|no)\b"
    r"|(?<![a-z])reward[\"']?\s{0,3}[:=]\s{0,3}[\"']?(-?\d{1,6}(?:\.\d{1,9})?)(?![\w.])",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"-?\d{1,6}(?:\.\d{1,9})?")
_SHORTEST_ECHO = 8
_MOST_PREFIX = 8
"""Words of a prefix, such as a time and a level, before what a log repeats."""


class TestsLog(Struct, frozen=True):
    """What the tests printed, and the log that has it; both are empty where no log has it."""

    __test__ = False  # no test of pytest's

    name: str = ""
    text: str = ""

    def evidence(self, text: str) -> tuple[Evidence, ...]:
        """Return a piece of the log as evidence; none if there is no log."""
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


def own_words(logs: Mapping[str, str], run: Trajectory | None) -> dict[str, str]:
    """Name → text of what the harness wrote itself: a line that repeats what the agent's commands printed is empty."""
    own = {name: text for name, text in logs.items() if writer_of(name) == "harness"}
    printed = [result.text for step in run.steps for result in step.results] if run is not None and own else []
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


def outcome_in(logs: Mapping[str, str]) -> Outcome | None:
    """Return whether the run passed, by the last line of the harness that says so, not of the tests."""
    result: Outcome | None = None
    for name, text in logs.items():
        if name == TESTS_LOG or writer_of(name) == "agent":
            continue
        if name.startswith("reward") and _NUMBER.fullmatch(text.strip()):
            return _by_reward(float(text))
        for line in text.splitlines():
            outcomes = {_told(match) for match in _VERDICT.finditer(line)}
            if outcomes:
                result = outcomes.pop() if len(outcomes) == 1 else None
    return result


def _told(match: re.Match[str]) -> Outcome:
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
