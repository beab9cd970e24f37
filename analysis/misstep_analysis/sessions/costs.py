"""What misbehaviour cost: steps, tokens, time and money from the onset of a finding to its end, sub-agents among them.

A step counts once, however many findings reach over it: the steps of a category, of a project or of all are a set. What
a format does not say is not known, and never 0.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct

from misstep_analysis.sessions.prevalence import ANY, YES
from misstep_analysis.sessions.session_rates import Grouping, group_of
from misstep_analysis.tables import Row, Table, TableHead, Unit, made_by_this
from misstep_analysis.tables.wording import counted_text, listed_text, number_text, problems_text
from misstep_harness.journal.classified import LabelledSession
from misstep_harness.session import Session
from misstep_harness.trajectory import Tokens
from misstep_harness.usage import StepUsage
from misstep_harness.values import known_sum

Price = Callable[[str, Tokens], tuple[float, bool] | None]
"""A model and the tokens of an answer → US dollars, and whether that is all; `None` where no price is known."""

Place = tuple[str, int]
"""A step: the id of its run, and its number."""

COST_GROUPS: tuple[Grouping, ...] = ("project", "model", "week")


class Cost(Struct, frozen=True):
    """What some findings cost together.

    - `runs`: The sessions and runs of sub-agents that show it, in which steps are named.
    - `steps`: The steps from the first to the last that is named, and those of sub-agents that began in between.
    - `input_tokens`, `output_tokens`: The tokens of these steps; null where no run says them.
    - `tokens_known`: The runs in which each of these steps of an agent says its tokens; the others add what they say.
    - `seconds`, `seconds_known`: The time of these steps, as far as it is known, and in how many runs it is for all.
    - `usd`, `usd_known`: The money, as recorded or by the price of the model, and in how many runs it is for all.
    """

    runs: int
    steps: int
    input_tokens: int | None
    output_tokens: int | None
    tokens_known: int
    seconds: float | None
    seconds_known: int
    usd: float | None
    usd_known: int

    @property
    def tokens(self) -> int | None:
        """Return the tokens in and out together."""
        return known_sum((self.input_tokens, self.output_tokens))


class Costs(Struct, frozen=True):
    """The cost of each category, of `any`, and of any in each project, model and week, the dearest first.

    `unplaced` counts runs of sub-agents of flagged sessions of which nothing says when they began: they are left out.
    """

    categories: dict[str, Cost]
    any: Cost
    by: dict[Grouping, dict[str, Cost]]
    unplaced: int = 0


class _Spent(Struct, frozen=True, gc=False):
    tokens: tuple[int | None, int | None]
    seconds: float | None
    usd: float | None
    usd_is_all: bool = True

    @property
    def known(self) -> tuple[bool, bool, bool]:
        return None not in self.tokens, self.seconds is not None, self.usd is not None and self.usd_is_all


class _Placed(Struct, frozen=True):
    session: Session
    by_category: dict[str, set[Place]]

    @property
    def steps(self) -> set[Place]:
        return set().union(*self.by_category.values())


def costs_of(categories: Sequence[str], sessions: Iterable[LabelledSession], price: Price) -> Costs:
    """Return what the findings in the sessions of a run cost; only flagged sessions and sub-agents are looked at."""
    looked_at = [one for one in sessions if YES in one.labels or one.session.parent is not None]
    runs = {one.session.item: one.session for one in looked_at}
    started: defaultdict[str, list[Session]] = defaultdict(list)
    for session in runs.values():
        if session.parent in runs:
            started[session.parent].append(session)
    costly = [_Placed(one.session, dict(_steps_of(one, started))) for one in looked_at]
    costly = [one for one in costly if one.by_category]
    together: dict[str, list[tuple[Session, set[Place]]]] = {
        name: [(one.session, one.by_category[name]) for one in costly if name in one.by_category] for name in categories
    }
    every = [(one.session, one.steps) for one in costly]
    summed = _Sums(runs, price)
    groups: dict[Grouping, defaultdict[str, list[tuple[Session, set[Place]]]]] = {}
    for by in COST_GROUPS:
        groups[by] = defaultdict(list)
        for session, steps in every:
            groups[by][group_of(session, by)].append((session, steps))
    parents = {one.session.item for one in costly}
    unplaced = sum(_began(one) is None for item in parents for one in started[item])
    return Costs(
        _dearest({name: summed.of(part) for name, part in together.items()}),
        summed.of(every),
        {by: _dearest({name: summed.of(part) for name, part in parts.items()}) for by, parts in groups.items()},
        unplaced,
    )


def _steps_of(one: LabelledSession, started: Mapping[str, list[Session]]) -> Iterator[tuple[str, set[Place]]]:
    """Yield each category that a run shows, with the steps from its onset to its end and those of its sub-agents."""
    for verdict in one.verdicts:
        if verdict.label == YES and verdict.steps:
            own = range(min(verdict.steps), max(verdict.steps) + 1)
            yield verdict.judge, set(_with_sub_agents(one.session, own, started))


def _with_sub_agents(
    session: Session, steps: range, started: Mapping[str, list[Session]], above: frozenset[str] = frozenset()
) -> Iterator[Place]:
    yield from ((session.item, step) for step in steps)
    for other in started.get(session.item, ()):
        began = _began(other)
        before = [place for place, usage in enumerate(session.usage) if _not_after(usage, began)]
        if before and before[-1] in steps and other.item not in above:
            yield from _with_sub_agents(other, range(other.n_steps), started, above | {session.item})


def _began(session: Session) -> float | None:
    return next((usage.began for usage in session.usage if usage.began is not None), None)


def _not_after(usage: StepUsage, moment: float | None) -> bool:
    return usage.began is not None and moment is not None and usage.began <= moment


class _Sums:
    """Sums the usage of steps of some runs; an answer of a model that several runs hold counts once."""

    def __init__(self, runs: Mapping[str, Session], price: Price) -> None:
        self._runs, self._price = runs, price

    def of(self, parts: Sequence[tuple[Session, set[Place]]]) -> Cost:
        """Return the cost of the steps of some runs."""
        known = [self._known(steps) for _, steps in parts]
        spent = {self._key(place): one for _, steps in parts for place in sorted(steps) if (one := self._spent(place))}
        tokens_in, tokens_out = (known_sum(one.tokens[side] for one in spent.values()) for side in (0, 1))
        return Cost(
            len(parts),
            len({self._key(place) for place in chain.from_iterable(steps for _, steps in parts)}),
            tokens_in,
            tokens_out,
            sum(one[0] for one in known),
            known_sum(one.seconds for one in spent.values()),
            sum(one[1] for one in known),
            known_sum(one.usd for one in spent.values()),
            sum(one[2] for one in known),
        )

    def _known(self, steps: Iterable[Place]) -> tuple[bool, ...]:
        places = list(steps)
        spent = [self._spent(place) for place in places if self._is_agents(place)]
        each = [one.known if one else (False,) * 3 for one in spent] or [(False,) * 3]
        if not self._sub_agents_are_there(places):
            each.append((False,) * 3)
        return tuple(map(all, zip(*each, strict=True)))

    def _sub_agents_are_there(self, places: Sequence[Place]) -> bool:
        """Return whether the runs of all sub-agents that these steps started are among them, as far as steps tell."""
        runs = {item for item, _ in places}
        for item in runs:
            started = sum(usage.started for place in places if place[0] == item and (usage := self._usage(place)))
            if started > sum(self._runs[other].parent == item for other in runs):
                return False
        return True

    def _usage(self, place: Place) -> StepUsage | None:
        usage = self._runs[place[0]].usage
        return usage[place[1]] if place[1] < len(usage) else None

    def _is_agents(self, place: Place) -> bool:
        usage = self._usage(place)
        return usage is None or usage.of_agent

    def _key(self, place: Place) -> Place | str:
        usage = self._usage(place)
        return (usage and usage.message) or place

    def _spent(self, place: Place) -> _Spent | None:
        usage, model = self._usage(place), self._runs[place[0]].model
        if usage is None:
            return None
        priced = self._price(model, usage.tokens) if usage.usd is None and model else None
        usd, is_all = priced or (usage.usd, True)
        return _Spent((usage.prompt, usage.completion), usage.seconds, usd, is_all)


def _dearest(costs: Mapping[str, Cost]) -> dict[str, Cost]:
    shown = ((name, one) for name, one in costs.items() if one.runs)
    return dict(sorted(shown, key=lambda pair: _dearness(pair[1]), reverse=True))


def _dearness(cost: Cost) -> tuple[float, int, float, int]:
    return cost.usd or 0.0, cost.tokens or 0, cost.seconds or 0.0, cost.steps


_NOTES = (
    "Steps are counted from the first that a finding names to the last, with the sub-agents that began in between. A "
    "step or an answer of a model counts once, so that lines do not add up to the total.",
    "The n of a figure counts the sessions that record it for each step; the others add what they record. Without a "
    "recorded time it is taken from step to step, without the wait for the user. Money is as recorded, else by the "
    "price of the session's model.",
)
_PAPER = "classify"
_COSTS = TableHead("costs", _PAPER, "What it cost", _NOTES)


@made_by_this
def cost_table(costs: Costs, *, source: str) -> Table:
    """Return the cost of each category and of all, the dearest first."""
    notes = [f"Left out, because nothing says when they began: {counted_text(costs.unplaced, 'sub-agent')}."]
    rows = _rows({**costs.categories, ANY: costs.any}, source)
    return _COSTS.table(cost_sentence(costs), rows, notes[: bool(costs.unplaced)])


@made_by_this
def cost_table_by(costs: Costs, by: Grouping, *, source: str) -> Table:
    """Return the cost of all findings in each group of sessions, the dearest first."""
    head = TableHead(f"costs_by_{by}", _PAPER, f"Cost by {by}")
    dearest = next(iter(costs.by[by].items()), None)
    finding = f"The dearest {by} is {dearest[0]}: {cost_text(dearest[1])}." if dearest else "No finding names a step."
    return head.table(finding, _rows(costs.by[by], source))


def cost_tables(costs: Costs | None, source: str) -> Iterator[Table]:
    """Return the tables of the costs of a run: by category, and by each fact that differs between sessions."""
    if costs is not None and costs.any.runs:
        yield cost_table(costs, source=source)
        yield from (cost_table_by(costs, by, source=source) for by, one in costs.by.items() if len(one) > 1)


def cost_sentence(costs: Costs) -> str:
    """Return what all findings cost, and which category most."""
    most = next(iter(costs.categories), "")
    if not most:
        return "No finding names a step."
    which = f" {problems_text(most).capitalize()} cost most." if len(costs.categories) > 1 else ""
    return f"These problems took {cost_text(costs.any)}.{which}"


def cost_text(cost: Cost) -> str:
    """Return a cost in words: its steps, then what sessions record of the rest; the figures are rounded."""
    parts, unknown = [counted_text(cost.steps, "step")], []
    for name, value, unit, known in _figures(cost)[2:]:
        if value is None:
            unknown.append(name)
            continue
        few = known is not None and known < cost.runs
        some = f" or more (recorded by {known:,} of {counted_text(cost.runs, 'session')})" if few else ""
        parts.append(f"{_rounded(value, unit)}{some}")
    return listed_text(parts) + (f"; {listed_text(unknown)} not recorded" if unknown else "")


_DIGITS = 3


def _rounded(value: float, unit: Unit) -> str:
    if unit == "seconds" and value >= _LONG_SECONDS:
        minutes = round(value / 60)
        return counted_text(minutes, "minute") if minutes < _LONG_MINUTES else f"{minutes / 60:.1f} hours"
    if unit == "count":
        whole = round(value)
        return f"{round(whole, _DIGITS - len(str(whole))) if len(str(whole)) > _DIGITS else whole:,} tokens"
    return number_text(value, unit)


_LONG_SECONDS, _LONG_MINUTES = 100, 100


def _figures(cost: Cost) -> tuple[tuple[str, float | None, Unit, int | None], ...]:
    return (
        ("runs", cost.runs, "count", None),
        ("steps", cost.steps, "count", None),
        ("tokens", cost.tokens, "count", cost.tokens_known),
        ("time", cost.seconds, "seconds", cost.seconds_known),
        ("money", cost.usd, "usd", cost.usd_known),
    )


def _rows(costs: Mapping[str, Cost], source: str) -> Iterator[Row]:
    for group, cost in costs.items():
        for name, value, unit, known in _figures(cost):
            reason = "" if value is not None else "not known: no run says it"
            yield Row(name, value, n=known, source=source, unit=unit, group=group, reason=reason)
