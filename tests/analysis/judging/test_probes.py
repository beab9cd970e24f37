"""What changes do to a judge: each probe against its twins, adjusted for all, silence and chance told apart."""

import json
from collections.abc import Mapping

import pytest

from misstep_analysis.gold import BenchmarkItem, GoldLabel
from misstep_analysis.judging.probes import (
    NO_GOLD,
    NO_PAIR,
    Probes,
    flipped_table,
    probed_accuracy_table,
    probed_judge,
    probes_document,
    probes_finding,
    probes_table,
)
from misstep_analysis.stats.clusters.clustered_pairs import clustered_paired_difference, sign_flip_mcnemar
from misstep_analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p, paired_score_interval
from misstep_harness.verdict import Verdict

ASKED = {"longer": "it is longer", "expert": "an expert wrote it", "json": "JSON on one line"}
YES, NO = "yes", "no"


def made(labels: Mapping[str, list[str | None]], gold: list[GoldLabel] = [], per_run: int = 1) -> Probes:  # noqa: B006
    """The probes of a judge with these labels of each version of the items 0, 1, …; `copy` and `plain` are versions."""
    items, verdicts = [], []
    for name, given in labels.items():
        role = name if name in ("plain", "copy") else "changed"
        for place, label in enumerate(given):
            about = {"role": role, "twin": f"{place}plain", "probe": name}
            items.append(BenchmarkItem(f"{place}{name}", extra={"cluster": place // per_run, "change": about}))
            status = "refused" if label is None else "answered"
            verdicts.append(Verdict(f"{place}{name}", "strict", label, status, model="small-1"))
    return probed_judge(items, verdicts, gold, YES, ASKED)


PLAIN: list[str | None] = [YES] * 6 + [NO] * 14
LABELS = {"plain": PLAIN, "copy": [NO, *PLAIN[1:]], "longer": [NO, *PLAIN[1:11], *[YES] * 9], "expert": PLAIN}


def test_a_probe_is_tested_as_two_judges_on_the_same_items_and_adjusted_for_all_probes() -> None:
    longer, expert = made(LABELS).probes
    table = PairedTable(5, 9, 1, 5)
    assert (longer.to_label, longer.from_label, longer.flips) == (9, 1, 10)
    assert longer.directions == {"yes → no": 1, "no → yes": 9}
    assert longer.change == paired_score_interval(table)
    assert longer.p_value == mcnemar_mid_p(table).p_value
    assert longer.p_adjusted == 2 * mcnemar_mid_p(table).p_value
    assert (expert.flips, expert.change.value, expert.p_adjusted, expert.change.reason) == (0, 0.0, 1.0, "")


def test_items_of_one_run_go_either_way_together() -> None:
    longer = made(LABELS, per_run=4).probes[0]
    differences = [-1, 0, 1, 4, 4]
    assert longer.p_value == sign_flip_mcnemar(differences).p_value
    assert longer.change.low == clustered_paired_difference(differences, [4] * 5).low


def test_what_flips_by_chance_is_the_control_and_no_test() -> None:
    result = made(LABELS)
    assert (result.control.flips, result.control.p_adjusted) == (1, None)
    assert result.without_items == ("json",)
    notes = " ".join(probes_table(result, "made up").notes)
    assert "No item could be changed by json." in notes


def test_silence_when_changed_is_counted_and_is_no_flip() -> None:
    result = made(LABELS | {"expert": [None] * 20})
    expert = result.probes[1]
    assert (expert.n, expert.silent, expert.flips) == (0, 20, 0)
    assert (expert.change.value, expert.change.reason, expert.p_adjusted) == (None, NO_PAIR, None)
    assert result.probes[0].p_adjusted == result.probes[0].p_value
    left_out = "Left out because the item or its twin has no answer, which is not a flip: expert 20 of 20, 20 of them"
    assert any(note.startswith(left_out) for note in probes_table(result, "made up").notes)


def test_the_accuracy_is_compared_where_there_are_gold_labels() -> None:
    gold = [GoldLabel(f"{place}{name}", "ann", str(PLAIN[place])) for place in range(20) for name in LABELS]
    result = made(LABELS, gold)
    longer = result.probes[0]
    assert (longer.right_before, longer.right_changed, longer.accuracy.value) == (20, 10, -0.5)
    assert probed_accuracy_table(result, "made up").finding.startswith(
        "longer lowers the accuracy most, by −50.0 pp (95%"
    )
    assert made(LABELS).probes[0].accuracy.reason == NO_GOLD


def test_the_first_sentence_names_what_is_shown_and_else_what_the_intervals_leave_open() -> None:
    assert probes_finding(made(LABELS)).startswith(
        "1 of 2 probes changes how often strict with small-1 says “yes”: longer by +40.0 pp (95% interval"
    )
    nothing = probes_finding(made(LABELS | {"longer": [NO, *PLAIN[1:]]}))
    assert nothing.startswith(
        "None of 2 probes is shown to change how often strict with small-1 says “yes”. The interval"
    )
    assert "is that of longer: −5.0 pp" in nothing
    assert probes_finding(made({"plain": PLAIN})) == f"Nothing can be said of strict with small-1: {NO_PAIR}."


def test_table_document_and_list_hold_the_same_flips() -> None:
    result = made(LABELS)
    document = json.loads(probes_document(result))
    assert document["probes"][0]["flips"] == len(document["flipped"]) == len(flipped_table(result, "").rows) == 10
    assert document["flipped"][0] == {"item": "0longer", "probe": "longer", "plain": "yes", "changed": "no"}
    rows = [row for row in probes_table(result, "").rows if row.quantity == "Labels that flip"]
    assert [row.value for row in rows] == pytest.approx([0.5, 0.0, 0.05])
