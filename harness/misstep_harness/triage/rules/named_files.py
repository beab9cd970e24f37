"""Read the files of a case: inputs that are spoiled or were never there, what depends on chance, unstated names."""

import re
from collections.abc import Iterator, Sequence

from misstep_harness.classifiers.effects import CHANGES_FILES, effects
from misstep_harness.triage.protocols import ReadOnlyAccess
from misstep_harness.triage.records import SOLVE, Evidence, Part
from misstep_harness.triage.rules.failures import TestFailure
from misstep_harness.triage.rules.run_record import FilesRun, TextRun
from misstep_harness.triage.rules.verdicts import Attribution, attributed

_CHANCE = re.compile(
    r"\brandom\.(?!seed\(\d|Random\(\d)|\biter\(|\bset\([^)]|\bhash\(|\bthreading\b|\blistdir\b|\bshuffle\(|"
    r"\bsecrets\.|\buuid\d|\btime\.(?:time|perf_counter|monotonic)\(|\.now\(|\$RANDOM|\bshuf\b|\burandom\b|\bdate \+|"
    r"\bsleep\b|\basyncio\b|\bgetpid\b|\bPopen\("
)
_SURE = re.compile(
    r"\brandom\.(?!seed\(\d|Random\(\d)|\bshuffle\(|\bsecrets\.|\buuid\d|\btime\.(?:time|perf_counter|monotonic)\(|\$RANDOM|\bshuf\b"
)
_LARGEST_PROGRAM = 1 << 18


def chance(access: ReadOnlyAccess, parts: Sequence[Part], *, sure: bool = False) -> Evidence | None:
    """Return the first line of some parts that may depend on chance; `None` where none does."""
    for part in parts:
        for path in access.files(part):
            content = access.read(part, path) or b""
            text = content.decode(errors="replace") if len(content) <= _LARGEST_PROGRAM else ""
            match = (_SURE if sure else _CHANCE).search(text)
            if match is not None:
                line = text.count("\n", 0, match.start()) + 1
                return Evidence("file", f"{part}/{path}:{line}", text.splitlines()[line - 1].strip()[:300])
    return None


_LARGEST = 64 << 10
_MOST_TEXT = 1 << 20


def text_of(access: ReadOnlyAccess, part: Part) -> str:
    """Return all text of the files of a part that are small enough to be read by a person."""
    texts = []
    left = _MOST_TEXT
    for path in access.files(part):
        content = access.read(part, path)
        if content is not None and len(content) <= min(_LARGEST, left) and b"\0" not in content[:1024]:
            texts.append(content.decode(errors="replace"))
            left -= len(content)
    return "\n\n".join(texts)


def spoiled_input(access: ReadOnlyAccess) -> Evidence | None:
    """A file of the environment that the agent's result has no more, or has empty, though gold leaves it as it is."""
    if access.case.part("workspace") is None:
        return None
    of_gold = set(access.files("solution"))
    for path in access.files("environment"):
        before, after = access.read("environment", path), access.read("workspace", path)
        if before and not after and path not in of_gold:
            return Evidence("file", f"workspace/{path}", "it is empty" if after == b"" else "it is gone")
    return None


_PATH = re.compile(r"`?(?<![\w:/.])(?:\./)?([\w-]{1,60}/[\w./-]{1,120}\.[A-Za-z]\w{0,7})\b`?")
"""A path in an instruction, no part of an address or a version; a name without a folder may be what is to be made."""

_NAMED = re.compile(r"`([\w-]{1,60}\.\w{1,8})`")
_TEMPLATE = re.compile(r"[\w./<>{}*\[\]$%-]{1,120}\.\w{1,8}")
_HOLE = re.compile(r"<[^<>]{1,40}>|\{[^{}]{0,40}\}|\[[^\[\]]{1,40}\]|\*|%\w|\$\w+|(?<![a-z])[A-Z]{1,20}(?![a-z])|\d+")
"""A sign in a path for something else: `<name>`, `{n}`, `*`, `NAME`, `YYYY`, a number of several."""

_CAPITALS = re.compile(r"(?<![A-Za-z0-9])[A-Z]{1,20}(?![a-z0-9])")
_EMPTY_BY_RIGHT = re.compile(r"(?:^|/)(?:__init__\.py|py\.typed|\.[^/]+)$")
_DOCUMENT = re.compile(r"[\w./-]{1,120}\.(?:md|rst|adoc|txt|pdf|docx?|html?)\b", re.IGNORECASE)


def lacking_input(run: FilesRun) -> Attribution | None:
    """Return the environment's fault, where a file that the instruction tells of is not there, or is empty."""
    access = run.access
    gold = text_of(access, "solution")
    for name in dict.fromkeys([*_PATH.findall(access.instruction), *_NAMED.findall(access.instruction)]):
        if access.files("environment") and not _is_there(access, name) and _is_input(run, name, gold):
            rationale = f"The instruction tells of {name!r}, and the environment has no such file."
            return attributed("task", "environment_fail", rationale, [Evidence("file", "instruction.md", name)])
    for name in [path for path in access.files("environment") if path.rpartition("/")[2] in access.instruction]:
        exists = _writes(name, gold) or bool(access.read("workspace", name)) or bool(access.read("solution", name))
        if access.read("environment", name) == b"" and not exists and not _EMPTY_BY_RIGHT.search(name):
            rationale = f"The file {name!r} that the instruction tells of is empty in the environment."
            return attributed("task", "environment_fail", rationale, [Evidence("file", f"environment/{name}", "empty")])
    return None


def _is_there(access: ReadOnlyAccess, name: str) -> bool:
    return stands(name, {*access.files("environment"), *access.files("solution"), *access.files("workspace")})


