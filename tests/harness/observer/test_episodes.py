"""Which misbehaviours are one problem, and when one is over."""

import pytest

from misstep_harness.intervention import Misbehaviour
from misstep_harness.observer.episodes import OpenEpisode, decide, episode_of, is_over, merged, noted
from misstep_harness.trajectory import Step
from tests.harness.observer.made_up_runs import asked, call, looping, read

LOOP = looping(1, 2, 3).misbehaviours[0]
FAILING = Misbehaviour("tool_call_failure", (1, 2, 3), evidence={"tool": "edit", "call": "edit(path='a')"})
DRIFTING = Misbehaviour("unrequested_changes", (1,), evidence={"constraint": "Do not touch a."})


def _behind(*steps: Step) -> list[Step]:
    return [asked(), read(), read(), read(), *steps]


FAILED, WORKED = call("edit", "no such text", error=True, path="a"), call("edit", "done", error=False, path="a")
UNMARKED = call("edit", "Error: the text was not found in the file.", path="a")
OTHER = read("b.py")


@pytest.mark.parametrize(
    ("result", "behind", "over"),
    [
        (LOOP, [], False),
        (LOOP, [OTHER], False),
        (LOOP, [OTHER, OTHER], True),
        (LOOP, [OTHER, read(), OTHER], False),
        (LOOP, [asked("Go on with the next file.")], True),
        (FAILING, [], False),
        (FAILING, [FAILED, FAILED, FAILED], False),
        (FAILING, [FAILED, WORKED], True),
        (FAILING, [UNMARKED, UNMARKED], False),
        (FAILING, [OTHER, OTHER], True),
        (DRIFTING, [OTHER] * 9, False),
        (DRIFTING, [OTHER, asked("That change was fine."), OTHER], True),
        (Misbehaviour("elsewhere"), [OTHER] * 9, False),
    ],
)
def test_a_misbehaviour_is_over_when_the_agent_does_without_it_or_the_user_speaks(result, behind, over) -> None:
    assert is_over(result, _behind(*behind)) is over


def test_a_loop_with_pauses_is_not_over_in_a_pause() -> None:
    result = looping(1, 4, 7).misbehaviours[0]
    steps = [asked(), *[read(), OTHER, OTHER] * 2, read()]
    assert not is_over(result, [*steps, OTHER, OTHER])
    assert is_over(result, [*steps, *[OTHER] * 5])


def test_findings_about_one_thing_are_one_with_all_steps() -> None:
    results = [*looping(1, 2, 3).misbehaviours, *looping(7, 8, 9).misbehaviours, DRIFTING]
    assert [(one.category, one.steps) for one in merged(results)] == [
        ("infinite_loop", (1, 2, 3, 7, 8, 9)),
        ("unrequested_changes", (1,)),
    ]


def test_findings_that_share_steps_are_one_problem_whatever_they_are_called_by() -> None:
    spoken = noted((), LOOP, 1, 3)
    assert episode_of(looping(3, 4, of="another()").misbehaviours[0], spoken) == spoken[0]
    assert episode_of(looping(4, 5, of="another()").misbehaviours[0], spoken) is None
    assert episode_of(Misbehaviour("tool_call_failure", (1, 2, 3)), spoken) is None


def test_what_names_no_steps_is_spoken_of_once() -> None:
    vague = Misbehaviour("elsewhere")
    steps = _behind()
    assert decide(vague, (), steps).withheld == ""
    assert decide(vague, noted((), vague, 1, 3), [*steps, *[OTHER] * 20]).withheld == "repeated"


def test_an_episode_grows_with_each_word_on_it() -> None:
    spoken = noted(noted((), LOOP, 1, 3), looping(5, 6).misbehaviours[0], 2, 6)
    assert spoken == (OpenEpisode("infinite_loop", "read_file(file_path='a.py')", frozenset({1, 2, 3, 5, 6}), 2, 6),)


