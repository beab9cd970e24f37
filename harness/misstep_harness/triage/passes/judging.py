"""The checks of a pass in order: the first that finds something decides.

Find leakage: the agent was shown the gold solution, and its result carries it, or the tests before it wrote.

An agent that opens a solution and does the work itself has earned its pass. What a program printed that the agent wrote
is its own work, even where it equals the gold result.
"""

import ast
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from posixpath import basename

from misstep_harness.triage.logs import TESTS_LOG, tests_log, writer_of
from misstep_harness.triage.passes import record
from misstep_harness.triage.passes.comparison import (
    ComparedResults,
    Difference,
    TriedMutant,
    compare,
    compare_files,
    try_mutants,
)
from misstep_harness.triage.passes.record import (
    Access,
    Doing,
    are_many,
    changed_texts,
    cut,
    cut_end,
    doings,
    joined,
    parsed,
    telling_lines,
    texts_of,
)
from misstep_harness.triage.protocols import ReadOnlyAccess, SandboxAccess, TextAccess
from misstep_harness.triage.records import SOLVE, Evidence, Part
from misstep_harness.triage.rules.failures import lacks_tools, read_failure
from misstep_harness.triage.rules.text import all_passed
from misstep_harness.triage.rules.verdicts import Attribution
from misstep_harness.workspace.suite.output import saw_tests

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


RERUNS = 2

_FAILS = re.compile(
    r"^FAILED \((?:failures|errors)=|^=+ (?:[^\n]{0,80} )?[1-9]\d{0,6} (?:failed|errors?)(?=,| in \d| ?=)"
    r"|^[ \t]{0,8}[1-9]\d{0,6} (?:failed|failing)\b|^Traceback \(most recent call last\):"
    r"|^(?:AssertionError|E {1,8}assert)\b",
    re.MULTILINE,
)
_TEST_NAME = re.compile(r"\btest_\w+")


def unreliable_in_texts(access: TextAccess) -> Attribution | None:
    """Return a log of the tests that speaks against the recorded pass."""
    own = tests_log(access.logs)
    log = own.text if writer_of(own.name) == "tests" else ""
    failure, match = read_failure(log), _FAILS.search(log)
    if failure.tests or (match is not None and not all_passed(log, failure)):
        rationale = "The run is recorded as passed, but the log of its tests reports a failure"
    elif not saw_tests(log):
        rationale, match = "The run is recorded as passed, but the log says that no test was run", None
    else:
        return None
    where = f"logs/{own.name}" + (f":{log.count(chr(10), 0, match.start()) + 1}" if match is not None else "")
    shown = Evidence("log", where, cut_end(log) if match is None else cut(log[match.start() :]))
    return _unreliable(f"{rationale}: another run has to tell.", [shown], 0.85)


def unreliable_in_files(access: ReadOnlyAccess) -> Attribution | None:
    """Return a log that names tests which the case does not have: other tests were run."""
    tests = texts_of(access, "tests")
    known = set(_TEST_NAME.findall("\n".join([*tests, *tests.values()])))
    named = set(_TEST_NAME.findall(access.logs.get(TESTS_LOG, "")))
    foreign = sorted(named - known)
    if not known or not foreign or known & named - {name for name in known if f"{name}.py" in tests}:
        return None
    why = f"The log of the tests names {foreign[0]}, which the tests do not have: it is of another version of them."
    return _unreliable(why, [Evidence("log", f"logs/{TESTS_LOG}", foreign[0])], 0.7)


def unreliable_by_running(access: SandboxAccess) -> Attribution | None:
    """Return the agent's result does not pass when the tests are run again, or not each time."""
    runs = []
    for _ in range(RERUNS):
        with access.replica("workspace", tests=False) as replica:
            runs.append(replica.test())
    failed = [run for run in runs if run.exit_code != 0]
    if not failed:
        return None
    shown = [Evidence("command", access.case.file.test_command, cut_end(failed[0].output))]
    if len(failed) == len(runs):
        why = f"The run is recorded as passed, but its result fails the tests in each of {len(runs)} clean reruns."
        return _unreliable(why, shown, 0.9)
    why = f"The result passes {len(runs) - len(failed)} of {len(runs)} clean reruns of the tests, and fails the rest."
    return _unreliable(why, shown, 0.85)


