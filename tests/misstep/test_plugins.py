"""What other packages add is listed with its package and whether it works; one that does not costs itself alone."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from misstep import classify, doctor
from misstep_harness.observer.guidance import checked_guidance
from misstep_harness.reflexive.runs.skills import SKILLS
from misstep_harness.repair.repairers import POLICIES
from tests.docs.documents import ROOT
from tests.misstep.installed import installed
from tests.misstep.made_up import atif_lines

WORKING = """
from misstep import Feedback, Misbehaviour, Verdict

FORMAT, UNIT, CATEGORY = "working_reader", "file", "working_rule"


def refuse(sample):
    return "not mine"


def read(data, source):
    yield from ()


def classify(trajectory):
    return Verdict(trajectory.id, CATEGORY, "no")


class Judge:
    name, labels = "working_judge", ("yes", "no")

    async def judge(self, item, trajectory, ask):
        return Verdict(item.id, self.name, "yes")


class Detector:
    name = "working_detector"

    async def detect(self, trajectory, ask):
        return Feedback((Misbehaviour("infinite_loop"),))


NAME = "a file of scores"


def is_own(value):
    return "passed_by" in value


def verdicts(value, place):
    yield from ()


def policy(options):
    return lambda place: None


def skill(options):
    return None
"""
GUIDANCE = """
[[levels]]
says = ["Calm down."]
do = ["Breathe."]
dont = ["Hurry."]
"""
NAMES = {
    "misstep.readers": "reader",
    "misstep.classifiers": "rule",
    "misstep.judges": "judge",
    "misstep.detectors": "detector",
    "misstep.verdict_readers": "verdict_reader",
    "misstep.policies": "policy",
    "misstep.skills": "skill",
    "misstep.guidance": "guidance",
}
_CLASSES = {
    "judge": "working:Judge",
    "detector": "working:Detector",
    "policy": "working:policy",
    "skill": "working:skill",
    "guidance": "calm",
}
ADDED = {
    group: {f"broken_{kind}": "broken", f"working_{kind}": _CLASSES.get(kind, "working")}
    for group, kind in NAMES.items()
}


def _package(folder: Path) -> None:
    (folder / "working.py").write_text(WORKING)
    (folder / "broken.py").write_text("raise RuntimeError('no\\nlicence')")
    (folder / "calm").mkdir()
    (folder / "calm/__init__.py").write_text("")
    (folder / "calm/infinite_loop.toml").write_text(GUIDANCE * 3)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with a part of each kind that works, and one whose module raises."""
    _package(tmp_path)
    with installed(tmp_path, ADDED, monkeypatch):
        yield tmp_path


def _plugins(*arguments: str) -> Result:
    return CliRunner().invoke(doctor.app, [*arguments])


@pytest.mark.usefixtures("folder")
def test_each_entry_point_is_listed_with_its_package_and_the_reason_why_it_does_not_load() -> None:
    result = _plugins("--json")
    outcome = json.loads(result.stdout)["plugins"]
    assert result.exit_code == 1
    listed = {(f"misstep.{one['kind']}", one["name"]) for one in outcome}
    assert listed == {(group, name) for group in ADDED for name in ADDED[group]}
    assert {(one["package"], one["version"]) for one in outcome} == {("made-up", "1.0")}
    assert {one["name"] for one in outcome if one["error"]} == {f"broken_{kind}" for kind in NAMES.values()}
    assert all("RuntimeError: no licence" in one["error"] for one in outcome if one["error"])


@pytest.mark.usefixtures("folder")
def test_the_text_names_what_cannot_be_used_once_more_with_its_error_in_a_line() -> None:
    lines = _plugins().stdout.splitlines()
    after = lines[lines.index("Plug-ins:") + 1 :]
    assert [line.split()[0] for line in after[: 2 * len(NAMES)]].count("yes") == len(NAMES)
    broken = after[2 * len(NAMES) :]
    assert len(broken) == len(NAMES)
    assert all(line.startswith("- broken_") and "RuntimeError: no licence" in line for line in broken)


@pytest.mark.parametrize(
    ("group", "name", "said"),
    [
        ("misstep.readers", "atif", "Misstep has one of its own named 'atif'"),
        ("misstep.judges", "infinite_loop", "Misstep has one of its own named 'infinite_loop'"),
        ("misstep.reader", "diary", "unknown group 'misstep.reader'"),
        ("misstep.readers", "diary", "FORMAT 'working_reader'"),
        ("misstep.judges", "diary", "is not a judge"),
        ("misstep.detectors", "rules", "Misstep has one of its own named 'rules'"),
        ("misstep.detectors", "diary", "cannot be made: TypeError"),
        ("misstep.verdict_readers", "diary", "it has no is_own"),
        ("misstep.policies", "diary", "it cannot be called"),
        ("misstep.skills", "diary", "it cannot be called"),
        ("misstep.guidance", "diary", "has no file CATEGORY.toml"),
    ],
)
def test_what_would_never_be_used_says_why(tmp_path, monkeypatch, group, name, said) -> None:
    (tmp_path / "working.py").write_text(WORKING.replace("def is_own", "def is_mine"))
    with installed(tmp_path, {group: {name: "working"}}, monkeypatch):
        result = _plugins("--json")
    assert result.exit_code == 1
    assert said in json.loads(result.stdout)["plugins"][0]["error"]


def test_where_nothing_is_added_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "installed_plugins", list)
    assert "Plug-ins" not in _plugins().stdout


def test_a_reader_and_a_rule_that_do_not_load_cost_the_files_and_the_category_that_are_theirs(folder: Path) -> None:
    atif_lines(folder / "known.jsonl", ["r1"])
    (folder / "unknown.json").write_text('{"id": 1}')
    result = CliRunner().invoke(classify.app, [str(folder / "known.jsonl"), str(folder / "unknown.json"), "--json"])
    outcome = json.loads(result.stdout)
    assert (result.exit_code, outcome["n"]) == (1, 1)
    assert [one["category"] for one in outcome["failed"]] == ["broken_rule"]
    (unreadable,) = outcome["unreadable"]
    assert "the reader 'broken_reader' of broken failed: RuntimeError: no licence" in unreadable["error"]
    assert outcome["categories"]["working_rule"]["checked"] == 1


def test_parts_of_a_package_are_named_on_the_command_line(tmp_path, monkeypatch, in_process) -> None:
    _package(tmp_path)
    (tmp_path / "scores.json").write_text('{"passed_by": "me"}')
    sessions = atif_lines(tmp_path / "looping.jsonl", ["r1"], steps=9)
    working = {group: {name: at for name, at in names.items() if at != "broken"} for group, names in ADDED.items()}
    with installed(tmp_path, working, monkeypatch):
        line = ("--benchmark", ROOT / "examples/last_messages", "--out", tmp_path / "run", "--judge", "me")
        assert "a file of scores" in in_process("judge", "import", tmp_path / "scores.json", *line)[2]
        assert checked_guidance(Path("working_guidance")) == str(tmp_path / "calm")
        assert in_process("observe", sessions, "--mode", "guide", "--guidance", "working_guidance")[0] == 0
        assert "not a folder" in in_process("observe", sessions, "--guidance", "calmer")[2]
        assert POLICIES.load("working_policy").__name__ == "policy"
        assert SKILLS.load("working_skill").__name__ == "skill"
