"""What the placeholders of a prompt stand for: an item's fields, the steps of its run, all within one budget."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.harness.errors import InputError
from misstep.harness.items import Item
from misstep.harness.judges.context import CHARACTERS_PER_TOKEN, shares
from misstep.harness.judges.judge_file import JudgeSpec
from misstep.harness.judges.placeholders import placeholder_values
from misstep.harness.prompting import parse_prompt
from misstep.harness.trajectory import Source, Step, ToolCall, Trajectory


def judge(*placeholders: str, budget: int = 24_000) -> JudgeSpec:
    text = " ".join(f"{{{name}}}" for name in placeholders)
    written = f"---\nname: p\nversion: 1\nplaceholders: {', '.join(placeholders)}\n---\n{text}\n"
    return JudgeSpec("j", "any", {"a": "", "b": ""}, parse_prompt(written, Path("p.md"), "0"), budget=budget)


def run(n: int, words: int = 3) -> Trajectory:
    steps = tuple(
        Step("agent", "word " * words, reasoning=f"why {k}", calls=(ToolCall("look", {"at": k}),)) for k in range(n)
    )
    return Trajectory("r", Source("made up"), "mend the gate", steps)


def numbers(text: str) -> list[int]:
    """The steps that are shown."""
    return [int(found) for found in re.findall(r"^\[step (\d+)\]", text, re.MULTILINE)]


def test_of_a_recovery_all_before_the_intervention_itself_and_15_steps_after_it_are_shown() -> None:
    values, cut = placeholder_values(judge("before", "intervention", "after"), Item("i", "recovery", step=20), run(60))
    assert {name: numbers(text) for name, text in values.items()} == {
        "before": list(range(20)),
        "intervention": [20],
        "after": list(range(21, 36)),
    }
    assert cut == ""
    assert "why 20" in values["intervention"]
    assert "word word word" in values["intervention"]


@pytest.mark.parametrize(("step", "name"), [(0, "before"), (9, "after")])
def test_an_intervention_at_an_end_of_the_run_has_nothing_on_that_side_and_that_is_said(step: int, name: str) -> None:
    values, _ = placeholder_values(judge("before", "intervention", "after"), Item("i", "recovery", step=step), run(10))
    assert "\n(none)\n" in values[name]


@pytest.mark.parametrize("step", [None, 10, -1])
def test_an_intervention_that_is_no_step_of_the_run_cannot_be_asked_about(step: int | None) -> None:
    with pytest.raises(InputError, match=r"item 'i' has no \{after\}"):
        placeholder_values(judge("before", "intervention", "after"), Item("i", "recovery", step=step), run(10))


def test_a_field_of_the_items_extra_is_shown_where_the_prompt_names_it() -> None:
    item = Item("i", "text", step=0, extra={"mode": "loops", "sizes": [1, "two"]})
    values, _ = placeholder_values(judge("mode", "sizes", "step"), item, None)
    assert "\nloops\n" in values["mode"]
    assert '\n[1,"two"]\n' in values["sizes"]
    assert values["step"] == "0"


@given(st.lists(st.integers(0, 5_000), max_size=6), st.integers(0, 10_000))
def test_texts_share_a_room_so_that_none_gets_more_than_it_has_and_short_ones_are_whole(
    lengths: list[int], room: int
) -> None:
    given_rooms = shares(lengths, room)
    assert sum(given_rooms) <= room
    assert all(given_room <= length for given_room, length in zip(given_rooms, lengths, strict=True))
    if sum(lengths) <= room:
        assert given_rooms == lengths
    elif lengths:
        assert sum(given_rooms) >= room - len(lengths)
        assert all(
            given_room == length
            for given_room, length in zip(given_rooms, lengths, strict=True)
            if length <= room // len(lengths)
        )


@given(
    st.sets(
        st.sampled_from(["task", "text", "patch", "note", "trajectory", "before", "intervention", "after"]), min_size=1
    ),
    st.integers(300, 2_000),
    st.integers(1, 9_000),
    st.integers(5, 80),
)
def test_whatever_a_prompt_asks_for_stays_together_within_the_budget(
    names: set[str], budget: int, length: int, steps: int
) -> None:
    long = "t" * length
    item = Item("i", "triage", step=3, task=long, text=long, patch=long, extra={"note": long})
    values, cut = placeholder_values(judge(*sorted(names), budget=budget), item, run(steps, 8))
    room = budget * CHARACTERS_PER_TOKEN
    assert sum(map(len, values.values())) <= 1.1 * room + 150 * len(names)
    assert bool(cut) == any("left out" in text for text in values.values())
