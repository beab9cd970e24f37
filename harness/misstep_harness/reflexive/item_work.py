"""Work on one item: the planner's turn, attempts until there is an end, and what is made of each."""

from collections.abc import Iterable, Sequence
from hashlib import sha256

from msgspec.structs import asdict, replace

from misstep_harness.agent.actions import write_command
from misstep_harness.agent.clocks import Clock
from misstep_harness.agent.turns import CallMade, TurnReport, take_turn
from misstep_harness.errors import MisstepError
from misstep_harness.escaping import without_surrogates
from misstep_harness.reflexive.context import accumulated, assembled
from misstep_harness.reflexive.diagnosis import diagnosed, evaluated, protected_now
from misstep_harness.reflexive.item_budgets import limits_of, seconds_left, turn_limits, used_up
from misstep_harness.reflexive.log import ItemState, Log
from misstep_harness.reflexive.memory import Lesson, MemoryRules, lessons_text, memory_of
from misstep_harness.reflexive.plateau import detector
from misstep_harness.reflexive.protocols import Agents, Part, Skill, Target
from misstep_harness.reflexive.re_engagement import (
    SinceTouched,
    read_verdict,
    read_verdict_by_first_word,
    should_re_engage,
)
from misstep_harness.reflexive.records.loop_events import (
    Checked,
    Deferred,
    Ending,
    Failed,
    FailureKind,
    GapFound,
    Halted,
    Happening,
    ItemBegan,
    ItemEnded,
    LessonsRecalled,
    Planned,
    PlateauFound,
    PutOff,
    Reason,
    ReEngaged,
    Reflected,
    Role,
    Trigger,
    TurnEnded,
    Verified,
    Warned,
)
from misstep_harness.reflexive.settings import LoopSettings
from misstep_harness.reflexive.shown_parts import for_planner, for_reflector, for_strategist, for_worker
from misstep_harness.reflexive.snapshots import digest_now, keep_progress, restored, reverted_by_script

MOST_OF_A_COMMAND = 400


