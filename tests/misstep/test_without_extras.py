"""Commands without the drawing library: a page has its tables, and a line on stderr says how to get the figures."""

import sys
from pathlib import Path

import pytest

from tests.misstep.made_up import atif_lines
from tests.misstep.made_up_exports import KINDS

pytestmark = pytest.mark.usefixtures("_without_matplotlib")


@pytest.fixture
def _without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("matplotlib", *(name for name in sys.modules if name.startswith("matplotlib."))):
        monkeypatch.setitem(sys.modules, name, None)


def test_classify_writes_its_page(tmp_path: Path, in_process) -> None:
    sessions = atif_lines(tmp_path / "s.jsonl", ["r1", "r2"])
    code, _, error = in_process("classify", sessions, "--out", tmp_path / "run")
    assert code == 0, error
    assert "pip install 'misstep[notebooks]'" in error
    assert (tmp_path / "run/report.html").is_file()


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_of_each_kind_has_its_report(kind: str, tmp_path: Path, in_process) -> None:
    code, _, error = in_process("report", KINDS[kind](tmp_path))
    assert code == 0, error
