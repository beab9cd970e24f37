"""What the original learned later, or got wrong: each flaw beside its cure."""

import pytest

from misstep.harness.errors import MisstepError
from misstep.harness.records.loop_events import (
    Checked,
    Failed,
    GapFound,
    Halted,
    LessonRetired,
    LessonsRecalled,
    PutOff,
    ReEngaged,
    Restored,
    SnapshotName,
    Warned,
)
from misstep.harness.reflexive.memory import Lesson
from misstep.harness.reflexive.memory.lessons import lesson_id
from misstep.harness.reflexive.simulated.items import Kind
from misstep.harness.reflexive.simulated.target import SimulatedTarget
from misstep.harness.reflexive.simulated.workers import make_agents
from tests.harness.reflexive.failure_modes.looping import Looped, looped
from tests.harness.reflexive.failure_modes.scripted import Enters, Says, WithoutLessons, agents_with, watched


def reasons(run: Looped) -> dict[Kind, str]:
    """The kind of an item → the reason of its end."""
    return {run.kinds[item]: end.ending.reason for item, end in run.ends.items()}


def false_successes(run: Looped) -> int:
    """Items that count as solved though no check by type said so."""
    checked: dict[str, Checked] = {}
    for event in run.events:
        if isinstance(event.happened, Checked):
            checked[event.item] = event.happened
    return sum(
        end.ending.end == "solved" and (checked[item].status, checked[item].healthy) != ("passed", True)
        for item, end in run.ends.items()
    )


class TestTypedEvaluation:
    """An evaluator that looks for words takes UNHEALTHY for healthy, and an id with "pass" in it for a pass."""

    KINDS: tuple[Kind, ...] = ("trap", "resets", "trap", "resets")

    def test_off_failures_count_as_solved_after_one_attempt(self) -> None:
        off = looped(self.KINDS, ("typed_evaluation",), worker="destructive")
        assert (off.solved, false_successes(off)) == (4, 4)
        assert {(end.attempts, end.ending.reason) for end in off.ends.values()} == {(1, "believed_solved")}

    def test_on_nothing_counts_that_the_types_do_not_say(self) -> None:
        on = looped(self.KINDS, worker="destructive")
        assert false_successes(on) == 0
        assert {kind for kind, reason in reasons(on).items() if reason == "check_passed"} <= {"trap"}


class TestStrictVerdicts:
    """A parser that takes the first word like a verdict overlooks a bold one and obeys a denied one."""

    @pytest.mark.parametrize(
        ("reply", "off", "on"),
        [
            ("VERDICT: **ESCALATE**\nREASON: It is hardware.", ("CONTINUE", False), ("ESCALATE", True)),
            ("VERDICT: NOT ESCALATE\nPLAN: Go on.", ("ESCALATE", True), ("CONTINUE", False)),
            ("VERDICT: ESCALATE or PIVOT?", ("ESCALATE", True), ("CONTINUE", False)),
            ("VERDICT:\nPIVOT\nPLAN: Set {item}=on", ("CONTINUE", False), ("PIVOT", True)),
        ],
    )
    def test_what_stands_there_counts_and_what_does_not_is_a_warning(
        self, reply: str, off: tuple[str, bool], on: tuple[str, bool]
    ) -> None:
        agents = agents_with("strategist", Says((reply,)))
        for without, expected in ((("strict_verdicts",), off), ((), on)):
            answer = looped(("locked",), without, worker=agents).all_of(ReEngaged)[0]
            assert (answer.verdict, answer.clean) == expected
            assert answer.clean == (answer.warning == "")

    def test_a_denied_escalation_gives_up_what_the_next_attempts_would_solve(self) -> None:
        agents = agents_with("strategist", Says(("VERDICT: NOT ESCALATE\nPLAN: Go on.",)))
        off = looped(("late",) * 4, ("strict_verdicts",), worker=agents)
        on = looped(("late",) * 4, worker=agents)
        assert (off.solved, on.solved) == (0, 4)


