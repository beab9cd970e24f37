"""One complaint to several calls is a tool call failure, whatever it says; what tells of the work or of a search is none."""

import pytest

from misstep_harness.classifiers.history import History
from misstep_harness.classifiers.oscillation import same_complaint
from misstep_harness.trajectory import Step, Trajectory
from tests.harness.classifiers.building import bash, call, edit, run

WORDS = ("heron", "ibis", "egret", "stork", "crane")


def _asked(tool: str, answer: str, **marked: object) -> list[Step]:
    return [call(tool, answer.replace("WORD", word), None, marked.get("is_error"), what=word) for word in WORDS]  # type: ignore[arg-type]


def _typed(line: str, answer: str, code: int | None) -> list[Step]:
    return [bash(line.replace("WORD", word), answer.replace("WORD", word), code) for word in WORDS]


COMPLAINTS: dict[str, Trajectory] = {
    "a service that grants nothing": run(*_asked("birds.lookup", "QUOTA_DENIED: the plan has no lookups left")),
    "a column that is guessed": run(
        *_asked("warehouse__execute_sql", 'ERROR: column "WORD" does not exist\nLINE 1: select WORD')
    ),
    "a shell that may not write": run(
        *_typed("echo WORD > /etc/birds.conf", "bash: /etc/birds.conf: Permission denied", 1)
    ),
    "a program that is not there": run(*_typed("fly WORD", "zsh: command not found: fly", 127)),
    "a server that is down": run(*_typed("redis-cli get WORD", "Could not connect to Redis: Connection refused", 1)),
    "a marked error in words of its own": run(*_asked("nest", "Zugriff auf 'WORD' verweigert", is_error=True)),
    "one complaint of tools that are not there": run(
        *[
            call(f"find_{word}", f"no tool named 'find_{word}' is available: unknown", None, None, what=1)
            for word in WORDS
        ]
    ),
}

OTHERS: dict[str, Trajectory] = {
    "logs that tell of errors": run(*_typed("tail -5 WORD.log", "ERROR [WORD] connection failed", 0)),
    "answers of a service under test": run(
        *_typed("curl -s localhost/WORD", '{"detail": "WORD must not be empty"}', None)
    ),
    "searches that find nothing": run(*_asked("symbol_search", "No results found for 'WORD'")),
    "builds that fail": run(*_typed("make WORD", "error: WORD failed", 2)),
    "one call over and over": run(*[call("birds", "denied", None, True, what=1) for _ in range(6)]),
    "an error after each change": run(
        *[step for word in WORDS for step in (edit("a.py", word), bash(f"deploy {word}", "error: not ready", 1))]
    ),
    "a success in between": run(
        *_asked("birds", "denied", is_error=True)[:3],
        call("birds", "ok", None, False, what=0),
        *_asked("birds", "denied", is_error=True)[:3],
    ),
}


@pytest.mark.parametrize("trajectory", COMPLAINTS.values(), ids=COMPLAINTS)
def test_one_complaint_to_different_calls_is_found(trajectory: Trajectory) -> None:
    result = same_complaint(History(trajectory).acts)
    assert len(result.places) == 4


@pytest.mark.parametrize("trajectory", OTHERS.values(), ids=OTHERS)
def test_what_tells_of_the_work_or_is_put_right_is_none(trajectory: Trajectory) -> None:
    assert same_complaint(History(trajectory).acts) is None
