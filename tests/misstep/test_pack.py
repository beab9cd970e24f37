"""`misstep pack` on the command line: what it prints and how it ends."""

import json
from functools import partial

from tests.misstep.made_up import atif_lines


def test_the_command_says_what_was_packed_and_names_what_it_could_not_read(tmp_path, in_process) -> None:
    runs = atif_lines(tmp_path / "runs.jsonl", ["one", "two", "one"])
    pack = partial(in_process, "pack")
    code, said, errors = pack(runs, "--out", tmp_path / "lake", "--json")
    document = json.loads(said)
    assert code == 0
    assert {name: document[name] for name in ("n", "row_groups", "files", "renamed", "skipped")} == {
        "n": 3,
        "row_groups": 1,
        "files": ["part-00000.parquet"],
        "renamed": 1,
        "skipped": 0,
    }
    assert document["bytes_in"] == runs.stat().st_size
    assert document["ratio"] == document["bytes_as_atif"] / document["bytes_out"]
    assert errors == "misstep: 1 had an id that was taken: ~2 (or the next free number) is behind it.\n"
    with runs.open("a") as stream:
        stream.write('{"schema_version": "ATIF\n')
    code, said, errors = pack(runs, "--out", tmp_path / "more")
    assert code == 1
    assert said.startswith(f"3 sessions packed into {tmp_path / 'more'}, 1 unreadable\n0.0 MB read, ")
    assert said.endswith(" times smaller than as ATIF; 1 file with 1 row group\n")
    assert f"misstep: {runs.name}:4: " in errors
    code, said, errors = pack(runs, "--out", tmp_path / "lake")
    assert (code, said) == (2, "")
    assert "holds other sessions: " in errors
