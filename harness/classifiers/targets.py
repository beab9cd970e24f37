"""What a user's words point at in a repository, and whether a path is one of them.

`src/api/` is a folder, `*.py` a pattern, `config.py` any file of that name, "the tests" every file that holds tests.
A user's `src/a.py` is the agent's `/home/me/shop/src/a.py`: paths are compared part by part from their ends.
"""

import re
from fnmatch import fnmatchcase
from typing import Literal

from msgspec import Struct

from harness.classifiers.programs import words

Sort = Literal["path", "folder", "category", "everything", "record"]

RECORD = r"#?[A-Z]{1,4}[-_]?\d{3,}\b|#\d{2,}\b"
"""How services number their records: `#W11024`, `INV-2041`."""

_RECORD = re.compile(RECORD)

CATEGORIES = (
    "tests", "docs", "config", "locks", "dependencies", "migrations", "ci", "styles", "source", "code", "readme",
    "markdown", "scripts", "fixtures",
)  # fmt: skip

_TEST_FOLDERS = frozenset(("tests", "test", "__tests__", "spec", "specs", "testing", "e2e"))
_TEST_NAME = re.compile(
    r"^(?:test_.*|.*_tests?\.\w+|.*\.(?:test|spec)\.\w+|.*_spec\.\w+|conftest\.py|.*Tests?\.(?:java|"
    r"kt|cs|scala|swift|php)"
    r"|tests?\.\w+)$"
)
_ENDINGS: dict[str, frozenset[str]] = {
    "docs": frozenset(("md", "rst", "adoc", "mdx")),
    "markdown": frozenset(("md", "mdx")),
    "config": frozenset(("toml", "cfg", "ini", "yaml", "yml", "conf", "properties", "env")),
    "styles": frozenset(("css", "scss", "sass", "less")),
    "scripts": frozenset(("sh", "bash", "ps1")),
    "code": words(
        "py pyi js jsx ts tsx mjs cjs go rs java kt scala rb php c h cc cpp hpp cs swift m lua pl ex exs sh sql vue "
        "svelte dart hs ml clj r jl html css scss"
    ),
}
_FOLDERS: dict[str, frozenset[str]] = {
    "docs": frozenset(("docs", "doc")),
    "config": frozenset(("config", "configs", "conf", "settings")),
    "migrations": frozenset(("migrations", "migrate", "alembic")),
    "ci": frozenset((".github", ".circleci", ".gitlab", ".buildkite")),
    "fixtures": frozenset(("fixtures", "snapshots", "__snapshots__", "testdata")),
    "scripts": frozenset(("scripts", "bin")),
}
_NAMES: dict[str, re.Pattern[str]] = {
    "readme": re.compile(r"readme(\.\w+)?$", re.IGNORECASE),
    "docs": re.compile(r"(readme|changelog|contributing|license)(\.\w+)?$", re.IGNORECASE),
    "config": re.compile(
        r"(package|tsconfig.*|jsconfig|composer)\.json$|\.env.*$|\..*rc(\.\w+)?$|.*\.config\.\w+$|settings\.py$"
    ),
    "locks": re.compile(r".*\.lock$|package-lock\.json$|pnpm-lock\.yaml$|go\.sum$|npm-shrinkwrap\.json$"),
    "dependencies": re.compile(
        r".*requirements.*\.(txt|in)$|.*\.lock$|package-lock\.json$|pnpm-lock\.yaml$|go\.(mod|sum)$|Gemfile$|Pipfile$"
    ),
    "ci": re.compile(r"\.gitlab-ci\.yml$|\.travis\.yml$|azure-pipelines\.yml$|Jenkinsfile$"),
}
_FIGURES = re.compile(r"\d+")
_SCRATCH = re.compile(r"^(?:/var)?/tmp/|^/private/tmp/|^\$\{?TMPDIR|^/dev/")
_DRIVE = re.compile(r"^(?:/|~|[A-Za-z]:/|\$)")


class Target(Struct, frozen=True, gc=False):
    """One thing that a user names: a path, a folder, a category of files, everything, or a record of a service."""

    sort: Sort
    value: str = ""

    def __str__(self) -> str:
        """As a person would name it."""
        return self.value or "any file"


EVERYTHING = Target("everything")


def records_in(text: str) -> list[str]:
    """The numbers of records in a text."""
    return _RECORD.findall(text)


