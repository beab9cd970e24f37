"""What a simulated agent makes of what it is shown: sentences of the journal and of other agents, wherever they are."""

import re
from collections.abc import Iterable

from msgspec import Struct

from misstep_harness.reflexive.protocols import Context
from misstep_harness.reflexive.simulated.machine import MachinePair, read_pairs

_NAME = re.compile("[a-z0-9-]++")
_PAIR = r"(?<![a-z0-9-])([a-z0-9-]++=[a-z0-9]++)"
_RANGE = re.compile(r"(?:out of range|Tried without success): ((?:[a-z0-9-]++=[a-z0-9]++[ .,]*+)++)")
_SHUT = re.compile(rf"the way in was shut by {_PAIR} while {_PAIR} did not hold")
_BEFORE = re.compile(r"Before ([a-z0-9-]++)[^,]{0,20}, have ((?:[a-z0-9-]++=[a-z0-9]++[ .]*+)++)")
_TRIED = re.compile(r"changes='([^'\n]*+)'(?:: |\nThe attempt failed: )check failed")
_DOWN = re.compile(rf"service \S++ is down and needs {_PAIR}")
_LOCKED = re.compile(r"(?<!\S)(\S++) is burnt in and takes no value while the machine runs")
_SEALED = re.compile(r"(?<!\S)(\S++) is under the seal")
_WAITS = re.compile(r"(?<!\S)(\S++) takes no value until item (\S++) is done")
_KEPT = re.compile(rf"{_PAIR} keeps it there")
_TASK = re.compile(r"Bring (\S++) to (one of: )?([^.;]*+)")
_NEXT_START = " from the next start"


class Understood(Struct, frozen=True):
    """What an agent knows of its item.

    - `values`, `beside`: The values that the task names, in its order, and what it names in addition.
    - `refused`: The pairs that are known not to help.
    - `first`, `advised`: What has to hold before: by the journal, and by lessons of items of the same category.
    - `after`: What a service needs once the value is set.
    - `waits`: The item that has to be solved before.
    """

    setting: str
    values: tuple[str, ...]
    beside: tuple[MachinePair, ...]
    plan: tuple[MachinePair, ...]
    refused: frozenset[MachinePair]
    first: tuple[MachinePair, ...]
    advised: tuple[MachinePair, ...]
    after: tuple[MachinePair, ...]
    locked: bool
    sealed: bool
    waits: str

    @property
    def value(self) -> str:
        """The next value after those that are refused; if there is none, one that was passed over, or the first."""
        refused = [MachinePair(self.setting, value) in self.refused for value in self.values]
        last = max((place for place, is_refused in enumerate(refused) if is_refused), default=-1)
        later = [*range(last + 1, len(refused)), *range(last + 1)]
        return self.values[next((place for place in later if not refused[place]), 0)]

    def command(self, *, heeds_journal: bool = True, heeds_lessons: bool = True, trusts_lessons: bool = False) -> str:
        """Return the pairs to set, in order."""
        planned = [pair for pair in self.plan if pair.setting == self.setting and pair not in self.refused]
        goal = planned[0] if planned else MachinePair(self.setting, self.value)
        before = {pair.setting: pair for pair in self.advised} if heeds_lessons else {}
        if heeds_journal:
            before |= {pair.setting: pair for pair in self.first}
        if trusts_lessons:
            before |= {pair.setting: pair for pair in self.advised}
        if planned:
            place = self.plan.index(goal)
            before = {pair.setting: pair for pair in self.plan[:place]} | before
        after = [pair for pair in (*self.beside, *(self.after if heeds_journal else ())) if pair.setting not in before]
        return " ".join(str(pair) for pair in (*before.values(), goal, *after))


def understood(context: Context) -> Understood:
    """What an agent knows of its item from its context alone; of an item whose text it is not shown it knows the id."""
    own = context.item.id
    task = _TASK.search(context.part("task"))
    setting = task[1] if task else own
    values = task[3].replace(_NEXT_START, "").split() if task else ["on"]
    lessons = context.part("lessons")
    rest = "\n".join(part.text for part in context.parts if part.name not in ("task", "lessons"))
    category = setting.rpartition("-")[0]
    shut = [first for by, first in _SHUT.findall(rest) if by.startswith(f"{setting}=")]
    shut += [pairs for name, pairs in _BEFORE.findall(rest) if name == setting]
    taught = [pairs for name, pairs in _BEFORE.findall(lessons) if name == category]
    refused = [*_RANGE.findall(rest), *_TRIED.findall(rest)]
    waits = [other for name, other in _WAITS.findall(rest) if name == setting]
    return Understood(
        setting=setting,
        values=tuple(values) or ("on",),
        beside=_unlike(_KEPT.findall(context.part("task"))),
        plan=tuple(read_pairs(context.part("plan"))),
        refused=frozenset(read_pairs(" ".join(refused))),
        first=_unlike(shut),
        advised=_unlike(reversed(taught)),  # the first lesson is the best one
        after=_unlike(_DOWN.findall(rest)),
        locked=setting in _LOCKED.findall(rest),
        sealed=setting in _SEALED.findall(rest),
        waits=waits[-1] if waits else "",
    )


def journal_lines(text: str, setting: str) -> list[str]:
    """Return the sentences of the journal in a text that are about a setting or about a service, each once."""
    matches = [match[0] for form in (_LOCKED, _SEALED, _WAITS, _SHUT, _DOWN) for match in form.finditer(text)]
    return list(dict.fromkeys(line for line in matches if setting in _NAME.findall(line) or line.startswith("service")))


def complains(context: Context) -> bool:
    """Return whether the journal has anything to say about the last attempt, as far as it is shown."""
    return re.search(r"^journal: \S", context.part("facts"), re.MULTILINE) is not None


def only(context: Context, *names: str) -> Context:
    """Return a context with some of its parts."""
    return Context(
        context.role, context.item, context.attempt, tuple(part for part in context.parts if part.name in names)
    )


def _unlike(texts: Iterable[str]) -> tuple[MachinePair, ...]:
    """Return the pairs in texts without repeats; of two about one setting the later counts."""
    return tuple({pair.setting: pair for text in texts for pair in read_pairs(text)}.values())
