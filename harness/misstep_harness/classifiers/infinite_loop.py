"""Find infinite loops (Wink, 2.1.2): the same thing done three or more times while nothing changes.

Not loops: reading other parts of a file, asking until an answer changes, running tests again after an edit, trying
again until it works, doing one thing to many files, the same call twice in one turn, the user's asking again.

The fourth rule finds the same words over and over. Turn after turn: three turns that mostly say the same sentences,
while no new call is made and the user says nothing new. Within a turn: one sentence three times or more, filling at
least half of the text.
"""

import re
from collections import Counter
from collections.abc import Hashable
from functools import cached_property

from msgspec import Struct

from misstep_harness.classifiers.history import History
from misstep_harness.classifiers.identity import arguments_key
from misstep_harness.classifiers.oscillation import oscillation
from misstep_harness.classifiers.repeated_calls import repeated_calls
from misstep_harness.classifiers.verdicts import RuleFinding, absent, counted, nothing_to_judge, quoted, shown_by_rule
from misstep_harness.trajectory import Step, Trajectory
from misstep_harness.verdict import Verdict

REPEATS = 3
"""As for calls: Wink's three or more."""

MOSTLY = 0.75
"""Share of a text's words in sentences that an earlier one says as well, from which it says the same again."""

LIKENESS = 0.8
"""Share of common words, of all words of two sentences, from which these are nearly the same."""

SHORTEST = 20
"""Characters of a text that says something: `Done.` may be said often."""

LONG = 200
"""Characters from which a single turn is looked at for repetition within it."""

ROUTING = 200
"""Characters up to which a text that names another speaker only passes the turn on."""

_READ = 20_000
_REMEMBERED = 8
_FEW = 6
"""Sentences up to which those of two texts are compared one by one where they are not the same."""

_PROBE = 32
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"\w+(?:[./_-]+\w+)*")
_PARTICULAR = re.compile(r"[\d/_.]|[a-z][A-Z]|^[A-Z]{2}")
"""In words that name one thing among many: `a.py`, `case_3`, `loadAll`, `HTTP`."""


class _Sentence(Struct, frozen=True, gc=False):
    """A sentence by its words, and by those that name one thing among many."""

    words: frozenset[str]
    particular: tuple[str, ...]
    length: int


class _Speech(Struct, frozen=True, dict=True):
    speaker: str | None
    text: str
    number: int
    vocabulary: frozenset[str]
    steps: list[int]

    @cached_property
    def sentences(self) -> dict[_Sentence, None]:
        """Return its sentences, each once, in order."""
        sentences = []
        for raw in _SENTENCE.split(self.text):
            words = _WORD.findall(raw)
            if words:
                particular = tuple(word for word in words[1:] if _PARTICULAR.search(word))
                sentences.append(_Sentence(frozenset(word.lower() for word in words), particular, len(words)))
        return dict.fromkeys(sentences)


def speech(speaker: str | None, text: str, index: int) -> _Speech:
    """Return what a step says, to be compared with what others say."""
    words = _WORD.findall(text.lower())
    return _Speech(speaker, text, len(words), frozenset(words), [index])


def repeated_text(history: History) -> RuleFinding | None:
    """Return the steps that repeat each other and a sentence on them; `None` if there are none."""
    return _within_turns(history) or _over_turns(history)


def _over_turns(history: History) -> RuleFinding | None:
    if not _talks(history):
        return None
    speakers = {step.speaker for step in history.trajectory.steps if step.speaker}
    news = set(history.news)
    groups: list[_Speech] = []
    done: set[Hashable] = set()
    for index, step in enumerate(history.trajectory.steps):
        if step.role == "user" and index in news:
            groups = []
        if step.role != "agent":
            continue
        if step.calls:
            keys = (
                [_call_key(step, place) for place in range(len(step.calls))]
                if groups or len(done) < _REMEMBERED
                else []
            )
            if not done.issuperset(keys):
                groups = []
            done.update(keys)
            continue
        if len(step.text) < SHORTEST or _passes_on(step, speakers):
            continue
        steps = _joined(groups, step, index)
        if len(steps) >= REPEATS:
            times = f"{len(steps)} times without a new call"
            return RuleFinding("same_text", steps, f"The agent says {quoted(step.text)} {times} ({counted(steps)}).")
    return None