def _is_input(run: FilesRun, name: str, gold: str) -> bool:
    """Whether a path that is nowhere is one to be read: gold reads it, or nothing makes, wants or stands for it."""
    quoted = re.escape(name)
    reads = rf"(?:open|read_\w{{1,20}}|Path)\(['\"]{quoted}['\"]|(?:\bcat|\bawk\b.{{0,200}}|<) ?['\"]?{quoted}(?![\w.])"
    if re.search(reads, gold) is not None and not _writes(name, gold):
        return True
    bare = name.rpartition("/")[2]
    if "/" not in name or _writes(name, gold) or bare in gold or bare in text_of(run.access, "tests"):
        return False
    return not (_is_template(run.access, name) or agent_makes(run, name))


def _is_template(access: ReadOnlyAccess, name: str) -> bool:
    folder = name.rpartition("/")[0]
    new_paths = {*access.files("solution"), *access.files("workspace")} - set(access.files("environment"))
    return is_placeholder(name) or any(path.rpartition("/")[0].endswith(folder) for path in new_paths if "/" in path)


def is_placeholder(name: str) -> bool:
    """Return whether the name of a file is a word in capitals that stands for others, such as `NAME.json`."""
    return _CAPITALS.search(name.rpartition("/")[2].rpartition(".")[0]) is not None


def agent_makes(run: TextRun, name: str) -> bool:
    """Return whether the agent wrote a file of this path, by a command or by an edit."""
    bare = name.rpartition("/")[2]
    targets = (one.target for act in run.acts for one in effects(act) if one.verb in CHANGES_FILES)
    return run.makes(name) or any(target == bare or target.endswith(f"/{bare}") for target in targets)


def _writes(name: str, gold: str) -> bool:
    quoted = rf"(?:[\w./$-]{{0,80}}/)?{re.escape(name.rpartition('/')[2])}"
    writes = rf">{{1,2}} ?['\"]?{quoted}|{quoted}['\"], ?['\"][wax]|\b(?:tee|cp|mv|touch)\b[^\n]{{0,200}}{quoted}"
    return re.search(rf"{writes}|(?:to_\w{{1,20}}|write_\w{{1,20}}|save\w{{0,20}})\(['\"]{quoted}", gold) is not None


def unnamed_result(run: FilesRun) -> Attribution | None:
    """The task's fault, where the tests want a file by a name that nothing states, and the agent named its own."""
    access = run.access
    before = set(access.files("environment"))
    of_gold = {path for path in access.files("solution") if path != SOLVE} - before
    own = set(access.files("workspace")) - before
    tests = b"\n".join(access.read("tests", path) or b"" for path in access.files("tests"))
    for path in sorted(of_gold - own):
        name = path.rpartition("/")[2]
        if name.encode() in tests and own - of_gold and not is_stated(run, path):
            rationale = f"The tests want the file {name!r}, which nothing names; the agent named its own."
            file = Evidence("file", f"workspace/{min(own - of_gold)}", "made by the agent")
            return attributed("task", "ambiguous_spec", rationale, [Evidence("file", f"solution/{path}", name), file])
    return None


def unnamed_file(run: FilesRun, failure: TestFailure) -> Attribution | None:
    """Return the task's fault, where the tests look for a file or a module by a name that nothing states."""
    access, tests = run.access, text_of(run.access, "tests")
    for name in failure.files:
        bare = name.rpartition("/")[2]
        if bare in tests and not is_stated(run, name):
            rationale = f"The tests look for {name!r}, which nothing names."
            where = next(path for path in access.files("tests") if bare.encode() in (access.read("tests", path) or b""))
            return attributed("task", "ambiguous_spec", rationale, [Evidence("file", f"tests/{where}", bare)])
    return None


def is_stated(run: FilesRun, path: str) -> bool:
    """Return whether the agent could know a file's name: from the instruction, its documents or what it was shown."""
    name = path.rpartition("/")[2].lower()
    is_told = any(name in text.lower() for text in (*run.access.files("environment"), *_readable(run)))
    return is_told or _follows(run.access, name) or bool(_unread(run.access))


def _readable(run: FilesRun) -> Iterator[str]:
    access = run.access
    yield access.instruction
    for path in access.files("environment"):
        yield (access.read("environment", path) or b"").decode(errors="replace")
    for step in run.run.steps if run.run is not None else ():
        yield from (result.text for result in step.results)
        if step.role != "agent":
            yield step.text


def _follows(access: ReadOnlyAccess, name: str) -> bool:
    """Return whether a template of the instruction gives a name; a file that is there is none."""
    there = {path.rpartition("/")[2] for path in access.files("environment")}
    names = (template.rpartition("/")[2] for template in _TEMPLATE.findall(access.instruction))
    for bare in (one for one in names if one not in there):
        parts = _HOLE.split(bare)
        if len(parts) > 1 and any(parts) and re.fullmatch(".{1,80}".join(map(re.escape, parts)), name, re.IGNORECASE):
            return True
    return False


def _unread(access: ReadOnlyAccess) -> list[str]:
    named = dict.fromkeys(one.rpartition("/")[2] for one in _DOCUMENT.findall(access.instruction))
    texts = {
        path.rpartition("/")[2]
        for path in access.files("environment")
        if (content := access.read("environment", path)) is not None and b"\0" not in content[:1024]
    }
    names = {path.rpartition("/")[2] for part in ("solution", "workspace") for path in access.files(part)}
    return [one for one in named if one not in texts | names]


def stands(name: str, paths: set[str]) -> bool:
    """Return whether a file, or the file of a module, is among some paths."""
    ends = (name, f"{name.replace('.', '/')}.py", f"{name}/__init__.py")
    return any(path == end or path.endswith(f"/{end}") for path in paths for end in ends)
