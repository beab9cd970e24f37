"""Find failures that the last words of an agent claim as done, or have no word of: a rule of `tool_call_failure`."""

import re
from collections.abc import Sequence

from misstep.harness.classifiers.calls.error_lines import line_of
from misstep.harness.classifiers.calls.failures import CallFailure, failed, own_failure
from misstep.harness.classifiers.calls.history import Act, History
from misstep.harness.classifiers.calls.natures import changes_files, nature_of
from misstep.harness.classifiers.calls.oscillation import error_of
from misstep.harness.classifiers.calls.others_faults import declined
from misstep.harness.classifiers.calls.same_answers import complains
from misstep.harness.classifiers.calls.tools import bare_name, edit_texts, path_of
from misstep.harness.classifiers.corrections import Corrections
from misstep.harness.classifiers.verdicts import RuleFinding, counted, quoted

_CLAIM = re.compile(
    r"\b(?:i(?:'ve| have)?|successfully|now|has been|have been|was|were|is|are)\s+(?:\w+\s+)?"
    r"(?:updated|changed|edited|modified|fixed|replaced|added|applied|made|implemented|corrected|renamed|removed)\b",
    re.IGNORECASE,
)

_ADMISSION = re.compile(
    r"\b(?:fail(?:ed|s|ure)?|could(?:n't| not)|was(?:n't| not)|unable|cannot|can't|did(?:n't| not)|"
    r"error|unfortunately)\b",
    re.IGNORECASE,
)

_ANSWERS_BY_CODE = re.compile(r"\b(?:diff|grep|cmp|check|exit-?code)\b")
"""Programs whose exit code is their answer."""

_A_WORD = re.compile(r"[^\W\d_]{4,}")
_STEM = 5
_READ = 2_000

_FEW_WORDS = 200
"""Characters of last words that say of everything that it is done, without a name."""

_DOUBT = re.compile(
    r"n't\b|\b(?:no|not|nor|none|nothing|never|cannot|without|instead|unless|until|unable|sorry|unfortunately|however|"
    r"but|though|already|still|yet|left|leav\w+|skip\w*|remain\w*|stop\w*|need\w*|should|would|could|may|might|must|"
    r"please|try|tried|manual\w*|if|why|whether|unchanged|as it (?:is|was)|todo|next|will|going|plan\w*|let me|i'll|"
    r"let's|fail\w*|error\w*|problem\w*|issue\w*|differ\w*|other|mismatch\w*|miss\w*|wrong|block\w*|stuck|"
    r"nicht|kein\w*|leider|konnte\w*|noch|schon|pas|aucune?|impossible|erreur|pude|tampoco|nie|nem|ne|nao|não|non|niet|"
    r"geen|ikke|inte|не|нет)\b|[?？]|ошиб|удал|[无不没未]|失[败敗]|ません|できな"
)
"""Words of which one is wherever somebody admits, doubts, asks or puts off, and many more places."""


def passed_over(history: History, corrections: Corrections, edits: Sequence[int]) -> RuleFinding | None:
    """Return a failed edit that is never made and is claimed all the same."""
    acts, end = history.acts, len(history.acts)
    steps = history.trajectory.steps
    last = next((index for index in reversed(history.agent_steps) if steps[index].text), None)
    if last is None or not edits:
        return None
    last_change = next((place for place in range(end - 1, -1, -1) if changes_files(acts[place])), -1)
    for place in edits:
        act = acts[place]
        path, failure = path_of(act.call), own_failure(act)
        if failure is None or not path or corrections.changed(path, place, end) is not None:
            continue
        name = path.rsplit("/", 1)[-1]
        text = history.trajectory.steps[last].text
        # Where other files were changed instead, the claim has to name this one.
        if last > act.step and (last_change < place or name in text) and _claims(text, name):
            claim = last
            sentence = (
                f"The edit of {quoted(name)} fails ({quoted(failure.words)}), is never made, "
                f"and is claimed all the same ({counted([act.step, claim])})."
            )
            return RuleFinding("passed_over", [act.step, claim], sentence)
    return None


def unmentioned(history: History, corrections: Corrections) -> RuleFinding | None:
    """Return the last thing done in vain and never again: claimed all the same at the end, or not spoken of."""
    steps = history.trajectory.steps
    last = history.agent_steps[-1]
    text = steps[last].text
    if steps[last].calls or not text or _DOUBT.search(text.lower()):
        return None
    claimed = _stems(text)
    for place in range(len(history.acts) - 1, -1, -1):
        act = history.acts[place]
        in_vain = failed(act)
        # What a call is costs more to tell than whether it says that it failed.
        if declined(act) or not (in_vain or error_of(act) is not None):
            continue
        if nature_of(act) not in (("change", "run", "test") if in_vain else ("test",)):
            continue
        answer = act.result.text if act.result else ""
        failure = own_failure(act) or CallFailure("error", line_of(answer))
        again = corrections.works(act, failure, place)
        path = path_of(act.call)
        if again is None and not (path and corrections.changed(path, place, len(history.acts))):
            name = act.line or path or bare_name(act.call.name)
            own = _stems(" ".join((name, *edit_texts(act.call))))
            done = {stem for later in history.acts[place + 1 :] if not failed(later) for stem in _deed(later)}
            failed_test = nature_of(act) == "test" and error_of(act) is not None
            told = failed_test or (complains(answer[:_READ]) and not _ANSWERS_BY_CODE.search(act.line or ""))
            claims = told and bool(own & claimed - done)
            how = "claimed all the same at the end" if claims else "not spoken of at the end"
            what = f"{quoted(name)} fails ({quoted(failure.words)}), is never done again, and is {how}"
            family = "passed_over" if claims else "unmentioned_failure"
            return RuleFinding(family, [act.step, last], f"{what} ({counted([act.step, last])}).")
    return None


def _deed(act: Act) -> set[str]:
    return _stems(" ".join((act.line or "", *edit_texts(act.call))))


def _stems(text: str) -> set[str]:
    """Return the beginnings of a text's words, alike for `push` and `pushed`, `publish` and `published`."""
    return {word.lower()[:_STEM] for word in _A_WORD.findall(text[:_READ])}


def _claims(text: str, name: str) -> bool:
    """Whether the last words tell of a change as made: in the usual words for it, or with no word of doubt at all."""
    if _CLAIM.search(text) and not _ADMISSION.search(text):
        return True
    return (name in text or len(text) <= _FEW_WORDS) and not _DOUBT.search(text.lower())
