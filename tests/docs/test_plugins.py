"""The reader, the rule and the judge of the page on plug-ins do what it says, registered by the file beside them."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from misstep import classify, doctor
from misstep_harness.clients import ClientSettings
from misstep_harness.exchange import Request
from misstep_harness.journal.records import read_verdicts
from misstep_harness.runs.judging.judge import run_judge
from misstep_harness.runs.judging.known_judges import known_judge
from tests.docs.documents import DOCUMENTS, ROOT
from tests.misstep.installed import installed

PAGE = DOCUMENTS["docs/plug-ins.md"]
FILES = dict(re.findall(r"```(?:python|toml)\n# (\S+)\n(.*?)```", PAGE, flags=re.DOTALL))
LISTED = PAGE.split("```text\n$ misstep doctor\n…\n")[1].split("```")[0]


def yes_or_perhaps(request: Request) -> str:
    """A model that is sure of one message."""
    return "Yes." if "All tests pass" in request.messages[-1].content else "Perhaps."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package of the page, installed."""
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    project = tomllib.loads(FILES["pyproject.toml"])["project"]
    with installed(tmp_path, project["entry-points"], monkeypatch, project["name"]):
        yield tmp_path


def test_the_three_are_about_ten_lines_each() -> None:
    assert set(FILES) == {"talk_log.py", "apologises.py", "polite.py", "pyproject.toml"}
    assert all(sum(bool(line.strip()) for line in text.splitlines()) <= 12 for text in FILES.values())


def test_each_module_that_is_registered_is_packed() -> None:
    package = tomllib.loads(FILES["pyproject.toml"])
    targets = {
        target.split(":")[0] for names in package["project"]["entry-points"].values() for target in names.values()
    }
    assert set(package["tool"]["setuptools"]["py-modules"]) == targets


@pytest.mark.usefixtures("folder")
def test_the_list_is_the_one_that_is_printed() -> None:
    result = CliRunner().invoke(doctor.app)
    assert (result.exit_code, result.stdout.endswith(LISTED)) == (0, True)


def test_the_reader_reads_what_the_rule_then_finds(folder: Path) -> None:
    (folder / "monday.log").write_text("talk log\nuser: Mend it.\nagent: Sorry, I broke it.\nagent: Mended.\n")
    given = [str(folder / "monday.log"), "--categories", "apologises", "--json", "--out", str(folder / "run")]
    result = CliRunner().invoke(classify.app, given)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["categories"]["apologises"]["count"] == 1
    (verdict,) = (one for one in read_verdicts(folder / "run") if one.judge == "apologises")
    assert (verdict.label, verdict.steps, verdict.rationale) == ("yes", (1,), "steps in which it says sorry: 1")


def test_the_judge_asks_about_each_message_and_makes_no_label_of_an_odd_answer(folder: Path) -> None:
    asked = ClientSettings(client="scripted", script=f"{__name__}:yes_or_perhaps")
    ended = run_judge(known_judge("polite", model="small-1"), ROOT / "examples/last_messages", folder / "run", asked)
    verdicts = list(read_verdicts(folder / "run"))
    assert ended.failed == 0
    assert {one.judge for one in verdicts} == {"polite"}
    assert {(one.label, one.status) for one in verdicts} == {("yes", "answered"), (None, "unreadable")}
