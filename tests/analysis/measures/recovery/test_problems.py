"""What became of each misbehaviour, from its onset on or from the word that the agent hears."""

from misstep.analysis.measures.recovery.problems import ENGINEER, RECOVERED, SESSION_OVER, groundless, problems
from misstep.harness.records.intervention import Intervention, Misbehaviour
from misstep.harness.records.live_session import Episode
from tests.analysis.measures.recovery.made_up import session, word


def test_a_problem_that_guidance_ends_is_recovered_at_the_first_step_behind_the_word() -> None:
    episode = Episode("infinite_loop", 5, 12, "guidance")
    (found,) = problems([session("a", "guide", [episode], [word("infinite_loop", 10, 12)])], "word")
    assert (found.event, found.steps, found.words, found.recovered) == (RECOVERED, 1, 1, True)


def test_in_the_arm_that_only_detects_the_word_is_where_it_would_have_been_heard() -> None:
    episode = Episode("infinite_loop", 5, 20, "itself")
    (found,) = problems([session("a", "shadow", [episode], [word("infinite_loop", 10)])], "word")
    assert (found.event, found.steps) == (RECOVERED, 20 + 1 - 12)


def test_what_was_over_before_its_word_is_followed_from_the_onset_alone() -> None:
    given = [session("a", "guide", [Episode("infinite_loop", 5, 11, "itself")], [word("infinite_loop", 10, 12)])]
    assert problems(given, "word") == []
    assert [one.steps for one in problems(given, "onset")] == [7]


def test_a_relapse_belongs_to_its_problem_which_is_over_when_that_is() -> None:
    episodes = [
        Episode("infinite_loop", 5, 12, "guidance"),
        Episode("infinite_loop", 16, 31, "session", relapse=True),
        Episode("tool_call_failure", 8, 9, "itself"),
    ]
    given = [session("a", "guide", episodes, [word("infinite_loop", 10, 12), word("infinite_loop", 20, 22)])]
    (found,) = problems(given, "word")
    assert (found.event, found.recovered, found.words) == (SESSION_OVER, False, 2)
    assert [one.category for one in problems(given, "onset")] == ["infinite_loop", "tool_call_failure"]


def test_an_engineer_who_steps_in_is_no_recovery_nor_is_one_after_the_window() -> None:
    helped = session("a", "shadow", [Episode("infinite_loop", 5, 14, "engineer")], [word("infinite_loop", 10)])
    late = session("b", "shadow", [Episode("infinite_loop", 5, 28, "itself")], [word("infinite_loop", 10)])
    first, second = problems([helped, late], "word")
    assert (first.event, first.recovered) == (ENGINEER, False)
    assert (second.event, second.steps, second.recovered) == (RECOVERED, 17, False)


def test_a_word_about_two_categories_is_about_both_problems() -> None:
    both = Intervention((Misbehaviour("infinite_loop"), Misbehaviour("tool_call_failure")), 10, 12)
    episodes = [Episode("infinite_loop", 5, 12, "guidance"), Episode("tool_call_failure", 6, 12, "guidance")]
    assert len(problems([session("a", "guide", episodes, [both])], "word")) == 2


def test_a_word_withheld_as_stale_or_repeated_is_none() -> None:
    stale = Intervention((Misbehaviour("infinite_loop"),), 10, withheld="stale")
    given = [session("a", "guide", [Episode("infinite_loop", 5, 20, "itself")], [stale])]
    assert problems(given, "word") == []
    assert groundless(given) == (0, 0)


def test_words_without_a_planted_misbehaviour_are_counted() -> None:
    given = [
        session("a", "guide", [Episode("infinite_loop", 15, 20, "itself")], [word("infinite_loop", 10, 12)]),
        session("b", "guide", [Episode("infinite_loop", 5, 12, "itself")], [word("infinite_loop", 10, 12)]),
    ]
    assert groundless(given) == (1, 2)


def test_the_judges_label_stands_at_the_word_that_the_problem_is_followed_from() -> None:
    episode = Episode("infinite_loop", 5, 20, "itself")
    words = [word("tool_call_failure", 6, 8), word("infinite_loop", 10, 12), word("infinite_loop", 15, 17)]
    (found,) = problems([session("a", "guide", [episode], words)], "word", {("a", 1): True, ("a", 2): False})
    assert found.judged is True
