"""Repair cases as work items: what agents are told, what a command changes, what the check and the vital signs find."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from misstep.reflect.repair_skill import RepairSkill
from misstep_harness.agent.actions import Observation
from misstep_harness.agent.clocks import RealClock, VirtualClock
from misstep_harness.agent.protocols import TurnLimits
from misstep_harness.agent.turns import take_turn
from misstep_harness.reflexive.model_agents import NO_MORE, Companion
from misstep_harness.reflexive.protocols import Agents, ChannelBroken, Context, Part, Target
from misstep_harness.workspace import Sandbox
from tests.harness.repair.cases import price_case
from tests.harness.repair.conftest import oracle_once as oracle_once
from tests.harness.repair.conftest import sandbox as sandbox

pytestmark = pytest.mark.usefixtures("oracle_once")

ADD = "price.py\n<<<<<<< SEARCH\n        found -= price\n=======\n        found += price\n>>>>>>> REPLACE\n"


@pytest.fixture
def skill(tmp_path: Path, sandbox: Sandbox) -> RepairSkill:
    cases = [price_case(tmp_path / name, id=name) for name in ("price", "rate")]
    return RepairSkill(cases, sandbox)


def turn(target: Target, agents: Agents, skill: RepairSkill, case: str = "price", attempt: int = 1) -> str:
    item = next(item for item in skill.items if item.id == case)
    context = Context("worker", item, attempt, (Part("task", item.text),))
    tools, place = target.tools("worker"), target.place
    act = agents.worker.act
    report = asyncio.run(take_turn(lambda turn: act(context, turn), tools, place, TurnLimits(), VirtualClock()))
    assert report.error == ""
    return report.reply


def apply(target: Target, **arguments: str) -> Observation:
    tool = next(tool for tool in target.tools("worker") if tool.name == "apply")

    async def run(given: Mapping[str, str]) -> Observation:
        return await tool.run(given, target.place)

    return asyncio.run(run(arguments))


def test_an_agent_is_told_the_failure_the_code_and_the_form_of_an_edit(skill: RepairSkill) -> None:
    item = skill.items[0]
    assert (item.id, item.category) == ("price", "python")
    for told in ("assert -3 == 3", "price/price.py\ndef total", "<<<<<<< SEARCH"):
        assert told in item.text
    assert "test_none" not in item.text


def test_the_golden_worker_solves_a_case_and_leaves_the_others_as_they_are(skill: RepairSkill, tmp_path: Path) -> None:
    with skill.open(tmp_path / "kept", VirtualClock()) as target:
        tests = target.protected()
        turn(target, skill.agents["golden"](0), skill)
        solved, other = (asyncio.run(target.check(item)) for item in skill.items)
        assert (solved.status, solved.healthy, other.status, other.healthy) == ("passed", True, "failed", True)
        assert target.protected() == tests
        assert "assert -3 == 3" in other.text


def test_a_kept_state_comes_back_in_another_process_of_work(skill: RepairSkill, tmp_path: Path) -> None:
    with skill.open(tmp_path / "kept", RealClock()) as target:
        baseline = target.keep("baseline")
        turn(target, skill.agents["golden"](0), skill)
        progress = target.keep("progress")
        assert progress != baseline
    with skill.open(tmp_path / "kept", RealClock()) as target:
        assert target.digest() == baseline
        target.restore("progress")
        assert target.digest() == progress == target.kept("progress")
        assert asyncio.run(target.check(skill.items[0])).status == "passed"


def test_the_search_finds_the_change_or_says_that_it_knows_no_more(skill: RepairSkill, tmp_path: Path) -> None:
    agents = skill.agents["search"](0)
    with skill.open(tmp_path / "kept", VirtualClock()) as target:
        target.keep("baseline")
        for attempt in range(1, 8):
            reply = turn(target, agents, skill, attempt=attempt)
            if asyncio.run(target.check(skill.items[0])).status == "passed":
                break
            target.restore("baseline")
        assert asyncio.run(target.check(skill.items[0])).status == "passed"
        assert reply.startswith("I changed price.py:")
        assert turn(target, agents, skill, attempt=10_000) == NO_MORE


def test_a_changed_test_is_noticed_and_does_not_solve_the_case(skill: RepairSkill, tmp_path: Path) -> None:
    block = "<<<<<<< SEARCH\n    assert total([1, 2]) == 3\n=======\n    assert True\n>>>>>>> REPLACE"
    weakened = f"tests/test_price.py\n{block}\n"
    with skill.open(tmp_path / "kept", VirtualClock()) as target:
        before = target.protected()
        assert not apply(target, change=weakened, folder="price").is_error
        assert target.protected() != before
        assert asyncio.run(target.check(skill.items[0])).status == "failed"


@pytest.mark.parametrize(
    ("edit", "healthy", "broken"),
    [
        (ADD.replace("found += price", "found += = price"), False, "price.py is no longer Python."),
        (ADD.replace("found += price", "found += 2 * price"), True, "1 test failed."),
        (
            ADD + "label.py\n<<<<<<< SEARCH\n    return name.upper()\n=======\n    return name\n>>>>>>> REPLACE\n",
            False,
            "newly failing: tests/test_label.py::test_label",
        ),
    ],
)
def test_a_change_that_breaks_other_things_leaves_the_target_unhealthy(skill, tmp_path, edit, healthy, broken) -> None:
    with skill.open(tmp_path / "kept", VirtualClock()) as target:
        assert not apply(target, change=edit, folder="price").is_error
        check = asyncio.run(target.check(skill.items[0]))
        assert check.healthy is healthy
        assert broken in check.text


def test_a_case_whose_oracle_passes_without_a_change_is_not_solved_by_nobody(tmp_path: Path, sandbox: Sandbox) -> None:
    skill = RepairSkill([price_case(tmp_path / "price", oracle=("tests/test_price.py::test_none",))], sandbox)
    with skill.open(tmp_path / "kept", VirtualClock()) as target:
        assert asyncio.run(target.check(skill.items[0])).status == "unknown"


def test_vital_signs_say_what_the_oracle_found_and_what_was_changed(skill: RepairSkill, tmp_path: Path) -> None:
    with skill.open(tmp_path / "kept", VirtualClock()) as target:
        apply(target, change=ADD.replace("+=", "+= ="), folder="price")
        asyncio.run(target.check(skill.items[0]))
        read = {sign.name: asyncio.run(target.read(sign)) for sign in skill.vital_signs}
        assert read["oracle"].holds is False
        assert (read["syntax"].holds, read["syntax"].text) == (False, "no Python: price.py")
        assert "+        found += = price" in read["changes"].text


def test_vital_signs_can_be_read_from_outside_where_no_command_starts(skill, tmp_path, monkeypatch) -> None:
    with skill.open(tmp_path / "kept", VirtualClock()) as target:
        asyncio.run(target.check(skill.items[0]))

        async def unreachable() -> bool:
            return False

        monkeypatch.setattr(target, "reachable", unreachable)
        sign = skill.vital_signs[0]
        with pytest.raises(ChannelBroken):
            asyncio.run(target.read(sign))
        assert target.read_outside(sign).holds is False


@pytest.mark.parametrize(
    "arguments",
    [
        {"change": ADD, "folder": "elsewhere"},
        {"change": ADD.replace("price.py", "../../price.py"), "folder": "price"},
        {"change": "no edit", "folder": "price"},
        {"change": ADD, "folder": "price", "form": "ed"},
    ],
)
def test_an_impossible_edit_changes_nothing(skill: RepairSkill, tmp_path: Path, arguments: dict[str, str]) -> None:
    with skill.open(tmp_path / "kept", VirtualClock()) as target:
        before = target.digest()
        assert apply(target, **arguments).is_error
        assert target.digest() == before


def test_the_companion_gives_up_what_its_worker_knows_no_more_of(skill: RepairSkill) -> None:
    def said(text: str) -> str:
        context = Context("strategist", skill.items[0], 3, (Part("history", text),))
        act = Companion().act
        return asyncio.run(take_turn(lambda turn: act(context, turn), (), None, TurnLimits(), VirtualClock())).reply

    assert said(f"attempt 3: {NO_MORE}").startswith("VERDICT: ESCALATE\n")
    assert said("attempt 3: I changed it.").startswith("VERDICT: CONTINUE\n")
    assert said("reflection: a\nreflection: b\nreflection: b").startswith("VERDICT: CONTINUE\n")
    assert said("reflection: b\nreflection: b\nreflection: b").startswith("VERDICT: ESCALATE\n")
