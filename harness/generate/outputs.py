"""What commands print: listings, histories, logs, and the bulk that real observations have."""

from functools import cache
from random import Random

from misstep.harness.generate.projects import Language, Project, ProjectFunction

_POOL_LINES = 6000
_PARTS = ("loader", "planner", "router", "cache", "worker", "mapper", "writer", "scanner", "packer", "timer")
_DOINGS = ("opened", "finished", "collected", "skipped", "queued", "rebuilt", "warmed up", "compared", "stored")


def listing(project: Project, folder: str) -> str:
    """Return the files below a folder, as `ls` prints them."""
    inside = [path.removeprefix(f"{folder}/") for path in project.files if path.startswith(f"{folder}/")]
    return "\n".join(sorted(inside)) or "(empty)"


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


def bulk(random: Random, size: int) -> str:
    """Lines of a log of about `size` characters, cut from a pool at a place of their own."""
    pool = _pool()
    start = pool.index("\n", random.randrange(len(pool) // 2)) + 1
    text = (pool[start:] if size > len(pool) // 2 else pool[start : start + size]) + "\n"
    while len(text) < size:
        text += pool[: size - len(text)] + "\n"
    return text


@cache
def _pool() -> str:
    random = Random("log lines")  # noqa: S311 (made-up data)
    return "\n".join(_log_line(random, number) for number in range(_POOL_LINES))


def _log_line(random: Random, number: int) -> str:
    part, doing = random.choice(_PARTS), random.choice(_DOINGS)
    clock = f"{9 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.{random.randrange(1000):03}"
    shapes = (
        f"{clock} INFO  {part}: {doing} {random.randrange(2, 900)} entries in {random.uniform(0.1, 80):.1f} ms",
        f"{clock} DEBUG {part}-{random.randrange(8)}: key {random.getrandbits(32):08x} {doing}",
        f"{clock} DEBUG {part}: depth={random.randrange(12)} waiting={random.randrange(40)} done={number}",
        f"   compiled {part}/{random.choice(_PARTS)}_{random.randrange(99)} ({random.randrange(40, 9000)} bytes)",
    )
    return random.choice(shapes)
