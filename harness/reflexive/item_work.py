"""Work on one item: the planner's turn, attempts until there is an end, and what is made of each.

After every attempt the target is either at its new `progress` or back at what it was. What happens is in the log
before anything follows from it.
"""

from collections.abc import Iterator
from hashlib import blake2b

from msgspec.structs import replace

from harness.agent.clocks import Clock
from harness.agent.turns import TurnReport, take_turn
from harness.errors import MisstepError
from harness.loop_events import (
    Checked,
    Deferred,
    Failed,
    FailureKind,
    Halted,
    Happening,
    ItemBegan,
    ItemEnded,
    PartShown,
    Planned,
    Reflected,
    Role,
    TurnEnded,
    Verified,
    Warned,
)
from harness.reflexive.diagnosis import diagnosed, facts_told
from harness.reflexive.evaluation import evaluated
from harness.reflexive.item_budgets import limits_of, seconds_left, turn_limits, used_up
from harness.reflexive.log import AttemptMade, ItemState, Log
from harness.reflexive.protocols import Agents, Context, Part, Skill, Target
from harness.reflexive.settings import LoopSettings
from harness.reflexive.snapshots import keep_progress, restored, reverted_by_script
from harness.work_item import Ending, Reason


class ItemWork:
    """What works on items, one at a time.

    Parameters
    ----------
    skill, target, agents, settings, clock, log
        What the run consists of.
    """

    def __init__(
        self, skill: Skill, target: Target, agents: Agents, settings: LoopSettings, clock: Clock, log: Log
    ) -> None:
        self.skill = skill
        self.target = target
        self.agents = agents
        self.settings = settings
        self.clock = clock
        self.log = log
        self.protected = self.before_item = target.protected()

    async def work_on(self, name: str) -> None:
        """Go on with an item until it ends, is put off, or has its check deferred."""
        state = self.log.state.items[name]
        if state.phase == "kept":
            self._conclude(state)
            return
        self.before_item = self.target.protected()
        if state.phase == "waiting":
            self._add(ItemBegan(), state)
        if state.plan is None:
            turn = await self._turn("planner", state, [Part("task", state.item.text)])
            self._add(Planned(turn.reply), state)
        while state.phase == "working":
            if ending := used_up(state, limits_of(self.settings)):
                self.end(state, ending)
            else:
                await self._attempt(state, len(state.attempts) + 1)

    async def verify(self, name: str) -> None:
        """Make the check of an item that had to wait."""
        state = self.log.state.items[name]
        if state.phase == "kept":
            self._conclude(state)
            return
        self._add(ItemBegan(), state)
        checked = await self._prepared(state)
        status = checked.counted or checked.status
        self._add(Verified(status, checked.text, None if checked.truly == status else checked.truly), state)
        if status == "passed":
            self._keep(state)
            self._conclude(state)
            return
        if self.settings.has("snapshots") and (broken := await restored(self.target, self.log, name)):
            self._unrecoverable(state, broken)
        reason: Reason = "unverified" if status == "unknown" else "verification_failed"
        self.end(state, Ending("failed", reason, "The deferred check did not pass."))

    async def _prepared(self, state: ItemState) -> Checked:
        """What a deferred check finds after what it waited for was brought about."""
        try:
            await self.target.prepare(state.item)
        except MisstepError as error:
            return Checked(False, "unknown", f"What the check waits for could not be brought about: {error.line()}")
        return await evaluated(self.target, state.item, self.settings, self.protected)

    def end(self, state: ItemState, ending: Ending) -> None:
        """Write down that work on an item is over."""
        self._add(ItemEnded(ending, len(state.attempts), state.seconds), state)

    async def _attempt(self, state: ItemState, number: int) -> None:
        """One attempt: a worker's turn, its evaluation, and what follows from that."""
        before = self.target.digest()
        turn = await self._turn("worker", state, list(self._for_worker(state)), number)
        after = self.target.digest()
        checked = await evaluated(self.target, state.item, self.settings, self.protected)
        checked = replace(checked, weakened=self.target.protected() != self.before_item)
        self._add(checked, state, number)
        kind = self._failure(state, turn, checked, changed=after != before)
        if kind is None:
            self._keep(state)
            self._conclude(state)
            return
        self._add(Failed(kind, after), state, number)
        await self._learn_why(state, number)
        broken = await self._revert(state, turn, before, number)
        if broken:
            self._unrecoverable(state, broken)
            if self.log.state.halted:
                return
        await self._reflect(state, number)

    def _failure(self, state: ItemState, turn: TurnEnded, checked: Checked, *, changed: bool) -> FailureKind | None:
        """How an attempt failed; `None` where it did not, or where that will be seen later."""
        if checked.counted == "passed":
            saved = self.settings.has("check_is_authoritative") or turn.over is None
            return None if saved else "over_budget"
        if self.settings.has("protected_check") and self.target.protected() != self.protected:
            return "check_weakened"
        if not changed:
            return "nothing_changed"
        if checked.counted == "unknown":
            return None if state.item.deferred and checked.healthy else "check_unknown"
        return "check_failed" if checked.healthy else "unhealthy"

    def _keep(self, state: ItemState) -> None:
        keep_progress(self.target, self.log, state.item.id, len(state.attempts))

    def _conclude(self, state: ItemState) -> None:
        """What follows when a success, or what may be one, is kept."""
        last = state.last
        checked = None if last is None else last.checked
        if state.verified is not None:
            self.end(state, Ending("solved", "verified_later"))
        elif checked is not None and checked.counted == "unknown":
            if self.settings.has("verified_deferrals"):
                self._add(Deferred("every other item has its end"), state)
            else:
                self.end(state, Ending("solved", "believed_solved", "Its check was deferred and never made."))
        elif checked is not None and not (checked.healthy and checked.status == "passed"):
            self.end(state, Ending("solved", "believed_solved", "Only a text says so."))
        else:
            self.end(state, Ending("solved", "check_passed"))

    async def _learn_why(self, state: ItemState, number: int) -> None:
        if self.settings.has("diagnostics"):
            outside = self.settings.has("out_of_band")
            self._add(await diagnosed(self.target, self.skill.vital_signs, out_of_band=outside), state, number)

    async def _revert(self, state: ItemState, turn: TurnEnded, before: str, number: int) -> str:
        """Bring the target back to what it was before the attempt; gives what is wrong with it then, or nothing."""
        if self.settings.has("snapshots"):
            return await restored(self.target, self.log, state.item.id, number)
        return await reverted_by_script(self.target, self.log, turn.reply, before, state.item.id, number)

    def _unrecoverable(self, state: ItemState, broken: str) -> None:
        text = f"The target is beyond recovery: {broken}."
        self._add(Halted(text) if self.settings.has("halting") else Warned(text), state, len(state.attempts))

    async def _reflect(self, state: ItemState, number: int) -> None:
        if seconds_left(state, limits_of(self.settings)) <= self.settings.least_seconds_to_reflect:
            return
        attempt = state.attempt(number)
        turn = await self._turn("reflector", state, list(self._for_reflector(state, attempt)), number)
        facts = () if attempt.diagnosed is None else ("outcome", *attempt.diagnosed.facts)
        hidden = 0 if attempt.turn is None else attempt.turn.hidden
        self._add(Reflected(turn.reply, facts, hidden), state, number)

    def _for_worker(self, state: ItemState) -> Iterator[Part]:
        yield Part("task", state.item.text)
        yield Part("plan", state.plan or "")
        if state.last is not None:
            if state.last.reflected is not None:
                yield Part("reflection", state.last.reflected.text)
            if state.last.checked is not None:
                yield Part("check", state.last.checked.text)

    def _for_reflector(self, state: ItemState, attempt: AttemptMade) -> Iterator[Part]:
        yield Part("task", state.item.text)
        if attempt.diagnosed is None or attempt.failed is None or attempt.checked is None:
            yield Part("outcome", "The attempt failed.")
        else:
            yield Part("outcome", f"The attempt failed: {attempt.failed.kind}. {attempt.checked.text}")
            yield Part("facts", facts_told(attempt.diagnosed))
        if attempt.turn is not None:
            yield Part("turn", attempt.turn.reply)
            if attempt.turn.hidden:
                yield Part("hidden_calls", f"{attempt.turn.hidden} commands without a reflection between them.")
        yield Part("plan", state.plan or "")

    async def _turn(self, role: Role, state: ItemState, parts: list[Part], number: int = 0) -> TurnEnded:
        """One turn of a role, in a fresh context."""
        context = Context(role, state.item, number, tuple(part for part in parts if part.text))
        agent = self.agents.of(role)
        limits = turn_limits(role, state, self.settings)
        report = await take_turn(
            lambda turn: agent.act(context, turn), self.target.tools(role), self.target.place, limits, self.clock
        )
        ended = _turn_ended(role, agent.name, report, context)
        self._add(ended, state, number)
        return ended

    def _add(self, happening: Happening, state: ItemState, attempt: int | None = None) -> None:
        number = len(state.attempts) if attempt is None else attempt
        self.log.add(happening, state.item.id, number)


def _turn_ended(role: Role, agent: str, report: TurnReport, context: Context) -> TurnEnded:
    return TurnEnded(
        role,
        agent,
        report.reply,
        report.seconds,
        tuple(call.name for call in report.calls),
        report.refused,
        report.slept,
        report.sub_agents,
        report.tokens_in,
        report.tokens_out,
        report.usd,
        report.over,
        tuple(PartShown(part.name, -(-len(part.text) // 4), _digest(part.text)) for part in context.parts),
        _digest(context.text),
        report.error,
    )


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
