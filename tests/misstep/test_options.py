"""Every command that reads public data sets refuses a folder of them that does not exist, before it does anything."""

import pytest

from misstep.__main__ import LINES
from tests.misstep.as_a_user import in_this_process

COMMANDS_WITH_DATA = [
    ("reproduce",),
    ("report", "run"),
    ("datasets", "list"),
    ("datasets", "verify"),
    ("datasets", "load", "mast"),
    ("judge", "list"),
    ("judge", "run", "recovery", "--benchmark", "b", "--out", "o"),
    ("judge", "compare", "a", "b"),
    ("judge", "calibrate", "a", "--precision", "0.8"),
    ("judge", "stability", "a", "b"),
    ("judge", "rank", "a", "b", "--good", "yes"),
    ("judge", "policies", "a", "b"),
    ("judge", "inject", "recovery", "--out", "o"),
    ("export", "run", "--to", "csv", "--out", "o"),
]


@pytest.mark.parametrize("line", COMMANDS_WITH_DATA, ids=" ".join)
@pytest.mark.parametrize("named_by", ["the option", "the environment"])
def test_a_folder_of_data_sets_that_does_not_exist_is_wrong_input(line, named_by, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MISSTEP_DATA", str(tmp_path / "nowhere"))
    options = ["--data", "nowhere"] if named_by == "the option" else []
    code, out, said = in_this_process(line[0], monkeypatch, capsys)(*line[1:], *options)
    assert (code, out) == (2, "")
    assert "nowhere cannot be opened: No such file or directory." in said
    assert len(said.splitlines()) == 1
    assert [path for path in tmp_path.iterdir() if path.name != "cache"] == []


def test_no_command_with_the_option_is_left_out_above(monkeypatch, capsys):
    lines = [(name,) for name in LINES if name not in ("judge", "datasets")]
    lines += [("datasets", name) for name in ("list", "verify", "load", "fetch")]
    lines += [
        ("judge", name) for name in ("run", "list", "compare", "calibrate", "stability", "rank", "policies", "inject")
    ]
    helps = {line: in_this_process(line[0], monkeypatch, capsys)(*line[1:], "--help")[1] for line in lines}
    with_data = {line for line, text in helps.items() if "--data" in text}
    assert with_data == {line[:2] if line[0] in ("datasets", "judge") else line[:1] for line in COMMANDS_WITH_DATA}