class TestFactsReachTheReflector:
    """The original wrote its diagnostics into the log and not into the reflector's prompt."""

    def test_what_is_in_the_log_is_in_the_context(self) -> None:
        agents, shown = watched("reflector")
        looped(("shuts", "resets"), worker=agents)
        assert len(shown) == 2
        assert "the way in was shut by" in "".join(context.part("facts") for context in shown)
        agents, shown = watched("reflector")
        looped(("shuts", "resets"), ("diagnostics",), worker=agents)
        assert shown
        assert all(context.part("facts") == "" for context in shown)


class LosesItsSnapshots(SimulatedTarget):
    """A target whose snapshots cannot be read any more."""

    def restore(self, name: SnapshotName) -> None:
        raise MisstepError(f"the storage of {name} does not answer")


class TestHalting:
    """The original logged that its target was beyond recovery, and went on."""

    KINDS: tuple[Kind, ...] = ("shuts", "trivial", "trivial", "trivial")

    def test_off_every_later_item_is_attempted_in_vain(self) -> None:
        off = looped(self.KINDS, ("halting",), in_order=True, make_target=LosesItsSnapshots)
        assert off.solved == 0
        assert off.hours > 1.2
        assert [warned for warned in off.all_of(Warned) if "beyond recovery" in warned.text]

    def test_on_the_run_stops_and_no_item_is_left_without_an_end(self) -> None:
        on = looped(self.KINDS, in_order=True, make_target=LosesItsSnapshots)
        (halted,) = on.all_of(Halted)
        assert "beyond recovery" in halted.text
        assert [end.ending.reason for end in on.ends.values()] == ["target_unrecoverable"] * len(self.KINDS)
        assert len(on.all_of(Checked)) == 1
        assert on.hours < 0.1


class TestOrdering:
    """The word LAST in a prompt was ignored: the item came 50th of 86."""

    def test_off_an_item_for_the_end_seals_half_of_the_others(self) -> None:
        kinds: tuple[Kind, ...] = ("last", *("trivial",) * 6)
        off, on = looped(kinds, ("ordering",), in_order=True), looped(kinds, in_order=True)
        assert (off.solved, on.solved) == (4, 7)
        assert next(iter(off.ends)) == list(on.ends)[-1]

    def test_off_a_prerequisite_is_found_out_by_failing_and_on_it_comes_first(self) -> None:
        kinds: tuple[Kind, ...] = ("trivial", "declared")
        off, on = looped(kinds, ("ordering",)), looped(kinds)
        assert (off.solved, on.solved) == (1, 2)
        assert [on.kinds[item] for item in on.ends] == ["trivial", "declared"]
        assert [end.attempts for end in on.ends.values()] == [1, 1]

    def test_a_prerequisite_that_only_the_journal_names_is_waited_for(self) -> None:
        kinds: tuple[Kind, ...] = ("trivial", "undeclared")
        off, on = looped(kinds, ("ordering",)), looped(kinds)
        assert (off.solved, on.solved) == (1, 2)
        (put_off,) = on.all_of(PutOff)
        assert put_off.until == (next(item for item, kind in on.kinds.items() if kind == "trivial"),)
        assert on.hours < 0.5 * off.hours


class TestGapDetection:
    """A healthy target whose check fails after unlike changes has nothing wrong with it but its check."""

    def test_off_the_item_takes_all_its_time(self) -> None:
        off = looped(("gap",), ("gap_detection",))
        assert not off.all_of(GapFound)
        assert off.only_end.ending.end == "time_budget"

    def test_on_three_unlike_changes_end_it_with_the_reason(self) -> None:
        on = looped(("gap",))
        (gap,) = on.all_of(GapFound)
        assert (gap.attempts, gap.changes) == (3, 3)
        assert (on.only_end.ending.end, on.only_end.ending.reason) == ("escalated", "evaluator_gap")

    def test_the_same_change_three_times_is_no_gap(self) -> None:
        agents = agents_with("worker", Enters(("{item}=silent",)))
        assert not looped(("gap",), worker=agents).all_of(GapFound)

    def test_a_search_that_the_journal_comments_on_is_not_given_up_for_a_gap(self) -> None:
        on = looped(("late",) * 4)
        assert on.all_of(GapFound)
        assert on.solved == 4


