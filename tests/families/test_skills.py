"""Rules that every skill of the reflexive loop meets, found by the registry."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from misstep_harness.agent.clocks import VirtualClock
from misstep_harness.errors import MisstepError
from misstep_harness.reflexive.protocols import Agents, Reading, Skill
from misstep_harness.reflexive.runs.skills import SKILLS, SkillOptions
from misstep_harness.workspace import Sandbox
from tests.harness.repair.cases import price_case
from tests.harness.repair.conftest import oracle_once as oracle_once
from tests.harness.workspace.conftest import sandbox as sandbox

pytestmark = pytest.mark.usefixtures("oracle_once")

N = 3
TARGET = """checkout = "shop"
check = "grep -qx $ITEM=on settings.txt"
[[vital_sign]]
name = "shop"
command = "grep shop settings.txt"
kind = "probe"
""" + "".join(f'[[item]]\nid = "{n}"\ndescription = "On."\ntry = ["echo {n}=on >> settings.txt"]\n' for n in "abc")
ROLES = ("planner", "worker", "reflector", "strategist")


@pytest.fixture(params=SKILLS)
def skill(request: pytest.FixtureRequest, tmp_path: Path, sandbox: Sandbox) -> Skill:
    for name in ("apple", "pear", "plum", "quince"):
        price_case(tmp_path / "cases" / name, id=name)
    target = None
    if request.param == "command":
        (tmp_path / "shop").mkdir()
        (tmp_path / "shop/settings.txt").write_text("shop\n")
        target = tmp_path / "shop.toml"
        target.write_text(TARGET)
    return SKILLS.load(request.param)(SkillOptions(N, 0, tmp_path / "cases", sandbox.name, target))


def test_the_items_are_as_many_as_asked_for_and_name_each_other(skill: Skill) -> None:
    ids = [item.id for item in skill.items]
    assert len(ids) == len(set(ids)) == N
    assert all(set(item.after) <= set(ids) - {item.id} for item in skill.items)
    assert all(item.text.strip() and item.category for item in skill.items)


def test_the_skill_is_registered_under_its_own_name_and_its_settings_can_be_written_down(skill: Skill) -> None:
    assert skill.name in SKILLS
    assert msgspec.json.decode(msgspec.json.encode(skill.settings()))


def test_vital_signs_have_names_of_their_own_and_each_probe_an_invariant(skill: Skill) -> None:
    names = [sign.name for sign in skill.vital_signs]
    assert names
    assert len(names) == len(set(names))
    assert {sign.kind for sign in skill.vital_signs} <= {"probe", "configuration", "log"}
    assert all(bool(sign.invariant) == (sign.kind == "probe") for sign in skill.vital_signs)


def test_the_words_of_a_skill_are_single_and_lower_case(skill: Skill) -> None:
    assert all(word == word.lower() and len(word.split()) == 1 for word in skill.words)


def test_its_agents_are_made_from_a_seed_and_have_names(skill: Skill) -> None:
    assert skill.agents
    for make in skill.agents.values():
        agents = make(7)
        assert isinstance(agents, Agents)
        assert all(agents.of(role).name for role in ROLES)  # type: ignore[arg-type]


def test_a_target_is_found_healthy_kept_and_the_same_again_after_it_was_opened_anew(skill, tmp_path) -> None:
    kept = tmp_path / "kept"
    with skill.open(kept, VirtualClock()) as target:
        assert target.kept("baseline") is None
        digest, protected = target.digest(), target.protected()
        assert target.keep("baseline") == digest == target.kept("baseline")
        assert asyncio.run(target.reachable())
        checks = [asyncio.run(target.check(item)) for item in skill.items]
        assert all(check.healthy for check in checks)
        assert not any(check.status == "passed" for check in checks)
        assert (target.digest(), target.protected()) == (digest, protected)
        for sign in skill.vital_signs:
            assert isinstance(asyncio.run(target.read(sign)), Reading)
            assert isinstance(target.read_outside(sign), Reading)
        with pytest.raises(MisstepError):
            target.restore("progress")
    with skill.open(kept, VirtualClock()) as target:
        target.restore("baseline")
        assert (target.digest(), target.protected()) == (digest, protected)


def test_only_workers_have_commands(skill: Skill, tmp_path: Path) -> None:
    with skill.open(tmp_path / "kept", VirtualClock()) as target:
        assert target.tools("worker")
        assert not any(target.tools(role) for role in ROLES if role != "worker")  # type: ignore[arg-type]
