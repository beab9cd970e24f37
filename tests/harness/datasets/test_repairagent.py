"""RepairAgent: fixed bugs, raw patches, labelled runs, categories and verdicts are as recounted."""

import json
from collections import Counter
from pathlib import Path

import pytest

from misstep_harness.errors import InputError
from tests.harness.datasets.loaded import Loaded, load, public, write

runs = public("repairagent")


def question(runs: Loaded, name: str) -> Loaded:
    return Loaded(runs.folder.with_name(f"repairagent-{name}"))


@pytest.mark.data
def test_164_bugs_are_fixed_and_162_by_chatrepair_and_824_raw_patch_files_hold_13_154_fixes_for_662_bugs(runs) -> None:
    fixed = question(runs, "fixed").gold
    by_tool = Counter(rater for _, rater in fixed)
    assert by_tool["RepairAgent"] == 164
    assert by_tool["ChatRepair"] == 162
    items = [item.extra for item in question(runs, "fixed").items.values() if "patch_files" in item.extra]
    assert len(items) == 662
    assert sum(extra["patch_files"] for extra in items) == 824
    assert sum(extra["fix_blocks"] for extra in items) == 13_154


@pytest.mark.data
def test_of_60_runs_10_resolve_30_do_not_and_20_have_no_label(runs: Loaded) -> None:
    assert Counter(runs.gold.values()) == {"resolved": 10, "unresolved": 30}
    assert len(runs.items) == len(runs.trajectories) == 60


@pytest.mark.data
def test_actions_of_40_runs_by_category_are_as_recounted(runs: Loaded) -> None:
    categories = question(runs, "action_category")
    assert Counter(categories.gold.values()) == {
        "Generate Fix": 623,
        "Explore": 351,
        "Search": 163,
        "Explain": 151,
        "Locate": 120,
        "Run tests": 3,
    }
    assert len({item.trajectory_id for item in categories.items.values()}) == 40


@pytest.mark.data
def test_verdicts_are_as_recounted_with_the_misspelt_headings_read_too(runs: Loaded) -> None:
    """Counting only blocks under "## Why:" gives 70, 35, 4 and 1; three more headings are spelt in another way."""
    verdicts = question(runs, "verdict")
    assert len(verdicts.items) == 114
    assert Counter(verdicts.gold.values()) == {
        "identical": 71,
        "semantically equivalent": 37,
        "good enough": 4,
        "identically equivalent": 1,
    }


@pytest.mark.data
def test_every_iteration_has_its_result(runs: Loaded) -> None:
    steps = [step for run in runs.trajectories.values() for step in run.steps]
    assert len(steps) == 2188
    assert all(len(step.results) == 1 for step in steps)
    assert not [call for step in steps for call in step.calls if call.parse_error]


def made_up(**changed: str) -> dict[str, str]:
    """Two runs of one bug each, one labelled."""
    text = "Iteration 0: Thought=Look.; Action={'name': 'ls', 'args': {}}\n---\n"
    run = {"thoughts_actions": text, "results_actions": "Result at iteration 0: done\n; Next action: END"}
    recorded = [
        {"id": "Lang_1", "bug": "Lang_1", "resolved": True},
        {"id": "Lang_2", "bug": "Lang_2", "resolved": None},
    ]
    files = {
        "trajectories.jsonl.gz": "\n".join(json.dumps(one | run) for one in recorded),
        "action_categories.csv": "bug,iteration,category\nLang_1,0,Search\n",
        "final_list_of_fixed_bugs.txt": "Lang 1\nMath 2\n",
        "chatrepair_all.txt": "Lang-1\n",
        "selfAPR.txt": "Lang_1,Lang-3.java\n",
        "root_patch_counts.csv": "bug,fix_blocks,bytes\nLang_1,3,20\nLang_1,4,20\n",
        "fixes_implementation.txt": "# Lang 1\n## Fix:\n[{}]\n## Why:\nIdentical.\n\n"
        "## Gason 12\n# Fix:\n{}\n# why:\ngood\n",
    }
    return files | {name.replace("__", "."): text for name, text in changed.items()}


def test_bugs_and_headings_are_one_however_they_are_spelt_and_a_run_that_nobody_labelled_has_no_gold_label(tmp_path):
    runs = load("repairagent", write(tmp_path / "up", made_up()), tmp_path / "out")
    fixed = question(runs, "fixed")
    assert list(fixed.gold) == [
        ("Lang_1", "RepairAgent"),
        ("Math_2", "RepairAgent"),
        ("Lang_1", "ChatRepair"),
        ("Lang_1", "SelfAPR"),
        ("Lang_3", "SelfAPR"),
    ]
    assert fixed.items["Lang_1"].extra == {"project": "Lang", "patch_files": 2, "fix_blocks": 7}
    assert runs.gold == {("Lang_1", "authors"): "resolved"}
    assert [run.steps[0].results[0].text for run in runs.trajectories.values()] == ["done", "done"]
    verdicts = question(runs, "verdict")
    assert [(item.extra["bug"], item.patch) for item in verdicts.items.values()] == [
        ("Lang 1", "[{}]"),
        ("Gason 12", "{}"),
    ]
    assert list(verdicts.gold.values()) == ["identical", "good"]


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("chatrepair_all__txt", "Lang59x\n", r"chatrepair_all\.txt: 'Lang59x' is not the name of a bug"),
        ("action_categories__csv", "bug,iteration,category\nMath_9,0,Search\n", r"bug: Math_9 has a label, but no run"),
    ],
)
def test_what_does_not_fit_is_named_with_its_file(tmp_path: Path, file: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load("repairagent", write(tmp_path / "up", made_up(**{file: text})), tmp_path / "out")
