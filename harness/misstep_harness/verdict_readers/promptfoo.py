"""Results of promptfoo (`promptfoo eval --output results.json` or `.jsonl`): each assertion of a test is a judge.

A file (made up)::

    {"evalId": "eval-1", "results": {"version": 3, "stats": {"successes": 0, "failures": 1}, "results": [
     {"testIdx": 0, "promptIdx": 0, "success": false, "failureReason": 1, "vars": {"case": "k7"},
      "testCase": {"description": "k7 is done", "assert": [{"type": "llm-rubric", "metric": "done"}]},
      "gradingResult": {"pass": false, "score": 0, "reason": "…", "componentResults": [
       {"pass": false, "score": 0, "reason": "Could not extract JSON from llm-rubric response",
        "assertion": {"type": "llm-rubric", "metric": "done"}, "metadata": {"graderError": true}}]}}]}}

The label is `pass` or `fail`. The judge is the assertion's metric, or else its type; a second one of that name in a
test is `NAME-2`. A set of assertions is a judge, and so is each of its parts; a test without
assertions, which promptfoo passes, has no verdict. The item is the test's description, or else its number (`testIdx`).
A test has an output of each prompt and provider, which are its attempts (`promptIdx`). A grader that fails or whose
reply cannot be parsed is written as a failed assertion with the score 0: it is unreadable here. A test that ended in an
error (`failureReason` 2) has failed. The score says how good the output is: of a `fail`, 1 less it is the certainty.

Sources: https://www.promptfoo.dev/docs/configuration/outputs, https://github.com/promptfoo/promptfoo (src/matchers.ts,
src/types/index.ts, src/assertions/assertionsResult.ts at 0279b12d), https://github.com/promptfoo/promptfoo/issues/2084.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from misstep_harness.values import plain
from misstep_harness.verdict_readers.written import Place, WrittenVerdict, mapping, objects, scalars, share, text

NAME = "a file of results of promptfoo"

_WHOLE_TEST = "test"
_SET = "assert-set"
_NO_ASSERTIONS = "No assertions"
"""The reason of a test that passes because nothing was asserted."""

_ENDED_IN_ERROR = 2
_NO_OUTPUT = "No output"
_NO_VERDICT = (
    "Could not extract JSON from",
    "llm-rubric produced malformed response",
    "API error: ",
    "API call error: ",
)
"""The reason of a grader without a verdict begins so, in versions that do not mark it as `graderError`."""

_FORM = "See https://www.promptfoo.dev/docs/configuration/outputs for the form."


def is_own(value: dict[str, Any]) -> bool:
    """Return whether an object is a file of results, or one result in a line."""
    results = value.get("results")
    if isinstance(results, dict):
        return isinstance(results.get("results"), list) and isinstance(results.get("version"), int)
    return value.keys() >= {"gradingResult", "success", "testCase"}


def verdicts(value: dict[str, Any], place: Place) -> Iterator[WrittenVerdict]:
    """Return the verdicts of all assertions."""
    results = value["results"]["results"] if isinstance(value.get("results"), dict) else [value]
    for number, result in enumerate(results):
        if not isinstance(result, dict):
            raise place.error("the result is not an object", _FORM, f"results.results[{number}]")
        column = result.get("promptIdx")
        attempt = column + 1 if isinstance(column, int) else 1
        yield from (replace(one, attempt=attempt) for one in _of_result(result, number, place))


def _of_result(result: dict[str, Any], number: int, place: Place) -> Iterator[WrittenVerdict]:
    case = mapping(result.get("testCase"))
    test = result.get("testIdx")
    test = number if not isinstance(test, int) else test
    names = {"testIdx": plain(test)} | scalars(case) | scalars(case.get("metadata")) | scalars(result.get("vars"))
    item = names.get("description", "").strip() or plain(test)
    if result.get("failureReason") == _ENDED_IN_ERROR:
        error = f"the test ended in an error: {text(result.get('error')) or 'without a message'}"
        for judge in _judges(_with_parts(case.get("assert"))):
            yield WrittenVerdict(item, None, place, judge, "failed", error=error, names=names)
        return
    graded = mapping(result.get("gradingResult"))
    components = objects(graded.get("componentResults"))
    if not components and "pass" in graded and graded.get("reason") != _NO_ASSERTIONS:
        yield _verdict(item, _WHOLE_TEST, graded, place, names)
    judges = _judges(map(_assertion, components))
    for judge, component in zip(judges, components, strict=True):
        yield _verdict(item, judge, component, place, names)


def _verdict(item: str, judge: str, graded: dict[str, Any], place: Place, names: dict[str, str]) -> WrittenVerdict:
    reason = text(graded.get("reason"))
    passed = graded.get("pass")
    label = ("pass" if passed else "fail") if isinstance(passed, bool) else None
    unmarked = label == "fail" and (reason == _NO_OUTPUT or reason.startswith(_NO_VERDICT))
    if label is None or unmarked or mapping(graded.get("metadata")).get("graderError") is True:
        why = f"the grader gave no verdict: {reason}" if label else "the assertion has neither passed nor failed"
        return WrittenVerdict(item, None, place, judge, "unreadable", error=why, written_as=label or "", names=names)
    score = share(graded.get("score"))
    certainty = round(1 - score, 9) if score is not None and label == "fail" else score
    return WrittenVerdict(item, label, place, judge, score=certainty, rationale=reason, names=names)


def _assertion(component: dict[str, Any]) -> dict[str, Any]:
    """Return what a component was graded by: a set of assertions, whose parts follow it, is named in its metadata."""
    of_set = mapping(mapping(component.get("metadata")).get("assertionSet"))
    return mapping(component.get("assertion")) or of_set or {"type": _SET if "componentResults" in component else ""}


def _with_parts(assertions: Any) -> Iterator[dict[str, Any]]:
    for assertion in objects(assertions):
        yield assertion
        yield from objects(assertion.get("assert"))


def _judges(assertions: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Return the judge of each assertion of a test; a name that comes again is numbered."""
    counts: Counter[str] = Counter()
    for assertion in assertions:
        name = text(assertion.get("metric")) or text(assertion.get("type")) or _WHOLE_TEST
        counts[name] += 1
        yield name if counts[name] == 1 else f"{name}-{counts[name]}"
