"""A way to judge triage cases is run as any judge is: it is handed the access that it asks for, and no more."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from misstep_harness.errors import InputError, TimeSpent, UsageError
from misstep_harness.items import Item, Question
from misstep_harness.triage.records import Access, TriageVerdict
from misstep_harness.triage.runs.judges import CaseJudge
from tests.harness.triage.made_up_cases import a_run, shell, triage_case

QUESTION = Question("cases", "triage", dict.fromkeys(("task", "agent", "infrastructure", "pass"), ""))


class Looks(Struct, frozen=True):
    """Tells what it was handed."""

    access: Access
    name: str = "looks"
    uses_model: bool = False

    def settings(self) -> dict[str, Any]:
        return {}

    async def judge(self, access: Any, ask: Any) -> TriageVerdict:  # noqa: ARG002
        """What it sees, as the rationale."""
        if self.name == "slow":
            raise TimeSpent("the time for this case is over")
        seen = [access.instruction[:5], *(part for part in ("files", "replica") if hasattr(access, part))]
        return TriageVerdict("", "", "agent", rationale=" ".join(seen))


def asked(method: Looks, item: Item, folder: Path) -> TriageVerdict:
    judge = CaseJudge(method).fitted(QUESTION, folder)
    return asyncio.run(judge.judge(item, None, None))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("access", "seen"), [("text", "Write"), ("read-only", "Write files"), ("sandbox", "Write files replica")]
)
def test_a_method_is_handed_what_its_access_allows(tmp_path, access, seen):
    triage_case(tmp_path / "one")
    verdict = asked(Looks(access), Item("item-1", "triage", task="x", extra={"case": "one"}), tmp_path)
    assert (verdict.item, verdict.judge, verdict.access, verdict.rationale) == ("item-1", "looks", access, seen)


def test_a_judge_of_files_says_why_it_skips_an_item_without_a_case():
    item = Item("item-1", "triage", task="Do it.")
    assert "no case folder" in CaseJudge(Looks("read-only")).skip_reason(item)
    assert not CaseJudge(Looks("text")).skip_reason(item)


@pytest.mark.parametrize("named", ["../outside", "/etc", "missing", "link", ["one"]])
def test_a_case_outside_the_benchmark_is_refused(tmp_path, named):
    folder = tmp_path / "benchmark"
    folder.mkdir()
    triage_case(tmp_path / "outside")
    (folder / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(InputError, match="case"):
        asked(Looks("read-only"), Item("item-1", "triage", task="x", extra={"case": named}), folder)


def test_a_case_whose_time_is_over_has_no_label(tmp_path):
    triage_case(tmp_path / "one")
    item = Item("item-1", "triage", task="x", extra={"case": "one"})
    verdict = asked(Looks("read-only", "slow"), item, tmp_path)
    assert (verdict.label, verdict.status, verdict.error) == (None, "failed", "the time for this case is over")


def test_a_benchmark_that_asks_something_else_is_refused(tmp_path):
    with pytest.raises(UsageError):
        CaseJudge(Looks("text")).fitted(Question("other", "misbehaviour", {"yes": "", "no": ""}), tmp_path)


def test_the_run_of_an_item_is_not_read_twice(tmp_path):
    triage_case(tmp_path / "one", {"trajectory.json": "this is no run"})

    class Steps(Looks, frozen=True):
        async def judge(self, access: Any, ask: Any) -> TriageVerdict:  # noqa: ARG002
            return TriageVerdict("", "", "agent", rationale=str(len(access.trajectory.steps)))

    judge = CaseJudge(Steps("text")).fitted(QUESTION, tmp_path)
    item = Item("item-1", "triage", task="x", extra={"case": "one"})
    verdict = asyncio.run(judge.judge(item, a_run(shell("ls")), None))  # type: ignore[arg-type]
    assert verdict.rationale == "1"
