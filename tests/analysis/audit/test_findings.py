"""Findings: each way of working a figure out is one, in the order of the file, and says what it rests on."""

import pytest
from msgspec import structs

from misstep_analysis.audit.findings import Finding, as_one, headline, is_at_least, merged, paper_findings
from misstep_analysis.audit.overview import (
    all_findings,
    findings_table,
    overview_table,
    unchecked_table,
    underdetermined_table,
)
from misstep_analysis.audit.tables import checked_figure, checked_rows
from misstep_analysis.published import Derivation, Figure, Paper, load_paper, published_papers
from misstep_analysis.stats.printed.audit import denominators_that_print
from misstep_analysis.tables import FAILED


def figure(id: str, printed: str, **more: object) -> Figure:  # noqa: A002
    more = {"place": f"Table {id}", "row": "Runs", "column": id, "unit": "count"} | more
    return Figure(id=id, printed=printed, **more)  # type: ignore[arg-type]


SHARE = figure(
    "share",
    "28%",
    unit="share",
    check="percentage",
    inputs={"count": "solved", "n": "n"},
    also=(Derivation("percentage", {"n": "other"}),),
)
PAPER = Paper(
    "made-up",
    "A made-up paper",
    "Nobody",
    (
        figure("n", "40"),
        figure("other", "41", place="worked out: a run more", note="not printed"),
        figure("solved", "12", note="of the first day"),
        SHARE,
        figure("again", "12", check="same", inputs={"other": "solved"}, note="of the first day"),
    ),
)


def test_each_way_is_a_finding_and_a_share_is_computed_in_percent() -> None:
    result = paper_findings(PAPER, "made-up")
    assert [(one.row, one.check, one.status, one.computed) for one in result] == [
        ("share", "percentage", "differs", 30.0),
        ("share", "percentage", "underdetermined", None),
        ("again", "same", "reproduced", 12.0),
    ]


def test_an_input_that_is_not_printed_says_where_it_is_from() -> None:
    result = paper_findings(PAPER, "made-up")
    assert [one.remark for one in result] == ["", "41 is worked out: a run more.", ""]
    assert "41 is worked out: a run more." in result[1].explanation


def made_up(row: str, status: str, sentence: str = "1 is not 2.", source: str = "a") -> Finding:
    return Finding(source, row, "same", status, "1", None, sentence)  # type: ignore[arg-type]


def test_the_same_of_one_source_is_told_once_and_the_worst_comes_first() -> None:
    results = [made_up("a", "reproduced"), made_up("b", "differs"), made_up("c", "impossible"), made_up("d", "differs")]
    results.append(made_up("e", "differs", source="b"))
    assert [[one.row for one in alike] for alike in merged(results)] == [["c"], ["b", "d"], ["e"], ["a"]]


def test_what_is_impossible_differs_too() -> None:
    ended = [is_at_least(made_up("a", status), "differs") for status in ("impossible", "differs", "underdetermined")]
    assert ended == [True, True, False]
    assert not is_at_least(made_up("a", "differs"), "impossible")


def test_the_headline_counts_the_worst_first() -> None:
    results = [made_up("a", "reproduced"), made_up("b", "impossible"), made_up("c", "reproduced")]
    assert headline(results) == "Of 3 checks, 1 is impossible and 2 are reproduced."


@pytest.mark.parametrize(
    ("source", "row", "status"),
    [
        ("wink", "prevalence.n.text", "differs"),
        ("wink", "recovery.single.overall.rate.abstract", "differs"),
        ("engineering_agent", "production.landed.share.abstract", "differs"),
        ("engineering_agent", "production.landed.share.introduction", "differs"),
        ("engineering_agent", "production.landed.share.conclusion", "differs"),
        ("engineering_agent", "agent.static.solved5", "impossible"),
        ("engineering_agent", "agent.runs.method", "differs"),
        ("engineering_agent", "production.reviewed.share", "differs"),
        ("engineering_agent", "judge.table.unacceptable.precision", "differs"),
        ("engineering_agent", "judge.table.acceptable.recall", "differs"),
        ("reflexive", "blindness.sudo.share", "differs"),
        ("reflexive", "runs.v2.reflections_plateau_analysis", "differs"),
        ("reflexive", "runs.v3.rules_attempted", "differs"),
        ("reflexive", "runs.run6.eviction_retired.share", "differs"),
        ("reflexive", "runs.v3.wall_time_escalated.share", "differs"),
        ("reflexive", "runs.v2.plateau_rate_new_detector_replayed", "differs"),
        ("engineering_agent", "agent.both.iterations.abstract", "differs"),
        ("autotriage", "triage.human.kappa", "differs"),
        ("autotriage", "other.incorrect.taxonomy", "differs"),
        ("autotriage", "triage.codex.sandbox.agreement", "impossible"),  # no number of runs gives all nine
    ],
)
def test_a_contradiction_of_the_four_papers_is_found(source: str, row: str, status: str) -> None:
    assert status in [one.status for one in all_findings() if (one.source, one.row) == (source, row)]


