"""A run that writes instructions, and repairs that are told them."""

from pathlib import Path

import pytest

from misstep_harness.agent.protocols import ModelSettings
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import UsageError
from misstep_harness.exchange import Failure, Outcome, Request
from misstep_harness.journal.records import read_manifest
from misstep_harness.repair.attempt import SETTINGS
from misstep_harness.repair.case import CaseFolder, instructed, instruction_of
from misstep_harness.repair.repairers import RepairerOptions
from misstep_harness.repair.runs.instructions import InstructionRun, read_instructions, with_instructions
from misstep_harness.repair.runs.repair import RepairPlan
from misstep_harness.runs.kind import RunEnd
from misstep_harness.runs.run import Asking, carry_out
from tests.harness.repair.cases import price_case
from tests.harness.repair.conftest import oracle_once as oracle_once
from tests.harness.repair.conftest import sandbox as sandbox
from tests.harness.runs.repairs import recorded_attempts, run_repairs

pytestmark = pytest.mark.usefixtures("oracle_once")

ASKED: list[Request] = []
DOWN: set[str] = set()
MODEL = ModelSettings("small-1")
CLIENT = ClientSettings(client="scripted", script="tests.harness.repair.runs.test_instructions:answer", attempts=1)


def answer(request: Request) -> Outcome | str:
    """A model that writes instructions, with code in the detailed ones of b, and mends the case where it is told to."""
    ASKED.append(request)
    text = request.messages[1].content
    if DOWN:
        return Failure("bad_request", "it is down")
    if "[instruction]" in text:
        return "price.py\n<<<<<<< SEARCH\n        found -= price\n=======\n        found += price\n>>>>>>> REPLACE\n"
    detailed = "numbered list" in request.messages[0].content
    return "Write `found += price`." if detailed and "b.py" in text else f"Add {'each price' * detailed}."


@pytest.fixture
def cases(tmp_path: Path) -> list[CaseFolder]:
    ASKED.clear()
    DOWN.clear()
    made = [price_case(tmp_path / "cases" / name, id=name) for name in ("a", "b")]
    golden = made[1].folder / "golden.patch"
    golden.write_text(golden.read_text().replace("price.py", "b.py"))
    return made


def _write_instructions(cases: list[CaseFolder], run: Path) -> RunEnd:
    return carry_out(InstructionRun(cases, MODEL, CLIENT), run, Asking(CLIENT, 2))


def test_instructions_are_written_once_and_read_again(cases: list[CaseFolder], tmp_path: Path) -> None:
    ended = _write_instructions(cases, tmp_path / "told")
    assert (ended.done, ended.finished) == (2, True)
    asked = len(ASKED)
    _write_instructions(cases, tmp_path / "told")
    assert len(ASKED) == asked
    written = read_instructions(tmp_path / "told")
    assert written.by.startswith("small-1, back_translation@1+")
    with_texts, without = with_instructions(cases, written, "detailed")
    assert [instruction_of(instructed(one, "detailed").case) for one in with_texts] == [("price.py", "Add each price.")]
    assert "found += price" in without["b"]
    assert len(with_instructions(cases, written, "high-level")[0]) == 2


def test_a_case_without_an_answer_is_asked_again_by_the_same_call(cases: list[CaseFolder], tmp_path: Path) -> None:
    DOWN.add("all")
    assert not _write_instructions(cases, tmp_path / "told").finished
    with pytest.raises(UsageError, match="is not finished"):
        read_instructions(tmp_path / "told")
    DOWN.clear()
    assert _write_instructions(cases, tmp_path / "told").finished
    assert set(read_instructions(tmp_path / "told").cases["a"].texts) == {"high_level", "detailed"}


def test_a_direct_patcher_repairs_from_them_and_the_run_says_by_whom_they_are(cases, tmp_path, sandbox) -> None:
    _write_instructions(cases[:1], tmp_path / "told")
    written = read_instructions(tmp_path / "told")
    with_texts, _ = with_instructions(cases[:1], written, "detailed")
    instructions = {"instructions": "detailed", "instructions_by": written.by}
    plan = RepairPlan("direct", SETTINGS["react"], options=RepairerOptions(model=MODEL), **instructions)
    run_repairs(with_texts, tmp_path / "run", plan, CLIENT, sandbox)
    [made] = recorded_attempts(tmp_path / "run")
    assert (made.solved, made.iterations, made.error) == (True, 2, "")
    manifest = read_manifest(tmp_path / "run")
    assert manifest.settings["instructions_by"] == written.by
    with pytest.raises(UsageError, match="is a run of `misstep repair run`"):
        read_instructions(tmp_path / "run")