def same_sort_of_record(one: str, other: str) -> bool:
    """Whether two numbers are of one series: they differ in their figures only."""
    return _FIGURES.sub("0", one) == _FIGURES.sub("0", other)


def parts_of(path: str) -> list[str]:
    """The parts of a path, without those that do not move."""
    return [part for part in path.replace("\\", "/").strip().split("/") if part not in ("", ".", "...")]


def is_scratch(path: str) -> bool:
    """Whether a path lies in a folder for temporary files, which belongs to no repository."""
    return _SCRATCH.match(path) is not None


def is_test(path: str) -> bool:
    """Whether a path is a file of tests, by its folder or its name."""
    parts = parts_of(path)
    return bool(parts) and (not _TEST_FOLDERS.isdisjoint(parts[:-1]) or _TEST_NAME.match(parts[-1]) is not None)


def matches(target: Target, path: str) -> bool:
    """Whether a path that the agent wrote to is what the user named."""
    parts = parts_of(path)
    if not parts or target.sort == "record":
        return False
    if target.sort == "everything":
        return True
    if target.sort == "category":
        return in_category(target.value, path)
    wanted = parts_of(target.value)
    if not wanted:
        return True
    if any("*" in part for part in wanted):
        return _fits_pattern(wanted, parts)
    if target.sort == "path" and _same_end(wanted, parts, target.value, path):
        return True
    has_ending = "." in wanted[-1].lstrip(".") and target.sort == "path"
    return not has_ending and _lies_below(wanted, parts, bool(_DRIVE.match(target.value)))


def _same_end(wanted: list[str], parts: list[str], target: str, path: str) -> bool:
    if len(parts) >= len(wanted):
        return parts[-len(wanted) :] == wanted and (
            not _DRIVE.match(target) or not _DRIVE.match(path) or parts == wanted
        )
    return (not _DRIVE.match(path) and wanted[-len(parts) :] == parts and len(parts) > 1) or (
        _DRIVE.match(target) is not None and not _DRIVE.match(path) and wanted[-len(parts) :] == parts
    )


def _lies_below(wanted: list[str], parts: list[str], from_root: bool) -> bool:
    """Whether the folder `wanted` stands in the path above its last part."""
    above = parts[:-1]
    if from_root and above[: len(wanted)] == wanted:
        return True
    if from_root and len(wanted) > 1:
        wanted = wanted[-1:]
    width = len(wanted)
    return any(above[start : start + width] == wanted for start in range(len(above) - width + 1))


def _fits_pattern(wanted: list[str], parts: list[str]) -> bool:
    pattern = "/".join(wanted)
    if len(wanted) == 1:
        return fnmatchcase(parts[-1], pattern)
    return any(fnmatchcase("/".join(parts[start:]), pattern.replace("**/", "*")) for start in range(len(parts)))


def in_category(category: str, path: str) -> bool:
    """Whether a path belongs to a category of files, by its ending, its folder or its name."""
    parts = parts_of(path)
    name = parts[-1] if parts else ""
    if category == "tests":
        return is_test(path)
    ending = name.rsplit(".", 1)[-1].lower() if "." in name else ""
    if category == "source":
        return ending in _ENDINGS["code"] and not is_test(path)
    if category.startswith("."):
        return ending == category[1:]
    pattern = _NAMES.get(category)
    return (
        ending in _ENDINGS.get(category, ())
        or not _FOLDERS.get(category, frozenset()).isdisjoint(parts[:-1])
        or (pattern is not None and pattern.match(name) is not None)
    )


def overlap(one: Target, other: Target) -> bool:
    """Whether two targets can mean the same file: so that asking for one lifts a ban on the other."""
    if one == other or "everything" in (one.sort, other.sort):
        return True
    if "record" in (one.sort, other.sort):
        return False
    if one.sort == "category" and other.sort == "category":
        return False
    if one.sort == "category" or other.sort == "category":
        category, path = (one, other) if one.sort == "category" else (other, one)
        probe = path.value if path.sort == "path" else path.value.rstrip("/") + "/x"
        return in_category(category.value, probe) or (
            path.sort == "folder" and category.value == "tests" and is_test(probe)
        )
    return matches(one, other.value.rstrip("/")) or matches(other, one.value.rstrip("/"))
