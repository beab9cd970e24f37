"""Trajectories to verdicts: counted by pattern, ids made unique in order, examples kept."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from harness.journal.classified import EXAMPLES, Judged, Names, VerdictMerger, judge, summarise
from harness.trajectory import Skipped, Source, Trajectory, Unreadable
from harness.verdict import Verdict


def _trajectory(name: str, task: str = "") -> Trajectory:
    return Trajectory(name, Source("made_up", "runs.jsonl", 3), task)


def _classify(trajectory: Trajectory) -> list[Verdict]:
    """The task says the labels, a letter a category: y, n or anything else for no answer."""
    labels = {"y": "yes", "n": "no"}
    return [
        Verdict(trajectory.id, category, labels[letter], steps=(1,), rationale="said so")
        if letter in labels
        else Verdict(trajectory.id, category, None, "abstained")
        for category, letter in zip(("first", "second"), trajectory.task, strict=True)
    ]


def _judged(*things: Trajectory | Unreadable | Skipped, keep_lines: bool = True) -> Judged:
    return judge(things, _classify, keep_lines=keep_lines)


def _items(lines: bytes) -> list[str]:
    return [verdict.item for verdict in msgspec.json.Decoder(Verdict).decode_lines(lines)]


def test_trajectories_labelled_alike_are_counted_together_and_no_answer_is_none() -> None:
    judged = _judged(_trajectory("a", "yn"), _trajectory("b", "n?"), _trajectory("c", "yn"))
    assert judged.patterns == {("yes", "no"): 2, ("no", None): 1}


def test_what_is_no_trajectory_is_kept_apart() -> None:
    broken, other = Unreadable("runs.jsonl", 4, "no JSON"), Skipped("notes.txt", "no known format")
    judged = _judged(_trajectory("a", "nn"), broken, other)
    assert (judged.unreadable, judged.skipped, len(judged.items)) == ([broken], [other], 1)


def test_the_lines_are_the_verdicts_in_order_and_each_length_is_of_its_trajectory() -> None:
    judged = _judged(_trajectory("a", "yn"), _trajectory("bb", "nn"))
    assert _items(judged.lines) == ["a", "a", "bb", "bb"]
    assert sum(length for _, length in judged.items) == len(judged.lines)
    assert _judged(_trajectory("a", "yn"), keep_lines=False).lines == b""


def test_a_taken_id_gets_the_first_free_suffix_in_lines_and_examples() -> None:
    merger = VerdictMerger()
    first, _ = merger.add(_judged(_trajectory("a", "nn"), _trajectory("a~2", "nn")))
    second, entry = merger.add(_judged(_trajectory("b", "nn"), _trajectory("a", "yn"), _trajectory("a", "ny")))
    assert _items(first + second)[::2] == ["a", "a~2", "b", "a~3", "a~4"]
    assert entry.renamed == 2
    assert [example.item for example in entry.examples] == ["a~3", "a~4"]


@given(st.lists(st.sampled_from(["a", "b", "a~2", "a~2~2", "b~3"]), max_size=12), st.integers(0, 12))
def test_names_are_unique_and_the_same_when_taken_up_from_any_point(wanted: list[str], point: int) -> None:
    names = Names()
    given_names = [names.give(name) for name in wanted]
    assert len(set(given_names)) == len(wanted)
    again = Names(given_names[:point])
    assert [again.give(name) for name in wanted[point:]] == given_names[point:]


def test_no_more_examples_are_noted_than_are_shown_also_over_stretches_and_after_resuming() -> None:
    stretches = [_judged(*(_trajectory(f"{part}-{place}", "yn") for place in range(2))) for part in range(4)]
    merger = VerdictMerger()
    entries = [merger.add(stretch)[1] for stretch in stretches[:2]]
    resumed = VerdictMerger(entries)
    entries += [resumed.add(stretch)[1] for stretch in stretches[2:]]
    shown = [example.item for example in summarise(entries).examples]
    assert shown == ["0-0", "0-1", "1-0"]
    assert len(shown) == EXAMPLES


@given(st.lists(st.sampled_from(["yy", "yn", "ny", "nn", "n?", "??"]), max_size=20), st.integers(1, 7))
def test_the_summary_does_not_depend_on_where_the_inputs_are_cut(tasks: list[str], size: int) -> None:
    things = [_trajectory(str(number % 5), task) for number, task in enumerate(tasks)]

    def summed(length: int) -> object:
        merger = VerdictMerger()
        cut = [things[start : start + length] for start in range(0, len(things), length)]
        return summarise(merger.add(_judged(*part))[1] for part in cut)

    assert summed(size) == summed(len(things) + 1)