def tests_run(access: SandboxAccess) -> bool:
    """Return whether any test runs on the result; an image seldom has all that a network brings to its tests."""
    with access.replica("workspace", tests=False) as replica:
        done = replica.test()
    return done.exit_code == 0 or (saw_tests(done.output) and not lacks_tools(done.output))


def leftovers(access: SandboxAccess, done: Sequence[Doing]) -> Attribution | None:
    """Files that no command of the agent made, and without which its result fails: something was left from before."""
    if access.case.part("environment") is None or not done:
        return None
    environment, gold = set(access.files("environment")), texts_of(access, "solution")
    typed = "\n".join(doing.typed for doing in done) + "\n".join([*gold, *gold.values()])
    foreign = [path for path in access.files("workspace") if path not in environment and basename(path) not in typed]
    foreign = [path for path in foreign if not re.search(r"__pycache__|\.pyc$|(?:^|/)\.", path)]
    if not foreign:
        return None
    with access.replica("environment", tests=False) as replica:
        lines = [f"( sh -c {shlex.quote(doing.line)} ) </dev/null >/dev/null 2>&1" for doing in done if doing.line]
        replica.run("\n".join(lines))
        files = set(replica.files())
        foreign = [path for path in foreign if path not in files]
    if not foreign:
        return None
    with access.replica("workspace", tests=False) as replica:
        replica.run(shlex.join(["rm", "-f", "--", *foreign]))
        finished = replica.test()
    if finished.exit_code == 0:
        return None
    rationale = f"The tests pass only with {foreign[0]}, which was not given and which no command of the agent makes."
    left = (access.read("workspace", foreign[0]) or b"").decode(errors="replace")
    shown = [
        Evidence("file", f"workspace/{foreign[0]}", cut(left)),
        Evidence("command", access.case.file.test_command, cut_end(finished.output)),
    ]
    return _unreliable(rationale, shown, 0.85)


def _unreliable(rationale: str, shown: Sequence[Evidence], score: float) -> Attribution:
    return Attribution("infrastructure", "harness_bug", score, rationale, tuple(shown))


LEAST = 3
"""Distinct literals of the tests in the result that are not a chance."""

_SHORTEST_TEXT, _SHORTEST_NUMBER = 4, 3
_PROGRAMS = (".py", ".sh", ".js", ".rb", ".pl", ".awk")
_QUOTED = re.compile(r"\"([^\"\n]{1,300})\"|'([^'\n]{1,300})'")
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d.]{0,30}\d(?!\w)")
_NAME_LIKE = re.compile(r"[\w.%+-]*")


def special_cased(access: ReadOnlyAccess) -> Attribution | None:
    """Literals of the tests that are in the programs of the result, and in nothing else that the agent was given."""
    tests = texts_of(access, "tests")
    changed = changed_texts(access).items()
    own = {path: text for path, text in changed if path.endswith(_PROGRAMS) or text.startswith("#!")}
    if not own or not tests:
        return None
    parts: tuple[Part, ...] = ("environment", "solution")
    known = "\n".join([access.instruction, *(joined(texts_of(access, part)) for part in parts)])
    wanted = {literal for literal in literals(tests) if literal not in known}
    places = {
        literal: place
        for literal in wanted
        for path, text in own.items()
        if (place := _place(path, text, literal)) is not None
    }
    if len(places) < LEAST:
        return None
    shown = sorted(places, key=lambda literal: (-len(literal), literal))
    rationale = (
        f"The result holds {len(places)} literals of the tests, such as {shown[0]!r}, which stand neither in the "
        "instruction nor in the files that were given: it answers the tests, not the task."
    )
    evidence = [Evidence("file", places[literal], cut(literal, 2)) for literal in shown[:LEAST]]
    return Attribution("task", "weak_tests", 0.75, rationale, tuple(evidence))