def _talks(history: History) -> bool:
    """Return a cheap look: whether the agent says something without a call often enough."""
    steps = history.trajectory.steps
    silent = [index for index in history.agent_steps if not steps[index].calls and len(steps[index].text) >= SHORTEST]
    return len(silent) >= REPEATS


def _passes_on(step: Step, speakers: set[str]) -> bool:
    if len(speakers) < 2:
        return False
    return len(step.text) <= ROUTING or (
        step.speaker is not None and any(name in step.speaker for name in speakers - {step.speaker})
    )


def _call_key(step: Step, place: int) -> Hashable:
    call = step.calls[place]
    return call.name, arguments_key(call.arguments)


def _joined(groups: list[_Speech], step: Step, index: int) -> list[int]:
    """Return the steps that say what a step says, that step among them; it is remembered."""
    new = speech(step.speaker, step.text[:_READ], index)
    for old in groups:
        if old.speaker == step.speaker and _may_say_again(new, old) and _says_again(new.sentences, old.sentences):
            old.steps.append(index)
            return old.steps
    groups.append(new)
    if len(groups) > _REMEMBERED:
        del groups[0]
    return groups[-1].steps


def _may_say_again(new: _Speech, old: _Speech) -> bool:
    """Return a cheap look: of a text that says an earlier one again, few words are not in that one."""
    most = (1 - MOSTLY * (2 - 1 / LIKENESS)) * new.number
    return len(new.vocabulary - old.vocabulary) <= most


def _says_again(new: dict[_Sentence, None], old: dict[_Sentence, None]) -> bool:
    total, before = (sum(one.length for one in sentences) for sentences in (new, old))
    if not total or min(total, before) < MOSTLY / 2 * max(total, before):
        return False
    same = sum(one.length for one in new if one in old)
    left = [one for one in new if one not in old]
    if left and same < MOSTLY * total and len(left) <= _FEW and len(old) <= _FEW:
        same += sum(one.length for one in left if any(nearly_same(one, other) for other in old))
    return same >= MOSTLY * total


def nearly_same(one: _Sentence, other: _Sentence) -> bool:
    """Whether two sentences are nearly the same; about other things they are not (`file 1 of 9`, `file 2 of 9`)."""
    if one.particular != other.particular:
        return False
    return len(one.words & other.words) >= LIKENESS * len(one.words | other.words)


def _within_turns(history: History) -> RuleFinding | None:
    for index in history.agent_steps:
        step = history.trajectory.steps[index]
        for text in (step.text, step.reasoning):
            if len(text) < LONG or not _may_repeat(text):
                continue
            prose = _FENCE.sub(" ", text)
            sentences = Counter(
                sentence.strip()
                for sentence in _SENTENCE.split(prose)
                if len(sentence) >= SHORTEST and len(sentence.split()) >= 4
            )
            sentence, times = sentences.most_common(1)[0] if sentences else ("", 0)
            if times >= REPEATS and times * len(sentence) * 2 >= len(text):
                what = f"The agent says {quoted(sentence)} {times} times in one turn ({counted([index])})."
                return RuleFinding("same_text", [index], what)
    return None


def _may_repeat(text: str) -> bool:
    """Return a cheap look: whether a piece from the middle or near the end of a text is in it three times."""
    middle = len(text) // 2
    return text.count(text[middle : middle + _PROBE]) >= REPEATS or text.count(text[-2 * _PROBE : -_PROBE]) >= REPEATS


CATEGORY = "infinite_loop"


def classify(trajectory: Trajectory) -> Verdict:
    """Return whether a run shows an infinite loop."""
    return judge(History(trajectory))


def judge(history: History) -> Verdict:
    """Return the verdict on a run whose view is already made."""
    if not history.agent_steps:
        return nothing_to_judge(history, CATEGORY)
    shown = repeated_calls(history) or oscillation(history) or repeated_text(history)
    if shown is None:
        return absent(
            history, CATEGORY, "No call, error or text comes back three times with nothing changed in between."
        )
    return shown_by_rule(history, CATEGORY, shown)