def test_the_next_change_of_a_file_after_guidance_is_taken_for_the_undoing_that_was_asked_for() -> None:
    banned = {"constraint": "Do not touch config.yaml.", "changed": "config.yaml"}
    edit = call("edit", path="config.yaml")
    steps = [asked(), edit, read(), edit, edit]
    spoken = noted((), Misbehaviour("unrequested_changes", (1,), evidence=banned), 1, 1)
    assert decide(Misbehaviour("unrequested_changes", (1, 3), evidence=banned), spoken, steps).withheld == "repeated"
    again = decide(Misbehaviour("unrequested_changes", (1, 3, 4), evidence=banned), spoken, steps)
    assert (again.level, again.withheld) == (2, "")
    other = decide(Misbehaviour("unrequested_changes", (1, 2), evidence=banned), spoken, steps)
    assert (other.level, other.withheld) == (2, "")


EDIT = call("edit_file", "The file has been updated.", path="a.py", old_string="one", new_string="two")
TESTS = call("bash", "3 passed in 0.1s", command="pytest -q")
LIST = call("bash", "a.py\nb.py", command="ls src")
THINK = call("think", "", thought="Perhaps a.py says more.")
LOST = call("read_file", "Error: File does not exist.", error=True, file_path="nowhere.py")
FULL = call(
    "edit_file", "Error: File has not been read yet. Read it first before writing to it.", error=True, path="a.py"
)


@pytest.mark.parametrize(
    ("behind", "withheld"),
    [
        ([], ""),
        ([EDIT], "stale"),
        ([TESTS], "stale"),
        ([LIST], "stale"),
        ([call(answer="one = 2", file_path="a.py")], "stale"),
        ([EDIT, call(answer="two = 1", file_path="a.py")], "stale"),
        ([FULL, read(), EDIT], "stale"),
        ([LIST, read()], ""),
        ([THINK], ""),
        ([LOST], ""),
        ([FULL], ""),
    ],
)
def test_no_firmer_word_is_said_to_an_agent_that_has_tried_something_else_since(behind, withheld) -> None:
    spoken = noted((), LOOP, 1, 3)
    again = looping(1, 2, 3, 4).misbehaviours[0]
    decision = decide(again, spoken, _behind(read(), *behind))
    assert (decision.level, decision.withheld) == (2, withheld)


def test_an_answer_that_always_differs_is_no_change() -> None:
    steps = [asked(), *(call("poll", f"{number} of 90 are done", job="7") for number in range(6))]
    result = looping(1, 2, 3, 4, of="poll(job='7')").misbehaviours[0]
    assert decide(result, noted((), looping(1, 2, 3, of="poll(job='7')").misbehaviours[0], 1, 3), steps).level == 2
    assert not is_over(result, steps)


@pytest.mark.parametrize("behind", [[EDIT], [EDIT, LIST, TESTS], [call(answer="one = 2", file_path="a.py")]])
def test_what_comes_back_after_something_changed_is_a_first_word_again(behind: list[Step]) -> None:
    last = 3 + len(behind)
    result = looping(1, 2, 3, last + 1, last + 2, last + 3).misbehaviours[0]
    decision = decide(result, noted((), LOOP, 2, 3), _behind(*behind, *[call(answer="one = 3", file_path="a.py")] * 3))
    assert (decision.level, decision.withheld) == (1, "")


def test_an_agent_whose_call_failed_again_and_that_does_what_the_error_asks_for_is_let_be() -> None:
    again = Misbehaviour("tool_call_failure", (1, 2, 3, 4), evidence=FAILING.evidence)
    spoken = noted((), FAILING, 1, 3)
    steps = [asked(), *[FAILED] * 4]
    assert decide(again, spoken, steps).withheld == ""
    assert decide(again, spoken, [*steps, read("a")]).withheld == "stale"


@pytest.mark.parametrize(
    ("command", "withheld"),
    [
        ("git checkout -- src/config.yaml", "stale"),
        ("git reset --hard HEAD", "stale"),
        ("git stash", "stale"),
        ("git checkout -- src/other.py", ""),
        ("git status", ""),
    ],
)
def test_nothing_is_said_of_a_change_that_is_taken_back(command: str, withheld: str) -> None:
    change = Misbehaviour("unrequested_changes", (1, 3), evidence={"constraint": "Do not.", "changed": "config.yaml"})
    steps = [asked(), call("edit", path="config.yaml"), read(), call("write", path="config.yaml"), read()]
    assert decide(change, (), [*steps, call("bash", "", command=command)]).withheld == withheld
