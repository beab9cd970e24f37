"""The target in the sandbox: it refuses as a real one does, shows its vital signs, and comes back whole."""

import asyncio
from collections.abc import Iterator

import msgspec
import pytest

from misstep.harness.agent.clocks import VirtualClock
from misstep.harness.errors import SandboxMissing
from misstep.harness.reflexive.diagnosis import diagnosed
from misstep.harness.reflexive.hardening import HardeningSkill
from misstep.harness.reflexive.hardening.profile import PROFILE
from misstep.harness.reflexive.hardening.rules import rules
from misstep.harness.reflexive.hardening.target import APPLY, HardeningTarget
from misstep.harness.reflexive.hardening.vital_signs import AUTHENTICATIONS, VITAL_SIGNS
from misstep.harness.reflexive.hardening.workers import scripts
from misstep.harness.runs.reflect.skills import SKILLS, SkillOptions
from misstep.harness.workspace import Limits, Sandbox

ITEMS = {rule.id: rule.item for rule in rules()}

BREAKS = {
    "login": ("sed -i 's/^Port 22$/Port 2222/' etc/ssh/sshd_config", "login_ok", "Connection refused"),
    "sudo": ("rm etc/sudoers.d/agent", "sudo_ok", "not in the sudoers file"),
    "sudoers": ("echo nonsense >> etc/sudoers.d/legacy; chmod 666 etc/sudoers", "sudo_ok", "world writable"),
    "pam": ("rm -rf etc/pam.d; ln -s /nowhere etc/pam.d", "login_ok", "PAM cannot read"),
    "shell": ("rm usr/bin/bash; mkdir usr/bin/bash", "login_ok", "No such file"),
    "accounts": (": > etc/passwd; chmod 000 etc/passwd", "login_ok", "Permission denied (publickey)"),
    "links": ("rm etc/sudoers; ln -s sudoers etc/sudoers; chmod 000 etc", "sudo_ok", "No such file"),
    "everything": ("rm -rf etc usr home var srv bin; echo left > etc", "login_ok", "Connection refused"),
    "the root": ("chmod 000 etc var .", "filesystem_writable", ""),
}


@pytest.fixture(scope="module")
def target(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HardeningTarget]:
    skill = HardeningSkill(sandbox)
    with skill.open(tmp_path_factory.mktemp("kept"), VirtualClock()) as opened:
        assert isinstance(opened, HardeningTarget)
        opened.keep("baseline")
        yield opened


@pytest.fixture(autouse=True)
def restored(target: HardeningTarget) -> Iterator[None]:
    yield
    target.restore("baseline")
    assert target.digest() == target.kept("baseline")


def apply(target: HardeningTarget, script: str) -> str:
    return asyncio.run(APPLY.run({"script": script}, target)).text


@pytest.mark.parametrize("what", [what for what in BREAKS if what != "the root"])
def test_who_is_kept_out_does_nothing_and_the_target_notes_it(target: HardeningTarget, what: str) -> None:
    script, _, answer = BREAKS[what]
    apply(target, script)
    observation = asyncio.run(APPLY.run({"script": "touch mine"}, target))
    assert observation.is_error
    assert answer in observation.text
    assert "mine" not in target.files.entries
    if what != "everything":
        assert target.files.text(AUTHENTICATIONS)


@pytest.mark.parametrize("what", BREAKS)
def test_all_vital_signs_come_with_the_way_in_broken_and_the_target_comes_back(target, what) -> None:
    script, flag, answer = BREAKS[what]
    digest = target.digest()
    asyncio.run(target.run(script))
    assert target.digest() != digest
    capture = asyncio.run(diagnosed(target, VITAL_SIGNS, out_of_band=True))
    if what == "the root":
        assert capture.channel == "in_band"
    else:
        assert capture.channel == "out_of_band"
        assert answer in capture.why
    assert capture.flags[flag] is False
    assert set(capture.facts) == {sign.name for sign in VITAL_SIGNS}
    assert None not in capture.flags.values()
    target.restore("baseline")
    assert asyncio.run(target.reachable())
    assert apply(target, "stat -c %a usr/bin/sudo tmp var/tmp") == "4755\n777\n1777\n\n[exit code 0]"


