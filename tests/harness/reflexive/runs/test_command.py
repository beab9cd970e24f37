"""A project of the user's as a target: what its file says, what counts as solved, and which patches a run leaves."""

import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.agent.clocks import VirtualClock
from misstep_harness.errors import InputError, UsageError
from misstep_harness.journal.run_folder import RunInProgress
from misstep_harness.reflexive.protocols import Skill
from misstep_harness.reflexive.records import CHANGES, Failed, LoopEvent, SnapshotTaken
from misstep_harness.reflexive.runs.command_file import read_command_file
from misstep_harness.reflexive.runs.command_target import CommandSkill
from misstep_harness.reflexive.runs.running import (
    ReflectPlan,
    ReflectSummary,
    agents_of_skill,
    recorded_events,
    run_reflexive,
)
from misstep_harness.reflexive.runs.skills import SkillOptions, made_skill
from misstep_harness.workspace import Sandbox
from tests.harness.repair.conftest import sandbox as sandbox

TWO_ITEMS = """
checkout = "shop"
check = "grep -qx $ITEM=on settings.txt"
protected = ["checks/**"]

[[item]]
id = "second"
description = "Switch it on."
after = ["first"]
try = ["rm checks/all.txt; echo second=on >> settings.txt", "echo second=on >> settings.txt"]

[[item]]
id = "first"
description = "Switch it on."
try = ["true", "rm price.txt; echo first=on >> settings.txt", "echo first=on >> settings.txt; touch left.tmp new.txt"]

[[vital_sign]]
name = "price"
command = "cat price.txt"
kind = "probe"
"""


@pytest.fixture
def target(tmp_path: Path) -> Path:
    shop = tmp_path / "shop"
    (shop / "checks").mkdir(parents=True)
    for name, text in {
        "settings.txt": "shop\n",
        "price.txt": "3\n",
        "checks/all.txt": "",
        ".gitignore": "*.tmp",
    }.items():
        (shop / name).write_text(text)
    file = tmp_path / "shop.toml"
    file.write_text(TWO_ITEMS)
    return file


def run(target: Path, sandbox: Sandbox, out: Path) -> ReflectSummary:
    skill = CommandSkill(target, read_command_file(target), sandbox)
    chosen = agents_of_skill(skill, "", 0)
    return run_reflexive(ReflectPlan(skill, chosen.name, chosen.agents), out, VirtualClock())


def applied(patch: Path, folder: Path) -> None:
    subprocess.run(["git", "apply", "--check", patch], cwd=folder, check=True)
    subprocess.run(["git", "apply", patch], cwd=folder, check=True)


def test_items_are_solved_in_order_and_their_patches_apply_one_by_one_and_whole(target, sandbox, tmp_path) -> None:
    before = (tmp_path / "shop/settings.txt").read_text()
    out = tmp_path / "run"
    ends = {item.id: (item.end, item.attempts) for item in run(target, sandbox, out).items}
    assert ends == {"first": ("solved", 3), "second": ("solved", 2)}
    failures = [event.happened.kind for event in recorded_events(out) if isinstance(event.happened, Failed)]
    assert failures == ["nothing_changed", "unhealthy", "check_weakened"]
    assert (tmp_path / "shop/settings.txt").read_text() == before
    for name in ("whole", "parts"):
        subprocess.run(["cp", "-r", tmp_path / "shop", tmp_path / name], check=True)
    applied(out / CHANGES, tmp_path / "whole")
    applied(out / "patches/first.diff", tmp_path / "parts")
    applied(out / "patches/second.diff", tmp_path / "parts")
    for name in ("whole", "parts"):
        assert (tmp_path / name / "settings.txt").read_text() == "shop\nfirst=on\nsecond=on\n"
        assert (tmp_path / name / "new.txt").exists()
        assert not (tmp_path / name / "left.tmp").exists()


