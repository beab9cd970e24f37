"""What the patterns of `limits.toml` read of a user's words, and what they leave."""

import pytest

from misstep_harness.classifiers.history import History
from misstep_harness.classifiers.overstepping import PATTERNS, limits_of
from tests.harness.classifiers.building import run, user


def read(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(limit.kind, limit.targets) for limit in limits_of(History(run(user(text))))]


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_reads_its_example_and_leaves_what_looks_alike(name: str) -> None:
    pattern = PATTERNS[name]
    assert read(pattern.reads)
    assert not read(pattern.leaves)


READ = {
    "Fix a.py and leave tests/ alone.": [("ban", ("tests/",))],
    "Never edit `a.py`, b/c.py or `Makefile`.": [("ban", ("a.py", "b/c.py", "Makefile"))],
    "1. DO NOT MODIFY: test files": [("ban", (":tests",))],
    "Only change the port in conf/app.ini.": [("only", ("conf/app.ini",))],
    "Change nothing but conf/app.ini.": [("only", ("conf/app.ini",))],
    "Review it; don't commit and don't push to main.": [("commit", ()), ("push", ("main",))],
    "Don't commit or push anything.": [("commit", ()), ("push", ())],
    "Critical: do not use the Bash tool.": [("tool", ("bash",))],
    "This is a read-only investigation.": [("none", ())],
}


@pytest.mark.parametrize("text", READ)
def test_a_plain_order_is_read_with_what_it_names(text: str) -> None:
    assert read(text) == READ[text]


LEFT = (
    "Make changes to the code.", "If a test fails:\n- Do not edit the tests.", "When it fails, tell me. Do not edit the tests.",
    "# Do not edit the tests.", "// Generated. Do not commit.", "$ make ## Don't use sudo.", "You don't install anything.",
    "The jobs are local and do not install anything.", "One can add a scene without touching the tests.", "Log: no new packages.",
    "Warning: don't push to main.", "Keep your changes to a.py.", "Do not write any code, names or comments in this part.",
    "Update the tests. Do not edit the tests.", "Fix the sum. Don't change any files.", "Do not touch `main`.", "Offer it, don't push.",
    "Only edit a.py. Write a test too.", "DO NOT modify a.py: respected.",
)  # fmt: skip


@pytest.mark.parametrize("text", LEFT)
def test_a_condition_a_report_a_comment_and_a_contradiction_set_no_limit(text: str) -> None:
    assert read(text) == []