class ItemWork:
    """What works on items, one at a time."""

    def __init__(
        self,
        skill: Skill,
        target: Target,
        agents: Agents,
        settings: LoopSettings,
        clock: Clock,
        log: Log,
        earlier: Sequence[Lesson] = (),
    ) -> None:
        self.skill, self.target, self.agents, self.settings = skill, target, agents, settings
        self.clock, self.log = clock, log
        self.protected = target.protected()
        self.before_item: str | None = self.protected
        self.memory = memory_of(log.holding, earlier, MemoryRules.of(settings))
        self.plateau = detector(
            settings.plateau if settings.has("plateau_by_content") else "exact",
            window=settings.plateau_window,
            shared=settings.plateau_shared,
            ignored=frozenset(skill.words),
        )

    async def work_on(self, name: str) -> None:
        """Go on with an item until it ends, is put off, or has its check deferred."""
        state = self.log.state.items[name]
        if state.phase == "kept":
            self._conclude(state)
            return
        self.before_item = protected_now(self.target)
        if state.phase == "waiting":
            self._add(ItemBegan(), state)
        if state.plan is None:
            report = await self._turn("planner", state, for_planner(state, self.settings))
            self._add(Planned(_own_reply(report)), state)
        while state.phase == "working" and not self.log.state.halted:
            if ending := used_up(state, limits_of(self.settings)):
                self.end(state, ending)
            else:
                await self._attempt(state, len(state.attempts) + 1)

    async def verify(self, name: str) -> None:
        """Make the check of an item that had to wait."""
        state = self.log.state.items[name]
        self._add(ItemBegan(), state)
        checked = await self._prepared(state)
        status = checked.counted or checked.status
        self._add(Verified(status, checked.text, None if checked.truly == status else checked.truly), state)
        if status == "passed":
            self._keep(state)
            self._conclude(state)
            return
        await self._diagnose(state, len(state.attempts))
        self._outcome(state, helped=False)
        if self.settings.has("snapshots") and (
            broken := await restored(self.target, self.log, name, len(state.attempts))
        ):
            self._unrecoverable(state, broken)
        if state.phase == "deferred":  # not so where its success was lost with the snapshot
            reason: Reason = "unverified" if status == "unknown" else "verification_failed"
            self.end(state, Ending("failed", reason, f"The deferred check came to this: {status}."))

    async def _prepared(self, state: ItemState) -> Checked:
        try:
            await self.target.prepare(state.item)
        except (MisstepError, OSError) as error:
            why = without_surrogates(error.found if isinstance(error, MisstepError) else str(error))
            return Checked(False, "unknown", f"What the check waits for could not be brought about: {why}")
        return (await evaluated(self.target, state.item, self.settings, self.protected))[0]

    def end(self, state: ItemState, ending: Ending) -> None:
        """Write down that work on an item is over."""
        self._add(ItemEnded(ending, len(state.attempts), state.seconds), state)

    async def _attempt(self, state: ItemState, number: int) -> None:
        before = digest_now(self.target)
        report = await self._turn("worker", state, for_worker(state), number)
        after = digest_now(self.target)
        checked, was_checked = await evaluated(self.target, state.item, self.settings, self.protected)
        checked = replace(checked, weakened=protected_now(self.target) != self.before_item)
        self._add(checked, state, number)
        kind = self._failure(state, report, checked, was_checked=was_checked, changed=after != before or not after)
        if kind is None:
            self._keep(state)
            self._conclude(state)
            return
        self._add(Failed(kind, after), state, number)
        await self._diagnose(state, number)
        if broken := await self._reverted(state, report, before, number):
            self._unrecoverable(state, broken)
        if kind != "check_unknown":
            self._outcome(state, helped=False)
        if not self.log.state.halted:
            await self._reflect(state, number, report.calls)
            await self._reconsider(state, number)

    async def _diagnose(self, state: ItemState, number: int) -> None:
        if self.settings.has("diagnostics"):
            outside = self.settings.has("out_of_band")
            self._add(await diagnosed(self.target, self.skill.vital_signs, out_of_band=outside), state, number)

    def _failure(
        self, state: ItemState, report: TurnReport, checked: Checked, *, was_checked: bool, changed: bool
    ) -> FailureKind | None:
        if checked.counted == "passed":
            saved = self.settings.has("check_is_authoritative") or report.over is None
            return None if saved else "over_budget"
        if self.settings.has("protected_check") and protected_now(self.target) != self.protected:
            return "check_weakened"
        if not was_checked:
            return "check_unknown"
        if not changed:
            return "nothing_changed"
        if not checked.healthy:
            return "unhealthy"
        if checked.counted == "unknown":
            return None if state.item.deferred else "check_unknown"
        return "check_failed"

    def _keep(self, state: ItemState) -> None:
        keep_progress(self.target, self.log, state.item.id, len(state.attempts))

    def _conclude(self, state: ItemState) -> None:
        checked = None if state.last is None else state.last.checked
        if state.verified is None and checked is not None and checked.counted == "unknown":
            if self.settings.has("verified_deferrals"):
                self._add(Deferred("every other item has its end"), state)
            else:
                self.end(state, Ending("solved", "believed_solved", "Its check was deferred and is never made."))
            return
        self._outcome(state, helped=True)
        if state.verified is not None:
            self.end(state, Ending("solved", "verified_later"))
        elif checked is None or (checked.healthy and checked.status == "passed"):
            self.end(state, Ending("solved", "check_passed"))
        else:
            self.end(state, Ending("solved", "believed_solved", "Only words in a text say so."))

    async def _reverted(self, state: ItemState, report: TurnReport, before: str, number: int) -> str:
        """Bring the target back to what it was before the attempt; gives what is wrong with it then, or nothing."""
        if self.settings.has("snapshots"):
            return await restored(self.target, self.log, state.item.id, number)
        return await reverted_by_script(self.target, self.log, report.reply, before, state.item.id, number)

    def _unrecoverable(self, state: ItemState, broken: str) -> None:
        """Stop the run where not even a snapshot helps; a loop that has none cannot know that, and goes on."""
        text = f"The target is beyond recovery: {broken}."
        halts = self.settings.has("halting") and self.settings.has("snapshots")
        self._add(Halted(text) if halts else Warned(text), state)

    async def _reflect(self, state: ItemState, number: int, calls: Sequence[CallMade]) -> None:
        if self._seconds_left(state) <= self.settings.least_seconds_to_reflect:
            return
        attempt = state.attempt(number)
        report = await self._turn("reflector", state, for_reflector(state, attempt, calls, self.settings), number)
        if not _own_reply(report):
            return
        facts = () if attempt.diagnosed is None else ("outcome", *attempt.diagnosed.facts)
        hidden = attempt.turn.hidden if attempt.turn is not None and self.settings.has("turn_budgets") else 0
        self._add(Reflected(report.reply, facts, hidden), state, number)
        self._add_all(self.memory.learned(report.reply, state.item)[1], state, number)

    async def _reconsider(self, state: ItemState, number: int) -> None:
        reflections = tuple(one.reflected.text for one in state.since_touched if one.reflected is not None)
        shared = self.plateau.shared(reflections)
        if shared is not None:
            self._add(PlateauFound(self.plateau.name, self.settings.plateau_window, shared), state, number)
        tried, unlike = len(state.unlike), len(set(state.unlike))
        gap = self.settings.has("gap_detection") and min(tried, unlike) >= self.settings.gap_attempts
        if gap:
            self._add(GapFound(tried, unlike), state, number)
        since, left = SinceTouched(len(state.since_touched), reflections, gap), self._seconds_left(state)
        trigger = should_re_engage(since, self.settings, plateau=shared is not None, seconds_left=left)
        if trigger is not None:
            await self._re_engage(state, number, trigger)

    async def _re_engage(self, state: ItemState, number: int, trigger: Trigger) -> None:
        others = {name for name, each in self.log.state.items.items() if each.ending is None and each is not state}
        report = await self._turn("strategist", state, for_strategist(state, trigger, sorted(others)), number)
        read = read_verdict if self.settings.has("strict_verdicts") else read_verdict_by_first_word
        answer = read(report.reply, others)
        self._add(
            ReEngaged(trigger, answer.verdict, answer.plan, answer.clean, answer.warning, answer.until), state, number
        )
        if answer.verdict == "ESCALATE":
            gap = trigger == "evaluator_gap"
            self.end(state, Ending("escalated", "evaluator_gap" if gap else "strategist_escalated", answer.plan))
            return
        if answer.plan:
            self._add(Planned(answer.plan), state, number)
        if answer.verdict == "SKIP_UNTIL" and self.settings.has("ordering"):
            self._add(PutOff(answer.until), state, number)

    def _seconds_left(self, state: ItemState) -> float:
        return seconds_left(state, limits_of(self.settings))

    async def _turn(self, role: Role, state: ItemState, parts: Iterable[Part], number: int = 0) -> TurnReport:
        brief, recalled = [part for part in parts if part.text], list[Lesson]()
        if role in ("planner", "worker"):
            recalled = list(self.memory.recalled(state.item, self.settings.lessons_shown_tokens))
            brief += [Part("lessons", lessons_text(recalled))] if recalled else []
        room = self.settings.context_tokens[role]
        if self.settings.has("fresh_context"):
            context, shown = assembled(role, state.item, number, brief, room)
        else:
            context, shown = accumulated(role, state.item, number, brief, self.log.holding, room)
        if self.memory.lessons and role in ("planner", "worker"):
            ids = tuple(lesson.id for lesson in recalled) if context.part("lessons") else ()
            self._add(LessonsRecalled(ids, len(self.memory.lessons)), state, number)
        agent = self.agents.of(role)
        limits = turn_limits(role, state, self.settings)
        report = await take_turn(
            lambda turn: agent.act(context, turn), self.target.tools(role), self.target.place, limits, self.clock
        )
        calls = (without_surrogates(write_command(call.name, call.arguments)) for call in report.calls)
        ended = TurnEnded(
            **asdict(report) | {"calls": tuple(call[:MOST_OF_A_COMMAND] for call in calls)},
            role=role,
            agent=agent.name,
            seen=shown,
            seen_digest=sha256(context.text.encode()).hexdigest()[:16],
        )
        self._add(ended, state, number)
        return report

    def _outcome(self, state: ItemState, *, helped: bool) -> None:
        """Lessons that were shown in the last attempt count as good or bad advice."""
        if state.last is not None:
            _, events = self.memory.after_outcome(state.last.recalled, state.item, helped=helped)
            self._add_all(events, state)

    def _add_all(self, happenings: Iterable[Happening], state: ItemState, attempt: int | None = None) -> None:
        for happening in happenings:
            self._add(happening, state, attempt)

    def _add(self, happening: Happening, state: ItemState, attempt: int | None = None) -> None:
        number = len(state.attempts) if attempt is None else attempt
        self.memory = self.memory.after(self.log.add(happening, state.item.id, number))


def _own_reply(report: TurnReport) -> str:
    """Return what an agent said itself: what the harness says in its place is neither a plan nor a reflection."""
    return report.reply if report.over is None else ""
