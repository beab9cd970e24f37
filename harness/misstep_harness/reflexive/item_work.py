"""Work on one item: the planner's turn, attempts until there is an end, and what is made of each.

When the strategist is asked again, and what its answer is taken for.

    VERDICT: SKIP_UNTIL
    UNTIL: audit-package, audit-service
    PLAN: Come back once the audit service is there.

Only the reply is read, and an unreadable one is CONTINUE with the plan as it was.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import asdict, replace

from misstep_harness.agent.actions import write_command
from misstep_harness.agent.clocks import Clock
from misstep_harness.agent.turns import CallMade, TurnReport, take_turn
from misstep_harness.errors import MisstepError
from misstep_harness.escaping import without_surrogates
from misstep_harness.reflexive.context import accumulated, assembled
from misstep_harness.reflexive.diagnosis import diagnosed, evaluated, facts_told, protected_now
from misstep_harness.reflexive.item_budgets import seconds_left, turn_limits, used_up
from misstep_harness.reflexive.log import ItemState, Log, LoggedAttempt
from misstep_harness.reflexive.memory import (
    Lesson,
    MemoryRules,
    bans,
    bans_text,
    is_fenced,
    lessons_text,
    memory_of,
    unwrapped,
)
from misstep_harness.reflexive.plateau import detector
from misstep_harness.reflexive.protocols import Agents, Part, Skill, Target
from misstep_harness.reflexive.records import (
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
    LoopSettings,
    Planned,
    PlateauFound,
    PutOff,
    Reason,
    ReEngaged,
    Reflected,
    Role,
    StrategistVerdict,
    Trigger,
    TurnEnded,
    Verified,
    Warned,
    WorkItem,
    limits_of,
)
from misstep_harness.reflexive.snapshots import digest_now, keep_progress, restored, reverted_by_script

MOST_SHOWN = 600


def for_planner(state: ItemState, settings: LoopSettings) -> Iterator[Part]:
    """Return the task, and where the loop does not enforce the order of items, what is wished of it."""
    yield Part("task", state.item.text)
    if not settings.has("ordering"):
        yield Part("order", order_in_words(state.item))


def for_worker(state: ItemState) -> Iterator[Part]:
    """Return the task, the plan, what was concluded from the last attempt, its check, and what has failed."""
    yield Part("task", state.item.text)
    yield Part("plan", state.plan or "")
    last = state.last
    if last is not None:
        yield Part("reflection", "" if last.reflected is None else last.reflected.text)
        yield Part("check", "" if last.checked is None else last.checked.text)
        yield Part("bans", bans_text(bans(state.events, state.item.id)))


def for_reflector(
    state: ItemState, attempt: LoggedAttempt, calls: Sequence[CallMade], settings: LoopSettings
) -> Iterator[Part]:
    """The attempt: how it failed and what is known of why, or without diagnostics that it failed and what was said."""
    yield Part("task", state.item.text)
    if attempt.diagnosed is None:
        yield Part("outcome", "The attempt failed.")
    else:
        yield Part("outcome", _outcome(attempt))
        yield Part("facts", facts_told(attempt.diagnosed))
    if attempt.turn is not None:
        yield Part("hidden_calls", hidden_calls(attempt) if settings.has("turn_budgets") else "")
        yield Part("turn", attempt.turn.reply or attempt.turn.error)
        shown = "\n".join(f"{call.name}: {call.observation.text[:MOST_SHOWN]}" for call in calls)
        yield Part("commands", "" if attempt.diagnosed is None else shown)
    yield Part("plan", state.plan or "")


def for_strategist(state: ItemState, trigger: Trigger, others: Sequence[str]) -> Iterator[Part]:
    """Why it is asked, the plan, the last attempt's facts, the whole history, and the items that it may wait for."""
    yield Part("task", state.item.text)
    yield Part("trigger", trigger)
    yield Part("plan", state.plan or "")
    if state.last is not None and state.last.diagnosed is not None:
        yield Part("facts", facts_told(state.last.diagnosed))
    yield Part("history", "\n\n".join(_summary(attempt) for attempt in state.attempts))
    yield Part("open_items", ", ".join(others))