def literals(tests: Mapping[str, str]) -> set[str]:
    """Return the texts and numbers of tests that are long enough to be told from chance."""
    constants: set[str] = set()
    for path, text in tests.items():
        constants |= set(_of_python(text)) if path.endswith(".py") else set(_of_shell(text))
    return {one for one in constants if _is_telling(one)}


def _is_telling(literal: str) -> bool:
    """Whether it tells: a name such as `utf-8` or `header` may be in any program; a sentence or a figure is not."""
    if _NUMBER.fullmatch(literal):
        return len(literal.lstrip("-")) >= _SHORTEST_NUMBER
    return len(literal) >= _SHORTEST_TEXT and (not _NAME_LIKE.fullmatch(literal) or any(map(str.isdigit, literal)))


def _of_python(text: str) -> Iterator[str]:
    nodes = parsed(text)
    messages = {id(part) for node in nodes for part in _messages(node)}
    for node in nodes:
        if isinstance(node, ast.Constant) and id(node) not in messages:
            if isinstance(node.value, str):
                yield node.value
            elif isinstance(node.value, int | float) and not isinstance(node.value, bool):
                yield str(node.value)


def _messages(node: ast.AST) -> Iterator[ast.AST]:
    """Return what a test says and does not compare: docstrings, messages, parts of texts that are put together."""
    if isinstance(node, ast.Expr):
        yield node.value
    elif isinstance(node, ast.Assert) and node.msg is not None:
        yield from ast.walk(node.msg)
    elif isinstance(node, ast.JoinedStr):
        yield from ast.walk(node)


