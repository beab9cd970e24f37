"""Every command says in one sentence that it cannot write its page, and leaves nothing behind."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from misstep.classify import app as classify
from misstep.options.common import write_page
from misstep.runs.report import app as report
from misstep.view import app as view
from misstep_harness.errors import UsageError
from tests.misstep.made_up import atif_lines
from tests.misstep.made_up_runs import benchmark_of_runs, judged_run, verdict


def test_the_folder_of_a_page_is_made(tmp_path: Path) -> None:
    write_page("--out", tmp_path / "a" / "b" / "page.html", "é")
    assert (tmp_path / "a" / "b" / "page.html").read_bytes() == "é".encode()


@pytest.mark.parametrize("name", ["report", "view", "classify"])
def test_a_page_in_the_place_of_a_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "taken").mkdir()
    atif_lines(tmp_path / "runs.jsonl", ["one"])
    gates = benchmark_of_runs(tmp_path / "gates", 2)
    run = judged_run(tmp_path / "run", gates, [verdict(0), verdict(1)])
    app, subject, option = {
        "report": (report, run, "--out"),
        "view": (view, tmp_path / "runs.jsonl", "--out"),
        "classify": (classify, tmp_path / "runs.jsonl", "--html"),
    }[name]
    result = CliRunner().invoke(app, [str(subject), option, str(tmp_path / "taken")])
    assert isinstance(result.exception, UsageError)
    assert f"{option} {tmp_path / 'taken'}: Is a directory" in str(result.exception)
    assert not list(tmp_path.glob(".*.part"))
