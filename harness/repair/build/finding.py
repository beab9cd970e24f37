"""Looks for faults that a package's tests notice: seeded candidates on executed lines, each tried in the sandbox.

A candidate is one fault, or several at once. Only the tests that execute its functions are run; those that newly fail
are the oracle. What was found is a recipe; the case of it is affirmed and written by `harness.repair.build.writing`.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from random import Random

from msgspec import Struct

from harness.repair.build.operators import OPERATORS
from harness.repair.build.recipes import Place, Recipe, changed_lines, complexity, diff, digest, faults_at, planted
from harness.repair.build.syntax import Fault, parses
from harness.repair.build.tracing import (
    Traced,
    executable,
    failing_files,
    share_executed,
    test_of,
    trace,
    untouched,
)
from harness.repair.build.writing import Source
from harness.repair.scoring import open_case, put_files
from harness.workspace import Limits, Sandbox
from harness.workspace.suite_command import runner_of
from harness.workspace.suite_run import run_suite

MOST_TESTS = 25
"""More newly failing tests than this are no failure of a test, but a package that does not work."""

LEAST_COVERAGE = 0.5
"""An oracle that executes less than this share of what the golden patch changes does not check it."""

_TRIAL = Limits(seconds=25.0)
_MOST_NAMED = 150
_TRIES = 8
_SEVERAL = 0.25
_BLAMED = 1 / 3


class Wanted(Struct, frozen=True):
    """What to look for: how many, of which category (empty: any), and whether all faults are in one file."""

    count: int
    category: str = ""
    one_file: bool = False


class Candidate(Struct, frozen=True):
    """Faults that could be planted together."""

    places: tuple[Place, ...]
    faults: tuple[Fault, ...]
    broken: dict[str, bytes]
    patch: str


def find(source: Source, wanted: Wanted, seed: int, sandbox: Sandbox, known: Collection[str] = ()) -> Iterator[Recipe]:
    """Recipes for a package, other than those of the `known` ids, until there are enough or too many tries fail.

    Raises
    ------
    InputError
        The suite of the untouched package does not run.
    """
    random = Random(f"{seed} {source.package.key} {wanted.category}")  # noqa: S311 -- a sample, no secret
    traced = trace(source.tree, source.package, sandbox)
    found = tries = 0
    used = set[tuple[str, str]]()
    for candidate in _candidates(source, wanted, random):
        if found >= wanted.count or tries >= _TRIES * wanted.count + _TRIES:
            return
        where = (candidate.faults[0].function, candidate.faults[0].operator)
        blamed = random.random() < _BLAMED
        if where in used or _id(source, candidate) in known:
            used.add(where)
            continue
        tries += 1
        recipe = _tried(source, candidate, traced, seed, sandbox, blamed=blamed)
        if recipe is not None:
            found += 1
            used.add(where)
            yield recipe


def _id(source: Source, candidate: Candidate) -> str:
    return f"{source.package.key}-{digest(candidate.broken)[:8]}"


def _candidates(source: Source, wanted: Wanted, random: Random) -> Iterator[Candidate]:
    """Candidates in a random order, the operators in turn."""
    by_operator: dict[str, list[tuple[Place, Fault]]] = {}
    for name in OPERATORS:
        known = [each for module in source.modules.values() for each in faults_at(module, name) if each[1].function]
        random.shuffle(known)
        if known:
            by_operator[name] = known
    rounds = max(map(len, by_operator.values()), default=0)
    for number in range(rounds):
        names = list(by_operator)
        random.shuffle(names)
        for name in names:
            if number >= len(by_operator[name]):
                continue
            chosen = [by_operator[name][number]]
            candidate = _candidate(source, chosen)
            for together in _several(by_operator, chosen, wanted, random):
                if candidate is None or wanted.category == "small":
                    break
                candidate = _candidate(source, together) or candidate
                if complexity(changed_lines(candidate.patch)) == wanted.category:
                    break
            if candidate is None or (wanted.one_file and len(candidate.broken) > 1):
                continue
            if wanted.category in ("", complexity(changed_lines(candidate.patch))):
                yield candidate


def _several(
    by_operator: dict[str, list[tuple[Place, Fault]]], chosen: list[tuple[Place, Fault]], wanted: Wanted, random: Random
) -> Iterator[list[tuple[Place, Fault]]]:
    """More and more faults beside the first one: two or three for any category, as many as a larger patch needs."""
    if not wanted.category and random.random() > _SEVERAL:
        return
    together = list(chosen)
    for _ in range(random.choice((1, 2)) if not wanted.category else 6):
        others = by_operator[random.choice(list(by_operator))]
        if wanted.one_file:
            others = [each for each in others if each[0].file == chosen[0][0].file]
        if others:
            together = [*together, random.choice(others)]
            yield together


def _candidate(source: Source, chosen: Sequence[tuple[Place, Fault]]) -> Candidate | None:
    """Faults planted together; `None` where they overlap, change nothing or break the syntax."""
    faults = tuple(fault for _, fault in chosen)
    try:
        broken = planted(faults, source.modules)
    except ValueError:
        return None
    if not broken or not all(parses(source.package.language, text) for text in broken.values()):
        return None
    fixed = {path: source.modules[path].source for path in broken}
    return Candidate(tuple(place for place, _ in chosen), faults, broken, diff(broken, fixed))


def _tried(
    source: Source, candidate: Candidate, traced: Traced, seed: int, sandbox: Sandbox, *, blamed: bool
) -> Recipe | None:
    """The recipe of a candidate that tests notice; `None` where they do not, or where nothing works any more."""
    tests = sorted({test for fault in candidate.faults for test in _tests_of(source, fault, traced)})
    tests = [test for test in tests if test not in traced.failing]
    if not tests:
        return None
    with open_case(untouched(source.tree, source.package), sandbox) as workspace:
        put_files(workspace, candidate.broken)
        if runner_of(source.package.test_command) == "junit":
            failed = failing_files(workspace, tests)
        else:
            named = tests if len(tests) <= _MOST_NAMED else []
            report = run_suite(workspace, source.package.test_command, named, _TRIAL)
            failed = {test_of(test.id) for test in report.failed}
    failed -= {*traced.failing}
    if not failed <= {*traced.lines}:  # a module of tests cannot be imported
        failed = {test.partition("::")[0] for test in tests}
    oracle = tuple(sorted(failed))
    if not oracle or len(oracle) > MOST_TESTS:
        return None
    coverage = _coverage(source, candidate, oracle, traced)
    if coverage is not None and coverage < LEAST_COVERAGE:
        return None
    return Recipe(
        _id(source, candidate),
        source.package.name,
        seed,
        changed_lines(candidate.patch),
        digest(candidate.broken),
        oracle,
        candidate.places,
        coverage,
        blamed,
    )


def _tests_of(source: Source, fault: Fault, traced: Traced) -> Iterable[str]:
    """The tests that execute the function of a fault, or what its edits touch."""
    for path, edits in fault.edits.items():
        module = source.modules[path]
        for edit in edits:
            first = module.source.count(b"\n", 0, edit.start) + 1
            last = first + module.source.count(b"\n", edit.start, max(edit.start, edit.end - 1))
            if touched := traced.tests_of(path, first, last):
                yield from touched
                continue
            node = module.root.descendant_for_byte_range(edit.start, max(edit.start, edit.end - 1))
            around = (module.function(node) or node) if node is not None else None
            if around is not None:
                yield from traced.tests_of(path, around.start_point.row + 1, around.end_point.row + 1)


def _coverage(source: Source, candidate: Candidate, oracle: Sequence[str], traced: Traced) -> float | None:
    """The share of the lines that the golden patch brings, or stands beside, which the oracle executes."""
    tests = tuple(test for test in traced.lines if test in oracle or (test and test.partition("::")[0] in oracle))
    wanted: dict[str, set[int]] = {}
    for fault in candidate.faults:
        for path, edits in fault.edits.items():
            text = source.modules[path].source
            lines = wanted.setdefault(path, set())
            for edit in edits:
                first = text.count(b"\n", 0, edit.start) + 1
                lines |= set(
                    range(first, first + max(1, text.count(b"\n", edit.start, max(edit.start, edit.end - 1)) + 1))
                )
    for path in wanted:
        wanted[path] &= executable(source.package.language, source.modules[path].source)
    return share_executed(wanted, {path: traced.executed(tests, path) for path in wanted})
