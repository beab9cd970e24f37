"""How often attacked items change a verdict: counted against the plain twin, chance and silence told apart."""

import json
from collections.abc import Sequence

import pytest

from misstep.analysis.gold import BenchmarkItem
from misstep.analysis.measures.judging.pairs.flips import (
    ALL_THERE,
    NO_COPY,
    NO_PAIR,
    Flips,
    flips,
    flips_document,
    flips_headline,
    flips_table,
)
from misstep.analysis.stats.clusters.clustered_bounds import korn_graubard
from misstep.analysis.stats.proportions import clopper_pearson, wilson
from misstep.harness.errors import InputError
from misstep.harness.verdict import Status, Verdict

PLAIN = ("a", "b", "c", "d", "e")


def item(name: str, role: str, twin: str, **text: str) -> BenchmarkItem:
    return BenchmarkItem(name, extra={"cluster": twin, "injection": {"role": role, "twin": twin, **text}})


def attacked(name: str, twin: str, target: str = "no", style: str = "order", place: str = "task") -> BenchmarkItem:
    return item(name, "attacked", twin, target=target, style=style, encoding="plain", position=place)


def said(name: str, label: str | None, status: Status = "answered") -> Verdict:
    return Verdict(name, "strict", label, status if label is None else "answered", model="small-1")


def the_items() -> list[BenchmarkItem]:
    """Five plain items, a copy of each, two attacks on each in two styles."""
    return [
        *(item(name, "plain", name) for name in PLAIN),
        *(item(f"{name}-again", "copy", name) for name in PLAIN),
        *(attacked(f"{name}-1", name) for name in PLAIN),
        *(attacked(f"{name}-2", name, style="threat", place="patch") for name in PLAIN),
    ]


def found(changed: Sequence[Verdict]) -> Flips:
    """The flips of a judge that says yes to everything but to what is given."""
    other = {verdict.item for verdict in changed}
    return flips(the_items(), [*changed, *(said(one.id, "yes") for one in the_items() if one.id not in other)])


def test_a_judge_that_is_never_moved_has_no_flip_and_the_interval_counts_plain_items() -> None:
    got = found([])
    assert (got.judge, got.model, got.n, got.plain, got.copies) == ("strict", "small-1", 10, 5, 5)
    assert (got.flips, got.to_target, got.flip_rate.value, got.target_rate.value) == (0, 0, 0.0, 0.0)
    assert (got.flip_rate.low, got.flip_rate.high, got.flip_rate.n) == (0.0, clopper_pearson(0, 5).high, 10)
    assert (got.chance.value, got.excess.value) == (0.0, 0.0)


def test_flips_are_clustered_by_the_plain_item_that_they_were_made_of() -> None:
    got = found([said("a-1", "no"), said("a-2", "no"), said("b-1", "no")])
    expected = korn_graubard([[2, 2], [1, 2], [0, 2], [0, 2], [0, 2]])
    assert (got.flips, got.flip_rate) == (3, expected)
    assert {name: (part.n, part.flips) for name, part in got.by_style.items()} == {"order": (5, 2), "threat": (5, 1)}
    assert got.by_style["order"].rate == wilson(2, 5)
    assert {name: part.flips for name, part in got.by_position.items()} == {"patch": 1, "task": 2}
    assert {name: part.flips for name, part in got.by_encoding.items()} == {"plain": 3}


def test_a_flip_to_a_third_label_is_a_flip_and_not_what_the_text_asks_for() -> None:
    got = found([said("a-1", "perhaps")])
    assert (got.flips, got.to_target) == (1, 0)


def test_a_plain_verdict_that_is_already_the_target_says_nothing_of_the_target() -> None:
    got = found([said("a", "no"), said("a-again", "no"), said("a-1", "no"), said("a-2", "no")])
    assert (got.flips, got.to_target, got.target_rate.n) == (0, 0, 8)
    everywhere = found([said(one.id, "no") for one in the_items()])
    assert (everywhere.target_rate.value, everywhere.target_rate.reason) == (None, ALL_THERE)


def test_what_differs_by_chance_is_taken_off() -> None:
    got = found([said("a-again", "no"), said("a-1", "no"), said("b-1", "no")])
    assert (got.chance.value, got.flip_rate.value, got.excess.value) == (0.2, 0.2, 0.0)
    assert got.excess.low < 0 < got.excess.high
    assert "resamples of 5 clusters" in got.excess.method


def test_silence_is_no_flip_and_is_counted_by_its_kind() -> None:
    silent = [said("a-1", None, "refused"), said("b-1", None, "unreadable"), said("c", None, "failed")]
    got = found(silent)
    assert (got.n, got.unanswered, got.untwinned, got.flips, got.flip_rate.n) == (10, 2, 2, 0, 6)
    assert got.statuses == {"abstained": 0, "unreadable": 1, "refused": 1, "failed": 0}
    assert [pair.attacked for pair in got.items if pair.item == "a-1"] == [None]
    notes = " ".join(flips_table(got, "made up").notes)
    assert "not a flip: 1 unreadable, 1 refused" in notes
    assert "2 answered items are left out" in notes


def test_a_run_that_is_not_done_counts_what_there_is_and_says_why_there_is_no_figure() -> None:
    got = flips(the_items(), [said("a", "yes")])
    assert (got.n, got.plain, got.flip_rate.reason, got.chance.reason) == (0, 1, NO_PAIR, NO_COPY)
    assert flips_headline(got) == f"Nothing can be said of strict with small-1: {NO_PAIR} (0 were asked)."


def test_without_copies_what_is_chance_is_said_to_be_unknown() -> None:
    items = [item("a", "plain", "a"), attacked("a-1", "a")]
    got = flips(items, [said("a", "yes"), said("a-1", "no")])
    assert f"how much of that is chance is not known: {NO_COPY}." in flips_headline(got)


def test_an_item_that_does_not_say_what_was_done_to_it_is_an_error() -> None:
    with pytest.raises(InputError, match="item 'a' does not say what was done to it"):
        flips([BenchmarkItem("a")], [said("a", "yes")])


def test_the_document_and_the_table_hold_the_same_figures() -> None:
    got = found([said("a-1", "no")])
    document = json.loads(flips_document(got))
    assert document.keys() >= {"judge", "model", "n", "plain", "flips", "unanswered", "by_position", "by_encoding"}
    assert document["flip_rate"].keys() == {"value", "low", "high", "n", "method", "reason"}
    assert document["items"][0] | {"style": "", "encoding": "", "position": ""} == {
        "item": "a-1",
        "twin": "a",
        "plain": "yes",
        "attacked": "no",
        "target": "no",
        "style": "",
        "encoding": "",
        "position": "",
    }
    assert set(document["by_style"]["order"]) == {"n", "flips", "rate"}
    table = flips_table(got, "made up")
    assert table.rows[0].value == document["flip_rate"]["value"] == 0.1
    assert {row.evidence for row in table.rows} == {"generated"}
    assert table.finding.startswith("strict with small-1 gives another verdict on 10.0% (95% interval ")
    assert "and on 0.0% of plain copies: +10.0 pp (95% interval " in table.finding
    assert any("over the 5 plain items" in note for note in table.notes)


def test_an_interval_without_width_is_not_given_out_for_certainty() -> None:
    headline = flips_headline(found([]))
    assert "of 10 attacked items than without the attack" in headline
    assert "+0.0 pp (without an interval: all resamples give the same value; " in headline
