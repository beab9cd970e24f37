"""A folder of data sets that does not exist and an option that nothing would read are refused, by every command."""

import pytest

from misstep.command_line import LINES
from tests.misstep.as_a_user import CommandLine

COMMANDS_WITH_DATA = [
    ("reproduce",),
    ("report", "run"),
    ("show", "run"),
    ("datasets", "list"),
    ("datasets", "verify"),
    ("judge", "list"),
    ("judge", "run", "recovery", "--benchmark", "b", "--out", "o"),
    ("judge", "compare", "a", "b"),
    ("judge", "calibrate", "a", "--precision", "0.8"),
    ("judge", "probe", "recovery", "--benchmark", "b", "--out", "o"),
    ("export", "run", "--to", "csv", "--out", "o"),
]


@pytest.mark.parametrize("line", COMMANDS_WITH_DATA, ids=" ".join)
@pytest.mark.parametrize("named_by", ["the option", "the environment"])
def test_a_folder_of_data_sets_that_does_not_exist_is_wrong_input(line, named_by, tmp_path, monkeypatch, in_process):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MISSTEP_DATA", str(tmp_path / "nowhere"))
    options = ["--data", "nowhere"] if named_by == "the option" else []
    code, out, output = in_process(line[0], *line[1:], *options)
    assert (code, out) == (2, "")
    assert "nowhere cannot be opened: No such file or directory." in output
    assert len(output.splitlines()) == 1
    assert [path for path in tmp_path.iterdir() if path.name != "cache"] == []


def test_no_command_with_the_option_is_left_out_above(in_process: CommandLine):
    lines = [(name,) for name in LINES if name not in ("judge", "datasets")]
    lines += [("datasets", name) for name in ("list", "verify", "fetch")]
    lines += [("judge", name) for name in ("run", "list", "compare", "calibrate", "probe")]
    helps = {line: in_process(line[0], *line[1:], "--help")[1] for line in lines}
    with_data = {line for line, text in helps.items() if "--data" in text}
    assert with_data == {line[:2] if line[0] in ("datasets", "judge") else line[:1] for line in COMMANDS_WITH_DATA}


IGNORED = [
    ("benchmark", "make", "s", "--kind", "pair", "--out", "o", "--rater", "who"),
    ("benchmark", "make", "s", "--kind", "recovery", "--out", "o", "--labels", "l.csv"),
    ("benchmark", "make", "s", "--labels", "l.csv", "--out", "o", "--arm-share", "0.5"),
    ("repair", "build", "--set", "quixbugs", "--python", "v", "--out", "o"),
    ("repair", "build", "--set", "humanevalfix", "--seed", "3", "--out", "o"),
    ("repair", "build", "--data", ".", "--out", "o"),
    ("repair", "build", "--history", "h", "--test-command", "t", "--n", "3", "--out", "o"),
    ("repair", "run", "cases", "--out", "o", "--model", "m"),
    ("repair", "run", "cases", "--out", "o", "--rpm", "3"),
    ("repair", "run", "cases", "--out", "o", "--temperature", "1", "--patch-judge", "patch_judge"),
    ("repair", "run", "cases", "--out", "o", "--unsafe-no-sandbox", "--sandbox", "bubblewrap"),
    ("judge", "run", "recovery@rule", "--benchmark", "b", "--out", "o", "--seed", "2"),
    ("judge", "ask", "infinite_loop@rule", "session.json", "--model", "m"),
    ("triage", "cases", "--iterations", "3"),
    ("triage", "cases", "--max-cost", "3"),
    ("triage", "cases", "--model", "m", "--iterations", "3"),
    ("triage", "cases", "--access", "read-only", "--unsafe-no-sandbox"),
    ("reflect", "run", "--out", "o", "--cases", "c"),
    ("reflect", "run", "repair", "--out", "o", "--temperature", "1"),
    ("reflect", "run", "--out", "o", "--ablate", "2", "--model", "m"),
    ("reflect", "run", "--out", "o", "--ablate", "2", "--time", "real"),
    ("experiment", "run", "--n", "2", "--out", "o", "--cache", "c"),
]


@pytest.mark.parametrize("line", IGNORED, ids=" ".join)
def test_an_option_that_nothing_would_read_is_refused_before_anything_is_done(line, tmp_path, monkeypatch, in_process):
    monkeypatch.chdir(tmp_path)
    code, out, output = in_process(line[0], *line[1:])
    assert (code, out) == (2, "")
    assert " has no effect: " in output
    assert len(output.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e400"])
@pytest.mark.parametrize(
    "line",
    [
        ("judge", "calibrate", "run", "--precision"),
        ("judge", "run", "recovery", "--benchmark", "b", "--out", "o", "--max-cost"),
        ("reflect", "run", "--out", "o", "--item-seconds"),
        ("watch", ".", "--out", "o", "--every"),
    ],
    ids=" ".join,
)
def test_what_is_not_a_number_is_no_limit_of_any_command(line, number, tmp_path, monkeypatch, in_process) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, output = in_process(*line, number)
    assert (code, out) == (2, "")
    assert f"'{line[-1]}'" in output
    assert list(tmp_path.iterdir()) == []