@pytest.mark.parametrize(
    ("source", "row", "sentence"),
    [
        (
            "wink",
            "recovery.single.overall.rate.abstract",
            "90% is a share of misbehaviors that require a single intervention here and of conversations with "
            "single-intervention in Section 1.",
        ),
        (
            "engineering_agent",
            "production.landed.share.abstract",
            "25.5% is a share of generated fixes here and of diffs published in Table V.",
        ),
        (
            "engineering_agent",
            "production.reviewed.share.introduction",
            "80% is a share of AI-generated fixes here and of diffs published in Table V.",
        ),
    ],
)
def test_one_percentage_of_two_unlike_bases_is_said_in_the_papers_words(source: str, row: str, sentence: str) -> None:
    results = [one for one in all_findings() if (one.source, one.row, one.status) == (source, row, "differs")]
    assert sentence in [one.sentence for one in results]


@pytest.mark.parametrize(
    ("source", "row"),
    [
        ("engineering_agent", "production.landed.share.text"),
        ("wink", "recovery.multiple.overall.rate.introduction"),
        ("autotriage", "annotation.fleiss.agreement"),
        ("reflexive", "runs.run3.aggregate_fix_rate"),
    ],
)
def test_what_the_papers_say_alike_is_no_contradiction(source: str, row: str) -> None:
    assert not {one.status for one in all_findings() if (one.source, one.row) == (source, row)} & set(FAILED)


def test_no_number_of_runs_up_to_all_gives_the_nine_shares_of_one_table() -> None:
    paper = load_paper("autotriage")
    one = paper["triage.codex.sandbox.agreement"]
    shares = [one, *(paper[name] for name in one.inputs["beside"])]
    assert shares == [share for share in paper.figure if (share.place, share.column) == ("Table 3", "Agr.")][:9]
    most = int(paper["annotation.n"].number)
    first, *others = (set(denominators_that_print(share.digits, most)) for share in shares)
    assert min(set.intersection(*others)) == paper["triage.n"].number
    assert not first.intersection(*others)
    [status] = [result.status for result in all_findings() if (result.source, result.row) == ("autotriage", one.id)]
    assert status == "impossible"


def test_the_tables_count_what_the_findings_are() -> None:
    result = all_findings()
    assert {one.source for one in result} == set(published_papers())
    counts = [row.value for row in overview_table().rows if row.quantity in FAILED]
    assert sum(map(int, counts)) == sum(one.status in FAILED for one in result)  # type: ignore[arg-type]
    untold = sum(int(row.value) for row in underdetermined_table().rows)  # type: ignore[arg-type]
    assert untold == sum(one.status == "underdetermined" for one in result)
    named = {name for row in underdetermined_table().rows for name in row.figures}  # so that the index counts them
    assert named == {name for one in result if one.status == "underdetermined" for name in one.figures}
    alone = [int(row.value) for row in overview_table().rows if row.quantity == "figures that stand alone"]  # type: ignore[arg-type]
    assert sum(alone) == sum(int(row.value) for row in unchecked_table().rows)  # type: ignore[arg-type]


@pytest.mark.parametrize("status", FAILED)
def test_every_failure_stands_in_its_table_with_its_sentence(status: str) -> None:
    reasons = {row.reason for row in findings_table(all_findings(), status).rows if row.status is not None}  # type: ignore[arg-type]
    sentences = [as_one(alike) for alike in merged(all_findings())]
    assert reasons == {one.explanation for one in sentences if one.status == status}


