"""Trajectories to verdicts and sessions: counted by pattern, ids made unique in order."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from misstep_harness.journal.classified import Judged, Names, VerdictMerger, judge, summarise
from misstep_harness.session import Session
from misstep_harness.trajectory import Skipped, Source, Trajectory, Unreadable
from misstep_harness.verdict import Verdict


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
    assert sum(length for _, length, _ in judged.items) == len(judged.lines)
    assert sum(length for _, _, length in judged.items) == len(judged.sessions)
    assert _judged(_trajectory("a", "yn"), keep_lines=False).lines == b""


def test_a_taken_id_gets_the_first_free_suffix_in_verdicts_sessions_and_findings() -> None:
    merger = VerdictMerger()
    first, _ = merger.add(_judged(_trajectory("a", "nn"), _trajectory("a~2", "nn")))
    second, entry = merger.add(_judged(_trajectory("b", "nn"), _trajectory("a", "yn"), _trajectory("a", "ny")))
    assert _items(first.lines + second.lines)[::2] == ["a", "a~2", "b", "a~3", "a~4"]
    sessions = msgspec.json.Decoder(Session).decode_lines(first.sessions + second.sessions)
    assert [session.item for session in sessions] == ["a", "a~2", "b", "a~3", "a~4"]
    assert entry.renamed == 2
    assert [finding.item for finding in entry.findings] == ["a~3", "a~4"]


def test_a_flagged_trajectory_is_kept_to_be_shown_with_its_evidence() -> None:
    things = [_trajectory("a", "yn"), _trajectory("b", "nn")]
    judged = judge(things, _classify, keep_lines=True, show=lambda one, steps: f"{one.id} {sorted(steps)}")
    shown = [one.shown for one in msgspec.json.Decoder(Session).decode_lines(judged.sessions)]
    assert shown == ["a [1]", ""]


def test_runs_of_sub_agents_are_counted_apart() -> None:
    started = structs.replace(_trajectory("b", "yn"), parent="a")
    taken_up_again = structs.replace(_trajectory("c", "yn"), parent="a", extra={"replayed_lines": []})
    judged = _judged(_trajectory("a", "nn"), started, taken_up_again)
    assert (judged.patterns, judged.sub_agents) == ({("no", "no"): 1, ("yes", "no"): 1}, {("yes", "no"): 1})


@given(st.lists(st.sampled_from(["a", "b", "a~2", "a~2~2", "b~3"]), max_size=12), st.integers(0, 12))
def test_names_are_unique_and_the_same_when_taken_up_from_any_point(wanted: list[str], point: int) -> None:
    names = Names()
    given_names = [names.give(name) for name in wanted]
    assert len(set(given_names)) == len(wanted)
    again = Names(given_names[:point])
    assert [again.give(name) for name in wanted[point:]] == given_names[point:]


@given(st.lists(st.sampled_from(["yy", "yn", "ny", "nn", "n?", "??"]), max_size=20), st.integers(1, 7))
def test_the_summary_does_not_depend_on_where_the_inputs_are_cut(tasks: list[str], size: int) -> None:
    things = [_trajectory(str(number % 5), task) for number, task in enumerate(tasks)]

    def summed(length: int) -> object:
        merger = VerdictMerger()
        cut = [things[start : start + length] for start in range(0, len(things), length)]
        return summarise(merger.add(_judged(*part))[1] for part in cut)

    assert summed(size) == summed(len(things) + 1)
