"""Scores and page of a run are made once of the same things, and again when any of these has changed."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from misstep_analysis.judging import scored as judge_scores
from misstep_analysis.judging.judged_runs import JudgedRun
from misstep_analysis.judging.scored import SCORED
from misstep_harness.journal.records import SCORES, VERDICTS
from tests.harness.clients.faulty_server import answer, completion, serving
from tests.misstep.as_a_user import in_a_thread, in_this_process
from tests.misstep.made_up_judges import benchmark, judge_file

FRUIT = answer(completion('{"reasoning": "r", "label": "fruit"}'))


@pytest.fixture
def asked(tmp_path: Path) -> list[str]:
    """The command line of a run."""
    folder = benchmark(tmp_path / "plants", ["apple", "leek"])
    return ["run", str(judge_file(tmp_path)), "--benchmark", str(folder), "--out", str(tmp_path / "run")]


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The runs whose scores were made, in order."""
    made: list[Path] = []
    write = judge_scores.write_scores

    def noted(run: JudgedRun) -> Any:
        made.append(run.folder)
        return write(run)

    monkeypatch.setattr(judge_scores, "write_scores", noted)
    return made


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def misstep(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return in_this_process("judge", monkeypatch, capsys)


def test_the_same_line_again_says_the_same_and_makes_nothing_anew(tmp_path, asked, written, misstep) -> None:
    with in_a_thread(serving(FRUIT)) as server:
        address = ("--base-url", server.base_url)
        first = misstep(*asked, *address)
        files = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}
        assert misstep(*asked, *address)[:2] == first[:2]
        assert misstep(*asked, *address, "--json")[1] == (tmp_path / "run" / SCORES).read_text()
        assert len(server.received) == 2
    assert len(written) == 1
    assert {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()} == files


@pytest.mark.parametrize("changed", ["plants/gold.csv", f"run/{VERDICTS}", f"run/{SCORED}"])
def test_what_has_changed_is_scored_anew(tmp_path, asked, written, misstep, changed) -> None:
    with in_a_thread(serving(FRUIT)) as server:
        misstep(*asked, "--base-url", server.base_url)
        file = tmp_path / changed
        other = "olive" if changed.endswith(VERDICTS) else "vegetable"  # a finished run's verdicts keep their length
        file.write_text(file.read_text().replace("fruit", other).replace('digest":"', 'digest":"0'))
        code, stdout, stderr = misstep(*asked, "--base-url", server.base_url)
    assert code == 0, stderr
    assert "agrees with the gold labels" in stdout
    assert len(written) == 2


def test_a_run_with_nothing_to_do_loads_no_client_and_no_library_of_figures(asked: list[str], misstep: Run) -> None:
    with in_a_thread(serving(FRUIT)) as server:
        line = [*asked, "--base-url", server.base_url]
        misstep(*line)
    heavy = "{'openai', 'aiohttp', 'httpx2', 'numpy', 'scipy', 'pandas', 'matplotlib', 'statsmodels', 'jinja2'}"
    code = f"import sys\nfrom misstep.__main__ import main\nmain()\nprint({heavy} & set(sys.modules), file=sys.stderr)"
    code = code.replace("main()\nprint", "try: main()\nexcept SystemExit: pass\nprint")
    done = subprocess.run([sys.executable, "-c", code, "judge", *line], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "set()"


def test_asking_a_server_loads_no_openai_client() -> None:
    code = (
        "import sys\nfrom misstep_harness.clients import ClientSettings, open_client\n"
        "open_client(ClientSettings(base_url='http://127.0.0.1:1/v1'))\n"
        "print({'openai', 'httpx2', 'pydantic'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
