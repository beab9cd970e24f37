"""An export is there whole or not at all, and takes the place of nothing but itself."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from misstep_analysis.exports.writing import EXPORT, ExportFile, check_free, exported_folder
from misstep_harness.errors import UsageError

ABOUT = ExportFile("csv", "gates", "0.1.0")


def export(out: Path, text: str) -> None:
    check_free(out, ABOUT)
    with exported_folder(out, ABOUT) as building:
        (building / "verdicts.csv").write_text(text)


def test_an_export_takes_the_place_of_an_earlier_one_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    for text in ("old", "new"):
        export(tmp_path / "out", text)
    assert (tmp_path / "out" / "verdicts.csv").read_text() == "new"
    assert [file.name for file in tmp_path.iterdir()] == ["out"]
    assert 'name = "verdicts.csv"' in (tmp_path / "out" / EXPORT).read_text()


@pytest.mark.parametrize(
    ("file", "message"), [("notes.txt", "other files, such as notes.txt"), (EXPORT, "other files, such as export.toml")]
)
def test_a_folder_of_other_things_stays_as_it_is(file: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / file).write_text("mine")
    with pytest.raises(UsageError, match=message):
        export(tmp_path / "out", "new")
    assert (tmp_path / "out" / file).read_text() == "mine"


def test_a_file_that_was_added_to_an_export_is_not_thrown_away(tmp_path: Path) -> None:
    export(tmp_path / "out", "old")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"a file beside the export, notes\.txt"):
        export(tmp_path / "out", "new")


def test_the_export_of_another_run_or_to_another_form_stays(tmp_path: Path) -> None:
    export(tmp_path / "out", "old")
    for other in (ExportFile("hf", "gates", "0.1.0"), ExportFile("csv", "fences", "0.1.0")):
        with pytest.raises(UsageError, match="an export of the run gates to csv"):
            check_free(tmp_path / "out", other)


def test_a_killed_export_leaves_the_earlier_one_and_its_rest_goes_with_the_next(tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(out, "old")
    code = (
        "import os, signal; from pathlib import Path\n"
        "from misstep_analysis.exports.writing import ExportFile, exported_folder\n"
        f"with exported_folder(Path({str(out)!r}), ExportFile('csv', 'gates', '0.1.0')) as building:\n"
        "    (building / 'verdicts.csv').write_text('half'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[3], env=os.environ, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (out / "verdicts.csv").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2
    export(out, "new")
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_a_failed_export_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="broken"), exported_folder(tmp_path / "out", ABOUT):
        raise ValueError("broken")
    assert list(tmp_path.iterdir()) == []
