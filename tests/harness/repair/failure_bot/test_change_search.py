"""A search blames the change with which today's failure began, or nobody."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest

from misstep_harness.repair.failure_bot import change_search
from misstep_harness.repair.failure_bot.change_search import STEADY, Bisection, Likeliest, Outcome, Sight, find_change
from misstep_harness.repair.failure_bot.triage import note_of
from misstep_harness.workspace.repository import Commit


def made(number: int, parents: tuple[str, ...], *, is_cut: bool = False) -> Commit:
    return Commit(f"{number:040d}", parents, "Ann", "a@b", datetime(2026, 1, 1, tzinfo=UTC), "s", is_cut)


HISTORY = [made(number, (f"{number - 1:040d}",)) for number in range(1, 33)]
FAILED: list[Outcome] = ["failed"] * 7


def broken_since(place: int, before: Sight = "passed") -> Callable[[str], Sight]:
    return lambda commit: "failed" if int(commit) > place else before


def test_the_first_commit_that_fails_is_blamed_and_each_run_is_told() -> None:
    chances: list[Likeliest | None] = []
    answer = find_change(HISTORY, broken_since(20), at_newest=FAILED, on_run=lambda _, __, sure: chances.append(sure))
    assert (answer.change, answer.decided) == (HISTORY[20], True)
    assert 0.95 <= answer.posterior == [sure for _, sure in filter(None, chances)][-1]
    assert answer.runs == len(chances) <= 12 + 8


def test_runs_at_the_newest_commit_are_evidence_and_are_not_counted() -> None:
    answer = find_change(HISTORY, broken_since(20), at_newest=["failed"], prior=STEADY)
    assert (answer.change, answer.runs) == (HISTORY[20], 5 + 3 + 6)  # steps that double, halves, six later commits


ROOT, CUT = made(0, ()), made(0, (), is_cut=True)


@pytest.mark.parametrize(
    ("history", "run", "why"),
    [
        (HISTORY, broken_since(-1), "in the 32 commits that were searched"),
        ([ROOT, *HISTORY], broken_since(-1), "in the history"),  # not even by the first commit of all
        ([CUT, *HISTORY], broken_since(-1), "git fetch --unshallow"),
        (HISTORY, broken_since(9, "absent"), f"failed so since {HISTORY[9].short}"),  # a change brought it, failing
        (HISTORY, broken_since(9, "other"), f"failed so since {HISTORY[9].short}"),
    ],
)
def test_a_test_that_never_passed_has_no_change_to_blame(history, run, why) -> None:
    answer = find_change(history, run, at_newest=FAILED)
    assert (answer.decided, answer.change) == (True, None)
    note = note_of(answer, history, "", {})
    assert note.startswith("no change is to blame: the test never passed")
    assert why in note


def test_commits_that_cannot_be_run_are_answers_together() -> None:
    def run(commit: str) -> Outcome:
        return "undecided" if 10 <= int(commit) <= 12 else broken_since(11)(commit)

    answer = find_change(HISTORY, run, at_newest=FAILED)
    assert (answer.changes, answer.change) == (tuple(HISTORY[9:13]), None)


def test_a_search_that_uses_up_its_runs_blames_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_search, "MOST_RUNS", 3)
    answer = find_change(HISTORY, broken_since(20), at_newest=["failed"])
    assert (answer.decided, answer.changes, answer.runs) == (False, (), 3)


def test_a_suspected_change_is_affirmed_in_few_runs() -> None:
    asked: set[str] = set()

    def run(commit: str) -> Outcome:
        asked.add(commit)
        return broken_since(20)(commit)

    answer = find_change(HISTORY, run, at_newest=FAILED, suspected={HISTORY[20].id: 50.0})
    assert answer.change == HISTORY[20]
    assert asked <= {HISTORY[19].id, HISTORY[20].id, HISTORY[-2].id}  # the parent comes first


def seen(sights: str, history: Sequence[Commit] = HISTORY) -> Callable[[str], Sight]:
    """What each commit shows: `F` fails as today, `o` otherwise, `-` has no test, `?` cannot be run."""
    names: dict[str, Sight] = {".": "passed", "F": "failed", "o": "other", "-": "absent", "?": "undecided"}
    of = {commit.id: names[sight] for commit, sight in zip(history, sights, strict=False)}
    return lambda commit: of[commit]


def answered(sights: str) -> Bisection:
    return find_change(HISTORY[: len(sights)], seen(sights), at_newest=FAILED)


@pytest.mark.parametrize(
    "sights",
    [
        "...FFF...FFF",
        "..F.F.F.FF",  # a revert of a revert of a revert
        ".FFFFFFFFFFF.F",  # mended in the parent alone
        "..FFFF.FFFFFFF",  # mended for one commit, long ago
        "...FFF???..FFF",
        "...FFF---..FFF",  # the test was away for a while
        "-..FFFFF..F",
    ],
)
def test_a_fault_that_returned_is_blamed_on_the_change_with_which_it_returned(sights: str) -> None:
    returned = max(sights.rfind(".F"), 0) + 1
    assert answered(sights).change == HISTORY[returned]


@pytest.mark.parametrize(
    ("sights", "blamed", "earlier"),
    [
        ("....oooFFF", 7, [4]),
        ("....ooFoFF", 8, [4]),
        ("....FFooFF", 4, []),  # it began as it fails today, and failed otherwise between
        ("..o..oFFF", 6, [5]),
        ("..ooo.FFF", 6, []),
    ],
)
def test_another_message_is_another_failure_and_its_change_is_named_beside(sights, blamed, earlier) -> None:
    answer = answered(sights)
    assert (answer.change, list(answer.earlier)) == (HISTORY[blamed], [HISTORY[place] for place in earlier])
    note = note_of(answer, HISTORY, "assert 18 == 12", {HISTORY[4].id: "assert 17 == 12"})
    assert ("`assert 17 == 12` there, `assert 18 == 12` today" in note) == (earlier == [4])


def test_an_answer_says_what_its_posterior_assumes_and_how_many_later_commits_were_run() -> None:
    answer = answered("..........FFFFFFFFFFFFFFFFFFFF")
    note = note_of(answer, HISTORY, "", {})
    assert (
        f"a single change from passing to this failure after {HISTORY[9].short}, the last commit that was seen" in note
    )
    count, run = answer.later
    assert count == 19
    assert 8 <= run < count
    assert f"Of 19 later commits {run} were run." in note


def test_one_pass_of_a_flaky_test_after_the_change_does_not_move_the_blame() -> None:
    fails = broken_since(10)
    chance = {HISTORY[20].id: 1}

    def run(commit: str) -> Sight:
        return "passed" if chance.pop(commit, 0) else fails(commit)

    answer = find_change(HISTORY, run, at_newest=["failed"] * 6 + ["passed"])
    assert answer.change == HISTORY[10]


LEFT, BROKE, AFTER = (Commit(f"side{n}", (), "Cleo", "c@d", datetime(2026, 1, 1, tzinfo=UTC), "s") for n in range(3))


@pytest.mark.parametrize(
    ("side", "blamed"),
    [
        (".FF", BROKE),
        ("...", HISTORY[6]),  # both sides pass alone: the merge broke it
        ("FFF", HISTORY[6]),  # where the branch left it fails as well: nothing is told
        (".oF", AFTER),
    ],
)
def test_within_a_merge_the_commit_of_the_side_branch_is_blamed_that_fails_by_itself(side: str, blamed: Commit) -> None:
    branch = [LEFT, BROKE, AFTER]
    run = seen("......FFFF" + side, [*HISTORY[:10], *branch])
    answer = find_change(
        HISTORY[:10], run, at_newest=FAILED, side_branch=lambda commit: branch if commit == HISTORY[6] else ()
    )
    assert answer.change == blamed