def test_what_the_kernel_has_counts_after_the_next_start(target: HardeningTarget) -> None:
    item = ITEMS["kernel_no_forwarding"]
    assert target.ready(item), "nothing is configured yet: that can be told now"
    apply(target, "sed -i 's/ip_forward = 1/ip_forward = 0/' proc/sys.values")
    assert asyncio.run(target.check(item)).status == "failed", "what is set by hand is gone with the next start"
    apply(target, scripts()[item.id].good)
    apply(target, "sed -i 's/ip_forward = 0/ip_forward = 1/' proc/sys.values")
    assert not target.ready(item)
    asyncio.run(target.prepare(item))
    assert target.ready(item)
    assert asyncio.run(target.check(item)).status == "passed"


@pytest.mark.parametrize(
    "script",
    [
        f"sed -i 's/^not_applicable.*/not_applicable = [\"files_home_partition\"]/' {PROFILE}",
        f"rm {PROFILE}",
        f"rm {PROFILE}; mkdir {PROFILE}",
        f"sed 's/= 60/= 99999/' {PROFILE} > etc/other; ln -sf ../other {PROFILE}",
    ],
)
def test_whoever_weakens_the_check_is_seen(target: HardeningTarget, script: str) -> None:
    before = target.protected()
    apply(target, script)
    assert target.protected() != before


def test_a_script_sees_neither_the_machine_nor_what_decides(target: HardeningTarget) -> None:
    answer = apply(
        target, "ls / /root /work 2>&1; cat /etc/shadow; find / -name 'forms.py' -path '*hardening*' 2>/dev/null"
    )
    assert "forms.py" not in answer
    assert "shadow: No such file" in answer


@pytest.mark.parametrize("script", ["echo a\0b", "#" * 70_000, "echo \udcff > etc/odd"])
def test_a_script_that_no_shell_takes_is_an_observation(target: HardeningTarget, script: str) -> None:
    assert apply(target, script).startswith(("sh: a script has no NUL", "[exit code 0]"))


@pytest.mark.parametrize(
    "script",
    [
        "mkdir -p $(printf 'x/%.0s' $(seq 300))",
        "for i in $(seq 500); do : > tmp/$i; done",
        "cd etc && mkfifo sudoers.d/pipe && rm sysctl.conf && ln -s /dev/zero sysctl.conf",
        "printf nonsense > \"etc/sudoers.d/$(printf 'a\\377\\nb')\"",
        "head -c 300000 /dev/zero | tr '\\0' 'a' > etc/passwd",
    ],
)
def test_nothing_that_a_script_leaves_makes_the_host_fail(target: HardeningTarget, script: str) -> None:
    digest = target.digest()
    apply(target, script)
    apply(target, "true")
    assert target.digest() != digest
    assert asyncio.run(target.check(ITEMS["sshd_banner"])).status == "failed"
    asyncio.run(target.prepare(ITEMS["kernel_no_forwarding"]))
    capture = asyncio.run(diagnosed(target, VITAL_SIGNS, out_of_band=True))
    assert "could not be read" not in str(capture.facts)
    msgspec.json.encode(capture)
    target.keep("progress")
    target.restore("progress")


@pytest.mark.parametrize("script", ["kill -9 $$", "sleep 99 & sleep 99", "truncate -s 1G big"])
def test_a_script_ends_at_its_limits(target: HardeningTarget, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("misstep.harness.reflexive.hardening.target.SCRIPT_LIMITS", Limits(seconds=0.3, file_mb=1))
    assert "[exit code 0]" not in apply(target, script)
    assert asyncio.run(target.reachable())


def test_without_a_sandbox_the_skill_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("misstep.harness.workspace.finding.tried", lambda: iter(()))
    with pytest.raises(SandboxMissing) as refused:
        SKILLS.load("hardening")(SkillOptions())
    assert refused.value.exit_code == 3
    assert SKILLS.load("hardening")(SkillOptions(sandbox="unsandboxed")).name == "hardening"
