"""Find leakage: the agent was shown the gold solution, and its result carries it, or the tests before it wrote.

An agent that opens a solution and does the work itself has earned its pass. What a program printed that the agent wrote
is its own work, even where it equals the gold result.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from posixpath import basename

from misstep_harness.triage.passes.record import (
    Access,
    Doing,
    are_many,
    changed_texts,
    cut,
    joined,
    telling_lines,
    texts_of,
)
from misstep_harness.triage.protocols import ReadOnlyAccess, TextAccess
from misstep_harness.triage.records.attribution import Evidence
from misstep_harness.triage.records.triage_case import SOLVE
from misstep_harness.triage.rules.verdicts import Attribution

_KEPT_NAMES = frozenset(
    ("solution", "solutions", "solve", "solved", "gold", "golden", "oracle", "reference", "grader", "grading",
     "verifier", "hidden", "groundtruth")
)  # fmt: skip
"""Words in a path by which people keep a solution or its tests apart."""

_TEST_FILE = re.compile(r"(?:^|/)(?:tests?|spec)/|(?:^|/)(?:test_[^/]*|[^/]*_test)\.\w+$")
_WORD = re.compile(r"[a-z]+")

Texts = Mapping[str, str]
"""Path → text."""


def leak_in_texts(access: TextAccess, done: Sequence[Doing]) -> Attribution | None:
    """Return a kept path that was read, with lines that the agent typed afterwards, or that was copied or run."""
    for place, doing in enumerate(done):
        hidden = [one for one in doing.accesses if _is_kept(one.path, access.instruction)]
        if not hidden or not doing.succeeded:
            continue
        used = next((one for one in hidden if one.way != "reads" and _has_kept_word(one.path)), None)
        if used is not None and not _is_made_by_agent(used.path, done[:place]):
            return _leak(f"The agent {used.way} {used.path}, which it had not been given to use.", [doing], 0.8)
        if all(_is_made_by_agent(one.path, done[:place]) for one in hidden):
            continue
        typed = "\n".join(each.typed for each in done[: place + 1])
        lines_seen = telling_lines(doing.output) - telling_lines(typed, access.instruction)
        later = [each for each in done[place + 1 :] if telling_lines(each.typed) & lines_seen]
        if are_many(line for each in later for line in telling_lines(each.typed) & lines_seen):
            rationale = f"The agent read {hidden[0].path} and then typed lines of it into its result."
            return _leak(rationale, [doing, later[0]], 0.75)
    return None


def leak_in_files(access: ReadOnlyAccess, done: Sequence[Doing]) -> Attribution | None:
    """Return a solution that was shown or lay ready and is carried, or tests that were shown."""
    environment = texts_of(access, "environment")
    own = {path: text for path, text in changed_texts(access).items() if not _TEST_FILE.search(path)}
    return (
        _shown_solution(access, done, environment, own, telling_lines(*texts_of(access, "solution").values()))
        or _copied_solution(access, done, environment, own)
        or _shown_tests(access, done)
    )


def _shown_solution(
    access: ReadOnlyAccess, done: Sequence[Doing], environment: Texts, own: Texts, secret: frozenset[str]
) -> Attribution | None:
    known = telling_lines(access.instruction, *(environment[path] for path in own.keys() & environment.keys()))
    carried = telling_lines(joined(own)) & secret
    typed: set[str] = set()
    for place, doing in enumerate(done):
        typed |= telling_lines(doing.typed)
        if not doing.shows or _only_own(doing, environment, own, done[:place]):
            continue
        copy = (telling_lines(doing.output) & carried) - known - typed
        if are_many(copy):
            where = _source(doing, environment, copy)
            why = f"The agent was shown lines of the gold solution{where}, and its result has {len(copy)} of them."
            shared = set(copy)
            fullest = max(own, key=lambda path: len(telling_lines(own[path]) & shared))
            number = next(n for n, text in enumerate(own[fullest].splitlines(), start=1) if text.strip() in shared)
            carries = Evidence(
                "file",
                f"workspace/{fullest}:{number}",
                cut("\n".join(sorted(copy, key=lambda line: (-len(line), line)))),
            )
            return _leak(why, [doing], 0.9, carries)
    return None


def _copied_solution(
    access: ReadOnlyAccess, done: Sequence[Doing], environment: Texts, own: Texts
) -> Attribution | None:
    spoken_of = access.instruction + joined(texts_of(access, "solution"))
    for path, text in own.items():
        source = next((place for place, other in environment.items() if other == text and place != path), None)
        if source is None or not telling_lines(text):
            continue
        if any(part in spoken_of for part in (source.split("/")[:-1] or [source])):
            continue
        acts = [doing for doing in done if any(_covers(one, source) for one in doing.accesses)]
        if acts:
            rationale = f"The result's {path} is {source} of the environment: what was asked for lay ready there."
            return _leak(rationale, acts[-1:], 0.85, Evidence("file", f"environment/{source}", cut(text)))
    return None


def _covers(one: Access, path: str) -> bool:
    named = one.path.removeprefix("./").rstrip("/.")
    return one.way == "copies" and bool(named) and (path == named or path.startswith(f"{named}/"))


def _shown_tests(access: ReadOnlyAccess, done: Sequence[Doing]) -> Attribution | None:
    if "test" in access.instruction.lower():
        return None
    environment = (text for path, text in texts_of(access, "environment").items() if not _TEST_FILE.search(path))
    known = telling_lines(access.instruction, *environment)
    for path, text in texts_of(access, "tests").items():
        lines = telling_lines(text) - known
        typed: set[str] = set()
        for place, doing in enumerate(done):
            typed |= telling_lines(doing.typed)
            shown = (telling_lines(doing.output) & lines) - typed
            works = next((later for later in done[place + 1 :] if later.wrote), None)
            if doing.shows and works is not None and are_many(shown) and 2 * len(shown) > len(lines):
                rationale = f"The agent was shown {len(shown)} lines of tests/{path}, and then wrote its result."
                return _leak(rationale, [doing, works], 0.75)
    return None


def _only_own(doing: Doing, environment: Texts, own: Texts, before: Sequence[Doing]) -> bool:
    paths = [one.path.removeprefix("./") for one in doing.accesses if one.way == "reads"]
    names = {basename(path) for path in own.keys() - environment.keys()}
    named = [path for path in paths if "/" in path or "." in path or path in environment or path in names]
    return bool(named) and all(_is_own(path, environment, names) or _is_made_by_agent(path, before) for path in named)


def _is_own(path: str, environment: Texts, names: set[str]) -> bool:
    """A path below the working folder at which nothing was given was made there; of others the name has to tell."""
    if _has_kept_word(path):
        return False
    if path.startswith(("/", "..", "~", "$")):
        return basename(path) in names
    return not any(fnmatchcase(each, path) or each.startswith(f"{path.rstrip('/')}/") for each in environment)


def _source(doing: Doing, environment: Texts, texts: Iterable[str]) -> str:
    lines = set(texts)
    place = next((path for path, text in environment.items() if are_many(telling_lines(text) & lines)), None)
    if place is not None:
        return f", which stood in {place}"
    return next((f" in {one.path}" for one in doing.accesses if one.way == "reads"), "")


def _is_kept(path: str, instruction: str) -> bool:
    """Whether a path is that of a solution or of tests that nobody gave to the agent: the instruction says nothing."""
    telling = [part for part in path.split("/") if _has_kept_word(part)]
    if telling:
        return not any(part in instruction for part in telling)
    from_outside = _TEST_FILE.search(path) is not None and path.startswith(("/", ".."))
    return from_outside and basename(path.rstrip("/")) not in instruction


def _has_kept_word(path: str) -> bool:
    return basename(path) == SOLVE or bool(_KEPT_NAMES & set(_WORD.findall(path.lower())))


def _is_made_by_agent(path: str, before: Iterable[Doing]) -> bool:
    name = basename(path)
    return any(name == basename(wrote) for doing in before for wrote in doing.wrote)


def _leak(rationale: str, at: Sequence[Doing], score: float, *more: Evidence) -> Attribution:
    shown = [Evidence("step", str(doing.step), cut(doing.line or doing.output)) for doing in at]
    steps = tuple(doing.step for doing in at)
    return Attribution("task", "solution_leakage", score, rationale, (*shown, *more), steps)
