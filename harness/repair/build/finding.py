"""Looks for faults that a package's tests notice: seeded candidates on executed lines, each tried in the sandbox.

A candidate is one fault, or several at once. Only the tests that execute its functions are run; those that newly fail
are the oracle (`harness.repair.build.trial`). What was found is a recipe; the case of it is affirmed and written by
`harness.repair.build.writing`.
"""

from collections.abc import Collection, Iterator, Sequence
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
from misstep.harness.repair.build.syntax import Fault, parses
from misstep.harness.repair.build.tracing import Traced, executable, share_executed, trace
from misstep.harness.repair.build.trial import MOST_TESTS, oracle_of
from misstep.harness.repair.build.writing import CaseSource
from misstep.harness.workspace import Sandbox

LEAST_COVERAGE = 0.5
"""An oracle that executes less than this share of what the golden patch changes does not check it."""

_MOST_EXECUTING = 4 * MOST_TESTS
"""A fault on lines that more tests than this execute nearly always fails more of them than an oracle may have."""

_SEVERAL = 0.25
_MOST_FAULTS = 7
_BLAMED = 1 / 3


class Wanted(Struct, frozen=True):
    """What to look for: of which category (empty: any), and whether all faults are in one file."""

    category: str = ""
    one_file: bool = False


class _Candidate(Struct, frozen=True):
    """Faults that could be planted together."""

    places: tuple[FaultPlace, ...]
    faults: tuple[Fault, ...]
    broken: dict[str, bytes]
    patch: str


def find(
    source: CaseSource, wanted: Wanted, seed: int, sandbox: Sandbox, known: Collection[str] = ()
) -> Iterator[Recipe | None]:
    """What each try on a package gives: a recipe other than those of the `known` ids, `None` where no test notices."""
    random = Random(f"{seed} {source.package.key} {wanted.category}")  # noqa: S311 -- a sample, no secret
    traced = trace(source.tree, source.package, sandbox)
    used = set[tuple[str, str]]()
    for candidate in _candidates(_faults(source, traced, random), source, wanted, random):
        where = (candidate.faults[0].function, candidate.faults[0].operator)
        blamed = random.random() < _BLAMED
        if where in used or _id(source, candidate) in known:
            used.add(where)
            continue
        tests = sorted({test for fault in candidate.faults for test in _tests_of(source, fault, traced)})
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


def _faults(source: CaseSource, traced: Traced, random: Random) -> dict[str, list[tuple[FaultPlace, Fault]]]:
    """By operator and in a random order, the faults within functions which some tests execute, but not too many."""
    by_operator: dict[str, list[tuple[FaultPlace, Fault]]] = {}
    for name in OPERATORS:
        every = [each for module in source.modules.values() for each in faults_at(module, name) if each[1].function]
        known = [each for each in every if 0 < len(_tests_of(source, each[1], traced)) <= _MOST_EXECUTING]
        random.shuffle(known)
        if known:
            by_operator[name] = known
    return by_operator


def _candidates(
    by_operator: dict[str, list[tuple[FaultPlace, Fault]]], source: CaseSource, wanted: Wanted, random: Random
) -> Iterator[_Candidate]:
    """Candidates of some faults, the operators in turn."""
    rounds = max(map(len, by_operator.values()), default=0)
    for number in range(rounds):
        names = list(by_operator)
        random.shuffle(names)
        for name in names:
            if number >= len(by_operator[name]):
                continue
            together = _together(by_operator, by_operator[name][number], source, wanted, random)
            if wanted.category not in ("", _size(source, together)):
                continue
            candidate = _candidate(source, together)
            if candidate is None or (wanted.one_file and len(candidate.broken) > 1):
                continue
            if wanted.category in ("", complexity(changed_lines(candidate.patch))):
                yield candidate


def _together(
    by_operator: dict[str, list[tuple[FaultPlace, Fault]]],
    first: tuple[FaultPlace, Fault],
    source: CaseSource,
    wanted: Wanted,
    random: Random,
) -> list[tuple[FaultPlace, Fault]]:
    """Return a fault, now and then with one or two more for any category, or with as many as a larger patch needs."""
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


def _size(source: CaseSource, faults: Sequence[tuple[FaultPlace, Fault]]) -> str:
    """The category of a patch of faults, by the lines that their edits touch; a diff of long files takes far longer."""
    lines = 0
    for _, fault in faults:
        for path, edits in fault.edits.items():
            text = source.modules[path].source
            for edit in edits:
                whole = text[edit.start - 1 : edit.start] == text[edit.end - 1 : edit.end] == b"\n"
                lines += text.count(b"\n", edit.start, edit.end) + edit.text.count(b"\n") + (0 if whole else 2)
    return complexity(lines)


def _candidate(source: CaseSource, chosen: Sequence[tuple[FaultPlace, Fault]]) -> _Candidate | None:
    """Faults planted together; `None` where they overlap, change nothing or break the syntax."""
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
    found = set[str]()
    for path, edits in fault.edits.items():
        module = source.modules[path]
        for edit in edits:
            first = module.source.count(b"\n", 0, edit.start) + 1
            last = first + module.source.count(b"\n", edit.start, max(edit.start, edit.end - 1))
            if touched := traced.tests_of(path, first, last):
                found |= touched
                continue
            node = module.root.descendant_for_byte_range(edit.start, max(edit.start, edit.end - 1))
            around = (module.function(node) or node) if node is not None else None
            if around is not None:
                found |= traced.tests_of(path, around.start_point.row + 1, around.end_point.row + 1)
    return found - {*traced.failing}


def _covered(coverage: float | None) -> bool:
    return coverage is None or coverage >= LEAST_COVERAGE


def _coverage(source: CaseSource, candidate: _Candidate, oracle: Sequence[str], traced: Traced) -> float | None:
    """Return the share of the lines that the golden patch brings, or stands beside, which the oracle executes."""
    named = {*oracle}
    tests = tuple(test for test in traced.lines if test in named or (test and test.partition("::")[0] in named))
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
