"""What several studies read."""

from pathlib import Path

import pytest

from tests.misstep.made_up import LONG, atif, atif_lines


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Many batches of trajectories with two taken ids, a broken line and a file of no known format."""
    folder = tmp_path_factory.mktemp("inputs")
    atif_lines(folder / "a.jsonl", (f"a{number % 298}" for number in range(300)), text=LONG)
    atif_lines(folder / "b.jsonl", (f"b{number}" for number in range(250)), text=LONG)
    with (folder / "b.jsonl").open("ab") as stream:
        stream.write(b'{"schema_version": \n' + atif("after"))
    (folder / "notes.txt").write_text("Mend the fence.\n")
    return folder
