"""Breakers of public loops, each small and with the thresholds that its source documents."""

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import TypeVar

from msgspec import Struct

from misstep.harness.reflexive.plateau import detector
from misstep.harness.reflexive.reported.rounds import Decide, LoopDecision, Round, RoundCall
from misstep.harness.reflexive.reported.stop_rule import stop_rule
from misstep.harness.reflexive.settings import LoopSettings

T = TypeVar("T")

_GO_ON = LoopDecision(stop=False)
_COMPLETION_WORDS = ("done", "complete", "finished", "ready for review")


class Breaker(Struct, frozen=True):
    """A rule that stops a loop; `source` is owner/repository and a path or a thread, for ours the module."""

    name: str
    says: str
    source: str
    decide: Decide
    ours: bool = False


def _stop_if(holds: bool, reason: str) -> LoopDecision:
    return LoopDecision(stop=True, reason=reason) if holds else _GO_ON


def _last(things: Sequence[T], most: int, test: Callable[[Sequence[T]], bool]) -> bool:
    return len(things) >= most and test(things[-most:])


def rounds_in_a_row(test: Callable[[Round], bool], most: int, reason: str) -> Decide:
    """Stop after so many rounds in a row that pass a test."""
    return lambda rounds: _stop_if(_last(rounds, most, lambda last: all(map(test, last))), reason)


def calls_in_a_row(alike: Callable[[RoundCall], object], most: int, reason: str, *, failed: bool = False) -> Decide:
    """Stop after so many calls in a row that are alike; with `failed`, all of them must be errors."""

    def holds(last: Sequence[RoundCall]) -> bool:
        return len(set(map(alike, last))) == 1 and (not failed or all(call.error for call in last))

    return lambda rounds: _stop_if(_last(_calls(rounds), most, holds), reason)


def _calls(rounds: Sequence[Round]) -> list[RoundCall]:
    return [call for turn in rounds for call in turn.calls]


def _tool_and_result(call: RoundCall) -> tuple[str, str]:
    return call.tool, call.result


def output_decline(rounds: Sequence[Round], least_share: float) -> LoopDecision:
    """Stop where a round printed less than a share of what the round before it printed."""
    if len(rounds) < 2:
        return _GO_ON
    before, now = (len(turn.output) for turn in rounds[-2:])
    return _stop_if(now < least_share * before, f"the output fell from {before} to {now} characters")


def similar_output(rounds: Sequence[Round], window: int, least: float) -> LoopDecision:
    """Stop where the output is nearly that of one of the rounds before it."""
    *earlier, now = (turn.output for turn in rounds[-window - 1 :])
    is_like = any(SequenceMatcher(None, text, now, autojunk=False).ratio() >= least for text in earlier)
    return _stop_if(is_like, f"the output is {least:.0%} that of an earlier round")


def repeated_event(rounds: Sequence[Round], most: int) -> LoopDecision:
    """Stop where the agent announced the same event so many times in a row."""
    last = [turn.announced for turn in rounds[-most:]]
    return _stop_if(len(last) == most and bool(last[0]) and len(set(last)) == 1, f"{last[0]} announced {most} times")


def stuck_pattern(rounds: Sequence[Round]) -> LoopDecision:
    """Stop at one of four patterns."""
    calls, silent = _calls(rounds), rounds[-3:]
    if _last(calls, 4, lambda last: len(set(last)) == 1):
        return LoopDecision(stop=True, reason="the same call and result four times")
    if _last(calls, 3, lambda last: len({call.do for call in last}) == 1 and all(call.error for call in last)):
        return LoopDecision(stop=True, reason="the same call failed three times")
    if _last(silent, 3, lambda last: len({turn.said for turn in last}) == 1) and not _calls(silent[1:]):
        return LoopDecision(stop=True, reason="the same message three times")
    alternate = _last(calls, 6, lambda last: len(set(last[::2])) == len(set(last[1::2])) == 1)
    return _stop_if(alternate, "two calls in turn three times")