def test_no_sentence_is_lost_where_findings_are_told_as_one() -> None:
    for alike in merged(all_findings()):
        told = as_one(alike)
        assert all(one.sentence in told.sentence and one.place in told.place for one in alike)


def test_a_paper_and_its_audit_name_a_figure_alike() -> None:
    paper = load_paper("wink")
    figure = paper["recovery.single.overall.rate.abstract"]
    rows = [row for row in findings_table(all_findings(), "differs").rows if figure.named[0] in row.figures]
    assert figure.named == ("wink/recovery.single.overall.rate.abstract",)
    assert [row.evidence for row in rows] == ["published", "recomputed"] * 2
    assert {row.figures for row in checked_rows([checked_figure(paper, figure)])} == {figure.named}
    assert [len(row.figures) for row in rows] == [2, 2, 1, 1], "the digits are those of section 1, the base is not"


def judge_cells(place: str = "Table 2", swapped: int = 4) -> tuple[Figure, ...]:
    """A judge's precision and recall of two classes, of 40, 10, 40 and 30 answers, so many in the other's row."""
    right = [("A", "precision", "0.80"), ("A", "recall", "0.50"), ("B", "precision", "0.43"), ("B", "recall", "0.75")]
    wrong = [*right[2:], *right[:2]]
    cells = {"tp": "40", "fp": "10", "fn": "40", "tn": "30"}
    other = {"tp": "tn", "fp": "fn", "fn": "fp", "tn": "tp"}
    shown = [*wrong[:swapped], *right[swapped:]]
    return (
        *(figure(f"{place}.{name}", count) for name, count in cells.items()),
        *(
            figure(
                f"{place}.{row}.{column}",
                printed,
                place=place,
                row=f"Class {row}",
                column=column,
                unit="coefficient",
                check="precision_recall",
                inputs={name: f"{place}.{name if row == 'A' else other[name]}" for name in cells},
            )
            for (row, column, _), (_, _, printed) in zip(right, shown, strict=True)
        ),
    )


def test_one_swap_of_rows_is_told_as_one_with_each_cell() -> None:
    result = paper_findings(Paper("made-up", "", "", (*judge_cells(), *judge_cells("Table 3", 1))), "made-up")
    assert [one.status for one in result] == ["differs"] * 5 + ["reproduced"] * 3
    of_one_table, alone, *_ = merged(result)
    sentence = as_one(of_one_table)
    assert (sentence.name, sentence.place, sentence.printed) == ("4 figures", "Table 2", "0.43, 0.75, 0.80, 0.50")
    assert sentence.sentence.startswith(
        "Class A, precision: 40 / 50 is 0.80, not 0.43. Class A, recall: 40 / 80 is 0.50, not"
    )
    assert sentence.suggestion == "the rows of the two classes are swapped: then these 4 figures fit"
    assert as_one(alone).name == "Class A, precision"
    table = findings_table(result, "differs")
    assert len(table.rows) == 4
    assert table.finding.endswith("3 told together with another figure of their table.")


def test_cells_are_told_with_the_worst_of_their_table() -> None:
    rows = [made_up("a", "differs", "1."), made_up("b", "impossible", "2."), made_up("c", "differs", "3.", source="b")]
    swapped = "the rows of the two classes are swapped"
    cells = [structs.replace(one, place="Table 2", suggestion=swapped, repair="rows_swapped") for one in rows]
    assert [[one.row for one in alike] for alike in merged(cells)] == [["b", "a"], ["c"]]
    assert len(findings_table(cells, "impossible").rows) == 2
    table = findings_table(cells, "differs")
    assert [row.status for row in table.rows] == [None, "differs"]
    assert table.finding.startswith("2 of 3 checks")
    assert table.finding.endswith("1 told together with another figure of their table.")


def test_a_table_of_one_source_needs_no_heading() -> None:
    table = findings_table(paper_findings(PAPER, "made-up"), "differs")
    assert [(row.group, row.printed, row.value) for row in table.rows] == [("", "28%", "28%"), ("", None, 0.3)]
