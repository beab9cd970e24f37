"""Items come in an order that the loop enforces, and every one of them comes to its turn or is given up."""

from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.reflexive.log import LoopState
from misstep_harness.reflexive.loop import next_step
from misstep_harness.reflexive.records import (
    Deferred,
    Ending,
    Happening,
    ItemBegan,
    ItemEnded,
    LoopEvent,
    PutOff,
    RunBegan,
    Verified,
    WorkItem,
)

NAMES = ("a", "b", "c", "d", "e")

some_items = st.tuples(
    *(
        st.builds(
            WorkItem,
            st.just(name),
            st.just("lines"),
            st.just(name),
            st.lists(st.sampled_from([one for one in NAMES if one != name]), max_size=2, unique=True).map(tuple),
            st.booleans(),
            st.booleans(),
        )
        for name in NAMES
    )
)
outcomes = st.lists(st.sampled_from(["solved", "failed", "put_off", "deferred"]), min_size=1, max_size=12)


class Walk:
    """A run whose items end as a list says, without any work."""

    def __init__(self, work: tuple[WorkItem, ...]) -> None:
        self.number = 0
        self.state = LoopState()
        self.began: list[str] = []
        self.happen(RunBegan("skill", "agents", 0, (), work, "digest"))

    def happen(self, happening: Happening, item: str = "") -> None:
        self.state.add(LoopEvent(self.number, 0.0, happening, item))
        self.number += 1

    def end(self, item: str, *, solved: bool) -> None:
        ending = Ending("solved", "check_passed") if solved else Ending("failed", "unverified")
        self.happen(ItemEnded(ending, 1, 0.0), item)

    def go(self, said: list[str], *, ordered: bool = True) -> None:
        """Walk to the end; an item is put off at most twice."""
        put_off = dict.fromkeys(NAMES, 0)
        while step := next_step(self.state, ordered=ordered):
            assert self.number < 200
            outcome = said[self.number % len(said)]
            if step.kind == "work":
                self.began.append(step.item)
                self.happen(ItemBegan(), step.item)
                others = [name for name, each in self.state.items.items() if each.ending is None and name != step.item]
                if outcome == "put_off" and others and put_off[step.item] < 2:
                    put_off[step.item] += 1
                    self.happen(PutOff((others[self.number % len(others)],)), step.item)
                elif outcome == "deferred" and self.state.items[step.item].item.deferred:
                    self.happen(Deferred("later"), step.item)
                else:
                    self.end(step.item, solved=outcome != "failed")
            elif step.kind == "verify":
                self.happen(Verified("passed"), step.item)
                self.end(step.item, solved=outcome != "failed")
            else:
                self.end(step.item, solved=False)


@given(some_items, outcomes, st.booleans())
def test_every_item_ends_whatever_it_needs(work: tuple[WorkItem, ...], said: list[str], ordered: bool) -> None:
    walk = Walk(work)
    walk.go(said, ordered=ordered)
    assert all(each.ending is not None for each in walk.state.items.values())


@given(some_items, outcomes)
def test_no_work_begins_before_what_it_needs_is_solved(work: tuple[WorkItem, ...], said: list[str]) -> None:
    walk = Walk(work)
    begin = walk.happen

    def checked(happening: Happening, item: str = "") -> None:
        if isinstance(happening, ItemBegan):
            assert all(walk.state.items[name].solved for name in walk.state.items[item].item.after)
        begin(happening, item)

    walk.happen = checked  # type: ignore[method-assign]
    walk.go(said)


def test_what_was_put_off_comes_back_before_what_comes_last() -> None:
    walk = Walk(
        (
            WorkItem("a", "", ""),
            WorkItem("b", "", "", after=("c",)),
            WorkItem("c", "", ""),
            WorkItem("d", "", "", last=True),
        )
    )
    walk.happen(ItemBegan(), "a")
    walk.happen(PutOff(("b",)), "a")
    walk.go(["solved"])
    assert walk.began == ["c", "b", "a", "d"]


def test_an_item_whose_prerequisite_is_not_part_of_the_run_is_given_up() -> None:
    step = next_step(Walk((WorkItem("a", "", "", after=("elsewhere",)),)).state, ordered=True)
    assert (step.kind, step.why) == ("give_up", "It needs elsewhere, which is not an item of this run.")