def plateau(rounds: Sequence[Round], name: str) -> LoopDecision:
    """Stop where a plateau detector finds that the last rounds say the same."""
    settings = LoopSettings()
    common = detector(name, window=settings.plateau_window, shared=settings.plateau_shared, ignored=frozenset()).shared(
        [turn.said for turn in rounds]
    )
    return _stop_if(common is not None, f"the rounds say the same: {', '.join(common or ())}")


_RALPH = "frankbria/ralph-claude-code: lib/circuit_breaker.sh"
_ANALYZER = "frankbria/ralph-claude-code: lib/response_analyzer.sh"
_GEMINI = "google-gemini/gemini-cli: packages/core/src/services/loopDetectionService.ts"
_STUCK = "OpenHands/OpenHands: openhands/controller/stuck.py"
_PLATEAU, _OURS = "harness/reflexive/plateau", "harness/reflexive/reported/stop_rule.py"


def _identical_calls(most: int) -> Decide:
    return calls_in_a_row(lambda call: call.do, most, f"the same call {most} times")


_NO_FILE_CHANGE = rounds_in_a_row(lambda turn: not turn.uncommitted, 3, "no files changed in 3 rounds")
_ERROR_WORD = rounds_in_a_row(lambda turn: "error" in turn.output.lower(), 5, "errors in 5 rounds")
_WORK_IS_OVER = rounds_in_a_row(
    lambda turn: any(word in turn.said.lower() for word in _COMPLETION_WORDS), 2, "2 rounds say that the work is over"
)
_SAME_ERROR = calls_in_a_row(_tool_and_result, 3, "the same error 3 times", failed=True)
_SAME_RESULT = calls_in_a_row(_tool_and_result, 6, "the same result 6 times")
_MISTAKES = calls_in_a_row(lambda _: None, 3, "3 mistakes in a row", failed=True)

BREAKERS: tuple[Breaker, ...] = (
    Breaker("no_file_change", "no uncommitted change in 3 rounds", _RALPH, _NO_FILE_CHANGE),
    Breaker("error_word", "the word error in 5 rounds", "frankbria/ralph-claude-code#2", _ERROR_WORD),
    Breaker("output_decline", "output shorter by more than 70%", _RALPH, partial(output_decline, least_share=0.3)),
    Breaker("completion_words", "words of completion in 2 rounds", _ANALYZER, _WORK_IS_OVER),
    Breaker(
        "similar_output",
        "output 90% like one of the last 5",
        "mikeyobrien/ralph-orchestrator#6",
        partial(similar_output, window=5, least=0.9),
    ),
    Breaker(
        "repeated_event",
        "the same event 3 times",
        "mikeyobrien/ralph-orchestrator#198",
        partial(repeated_event, most=3),
    ),
    Breaker("identical_calls_3", "the same call 3 times", "anomalyco/opencode#3445", _identical_calls(3)),
    Breaker("identical_calls_5", "the same call 5 times", _GEMINI, _identical_calls(5)),
    Breaker("stuck_pattern", "four patterns", _STUCK, stuck_pattern),
    Breaker("same_error", "one tool's same error 3 times", "aaif-goose/goose#8994", _SAME_ERROR),
    Breaker("unchanged_results", "one tool's same result 6 times", "macanderson/stella#1361", _SAME_RESULT),
    Breaker("mistakes_in_a_row", "3 failed calls in a row", "cline/cline#10358", _MISTAKES),
    Breaker("most_rounds", "10 rounds", "snarktank/ralph: ralph.sh", rounds_in_a_row(bool, 10, "10 rounds are over")),
    Breaker("plateau_exact", "3 equal openings", _PLATEAU, partial(plateau, name="exact"), ours=True),
    Breaker("plateau_keywords", "3 words shared by 3", _PLATEAU, partial(plateau, name="keywords"), ours=True),
    Breaker("plateau_cosine", "TF-IDF cosine of 3", _PLATEAU, partial(plateau, name="cosine"), ours=True),
    Breaker("plateau_embeddings", "embeddings of 3", _PLATEAU, partial(plateau, name="embeddings"), ours=True),
    Breaker("stop_rule", "the loop's mechanisms", _OURS, stop_rule, ours=True),
)
"""All breakers, those of other loops first. `plateau_embeddings` needs a package that may not be installed."""
