"""`misstep judge check` as a user runs it: a table in, a sentence first, the same figures as a run of a judge."""

import json
from pathlib import Path

import pytest

from misstep.judge import app
from misstep_harness.errors import InputError, UsageError
from misstep_harness.items import Item
from misstep_harness.verdict import Verdict
from tests.misstep.as_a_user import command_of

ROWS = [("yes", "yes", 0.9)] * 12 + [("yes", "no", 0.4)] * 4 + [("no", "yes", 0.8)] * 6 + [("no", "no", 0.1)] * 18


@pytest.fixture
def table(tmp_path: Path) -> Path:
    lines = [
        f"{row},<b>{row}</b>,{gold},{judge},{score},{gold},{'ab'[row % 2]}"
        for row, (gold, judge, score) in enumerate(ROWS)
    ]
    file = tmp_path / "results.csv"
    file.write_text("\n".join(["id,output,human,judge_a,judge_a_score,judge_b,part", *lines]) + "\n")
    return file


check = command_of(app, "check", raises=True)


def test_the_first_sentence_says_how_often_the_judge_is_right_and_what_the_commoner_label_would_reach(table) -> None:
    first = " ".join(check(table, "--judge", "judge_a").stdout.splitlines()[:2])
    assert first.startswith("judge_a agrees with people on 75.0% of 40 items (59.8% to 85.8%). Always answering “no”")


def test_rates_are_those_of_the_four_cells(table: Path) -> None:
    judge = json.loads(check(table, "--judge", "judge_a", "--json").stdout)["judges"]["judge_a"]
    rates = {name: (judge[name]["value"], judge[name]["n"]) for name in ("true_positive_rate", "true_negative_rate")}
    assert rates == {"true_positive_rate": (12 / 16, 16), "true_negative_rate": (18 / 24, 24)}
    assert judge["accuracy"]["value"] == 30 / 40
    assert judge["reliability"]["overconfidence"]["value"] == pytest.approx(
        (12 * 0.9 + 4 * 0.6 + 6 * 0.8 + 18 * 0.9) / 40 - 0.75
    )


def test_one_stray_label_of_a_judge_leaves_the_direction_of_the_scores_as_it_is(table: Path) -> None:
    table.write_text(table.read_text().replace("0,<b>0</b>,yes,yes,0.9", "0,<b>0</b>,yes,unclear,0.5", 1))
    judge = json.loads(check(table, "--judge", "judge_a", "--json").stdout)["judges"]["judge_a"]
    certainty = (11 * 0.9 + 0.5 + 4 * 0.6 + 6 * 0.8 + 18 * 0.9) / 40
    assert judge["reliability"]["overconfidence"]["value"] == pytest.approx(certainty - 29 / 40)


def test_groups_are_looked_at_one_by_one(table: Path) -> None:
    document = json.loads(check(table, "--judge", "judge_a", "--by", "part", "--json").stdout)
    [field] = document["judges"]["judge_a"]["slices"]
    assert [one["value"] for one in field["slices"]] == ["a", "b"]
    with pytest.raises(UsageError, match="--by id: the column has 40 different values"):
        check(table, "--by", "id")