class TestCheckIsAuthoritative:
    """Nine fixes that passed were reverted as their turn had gone over its budget."""

    AGENTS = agents_with("worker", Enters(("{item}=on", "{item}=off")))

    def test_off_a_success_is_reverted_again_and_again(self) -> None:
        off = looped(("trivial",), ("check_is_authoritative",), worker=self.AGENTS)
        assert off.only_end.ending.end != "solved"
        assert {(checked.healthy, checked.status) for checked in off.all_of(Checked)} >= {(True, "passed")}
        assert "over_budget" in {failed.kind for failed in off.all_of(Failed)}

    def test_on_what_passes_is_kept(self) -> None:
        on = looped(("trivial",), worker=self.AGENTS)
        assert (on.only_end.ending.end, on.only_end.attempts) == ("solved", 1)
        assert on.turns_of("worker")[0].over == "tool_calls"
        assert not on.all_of(Restored)


def taught_before(text: str, category: str) -> list[Lesson]:
    return [Lesson(lesson_id(category, text), category, text, run="before")]


class TestLessonShare:
    """Eight new lessons pushed all those of earlier runs out of the prompt."""

    KINDS: tuple[Kind, ...] = (*("shuts",) * 10, "shared")
    EARLIER = taught_before("Before coil settings, have coil-shield=on coil-drain=on coil-spare=on.", "coil")

    @pytest.mark.parametrize(("without", "attempts", "is_shown"), [(("lesson_share",), 4, False), ((), 1, True)])
    def test_a_useful_lesson_of_an_earlier_run_is_still_shown_after_ten_new_ones(
        self, without: tuple[str, ...], attempts: int, is_shown: bool
    ) -> None:
        run = looped(self.KINDS, without, earlier=self.EARLIER, in_order=True)
        *_, (item, end) = run.ends.items()
        assert run.kinds[item] == "shared"
        assert end.attempts == attempts
        recalled = [one for one in run.events if one.item == item and isinstance(one.happened, LessonsRecalled)]
        assert (self.EARLIER[0].id in recalled[0].happened.lessons) == is_shown


class TestHarmfulLessons:
    """A lesson that fails 59 times of 60 was shown a 61st time."""

    KINDS: tuple[Kind, ...] = ("misleading",) * 12
    EARLIER = taught_before("Before grid settings, have grid-bridge=closed.", "grid")

    def test_off_who_trusts_it_fails_with_it_for_hours_and_on_it_is_retired(self) -> None:
        agents = agents_with("reflector", WithoutLessons(make_agents("trusting", 0).reflector), "trusting")
        off = looped(self.KINDS, ("harmful_lessons",), worker=agents, earlier=self.EARLIER, in_order=True)
        on = looped(self.KINDS, worker=agents, earlier=self.EARLIER, in_order=True)
        assert not off.all_of(LessonRetired)
        assert LessonRetired(self.EARLIER[0].id, "harmful") in on.all_of(LessonRetired)
        assert (off.solved, on.solved) == (1, 12)
        assert on.hours < 0.3 * off.hours


class TestProtectedCheck:
    """The shortest way to a passing check is another check."""

    def test_off_what_cannot_be_done_counts_as_done(self) -> None:
        off = looped(("locked",) * 3, ("protected_check",), worker="cheating")
        assert off.solved == 3
        assert {(end.attempts, end.ending.reason) for end in off.ends.values()} == {(2, "check_passed")}

    def test_on_the_attempt_fails_for_it_and_the_check_is_what_it_was(self) -> None:
        on = looped(("locked",) * 3, worker="cheating")
        assert on.solved == 0
        assert [failed.kind for failed in on.all_of(Failed)].count("check_weakened") >= 3
        assert all(restored.verified for restored in on.all_of(Restored))