def hidden_calls(attempt: LoggedAttempt) -> str:
    """Return the retries within a turn that no reflection came between, in words; empty if there were none."""
    turn = attempt.turn
    if turn is None or not turn.hidden:
        return ""
    return f"{len(turn.calls)} command(s) were carried out and {turn.refused} refused within this one turn."


def order_in_words(item: WorkItem) -> str:
    """Return what is wished of the order of an item."""
    first = f"Do it after {', '.join(item.after)}." if item.after else ""
    return " ".join(part for part in (first, "Do it LAST." if item.last else "") if part)


def _outcome(attempt: LoggedAttempt) -> str:
    kind = "" if attempt.failed is None else attempt.failed.kind.replace("_", " ")
    return f"The attempt failed: {kind}.\n{'' if attempt.checked is None else attempt.checked.text}"


def _summary(attempt: LoggedAttempt) -> str:
    answer, calls = attempt.re_engaged, () if attempt.turn is None else attempt.turn.calls
    lines = (
        f"Attempt {attempt.number}",
        f"commands: {'; '.join(calls)}" if calls else "",
        hidden_calls(attempt),
        "" if attempt.failed is None else _outcome(attempt),
        "" if attempt.reflected is None else f"reflection: {attempt.reflected.text}",
        "" if answer is None else f"strategist: {answer.verdict} {answer.plan}",
    )
    return "\n".join(filter(None, lines))


MOST_PLAN_CHARACTERS = 4_000
"""A plan is cut there: it goes into the context of every later turn."""


class SinceTouched(Struct, frozen=True):
    """What happened to an item since the strategist was last asked about it: failures, reflections, a gap."""

    failures: int = 0
    reflections: tuple[str, ...] = ()
    gap: bool = False


def should_re_engage(
    since: SinceTouched, settings: LoopSettings, *, plateau: bool, seconds_left: float | None
) -> Trigger | None:
    """Return why the strategist is to be asked now, or `None`."""
    too_late = seconds_left is not None and seconds_left < settings.least_seconds_to_re_engage
    if too_late or not settings.has("re_engagement"):
        return None
    if since.gap:
        return "evaluator_gap"
    if plateau:
        return "plateau"
    return "failures" if since.failures >= settings.failures_between else None


class StrategistAnswer(Struct, frozen=True):
    """What a strategist's reply is taken for.

    - `verdict`: CONTINUE if the reply cannot be read; `warning` says why.
    - `plan`: The plan from now on; for ESCALATE the reason. Empty for the plan as it was.
    - `until`: The open items that SKIP_UNTIL waits for.
    """

    verdict: StrategistVerdict
    plan: str = ""
    until: tuple[str, ...] = ()
    clean: bool = True
    warning: str = ""


_WORDS: dict[str, StrategistVerdict] = {
    "CONTINUE": "CONTINUE",
    "PIVOT": "PIVOT",
    "ESCALATE": "ESCALATE",
    "SKIP_UNTIL": "SKIP_UNTIL",
}

_MARKS = r"[*_`\"'“”‘’]*+"
"""Light formatting around a word: bold, italics, code, quotation marks."""