def test_the_page_is_that_of_a_run_and_escapes_the_texts(table: Path, tmp_path: Path) -> None:
    check(table, "--judge", "judge_a", "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "75.0%" in page
    assert "<b>7</b>" not in page


def test_an_empty_cell_of_a_judge_is_a_missing_answer(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("gold,judge\nyes,yes\nno,\nno,no\n,no\n")
    judge = json.loads(check(file, "--json").stdout)["judges"]["judge"]
    assert (judge["n"], judge["failed"], judge["unlabelled"]) == (4, 1, 1)
    assert (judge["accuracy"]["value"], judge["accuracy_all"]["value"]) == (1.0, 2 / 3)


def test_a_limit_decides_the_exit_code(table: Path) -> None:
    assert check(table, "--judge", "judge_a", "--fail-under", "true_positive_rate=0.7").exit_code == 0
    assert check(table, "--judge", "judge_a", "--fail-under", "kappa=0.9").exit_code == 1


@pytest.mark.parametrize(
    "figure", ["accuracy", "kappa", "true_positive_rate", "true_negative_rate", "yes.recall", "no.f1"]
)
def test_a_judge_that_left_most_items_unanswered_passes_no_limit(tmp_path: Path, figure: str) -> None:
    file = tmp_path / "r.csv"
    rows = [("yes", "no")[n % 2] for n in range(100)]
    file.write_text("gold,judge\n" + "".join(f"{label},{label if n < 40 else ''}\n" for n, label in enumerate(rows)))
    for more in ((), ("--undecided", "fail"), ("--undecided", "pass")):
        ended = check(file, "--fail-under", f"{figure}=0.8", *more)
        assert (ended.exit_code, "had no answer, which counts as wrong" in ended.stderr) == (1, True)
    answered = check(file, "--fail-under", f"{figure}.answered=0.8")
    assert (answered.exit_code, "passed: " in answered.stderr, "had no answer" in answered.stderr) == (0, True, True)


@pytest.mark.parametrize("third", ["ERROR", "unsure", "N/A: see log"])
def test_a_third_answer_is_not_a_right_no(tmp_path: Path, third: str) -> None:
    file = tmp_path / "r.csv"
    file.write_text("gold,judge\n" + "yes,yes\n" * 4 + f"no,{third}\n" * 3 + "no,no\n")
    judge = json.loads(check(file, "--judge", "judge", "--human", "gold", "--json").stdout)["judges"]["judge"]
    assert judge["true_negative_rate"]["value"] == judge["labels"]["no"]["recall"]["value"] == 0.25
    assert judge["prevalence"]["specificity"]["value"] == 0.25
    assert check(file, "--judge", "judge", "--human", "gold", "--fail-under", "true_negative_rate=0.5").exit_code == 1


def test_an_undecided_limit_ends_as_is_asked_for(table: Path) -> None:
    limit = ("--judge", "judge_a", "--fail-under", "accuracy=0.8")
    ends = [check(table, *limit, *more).exit_code for more in ((), ("--undecided", "fail"), ("--undecided", "pass"))]
    assert ends == [1, 1, 0]
    with pytest.raises(UsageError, match="--undecided has no effect without a limit"):
        check(table, "--undecided", "pass")


def test_a_positive_label_that_nobody_gives_is_refused(table: Path) -> None:
    with pytest.raises(UsageError, match="--positive maybe: people never say so"):
        check(table, "--positive", "maybe")


GRADES = "id,human,judge\n" + "".join(f"{row},{1 + row % 5},{min(5, 2 + row % 5)}\n" for row in range(60))


def test_whole_numbers_on_both_sides_are_grades_in_text_json_page_and_limits(tmp_path: Path) -> None:
    file = tmp_path / "grades.csv"
    file.write_text(GRADES)
    text = check(file, "--html", tmp_path / "page.html").stdout
    assert " ".join(text.split()).startswith("judge is within one grade of people's on 100.0% (95% interval")
    assert "always saying" not in text
    for name in ("Weighted kappa (quadratic)", "Within one grade", "Kendall"):
        assert name in text
    assert "Weighted kappa (quadratic)" in (tmp_path / "page.html").read_text()
    document = json.loads(check(file, "--json").stdout)
    assert document["level"] == "ordinal"
    assert document["judges"]["judge"]["grades"]["weighted_kappa"]["value"] > 0.7
    assert any("--level nominal" in remark for remark in document["remarks"])
    assert check(file, "--fail-under", "weighted_kappa=0.5").exit_code == 0


def test_whole_numbers_can_be_read_as_names(tmp_path: Path) -> None:
    file = tmp_path / "grades.csv"
    file.write_text(GRADES)
    document = json.loads(check(file, "--level", "nominal", "--json").stdout)
    assert (document["level"], document["remarks"]) == ("nominal", [])
    assert "grades" not in document["judges"]["judge"]


@pytest.mark.parametrize("labels", ["0,1", "yes,no", "1,2,x", "1.5,2.5,3.5", "20240101,20240102,20240103"])
def test_other_labels_are_names(tmp_path: Path, labels: str) -> None:
    file = tmp_path / "names.csv"
    file.write_text("gold,judge\n" + "".join(f"{one},{one}\n" for one in labels.split(",") * 4))
    assert json.loads(check(file, "--json").stdout)["level"] == "nominal"


def test_a_grade_that_no_person_gave_is_a_grade(tmp_path: Path) -> None:
    file = tmp_path / "grades.csv"
    file.write_text("gold,judge\n" + "1,2\n2,3\n1,2\n" * 5)
    judge = json.loads(check(file, "--json").stdout)["judges"]["judge"]
    assert judge["confusion"]["labels"] == ["1", "2", "3"]
    assert judge["grades"]["within_one"]["n"] == 15


def test_words_are_not_grades_though_that_is_asked_for(table: Path) -> None:
    with pytest.raises(UsageError, match=r"--level ordinal: 'no', 'yes' .* are not numbers"):
        check(table, "--level", "ordinal")


def test_the_table_is_a_benchmark_on_which_another_judge_is_run(table: Path, tmp_path: Path) -> None:
    check(table, "--judge", "judge_a", "--benchmark-out", tmp_path / "texts")
    items = [json.loads(line) for line in (tmp_path / "texts/items.jsonl").read_text().splitlines()]
    assert (len(items), items[0]["text"], "extra" in items[0] and items[0]["extra"]) == (40, "<b>0</b>", {})
    judge = "tests.misstep.judge.test_check:SaysYes"
    run = command_of(app, "run", raises=True)(
        judge, "--benchmark", tmp_path / "texts", "--out", tmp_path / "run", "--json"
    )
    assert json.loads(run.stdout)["accuracy"]["value"] == 16 / 40


def test_a_table_without_a_column_of_texts_becomes_no_benchmark(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("gold,judge,part\nyes,yes,a\nno,no,b\n")
    with pytest.raises(InputError, match="no column is called like a text"):
        check(file, "--benchmark-out", tmp_path / "texts")


class SaysYes:
    """A judge that says yes of everything."""

    name, labels = "says_yes", ("yes", "no")

    async def judge(self, item: Item, _trajectory: object, _ask: object) -> Verdict:
        return Verdict(item.id, self.name, "yes")
