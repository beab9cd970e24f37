"""`misstep export` as a user gives it."""

import json
from functools import partial
from pathlib import Path

from tests.misstep.as_a_user import CommandLine
from tests.misstep.made_up_exports import classified


def test_the_tables_are_told_with_their_rows_and_the_folder(tmp_path: Path, in_process: CommandLine) -> None:
    export = partial(in_process, "export")
    run, out = classified(tmp_path), tmp_path / "out"
    code, told, error = export(run, "--to", "csv", "--out", out)
    assert (code, told.splitlines()[1:3]) == (0, ["verdicts    24", "sessions    12"]), error
    assert told.splitlines()[-1] == str(out)
    assert (out / "verdicts.csv").exists()
    document = json.loads(export(run, "--to", "csv", "--out", out, "--json")[1])
    assert document["rows"]["verdicts"] == 24
    code, _, error = export(tmp_path, "--to", "csv", "--out", tmp_path / "new")
    assert (code, "run.toml is missing" in error) == (2, True)
    code, _, error = export(run, "--to", "csv", "--out", run)
    assert (code, "has other files, such as" in error) == (2, True)
