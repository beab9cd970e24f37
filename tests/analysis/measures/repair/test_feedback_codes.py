"""Comments on patches, coded by several people with several codes each."""

from pathlib import Path

import pytest

from misstep.analysis.measures.repair.feedback_codes import CodeFigures, code_figures, codings_table, read_codings
from misstep.harness.errors import InputError


def _file(folder: Path, *lines: str) -> Path:
    file = folder / "codes.csv"
    file.write_text("comment,coder,codes\n" + "".join(f"{line}\n" for line in lines))
    return file


def _found(folder: Path, *lines: str) -> dict[str, CodeFigures]:
    return {one.code or one.theme: one for one in code_figures(read_codings(_file(folder, *lines)))}


def test_a_comment_has_a_code_where_most_of_its_coders_gave_it(tmp_path: Path) -> None:
    result = _found(
        tmp_path, "c1,ann,gratitude;already_fixed", "c1,bob,already_fixed", "c2,ann,gratitude", "c2,bob,", "c3,ann,"
    )
    assert (result["already_fixed"].share.value, result["already_fixed"].share.n) == (pytest.approx(1 / 3), 3)
    assert result["gratitude"].share.value == 0


def test_a_comment_has_a_theme_where_most_of_its_coders_gave_any_code_of_it(tmp_path: Path) -> None:
    result = _found(tmp_path, "c1,ann,gratitude", "c1,bob,surprise", "c2,ann,", "c2,bob,")
    assert result["positive"].share.value == 0.5
    assert result["positive"].krippendorff_alpha.value == 1
    assert result["gratitude"].share.value == result["surprise"].share.value == 0


def test_agreement_is_of_each_code_over_what_both_have_coded(tmp_path: Path) -> None:
    lines = [f"c{n},ann,{'gratitude' if n < 5 else ''}" for n in range(10)]
    lines += [f"c{n},bob,{'gratitude' if n < 4 else ''}" for n in range(9)]
    result = _found(tmp_path, *lines)
    [pair] = result["gratitude"].pairs
    assert (pair.raters, pair.n) == (("ann", "bob"), 9)
    assert pair.cohen_kappa == pytest.approx(32 / 41)
    assert result["gratitude"].krippendorff_alpha.value == pytest.approx(1 - 17 * 2 / (2 * 9 * 9))
    never = result["surprise"].krippendorff_alpha
    assert never.value is None
    assert never.reason


def test_the_table_names_the_most_frequent_theme_and_the_papers_counts(tmp_path: Path) -> None:
    lines = [f"c{n},{coder},{'flaky_test' if n < 6 else 'gratitude'}" for n in range(10) for coder in ("ann", "bob")]
    table = codings_table(read_codings(_file(tmp_path, *lines)), "codes.csv")
    assert "theme is 'test already fixed': 60.0% (95% interval 31.3% to 83.2%) of 10 comments." in table.finding
    assert "Krippendorff's alpha of 2 coders on it is 1.000" in table.finding
    assert "of 100 other comments: positive 8, test already fixed 47" in table.notes[-1]


def test_the_table_has_a_line_for_what_was_given_and_says_what_was_not(tmp_path: Path) -> None:
    table = codings_table(read_codings(_file(tmp_path, "c1,ann,gratitude;production", "c2,ann,")), "codes.csv")
    assert [row.group for row in table.rows[::2]] == [
        "positive",
        "– gratitude",
        "failing to understand production environment",
    ]
    assert table.notes[1].startswith("Nobody gave a code of these themes: test already fixed, difficulty")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["c1,ann,gratitide"], "unknown code 'gratitide'"),
        (["c1,ann,gratitude", "c1,ann,"], "coded 'c1' twice"),
        (["c1,,gratitude"], "without a name"),
    ],
)
def test_what_breaks_the_form_is_said_with_its_line(tmp_path: Path, lines: list[str], message: str) -> None:
    with pytest.raises(InputError) as error:
        read_codings(_file(tmp_path, *lines))
    assert message in error.value.line()
    assert f":{len(lines) + 1}: " in error.value.line()