@pytest.mark.parametrize("moment", [SnapshotTaken, Failed])
def test_a_killed_run_goes_on_and_leaves_the_same_patches(target, sandbox, tmp_path, monkeypatch, moment) -> None:
    append = RunInProgress.append

    def killed(self: Any, records: Iterable[LoopEvent], entry: Any) -> None:
        (event,) = records
        append(self, [event], entry)
        if isinstance(event.happened, moment):
            raise KeyboardInterrupt

    whole, killed_run = tmp_path / "whole", tmp_path / "killed"
    with monkeypatch.context() as patched:
        patched.setattr(RunInProgress, "append", killed)
        with pytest.raises(KeyboardInterrupt):
            run(target, sandbox, killed_run)
    assert run(target, sandbox, killed_run).items == run(target, sandbox, whole).items
    for name in (CHANGES, "patches/first.diff", "patches/second.diff"):
        assert (killed_run / name).read_bytes() == (whole / name).read_bytes()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"shop"', '"shed"', "checkout: the folder 'shed' does not exist"),
        ('["first"]', '["third"]', "item[0].after: unknown item 'third'. Known: second, first."),
        ('id = "first"', 'id = "second"', "item[0].id: 'second' is the id of two items"),
        ('id = "second"', 'id = "../up"', "item[0].id: '../up' is not a name"),
        ('check = "grep -qx $ITEM=on settings.txt"', "", "item[0].check: nothing checks second"),
        ('check = "grep -qx $ITEM=on settings.txt"', 'check = "tox -e x"', "check: tox builds environments"),
        ('checkout = "shop"', 'checkuot = "shop"', "checkuot: unknown key 'checkuot'. Did you mean checkout?"),
        ('id = "first"', 'id = "first"\nafter = ["second"]', "item: these items wait for each other: "),
        ('kind = "probe"', 'kind = "probe"\n[limits]\nseconds = 0', "limits.seconds: 0 is not above 0"),
    ],
)
def test_what_a_file_cannot_mean_is_an_error_with_its_key(target: Path, old: str, new: str, message: str) -> None:
    target.write_text(TWO_ITEMS.replace(old, new))
    with pytest.raises(InputError) as error:
        read_command_file(target)
    assert message in str(error.value)
    assert str(target) in str(error.value)
    assert "misstep help reflect-command" in str(error.value)


def test_a_checkout_is_neither_a_home_nor_behind_a_link_of_the_file(
    target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path.parent / f"{tmp_path.name}-own"
    own.mkdir()
    (target.parent / "linked").symlink_to(own)
    target.write_text(TWO_ITEMS.replace('"shop"', '"linked"'))
    with pytest.raises(InputError, match="leads out of the folder"):
        read_command_file(target)
    monkeypatch.setenv("HOME", str(own))
    for named in (own, "/", own.parent):
        target.write_text(TWO_ITEMS.replace('"shop"', f'"{named}"'))
        with pytest.raises(InputError, match="holds a home folder"):
            read_command_file(target)
    (own / "shop").mkdir()
    target.write_text(TWO_ITEMS.replace('"shop"', f'"../{own.name}/shop"'))
    assert read_command_file(target).checkout


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("grep -qx", "no-such-program -qx", "check: the line cannot be run in the sandbox: .*not found"),
        ("cat price.txt", "no-such-program", r"vital_sign\[0\].command: the line cannot be run in the sandbox"),
        ("protected", 'reset = "git checkout ."\nprotected', "reset: it (fails|changes)"),
        ("protected", 'reset = "rm price.txt"\nprotected', "reset: it changes price.txt"),
        ("checks/**", "tests/**", r"protected\[0\]: 'tests/\*\*' matches no file"),
    ],
)
def test_a_line_that_cannot_be_run_blames_no_worker(target, sandbox, tmp_path, old, new, message) -> None:
    target.write_text(TWO_ITEMS.replace(old, new))
    with pytest.raises(InputError, match=message):
        run(target, sandbox, tmp_path / "run")


def test_without_lines_to_try_a_model_is_needed(target: Path, sandbox: Sandbox) -> None:
    target.write_text("\n".join(line for line in TWO_ITEMS.splitlines() if not line.startswith("try")))
    with pytest.raises(UsageError, match=r"Name a model with --model, or .* under `try`"):
        agents_of_skill(CommandSkill(target, read_command_file(target), sandbox), "", 0)


def test_a_number_of_items_is_drawn_by_the_seed_with_what_they_come_after(target: Path, sandbox: Sandbox) -> None:
    def drawn(n: int, seed: int) -> Skill:
        return made_skill("command", SkillOptions(n, seed, sandbox=sandbox.name, target=target))

    def names(skill: Skill) -> list[str]:
        return [item.id for item in skill.items]

    one, both = drawn(1, 0), drawn(2, 0)
    assert all(names(drawn(1, seed)) == names(one) == ["first"] for seed in range(9))
    assert names(both) == names(drawn(7, 0)) == ["second", "first"]
    assert one.settings() != both.settings()
