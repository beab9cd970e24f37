"""The rules engine says no for each reason that there is, and names it."""

import pytest
from msgspec.structs import replace

from misstep_harness.repair.failure_bot.rules import ENDS, RepositoryFiles, Situation, decide, estimate, lacking
from misstep_harness.repair.failure_bot.tasks import RepairTask
from misstep_harness.workspace.suite.report import FailedTest

TASK = RepairTask(("t",), "pytest", "m", "t", "c", blame="b")
FAILING = Situation(TASK, failed_at_head=True, flakiness=estimate(8, 8))
FLAKY = replace(FAILING, flakiness=estimate(1, 3))


@pytest.mark.parametrize(
    ("situation", "rules"),
    [
        (FAILING, []),
        (replace(FAILING, task=replace(TASK, state="landed")), ["task_closed"]),
        (replace(FAILING, task=replace(TASK, attached_diff="--- a")), ["diff_attached"]),
        (replace(FAILING, failed_at_head=False, commits_since=2), ["fix_landed"]),
        (replace(FAILING, failed_at_head=False), ["not_reproducible"]),
        (FLAKY, ["flaky"]),
        (replace(FAILING, flakiness=estimate(2, 2)), ["flakiness_undecided"]),
        (replace(FAILING, blamed=False), ["no_change_to_blame"]),
        (replace(FLAKY, blamed=False), ["flaky", "no_change_to_blame"]),
    ],
)
def test_every_rule_that_says_no_is_named_with_its_reason(situation: Situation, rules: list[str]) -> None:
    decision = decide(situation)
    assert [objection.rule for objection in decision.objections if objection.reason] == rules
    assert decision.run == (not rules)


DECLARED = """[project]
name = "farm.fruit"
dependencies = ["more-itertools"]
[project.optional-dependencies]
test = ["farm.classes>=3"]
"""


@pytest.mark.parametrize(
    ("message", "never", "line"),
    [
        (
            "ModuleNotFoundError: No module named 'farm.classes'",
            True,
            "pip install -e '.[test]'",
        ),  # one of a name space
        ("ModuleNotFoundError: No module named 'more_itertools'", False, "pip install -e '.'"),
        ("ModuleNotFoundError: No module named 'yaml'", False, "pip install -r requirements/test.txt"),
        ("ModuleNotFoundError: No module named 'numpy'", True, "pip install numpy"),
        ("ModuleNotFoundError: No module named 'numpy'", False, None),  # a change may have brought the import
        ("ModuleNotFoundError: No module named 'farm._version'", True, "pip install -e ."),
        ("ModuleNotFoundError: No module named 'farm._version'", False, None),  # a change may have removed it
        ("ModuleNotFoundError: No module named 'farm.fruit'", True, "pip install -e ."),
        ("ImportError: cannot import name 'apple' from 'farm.fruit'", True, "pip install -e ."),
        ("ImportError: cannot import name 'apple' from 'farm.fruit'", False, None),
        ("importlib.metadata.PackageNotFoundError: No package metadata was found for farm", True, "pip install -e ."),
        ("pytest: error: unrecognized arguments: --cov=farm", True, "pip install pytest-cov"),
        ("pytest: error: unrecognized arguments: -n 2", True, "pip install pytest-xdist"),
        ("fixture 'mocker' not found", True, "pip install pytest-mock"),
        ("AssertionError: ImportError: not raised", True, None),
    ],
)
def test_what_is_not_installed_is_named_with_the_line_that_installs_it(message, never, line) -> None:
    files = {"farm/fruit/__init__.py": "", "pyproject.toml": DECLARED, "requirements/test.txt": "PyYAML\nyaml\n"}
    project = RepositoryFiles(files, files.get, "pip install")
    result = lacking(FailedTest("test_farm.py::test_a", message), project, has_passed=False if never else None)
    assert (result is not None) == (line is not None)
    assert result is None or (result.rule == "missing_package" and f"`{line}`" in result.reason)


ENVIRON = "app.py:3: in <module>\n    os.environ['SHOP_URL']\n<frozen os>:679: in __getitem__\nE   KeyError: 'SHOP_URL'"


@pytest.mark.parametrize(
    ("message", "trace", "rule"),
    [
        ("FileNotFoundError: [Errno 2] No such file or directory: 'ffmpeg'", "", "missing_program"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'settings.json'", "", None),  # a file of the code
        ("FileNotFoundError: [Errno 2] No such file or directory: 'fruit'", "", None),  # the project has it
        (
            "subprocess.CalledProcessError: Command '['gcc', '-c']' returned non-zero exit status 127.",
            "",
            "missing_program",
        ),
        ("subprocess.CalledProcessError: Command '['gcc', '-c']' returned non-zero exit status 1.", "", None),
        ("Error: spawn psql ENOENT", "", "missing_program"),
        ("error: linker `cc` not found", "", "missing_program"),
        ('exec: "docker": executable file not found in $PATH', "", "missing_program"),
        ("KeyError: 'SHOP_URL'", ENVIRON, "missing_variable"),
        ("KeyError: 'SHOP_URL'", "shop.py:3: in total\n    PRICES['SHOP_URL']", None),
        ("RuntimeError: environment variable SHOP_KEY is required", "", "missing_variable"),
        ("django.core.exceptions.ImproperlyConfigured: Set the SHOP_KEY environment variable", "", "missing_variable"),
        (
            "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.",
            "",
            "no_network",
        ),
        ("psycopg2.OperationalError: could not connect to server: No such file or directory", "", "no_network"),
        ("OSError: [Errno 28] No space left on device", "", "no_space"),
        ("MemoryError", "", "no_memory"),
        ("OSError: [Errno 12] Cannot allocate memory", "", "no_memory"),
        (
            "ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
            "",
            "certificate_or_clock",
        ),
        ("x509: certificate has expired or is not yet valid", "", "certificate_or_clock"),
        ("AssertionError: 'No space left on device' != 'full'", "", None),
    ],
)
def test_what_lacks_at_every_commit_is_the_environment_s_end_of_its_own(message, trace, rule) -> None:
    project = RepositoryFiles({"bin/fruit": ""}, lambda _: None, "pip install")
    test = FailedTest("test_shop.py::test_a", message, trace)
    never = lacking(test, project, has_passed=False)
    assert (never and never.rule) == rule
    assert never is None or never.rule in ENDS
    assert lacking(test, project) is None  # a change may have brought it
