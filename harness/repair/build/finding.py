"""Look for faults that a package's tests notice: seeded candidates on executed lines, each tried in the sandbox.

A candidate is one fault, or several at once. Only the tests that execute its functions are run; those that newly fail
are the oracle. A run ends as soon as more tests have failed than an oracle may have, and may take a few times as long
as the whole suite did: a fault that makes tests hang is not a fault that they report.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from random import Random

from msgspec import Struct

from misstep.harness.repair.build.operators import OPERATORS
from misstep.harness.repair.build.recipes import (
    FaultPlace,
    Recipe,
    changed_lines,
    complexity,
    diff,
    digest,
    faults_at,
    planted,
)
from misstep.harness.repair.build.syntax import Edit, Fault, parses
from misstep.harness.repair.build.tracing import (
    Traced,
    executable,
    failing_files,
    share_executed,
    test_of,
    trace,
    untouched,
)
from misstep.harness.repair.build.writing import CaseSource
from misstep.harness.repair.scoring import open_case, put_files
from misstep.harness.workspace import Limits, Sandbox
from misstep.harness.workspace.suite.command import runner_of
from misstep.harness.workspace.suite.run import run_suite

LEAST_COVERAGE = 0.5
"""An oracle that executes less than this share of what the golden patch changes does not check it."""

MOST_TESTS = 25
"""More newly failing tests than this are not the failure of a test, but a package that does not work."""

_MOST_EXECUTING = 4 * MOST_TESTS
"""A fault on lines that more tests than this execute nearly always fails more of them than an oracle may have."""

_SEVERAL = 0.25
_MOST_FAULTS = 7
_BLAMED = 1 / 3
_MOST_NAMED = 150
_START, _TIMES = 5.0, 4.0
"""Seconds that a run may take, and how many times as long as the whole traced suite it may take besides."""

_PLUGIN = "misstep_trial"
_STOPPER = """\
failed, sessions = set(), []

def pytest_sessionstart(session):
    sessions.append(session)

def pytest_runtest_logreport(report):
    if report.failed:
        failed.add(report.nodeid.partition("[")[0])
    if len(failed) > {most}:
        sessions[0].shouldstop = "more tests failed than an oracle has"