_WORD = rf"{_MARKS}(CONTINUE|PIVOT|ESCALATE|SKIP(?:\\?_|-|[ ])UNTIL){_MARKS}[.]?{_MARKS}"
_START = rf"[ ]{{0,3}}+(?:#{{1,6}}[ \t]++)?{_MARKS}"
_LABEL = rf"{_START}VERDICT{_MARKS}[ \t]*+:[ \t]*+{_MARKS}"
_VERDICT = re.compile(rf"{_LABEL}[ \t]*+{_WORD}[ \t]*+", re.IGNORECASE | re.ASCII)
_LABEL_ALONE = re.compile(rf"{_LABEL}[ \t]*+", re.IGNORECASE | re.ASCII)
_WORD_ALONE = re.compile(rf"[ ]{{0,3}}+{_WORD}[ \t]*+", re.IGNORECASE | re.ASCII)
_PLAN = re.compile(rf"{_START}(?:NEW_)?(?:PLAN|REASON){_MARKS}[ \t]*+:{_MARKS}", re.IGNORECASE)
_UNTIL = re.compile(rf"{_START}UNTIL{_MARKS}[ \t]*+:{_MARKS}", re.IGNORECASE)

_CLAIM = re.compile(r"verdict[^a-z0-9]{0,8}?[:=]")
"""What speaks of a verdict as a label, once the line is brought to plain letters."""

_LIKE = str.maketrans("аαсϲᴄԁᴅеєεᴇіɪıιɩгʀᴦтτᴛνѵᴠː꞉∶：", "aacccddeeeeiiiiirrrtttvvv::::")
"""Signs of other scripts → those of `verdict:` that they look like: such a label is refused, not overlooked."""

_OPEN_SENTENCE = re.compile(
    r"\b(?:not|no|never|cannot|nor|neither|without|against|if|unless|when|until|instead|rather|except|example|or)\b|n[’']t\b",
    re.IGNORECASE,
)
"""What makes the line before a verdict, where its sentence is open, deny it or put it under a condition."""

_OWN = re.compile(r"\b(?:my|final)\b", re.IGNORECASE)
"""What a line has that announces the strategist's verdict with a colon; after another one something is quoted."""

_OPENS_TAG = re.compile(r"[ \t]*+<(?:!|[a-z])[^<>]*+>?+[ \t]*+", re.IGNORECASE)

_GOES_ON = re.compile(
    r"[ \t*_]*+(?:(?:not|no|never|or|if|unless|except)\b|[a-z]++[ ]++(?:not|never)\b|(?:Not|NOT|No|NO)[ \t.,!;:]*+$)"
)
"""What takes a verdict back on the line below."""


def read_verdict(reply: str, open_items: Collection[str] = ()) -> StrategistAnswer:
    """Return the verdict of a strategist's reply, and nothing that has to be guessed.

    The verdict is on a line of its own after `VERDICT:`, or on the next one. Two different verdicts, a label within a
    sentence, a quotation or a fence, a denial, PIVOT without a plan, and SKIP_UNTIL without open items make the reply
    unreadable. The time is linear in the length.
    """
    lines = unwrapped(reply.splitlines())
    fenced = is_fenced(lines)
    candidates: list[tuple[StrategistVerdict, int]] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        if _claims(line):
            last = _next_line(lines, number) if _LABEL_ALONE.fullmatch(line) else number
            word = _VERDICT.fullmatch(line) or (_WORD_ALONE.fullmatch(lines[last]) if last > number else None)
            if word is None or fenced[number]:
                return _unreadable(f"the line {_quoted(line)} has no verdict that stands alone")
            if _is_quoted_or_denied(lines, number) or (last + 1 < len(lines) and _GOES_ON.match(lines[last + 1])):
                return _unreadable(f"the verdict in {_quoted(line)} may be quoted or denied")
            candidates.append((_WORDS[re.sub(r"[^A-Z]+", "_", word[1].upper())], last))
            number = last
        number += 1
    verdicts = {verdict for verdict, _ in candidates}
    if len(verdicts) != 1:
        return _unreadable(f"it has the verdicts {', '.join(sorted(verdicts))}" if verdicts else "it has no verdict")
    verdict, place = candidates[0]
    plan = _plan(lines[place + 1 :]) or (_plan(lines[:place]) if verdict == "ESCALATE" else "")
    if verdict == "PIVOT" and not plan:
        return _unreadable("PIVOT comes without a plan")
    if verdict != "SKIP_UNTIL":
        return StrategistAnswer(verdict, plan)
    named = [line[match.end() :] for line in lines if (match := _UNTIL.match(line))]
    until = _ids(named[0]) if len(named) == 1 else ()
    unknown = [item for item in until if item not in open_items]
    if not until or unknown:
        return _unreadable(f"SKIP_UNTIL names {', '.join(unknown) or 'no items'}, where it has to name open items")
    return StrategistAnswer(verdict, plan, until)


