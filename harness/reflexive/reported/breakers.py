"""Breakers of public loops, each small and with the thresholds that its source documents.

They are described in our words and reimplemented, not copied. What a loop does around its breaker (warnings, nudges,
questions to a person, resets) is left out, so that a breaker here stops where its original first acts. One that looks
at calls sees those of all rounds in a row.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import partial

from msgspec import Struct

from misstep.harness.reflexive.plateau import detector
from misstep.harness.reflexive.reported.rounds import Decide, LoopDecision, Round, RoundCall
from misstep.harness.reflexive.reported.stop_rule import stop_rule
from misstep.harness.reflexive.settings import LoopSettings

_GO_ON = LoopDecision(stop=False)
_COMPLETION_WORDS = ("done", "complete", "finished", "ready for review")
_ALTERNATING = 6
_SAME_PAIRS = 4
_SAME_ERRORS = 3
_SAME_MESSAGES = 3


class Breaker(Struct, frozen=True):
    """What stops a loop.

    - `name`: What tables call it.
    - `says`: What it stops at.
    - `source`: Where it is documented: owner/repository and a path or a thread; for ours, the module.
    - `ours`: Whether it is one of this project.
    - `decide`: The rounds so far in, the decision out.
    """

    name: str
    says: str
    source: str
    decide: Decide
    ours: bool = False


def _stop_if(found: bool, reason: str) -> LoopDecision:
    return LoopDecision(stop=True, reason=reason) if found else _GO_ON


def _calls(rounds: Sequence[Round]) -> list[RoundCall]:
    return [call for turn in rounds for call in turn.calls]


def no_file_change(rounds: Sequence[Round], most: int) -> LoopDecision:
    """Stop where no file differed from the last commit at the end of so many rounds in a row."""
    last = rounds[-most:]
    return _stop_if(
        len(last) == most and not any(turn.uncommitted for turn in last), f"no files changed in {most} rounds"
    )


def error_word(rounds: Sequence[Round], most: int) -> LoopDecision:
    """Stop where the output of so many rounds in a row has the word "error" anywhere."""
    last = rounds[-most:]
    found = len(last) == most and all("error" in turn.output.lower() for turn in last)
    return _stop_if(found, f"errors in {most} rounds")


def same_error(rounds: Sequence[Round], most: int) -> LoopDecision:
    """Stop where one tool gave the same error so many times in a row, whatever it was asked."""
    last = _calls(rounds)[-most:]
    found = len(last) == most and all(call.error for call in last)
    return _stop_if(found and len({(call.tool, call.result) for call in last}) == 1, f"the same error {most} times")


def output_decline(rounds: Sequence[Round], least_share: float) -> LoopDecision:
    """Stop where a round printed less than a share of what the round before it printed.

    The source documents the threshold; the version that was read does not act on it.
    """
    if len(rounds) < 2:
        return _GO_ON
    before, now = (len(turn.output) for turn in rounds[-2:])
    return _stop_if(now < least_share * before, f"the output fell from {before} to {now} characters")


def similar_output(rounds: Sequence[Round], window: int, least: float) -> LoopDecision:
    """Stop where the output is nearly that of one of the rounds before it."""
    *earlier, now = (turn.output for turn in rounds[-window - 1 :])
    found = any(SequenceMatcher(None, text, now, autojunk=False).ratio() >= least for text in earlier)
    return _stop_if(found, f"the output is {least:.0%} that of an earlier round")


def repeated_event(rounds: Sequence[Round], most: int) -> LoopDecision:
    """Stop where the agent announced the same event so many times in a row."""
    last = [turn.announced for turn in rounds[-most:]]
    return _stop_if(len(last) == most and bool(last[0]) and len(set(last)) == 1, f"{last[0]} announced {most} times")


def identical_calls(rounds: Sequence[Round], most: int) -> LoopDecision:
    """Stop where the same call was made so many times in a row, whatever came back."""
    last = _calls(rounds)[-most:]
    return _stop_if(len(last) == most and len({call.do for call in last}) == 1, f"the same call {most} times")


def unchanged_results(rounds: Sequence[Round], most: int) -> LoopDecision:
    """Stop where one tool gave the same result so many times in a row, whatever it was asked."""
    last = _calls(rounds)[-most:]
    found = len(last) == most and len({(call.tool, call.result) for call in last}) == 1
    return _stop_if(found, f"the same result {most} times")


def mistakes_in_a_row(rounds: Sequence[Round], most: int) -> LoopDecision:
    """Stop where so many calls in a row failed, whichever they were."""
    last = _calls(rounds)[-most:]
    return _stop_if(len(last) == most and all(call.error for call in last), f"{most} mistakes in a row")


def completion_words(rounds: Sequence[Round], most: int) -> LoopDecision:
    """Stop where the agent used a word of completion in so many rounds in a row."""
    last = rounds[-most:]
    found = len(last) == most and all(any(word in turn.said.lower() for word in _COMPLETION_WORDS) for turn in last)
    return _stop_if(found, f"{most} rounds say that the work is over")


def most_rounds(rounds: Sequence[Round], most: int) -> LoopDecision:
    """Stop after so many rounds."""
    return _stop_if(len(rounds) >= most, f"{most} rounds are over")


def stuck_pattern(rounds: Sequence[Round]) -> LoopDecision:
    """Stop at one of four patterns.

    They are the same call with the same result four times, the same call with an error three times, the same message
    three times with no call in between, and two calls with their results in turn over six calls. Results are compared
    as texts; of a shell command the original compares the command and its exit code alone, which stops more.
    """
    calls = _calls(rounds)
    pairs = calls[-_SAME_PAIRS:]
    failed = calls[-_SAME_ERRORS:]
    silent = rounds[-_SAME_MESSAGES:]
    turns = calls[-_ALTERNATING:]
    if len(pairs) == _SAME_PAIRS and len(set(pairs)) == 1:
        return LoopDecision(stop=True, reason="the same call and result four times")
    if len(failed) == _SAME_ERRORS and len({call.do for call in failed}) == 1 and all(call.error for call in failed):
        return LoopDecision(stop=True, reason="the same call failed three times")
    if len(silent) == _SAME_MESSAGES and len({turn.said for turn in silent}) == 1 and not _calls(silent[1:]):
        return LoopDecision(stop=True, reason="the same message three times")
    alternating = len(turns) == _ALTERNATING and len(set(turns[::2])) == 1 and len(set(turns[1::2])) == 1
    return _stop_if(alternating, "two calls in turn three times")


def plateau(rounds: Sequence[Round], name: str) -> LoopDecision:
    """Stop where a plateau detector finds that the last rounds say the same."""
    settings = LoopSettings()
    found = detector(name, window=settings.plateau_window, shared=settings.plateau_shared, ignored=frozenset()).shared(
        [turn.said for turn in rounds]
    )
    return _stop_if(found is not None, f"the rounds say the same: {', '.join(found or ())}")


_RALPH = "frankbria/ralph-claude-code: lib/circuit_breaker.sh"
_PLATEAU = "harness/reflexive/plateau"

BREAKERS: tuple[Breaker, ...] = (
    Breaker("no_file_change", "no uncommitted change in 3 rounds", _RALPH, partial(no_file_change, most=3)),
    Breaker("error_word", "the word error in 5 rounds", "frankbria/ralph-claude-code#2", partial(error_word, most=5)),
    Breaker("output_decline", "output shorter by more than 70%", _RALPH, partial(output_decline, least_share=0.3)),
    Breaker(
        "completion_words",
        "words of completion in 2 rounds",
        "frankbria/ralph-claude-code: lib/response_analyzer.sh",
        partial(completion_words, most=2),
    ),
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
    Breaker("identical_calls_3", "the same call 3 times", "anomalyco/opencode#3445", partial(identical_calls, most=3)),
    Breaker(
        "identical_calls_5",
        "the same call 5 times",
        "google-gemini/gemini-cli: packages/core/src/services/loopDetectionService.ts",
        partial(identical_calls, most=5),
    ),
    Breaker("stuck_pattern", "four patterns", "OpenHands/OpenHands: openhands/controller/stuck.py", stuck_pattern),
    Breaker("same_error", "one tool's same error 3 times", "aaif-goose/goose#8994", partial(same_error, most=3)),
    Breaker(
        "unchanged_results",
        "one tool's same result 6 times",
        "macanderson/stella#1361",
        partial(unchanged_results, most=6),
    ),
    Breaker("mistakes_in_a_row", "3 failed calls in a row", "cline/cline#10358", partial(mistakes_in_a_row, most=3)),
    Breaker("most_rounds", "10 rounds", "snarktank/ralph: ralph.sh", partial(most_rounds, most=10)),
    Breaker("plateau_exact", "3 equal openings", _PLATEAU, partial(plateau, name="exact"), ours=True),
    Breaker("plateau_keywords", "3 words shared by 3", _PLATEAU, partial(plateau, name="keywords"), ours=True),
    Breaker("plateau_cosine", "TF-IDF cosine of 3", _PLATEAU, partial(plateau, name="cosine"), ours=True),
    Breaker("plateau_embeddings", "embeddings of 3", _PLATEAU, partial(plateau, name="embeddings"), ours=True),
    Breaker("stop_rule", "the loop's mechanisms", "harness/reflexive/reported/stop_rule.py", stop_rule, ours=True),
)
"""All breakers, those of other loops first. `plateau_embeddings` needs a package that may not be installed."""
