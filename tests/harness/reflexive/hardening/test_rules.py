"""Each rule fails on the shipped target and passes after what does it; its careless script breaks something."""

from collections import Counter

import pytest
from msgspec.structs import replace

from misstep.harness.reflexive.hardening.files import Files, Malformed, TargetEntry, UnreadableFile
from misstep.harness.reflexive.hardening.profile import PROFILE
from misstep.harness.reflexive.hardening.rules import Rule, rules
from misstep.harness.reflexive.hardening.vital_signs import VITAL_SIGNS, health_faults, reading
from misstep.harness.reflexive.hardening.workers import scripts
from misstep.harness.workspace import Sandbox
from tests.harness.reflexive.hardening.machine import after_scripts, changed, seen_shipped, started

RULES = {rule.id: rule for rule in rules()}
WRONG = [f"{rule.id}.wrong{number}" for rule in rules() for number in range(len(scripts()[rule.id].wrong))]


def good(rule: Rule) -> str:
    """The good scripts of what a rule comes after, then its own."""
    return " && ".join([*(good(RULES[name]) for name in rule.after), scripts()[rule.id].good])


@pytest.fixture(scope="module")
def trees(sandbox: Sandbox) -> dict[str, Files]:
    wanted = {f"{rule.id}.good": good(rule) for rule in rules() if rule.possible}
    wanted |= {f"{rule.id}.naive": scripts()[rule.id].naive for rule in rules() if scripts()[rule.id].naive}
    wanted |= {name: scripts()[name.partition(".")[0]].wrong[int(name[-1])] for name in WRONG}
    return after_scripts(sandbox, wanted)


def broken(files: Files) -> set[str]:
    return {sign.invariant for sign in VITAL_SIGNS if sign.kind == "probe" and not reading(files, sign).holds}


def test_there_are_rules_of_every_sort() -> None:
    assert len(RULES) == len(rules()) >= 40
    assert set(scripts()) == set(RULES)
    ids = [rule.id for rule in rules()]
    assert all(name in ids[: ids.index(rule.id)] for rule in rules() for name in rule.after)
    assert sum(not rule.possible for rule in rules()) >= 5
    assert sum(rule.deferred and rule.possible for rule in rules()) >= 5
    assert [rule.id for rule in rules() if rule.last] == ["sudo_agent_commands"]
    assert Counter(script.breaks for script in scripts().values()).keys() >= {
        *("login_ok", "sudo_ok", "services_ok", "app_healthy")
    }


def test_no_agent_is_told_which_rules_are_possible() -> None:
    assert not any("possible" in str(rule.item) for rule in rules())


def test_the_target_is_shipped_healthy() -> None:
    assert list(health_faults(changed({}))) == []


def test_the_shipped_target_breaks_each_rule_that_is_not_marked() -> None:
    assert [rule.id for rule in rules() if (rule.fault(changed({})) == "") is not rule.holds] == []


def test_the_good_script_keeps_to_the_rule_and_breaks_nothing(trees: dict[str, Files]) -> None:
    for rule in rules():
        if rule.possible:
            files = trees[f"{rule.id}.good"]
            assert rule.waits(files) is rule.deferred, f"{rule.id}: what the kernel has counts after the next start"
            assert (rule.id, rule.fault(started(files)), *health_faults(started(files))) == (rule.id, "")


def test_the_careless_script_breaks_what_is_claimed(trees: dict[str, Files]) -> None:
    careless = [name for name, known in scripts().items() if known.naive]
    assert [name for name in careless if scripts()[name].breaks not in broken(trees[f"{name}.naive"])] == []


def test_what_is_near_a_rule_breaks_nothing_and_does_not_do_it(trees: dict[str, Files]) -> None:
    files = {name: started(trees[name]) for name in WRONG}
    assert [name for name in WRONG if not RULES[name.partition(".")[0]].fault(files[name])] == []
    assert [name for name in WRONG if broken(files[name])] == []


def test_what_is_impossible_fails_after_every_script(trees: dict[str, Files]) -> None:
    after = [started(files) for files in trees.values() if files.at(PROFILE)]
    impossible = [rule for rule in rules() if not rule.possible]
    assert [rule.id for rule in impossible if scripts()[rule.id].good or not all(map(rule.fault, after))] == []


@pytest.mark.parametrize("left", ["nothing", "folders", "rubbish", "links"])
def test_whatever_is_left_of_the_files_a_rule_says_what_is_wrong(left: str) -> None:
    kept = {"", PROFILE, *(PROFILE.rsplit("/", depth)[0] for depth in (1, 2))}
    rests = {
        "nothing": {},
        "folders": {path: TargetEntry("folder", 0) for path in seen_shipped()},
        "rubbish": {path: replace(seen, content=b"\xff [ = : \\\n:::\n") for path, seen in seen_shipped().items()},
        "links": {path: TargetEntry("link", 0o777, path.encode()) for path in seen_shipped()},
    }
    files = Files({**rests[left], **{path: seen for path, seen in seen_shipped().items() if path in kept}})
    assert [rule.id for rule in rules() if not isinstance(rule.fault(files), str)] == []
    assert list(health_faults(files))


@pytest.mark.parametrize("profile", [None, "no toml [", "limits = 3\n", "unknown = 1\n[limits]\n[allowed]\n"])
def test_without_a_profile_nothing_passes(profile: str | None) -> None:
    for rule in rules():
        with pytest.raises((UnreadableFile, Malformed)):
            rule.fault(changed({PROFILE: profile}))


def test_a_weakened_profile_weakens_the_check() -> None:
    rule = RULES["sshd_max_auth_tries"]
    assert rule.fault(changed({PROFILE: ("auth_tries = 4", "auth_tries = 9")})) == ""
    assert rule.fault(changed({PROFILE: ("auth_tries = 4\n", "")})), "a limit that is gone does not hold"
    assert rule.fault(changed({PROFILE: ("not_applicable = []", f'not_applicable = ["{rule.id}"]')})) == ""
