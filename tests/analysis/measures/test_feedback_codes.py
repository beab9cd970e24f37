"""Comments on patches, coded by several people with several codes each."""

from pathlib import Path

import pytest

from analysis.measures.feedback_codes import code_book, code_figures, read_codings
from harness.errors import InputError


def _file(folder: Path, *lines: str) -> Path:
    file = folder / "codes.csv"
    file.write_text("comment,coder,codes\n" + "".join(f"{line}\n" for line in lines))
    return file


def test_the_book_has_the_themes_of_the_paper() -> None:
    assert {code.theme for code in code_book()} == {
        "positive",
        "test already fixed",
        "difficulty finding reviewers",
        "missing tools",
        "partially correct solutions are useful",
        "identifying source vs. test changes",
        "failing to understand production environment",
    }
    assert all(code.meaning for code in code_book())


def test_a_comment_has_a_code_where_most_of_its_coders_gave_it(tmp_path: Path) -> None:
    file = _file(
        tmp_path, "c1,ann,gratitude;already_fixed", "c1,bob,already_fixed", "c2,ann,gratitude", "c2,bob,", "c3,ann,"
    )
    found = {figures.code.name: figures for figures in code_figures(read_codings(file))}
    assert (found["already_fixed"].share.value, found["already_fixed"].share.n) == (pytest.approx(1 / 3), 3)
    assert found["gratitude"].share.value == 0


def test_agreement_is_of_each_code_over_what_both_have_coded(tmp_path: Path) -> None:
    lines = [f"c{n},ann,{'gratitude' if n < 5 else ''}" for n in range(10)]
    lines += [f"c{n},bob,{'gratitude' if n < 4 else ''}" for n in range(9)]
    found = {figures.code.name: figures for figures in code_figures(read_codings(_file(tmp_path, *lines)))}
    [pair] = found["gratitude"].pairs
    assert (pair.coders, pair.n) == (("ann", "bob"), 9)
    assert pair.kappa.value == pytest.approx(32 / 41)
    [never] = found["surprise"].pairs
    assert never.kappa.value is None
    assert never.kappa.reason


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["c1,ann,gratitide"], "unknown code 'gratitide'"),
        (["c1,ann,gratitude", "c1,ann,"], "coded 'c1' twice"),
        (["c1,,gratitude"], "without a name"),
    ],
)
def test_what_breaks_the_form_is_said_with_its_line(tmp_path: Path, lines: list[str], told: str) -> None:
    with pytest.raises(InputError) as error:
        read_codings(_file(tmp_path, *lines))
    assert told in error.value.line()
    assert f":{len(lines) + 1}: " in error.value.line()
