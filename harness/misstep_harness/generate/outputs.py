"""What commands print: histories, and runs of tests."""

from random import Random

from misstep_harness.generate.projects import Language, Project, ProjectFunction


def history(random: Random, project: Project, count: int) -> str:
    """Return the last commits on one line each."""
    modules = [path.rpartition("/")[2].partition(".")[0] for path in project.sources]
    verbs = ("Tidy", "Speed up", "Document", "Extend", "Simplify", "Rework")
    commits = (f"{random.getrandbits(28):07x} {random.choice(verbs)} {random.choice(modules)}" for _ in range(count))
    return "\n".join(commits)


def tests_passed(random: Random, language: Language, count: int) -> str:
    """Return what a run prints in which all of `count` tests pass."""
    return language.passed.format(passed=count, failed=0, seconds=_seconds(random))


def test_failed(random: Random, language: Language, file: str, failed: ProjectFunction, passed: int) -> str:
    """Return what a run prints in which the test of one function fails, and `passed` pass."""
    number = failed.number
    line = language.failed_line.format(file=file, name=failed.name, left=number + 1, right=number)
    return f"{line}\n{language.failed.format(passed=passed, failed=1, seconds=_seconds(random))}"


def _seconds(random: Random) -> str:
    return f"{random.uniform(0.2, 9):.2f}"