def _of_shell(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if not line.lstrip().startswith("#") and "echo" not in line:
            yield from (double or single for double, single in _QUOTED.findall(line))
            yield from _NUMBER.findall(line)


def _place(path: str, text: str, literal: str) -> str | None:
    for one in dict.fromkeys([literal, literal.encode("unicode_escape").decode()]):
        match = re.search(rf"(?<![\w.]){re.escape(one)}(?![\w.])", text)
        if match is not None:
            return f"workspace/{path}:{text.count(chr(10), 0, match.start()) + 1}"
    return None


LEAST_VARIED, LEAST_SHARE = 2, 0.1
"""How many calls with other arguments must differ, and which share of them, before the result counts as wrong: one
alone may be outside of what was asked."""

LEAST_WRONG, WRONG_SHARE, MOST_WITHOUT_GOLD = 3, 0.6, 8
"""Wrong variants that must pass, and their share, before tests check too little for a pass to count without a gold
result; and how many are tried then."""

_SPECIAL_SHARE = 0.5
_BY_FILES = "Nothing in the record and the files of the run speaks against the pass."
_BY_RERUNS = "Clean reruns pass, and nothing in the record and the files of the run speaks against the pass."
_SHOWN = 3


def attribute_pass(access: TextAccess) -> Attribution:
    """Return whether a recorded pass was earned."""
    done = doings(access.trajectory)
    if isinstance(access, SandboxAccess):
        return _by_running(access, done)
    if isinstance(access, ReadOnlyAccess):
        return _by_files(access, done) or _sound(_BY_FILES, 0.6)
    return (
        record.tampering_in_texts(access, done) or leak_in_texts(access, done) or unreliable_in_texts(access)
    ) or _sound("Nothing in the record of the run speaks against the pass.", 0.5)


def _by_files(access: ReadOnlyAccess, done: Sequence[Doing]) -> Attribution | None:
    return (
        record.tampering_in_files(access, done)
        or leak_in_files(access, done)
        or leak_in_texts(access, done)
        or unreliable_in_texts(access)
        or unreliable_in_files(access)
        or special_cased(access)
        or _files_differ(access)
    )


def _files_differ(access: ReadOnlyAccess) -> Attribution | None:
    differences = compare_files(access)
    start = "The tests accept the result, though it differs from the gold result in"
    return _weak(f"{start} {differences[0].what}.", 0.75, differences) if differences else None


def _by_running(access: SandboxAccess, done: Sequence[Doing]) -> Attribution:
    if not access.case.file.test_command or access.case.part("workspace") is None:
        return _by_files(access, done) or _sound(_BY_FILES, 0.6)
    if access.case.roots and not tests_run(access):
        return _by_files(access, done) or _sound(_BY_FILES, 0.6)
    unreliable = unreliable_by_running(access)
    if unreliable is not None:
        return record.tampering_in_texts(access, done) or unreliable
    leak = (
        record.tampering_by_running(access, done)
        or leak_in_files(access, done)
        or leak_in_texts(access, done)
        or leftovers(access, done)
    )
    if leak is not None:
        return leak
    compared = compare(access)
    if compared is None:
        return _by_files(access, done) or _by_mutants(access)
    return (
        record.fewer_tests(access, compared.gold.output, compared.result.output)
        or _differs(compared)
        or special_cased(access)
        or unreliable_in_texts(access)
        or _equal(compared, try_mutants(access, "solution", compared.gold))
    )


def _by_mutants(access: SandboxAccess) -> Attribution:
    """Without a gold result to compare: whether the tests tell any wrong variant of the agent's from it."""
    tried = try_mutants(access, "workspace", most=MOST_WITHOUT_GOLD)
    if len(tried.passed) >= LEAST_WRONG and len(tried.passed) >= WRONG_SHARE * tried.wrong:
        counted = f"{len(tried.passed)} of {tried.wrong} wrong variants of the result"
        rationale = f"{counted} pass the tests too: they check too little for a pass to count."
        return Attribution("task", "weak_tests", 0.5, rationale, tried.evidence())
    return _sound(_BY_RERUNS, 0.7, *tried.evidence())


def _differs(compared: ComparedResults) -> Attribution | None:
    plain = [one for one in compared.differences if one.where != "varied"]
    varied = [one for one in compared.differences if one.where == "varied"]
    if plain:
        rationale = f"The tests accept the result, though it differs from the gold result in {plain[0].what[:160]}."
        return _weak(rationale, 0.85 if plain[0].where == "file" else 0.9, plain)
    share = len(varied) / compared.varied if compared.varied else 0.0
    if len(varied) < LEAST_VARIED or share < LEAST_SHARE:
        return None
    counted = f"{len(varied)} of {compared.varied} calls with other arguments than those of the tests"
    if share >= _SPECIAL_SHARE:
        rationale = f"The result fits the inputs of the tests alone: it differs from the gold result in {counted}."
        return _weak(rationale, 0.9, varied)
    return _weak(f"The tests accept the result, though it differs from the gold result in {counted}.", 0.75, varied)


def _weak(rationale: str, score: float, differences: Sequence[Difference]) -> Attribution:
    return Attribution("task", "weak_tests", score, rationale, tuple(one.evidence() for one in differences[:_SHOWN]))


def _equal(compared: ComparedResults, tried: TriedMutant) -> Attribution:
    """Nothing was found; how much was compared, and what the tests let through, says how sure that is."""
    calls = len(compared.gold.observed)
    looked = len(compared.gold.files) + calls + (compared.gold.printed is not None)
    if not looked:
        return _sound(_BY_RERUNS, 0.7)
    what = f"{len(compared.gold.files)} files and {calls} calls, {compared.varied} of them with other arguments,"
    evidence = Evidence("command", "the tests on the gold result and on the agent's", f"{what} give the same")
    rationale = "Clean reruns pass, and the result does what the gold result does."
    if not tried.passed:
        return _sound(rationale, 0.9, evidence)
    weak = f"The tests let {len(tried.passed)} of {tried.wrong} wrong variants of the gold result pass, too."
    return _sound(f"{rationale} {weak}", 0.85, evidence, *tried.evidence())


def _sound(rationale: str, score: float, *evidence: Evidence) -> Attribution:
    return Attribution("pass", "", score, rationale, evidence)