def read_verdict_by_first_word(reply: str, open_items: Collection[str] = ()) -> StrategistAnswer:
    """The verdict by the first word that looks like one: how the original read it, and what `strict_verdicts` cures."""
    lines = reply.splitlines()
    line = next((line for line in lines if "VERDICT:" in line), None)
    if line is None:
        return _unreadable("it has no verdict")
    rest = line.partition("VERDICT:")[2].strip().upper()
    words = rest.split()[:2]
    verdict = next((_WORDS[word] for word in _WORDS if rest.startswith(word) or word in words), None)
    plan = next((line.partition("PLAN:")[2].strip()[:1_000] for line in lines if "PLAN:" in line), "")
    named = next((line.partition("UNTIL:")[2] for line in lines if line.startswith("UNTIL:")), "")
    until = tuple(item for item in _ids(named) if item in open_items)
    if verdict is None or (verdict == "SKIP_UNTIL" and not until):
        return _unreadable(f"the line {_quoted(line)} does not begin with a verdict")
    return StrategistAnswer(verdict, plan, until if verdict == "SKIP_UNTIL" else ())


def _unreadable(why: str) -> StrategistAnswer:
    return StrategistAnswer("CONTINUE", clean=False, warning=f"The strategist's reply is unreadable: {why}.")


def _claims(line: str) -> bool:
    if line.isascii():
        return "verdict" in (plain := line.lower()) and _CLAIM.search(plain) is not None
    shown = "".join(sign for sign in unicodedata.normalize("NFKD", line) if unicodedata.category(sign)[0] not in "CM")
    return _CLAIM.search(shown.casefold().translate(_LIKE)) is not None


def _next_line(lines: Sequence[str], number: int) -> int:
    return next((later for later in range(number + 1, min(number + 3, len(lines))) if lines[later].strip()), number)


def _is_quoted_or_denied(lines: Sequence[str], number: int) -> bool:
    if number and lines[number - 1].lstrip().startswith(">"):
        return True
    before = next((lines[place] for place in range(number - 1, max(number - 4, -1), -1) if lines[place].strip()), "")
    if _OPENS_TAG.fullmatch(before):
        return True
    bare = before.rstrip(" \t*_`\"'“”‘’)")
    if bare.endswith((".", "!", "?")) or _VERDICT.fullmatch(before):
        return False
    return _OPEN_SENTENCE.search(bare) is not None or (bare.endswith(":") and not _OWN.search(bare))


def _plan(lines: Sequence[str]) -> str:
    later = [line for line in lines if not (_UNTIL.match(line) or _claims(line))]
    place = next((number for number, line in enumerate(later) if _PLAN.match(line)), None)
    if place is not None:
        later = [later[place][_PLAN.match(later[place]).end() :], *later[place + 1 :]]  # type: ignore[union-attr]
    plan = "\n".join(line.rstrip() for line in later).strip()
    return plan if len(plan) <= MOST_PLAN_CHARACTERS else plan[: MOST_PLAN_CHARACTERS - 1].rstrip() + "…"


def _ids(named: str) -> tuple[str, ...]:
    bare = (part.strip(" \t.*`\"'“”‘’[]()") for part in named.split(","))
    return tuple(dict.fromkeys(part for part in bare if part))


def _quoted(line: str) -> str:
    short = " ".join(line.split())
    return f"«{short[:80]}…»" if len(short) > 80 else f"«{short}»"


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