"""

_Placed = tuple[FaultPlace, Fault]


class Wanted(Struct, frozen=True):
    """What to look for: of which category (empty: any), and whether all faults are in one file."""

    category: str = ""
    one_file: bool = False


class _Candidate(Struct, frozen=True):
    places: tuple[FaultPlace, ...]
    faults: tuple[Fault, ...]
    broken: dict[str, bytes]
    patch: str


def _edits(*faults: Fault) -> Iterator[tuple[str, Edit]]:
    return ((path, edit) for fault in faults for path, edits in fault.edits.items() for edit in edits)


def _lines(source: CaseSource, path: str, edit: Edit) -> range:
    """Return the lines that an edit touches; an edit of whole lines does not touch the next."""
    text = source.modules[path].source
    first = text.count(b"\n", 0, edit.start) + 1
    return range(first, first + text.count(b"\n", edit.start, max(edit.start, edit.end - 1)) + 1)


def find(
    source: CaseSource, wanted: Wanted, seed: int, sandbox: Sandbox, known: Collection[str] = ()
) -> Iterator[Recipe | None]:
    """Try a package: yield a recipe other than those of the `known` ids, or `None` if no test notices."""
    random = Random(f"{seed} {source.package.key} {wanted.category}")  # noqa: S311 -- a sample, no secret
    traced = trace(source.tree, source.package, sandbox)
    used = set[tuple[str, str]]()
    for candidate in _candidates(_faults(source, traced, random), source, wanted, random):
        where = (candidate.faults[0].function, candidate.faults[0].operator)
        blamed = random.random() < _BLAMED
        if where in used or _id(source, candidate) in known:
            used.add(where)
            continue
        tests = sorted(set[str]().union(*(_tests_of(source, fault, traced) for fault in candidate.faults)))
        if not _covered(_coverage(source, candidate, tests, traced)):
            continue  # what all the tests do not execute, no oracle does
        oracle = oracle_of(source, candidate.broken, tests, traced, sandbox)
        coverage = _coverage(source, candidate, oracle, traced)
        if not oracle or not _covered(coverage):
            yield None
            continue
        used.add(where)
        yield Recipe(
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


def _id(source: CaseSource, candidate: _Candidate) -> str:
    return f"{source.package.key}-{digest(candidate.broken)[:8]}"


def _faults(source: CaseSource, traced: Traced, random: Random) -> dict[str, list[_Placed]]:
    """By operator and in a random order, the faults within functions which some tests execute, but not too many."""
    by_operator: dict[str, list[_Placed]] = {}
    for name in OPERATORS:
        every = (each for module in source.modules.values() for each in faults_at(module, name) if each[1].function)
        executed = [each for each in every if 0 < len(_tests_of(source, each[1], traced)) <= _MOST_EXECUTING]
        random.shuffle(executed)
        if executed:
            by_operator[name] = executed
    return by_operator


def _candidates(
    by_operator: dict[str, list[_Placed]], source: CaseSource, wanted: Wanted, random: Random
) -> Iterator[_Candidate]:
    for number in range(max(map(len, by_operator.values()), default=0)):
        names = list(by_operator)
        random.shuffle(names)
        for faults in (by_operator[name] for name in names if number < len(by_operator[name])):
            together = _together(by_operator, faults[number], source, wanted, random)
            if wanted.category not in ("", _size(source, together)):
                continue
            candidate = _candidate(source, together)
            if candidate is None or (wanted.one_file and len(candidate.broken) > 1):
                continue
            if wanted.category in ("", complexity(changed_lines(candidate.patch))):
                yield candidate


def _together(
    by_operator: dict[str, list[_Placed]], first: _Placed, source: CaseSource, wanted: Wanted, random: Random
) -> list[_Placed]:
    together = [first]
    more = random.choice((1, 2)) if random.random() < _SEVERAL else 0
    for _ in range(more if not wanted.category else _MOST_FAULTS - 1):
        if wanted.category and _size(source, together) in (wanted.category, "large"):
            break
        others = by_operator[random.choice(list(by_operator))]
        if wanted.one_file:
            others = [each for each in others if each[0].file == first[0].file]
        if others:
            together.append(random.choice(others))
    return together


def _size(source: CaseSource, faults: Sequence[_Placed]) -> str:
    """The category of a patch of faults, by the lines that their edits touch; a diff of long files takes far longer."""
    lines = 0
    for path, edit in _edits(*(fault for _, fault in faults)):
        text = source.modules[path].source
        whole = text[edit.start - 1 : edit.start] == text[edit.end - 1 : edit.end] == b"\n"
        lines += text.count(b"\n", edit.start, edit.end) + edit.text.count(b"\n") + (0 if whole else 2)
    return complexity(lines)


def _candidate(source: CaseSource, chosen: Sequence[_Placed]) -> _Candidate | None:
    faults = tuple(fault for _, fault in chosen)
    try:
        broken = planted(faults, source.modules)
    except ValueError:
        return None
    if not broken or not all(parses(source.package.language, text) for text in broken.values()):
        return None
    fixed = {path: source.modules[path].source for path in broken}
    return _Candidate(tuple(place for place, _ in chosen), faults, broken, diff(broken, fixed))


def _tests_of(source: CaseSource, fault: Fault, traced: Traced) -> set[str]:
    """Return the passing tests that execute what the edits of a fault touch, or else the functions around them."""
    tests = set[str]()
    for path, edit in _edits(fault):
        touching = traced.tests_of(path, _lines(source, path, edit))
        module = source.modules[path]
        node = module.root.descendant_for_byte_range(edit.start, max(edit.start, edit.end - 1))
        if not touching and node is not None:
            around = module.function(node) or node
            touching = traced.tests_of(path, range(around.start_point.row + 1, around.end_point.row + 2))
        tests |= touching
    return tests - {*traced.failing}


def _covered(coverage: float | None) -> bool:
    return coverage is None or coverage >= LEAST_COVERAGE


def _coverage(source: CaseSource, candidate: _Candidate, oracle: Sequence[str], traced: Traced) -> float | None:
    """Return the share of the lines that the golden patch brings, or is beside, which the oracle executes."""
    tests = tuple(test for test in traced.lines if test in oracle or (test and test.partition("::")[0] in oracle))
    wanted: dict[str, set[int]] = {}
    for path, edit in _edits(*candidate.faults):
        wanted.setdefault(path, set()).update(_lines(source, path, edit))
    for path in wanted:
        wanted[path] &= executable(source.package.language, source.modules[path].source)
    return share_executed(wanted, {path: traced.executed(tests, path) for path in wanted})


def oracle_of(
    source: CaseSource, broken: Mapping[str, bytes], tests: Sequence[str], traced: Traced, sandbox: Sandbox
) -> tuple[str, ...]:
    """Return the tests that newly fail with broken files, or their files if some cannot be imported any more."""
    with open_case(untouched(source.tree, source.package), sandbox) as workspace:
        put_files(workspace, broken)
        if runner_of(command := source.package.test_command) == "junit":
            failed = failing_files(workspace, tests, MOST_TESTS)
        else:
            most = MOST_TESTS + len(traced.failing)
            workspace.write(f"{_PLUGIN}.py", _STOPPER.format(most=most).encode())
            limits = Limits(seconds=_START + _TIMES * traced.seconds)
            named = tests if len(tests) <= _MOST_NAMED else []
            report = run_suite(workspace, f"{command} --tb=no -p {_PLUGIN}", named, limits)
            failed = {test_of(test.id) for test in report.failed}
    failed -= {*traced.failing}
    if not failed <= {*traced.lines}:
        failed = {test.partition("::")[0] for test in tests}
    return tuple(sorted(failed)) if len(failed) <= MOST_TESTS else ()
