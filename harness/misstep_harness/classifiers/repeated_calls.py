"""The same call over and over, and cycles of calls: the first two rules of `infinite_loop`."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from misstep_harness.classifiers.effects import Nature, nature_of
from misstep_harness.classifiers.failures import declined, environment_failure, failed, own_failure
from misstep_harness.classifiers.history import Act, History
from misstep_harness.classifiers.identity import (
    Spelling,
    call_key,
    coarse_key,
    loose_key,
    same_text,
    without_times,
)
from misstep_harness.classifiers.tools import bare_name, is_known_name, path_of
from misstep_harness.classifiers.verdicts import RuleFinding, counted, quoted
from misstep_harness.values import as_json

REPEATS = 3
"""Wink, 2.1.2: "the agent invoking the same or similar tool calls three or more times in a row"."""

LONGEST_CYCLE = 4
"""Calls in a cycle at most: an edit, a test, the edit's undoing and the test again make four."""

PATIENCE = 10
"""Repeats, without any change to the end, from which waiting (a poll, a retry of what the network failed) is a loop
too. Not measured: well above the three of the definition, because waiting is repetition on purpose."""

CONTENT = 80
"""Characters from which an answer shows what is on a screen. Shorter ones (`Scrolled down.`) say only that a key was
pressed, and their being equal does not show that nothing moved."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_WORDS_OF_A_MEASURE = 3
_HASH = re.compile(r"\([0-9a-f]{4,40}\)")

_DEEDS: frozenset[Nature] = frozenset(("test", "run", "change"))

_GOES_ON = re.compile(r"\s--(?:continue|skip)\b")
"""How a rebase or a merge is told to take its next commit: where that conflicts as well, one more is done."""

_STATE = 200
"""Characters up to which an answer tells a state and shows no content."""

_UNDER_WAY = re.compile(
    r"\b(?:running|pending|queued|enqueued|scheduled|waiting|in[ _-]progress|in the queue|building|processing|"
    r"compiling|provisioning|starting|deploying|initiali[sz]ing|under way|underway|ongoing|still|unfinished|"
    r"no new output|\d+ ?%|not (?:yet )?(?:ready|finished|done|completed?))",
    re.IGNORECASE,
)


def repeated_calls(history: History) -> RuleFinding | None:
    """Return the steps of a repeated call or a cycle and a sentence on them; `None` if there is neither."""
    acts = history.acts
    if len(acts) < REPEATS:
        return None
    record = _Record(history)
    coarse = [coarse_key(act) for act in acts]
    often = {key for key, count in Counter(coarse).items() if count >= REPEATS}
    keys = _keys(acts, coarse, often)
    positions = _positions(keys)
    if positions:
        shown = _same_call(record, positions) or _cycle(record, keys, positions)
        if shown:
            return shown
    return _same_call(record, _same_but_for_flags(acts), by_answer=True)


def made_again(history: History, loop: Sequence[Act]) -> Iterator[Act]:
    """Return the calls behind a loop that are one of its calls, answered alike and with nothing changed since."""
    record, spelling = _Record(history), Spelling(history.acts)
    calls, last = {call_key(act, spelling) for act in loop}, max((act.step for act in loop), default=-1)
    before: dict[Hashable, int] = {}
    for place, act in enumerate(history.acts):
        key = call_key(act, spelling)
        if key not in calls:
            continue
        earlier = before.get(key)
        untouched = earlier is not None and act.step > last and record.untouched(earlier, place)
        if earlier is not None and untouched and record.same_answer(earlier, place):
            yield act
        before[key] = place


def _keys(acts: Sequence[Act], coarse: Sequence[Hashable], often: set[Hashable]) -> list[Hashable]:
    """Return what each call is, where enough others may be the same; paths are followed only where spellings differ."""
    if not often:
        return []
    keys: list[Hashable] = [
        call_key(act) if key in often and act.call.recorded and not declined(act) else None
        for act, key in zip(acts, coarse, strict=True)
    ]
    alike: dict[Hashable, set[Hashable]] = defaultdict(set)
    for key, plain in zip(coarse, keys, strict=True):
        if plain is not None:
            alike[key].add(plain)
    mixed = {
        key
        for act, key in zip(acts, coarse, strict=True)
        if len(alike[key]) > 1 and (act.kind == "read" or (act.line is not None and "/" in act.line))
    }
    if mixed:
        spelling = Spelling(acts)
        for place, (act, key) in enumerate(zip(acts, coarse, strict=True)):
            if key in mixed and keys[place] is not None:
                keys[place] = call_key(act, spelling)
    return keys


def _positions(keys: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    counts = Counter(keys)
    counts.pop(None, None)
    positions: dict[Hashable, list[int]] = {key: [] for key, n in counts.items() if n >= REPEATS}
    if positions:
        for place, key in enumerate(keys):
            if key in positions:
                positions[key].append(place)
    return positions


def _same_but_for_flags(acts: Sequence[Act]) -> dict[Hashable, list[int]]:
    # Most runs have no three answers of one length, which is seen without looking at the answers.
    sizes = Counter([len(act.result.text) for act in acts if act.line is not None and act.result is not None])
    often = {size for size, count in sizes.items() if count >= REPEATS and size}
    if not often:
        return {}
    answers: dict[tuple[int, str], list[int]] = defaultdict(list)
    for place, act in enumerate(acts):
        if act.answer is not None and act.call.recorded and len(act.answer.text) in often and not declined(act):
            answers[len(act.answer.text), act.answer.text[:64]].append(place)
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for (size, _), alike in answers.items():
        if len(alike) >= REPEATS and len({call_key(acts[place]) for place in alike}) > 1:
            for place in alike:
                if acts[place].line is not None and (size >= CONTENT or failed(acts[place])):
                    groups[loose_key(acts[place])].append(place)
    return {key: sorted(group) for key, group in groups.items() if len(group) >= REPEATS}


class _Record:
    def __init__(self, history: History) -> None:
        self.acts = history.acts
        self._before: dict[int, int] = {}
        self.history = history

    def nature(self, place: int) -> Nature:
        return nature_of(self.acts[place])

    def same_answer(self, one: int, other: int) -> bool:
        """Return whether two calls have the same answer, or no answer is recorded of either."""
        a, b = self.acts[one].answer, self.acts[other].answer
        if a is None or b is None:
            return a is b
        if not a.text and not b.text:
            return bool(a.extra.get("content") == b.extra.get("content"))  # such as two pictures
        if a.text == b.text:
            return True
        return same_text(a.text, b.text) and (failed(self.acts[one]) or not _is_a_measure(a.text))

    def changes(self, place: int) -> bool:
        """Return whether a call may have changed what another call would answer."""
        nature = self.nature(place)
        if _GOES_ON.search(self.acts[place].line or ""):
            return True
        if nature == "change":
            return not failed(self.acts[place])
        return nature == "run" and own_failure(self.acts[place]) is None

    def last_change(self, place: int) -> int:
        """Return the last call up to `place` that may have changed something; -1 for none."""
        walked = []
        while place >= 0 and place not in self._before:
            if self.changes(place):
                self._before[place] = place
                break
            walked.append(place)
            place -= 1
        last = self._before[place] if place >= 0 else -1
        for passed in walked:
            self._before[passed] = last
        return last

    def news_between(self, one: int, other: int) -> bool:
        """Return whether the user said something new between two calls."""
        first, second = self.acts[one].step, self.acts[other].step
        news = self.history.news
        return bisect_right(news, second) > bisect_right(news, first)

    def untouched(self, one: int, other: int) -> bool:
        """Return whether nothing changed between two calls, neither of which counts itself."""
        if self.news_between(one, other) or (self.last_change(other - 1) > one and not self._alike(one, other)):
            return False
        return bisect_left(self.moved, other) == bisect_right(self.moved, one)

    def _alike(self, one: int, other: int) -> bool:
        """Return whether all that may have changed something between two calls is answered as they are."""
        between = [place for place in range(one + 1, other) if self.changes(place)]
        return all(self.nature(place) == "run" and self.same_answer(one, place) for place in between)

    @cached_property
    def moved(self) -> list[int]:
        """Return the calls that were made before and are answered otherwise now: something did change, unseen."""
        before: dict[Hashable, int] = {}
        moved = []
        for place, act in enumerate(self.acts):
            earlier, before[key] = before.get(key := call_key(act)), place
            if earlier is not None and act.answer is not None and not self.same_answer(earlier, place):
                moved.append(place)
        return moved


def _is_a_measure(text: str) -> bool:
    """Return whether an answer is a time and what was timed, in a few words: then another time is another answer."""
    if len(text) > _STATE or text.lstrip()[:1] in ("{", "["):
        return False
    evened = without_times(_HASH.sub("", text))
    return "~" in evened and len(_WORD.findall(evened)) <= _WORDS_OF_A_MEASURE


def _same_call(record: _Record, positions: dict[Hashable, list[int]], by_answer: bool = False) -> RuleFinding | None:
    longest: list[int] = []
    for places in positions.values():
        for members, after in _stretches(record, places):
            if len(members) > len(longest) and _is_loop(record, members, after):
                longest = members
    if not longest:
        return None
    act = record.acts[longest[0]]
    steps = [record.acts[place].step for place in longest]
    answered = _answered(record, longest, "nearly the same answer" if by_answer else "the same answer")
    times = f"{len(longest)} times with {answered} and nothing changed in between"
    return RuleFinding("same_call", steps, f"{_named(act)} is called {times} ({counted(steps)}).")


def _stretches(record: _Record, places: Sequence[int]) -> Iterator[tuple[list[int], int | None]]:
    """Runs of one call in different turns, equally answered, with nothing changed between; and an other next call."""
    members = [places[0]]
    for place in places[1:]:
        last = members[-1]
        if record.acts[place].step == record.acts[last].step:
            continue
        # Where something changed in between, the answers need not be compared.
        untouched = record.untouched(last, place)
        same = untouched and record.same_answer(last, place)
        same = same and (record.acts[place].answer is not None or place == last + 1)
        if same and (_adjacent(record, last, place) or not _only_adjacent(record, place)):
            members.append(place)
            continue
        if len(members) >= REPEATS:
            yield members, place if untouched and not same else None
        members = [place]
    if len(members) >= REPEATS:
        yield members, None


def _only_adjacent(record: _Record, place: int) -> bool:
    """Return whether a call counts only next to its like: a glance around, or a call that its tool did not take."""
    failure = own_failure(record.acts[place])
    refused = failure is not None and failure.fault in ("malformed call", "unknown tool", "invalid arguments")
    return refused or record.nature(place) == "orient"


def _adjacent(record: _Record, one: int, other: int) -> bool:
    return other == one + 1 and record.acts[one].step + 1 >= record.acts[other].step - 1


def _is_loop(record: _Record, members: Sequence[int], after: int | None) -> bool:
    first = record.acts[members[0]]
    nature = record.nature(members[0])
    if nature in _DEEDS and record.history.repeats_asked_for:
        return False
    if (
        nature == "wait"
        or environment_failure(first)
        or _under_way(record, members[0])
        or all(
            any(record.nature(place) == "wait" for place in range(one + 1, other)) for one, other in pairwise(members)
        )
    ):
        return after is None and len(members) >= PATIENCE
    if after is not None and _asks_the_same(first, record.acts[after]):
        return len(members) >= PATIENCE  # what is asked about changes of itself: asking again is waiting
    if nature == "move":
        return first.result is not None and len(first.result.text) >= CONTENT
    worked_in_the_end = after is not None and failed(first) and not failed(record.acts[after])
    return not worked_in_the_end or len(members) >= PATIENCE


def _under_way(record: _Record, place: int) -> bool:
    act = record.acts[place]
    looks = act.kind in ("read", "search", "list", "note") or (act.line is not None and record.nature(place) != "run")
    if looks or act.result is None or len(act.result.text) > _STATE:
        return False
    return _UNDER_WAY.search(act.result.text) is not None


def _asks_the_same(act: Act, other: Act) -> bool:
    asks = act.line is None and act.kind in ("look", "run") and not is_known_name(act.call.name)
    runs = act.line is not None and nature_of(act) == "run"
    answered = act.result is not None and other.result is not None
    return (asks or runs) and answered and not failed(act) and act.call.arguments == other.call.arguments


def _cycle(record: _Record, keys: Sequence[Hashable], positions: dict[Hashable, list[int]]) -> RuleFinding | None:
    for length in range(2, LONGEST_CYCLE + 1):
        matched = 0
        for place in range(length, len(keys) + 1):
            if place < len(keys) and keys[place] in positions and _again(record, keys, place, length):
                matched += 1
                continue
            if matched >= length * (REPEATS - 1):
                members = list(range(place - matched - length, place))
                if _is_cycle(record, keys, members, length):
                    steps = [record.acts[place].step for place in members]
                    names = ", ".join(_named(record.acts[place]) for place in members[:length])
                    return RuleFinding(
                        "cycle",
                        steps,
                        f"The {length} calls {names} go round {len(members) // length} times "
                        f"with {_answered(record, members, 'the same answers')} ({counted(steps)}).",
                    )
            matched = 0
    return None


def _again(record: _Record, keys: Sequence[Hashable], place: int, length: int) -> bool:
    earlier = place - length
    return (
        keys[place] == keys[earlier]
        and record.acts[place].step != record.acts[earlier].step
        and record.same_answer(place, earlier)
        and not record.news_between(earlier, place)
    )


def _is_cycle(record: _Record, keys: Sequence[Hashable], members: Sequence[int], length: int) -> bool:
    one_round = members[:length]
    if len({keys[place] for place in one_round}) < 2:
        return False
    natures = {record.nature(place) for place in one_round}
    if natures & _DEEDS and record.history.repeats_asked_for:
        return False
    if "wait" in natures or any(
        environment_failure(act) or _under_way(record, place) or _GOES_ON.search(act.line or "")
        for place in one_round
        for act in [record.acts[place]]
    ):
        # One look between waits is waiting; several looks, or a change, round and round until the end come to nothing.
        at_the_end = members[-1] == len(record.acts) - 1
        return len(members) >= PATIENCE * length or (
            at_the_end and (length > 2 or ("change" in natures and "wait" not in natures))
        )
    if natures <= {"orient", "move"}:
        return all(
            record.nature(place) == "orient" or len(getattr(record.acts[place].result, "text", "")) >= CONTENT
            for place in one_round
        )
    return True


def _answered(record: _Record, members: Sequence[int], alike: str) -> str:
    recorded = [record.acts[place].answer is not None for place in members]
    return alike if all(recorded) else f"{alike} where one is recorded" if any(recorded) else "no answer recorded"


def _named(act: Act) -> str:
    """Return a call in a few words: its tool and its command, path or first argument."""
    arguments = act.call.arguments
    what = act.line or path_of(act.call)
    if not what:
        first = arguments if isinstance(arguments, str) else next(iter(arguments.values()), "")
        what = first if isinstance(first, str) else as_json(first, indented=False)
    name = quoted(bare_name(act.call.name), 40).strip('"')
    return f"{name} {quoted(what)}" if what else name
