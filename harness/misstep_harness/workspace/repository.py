"""Read a git repository of a user: its commits, their trees, changes and authors.

What git works on is a copy of the objects and branches alone, so that no hook, filter, setting or program of the
repository counts, and nothing in it is written to. Trees are written from the raw objects: attributes such as
`export-ignore` and `filter`, which change what `git archive` and `git checkout` give, have no say.

Files that a project's installation wrote beside its code and that git ignores: compiled modules, `_version.py`.

A tree of a commit lacks them, so that its own package could not be imported from it. Nothing else that is ignored is
taken: settings of a machine, data and keys stay where they are.
"""

import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from pathlib import Path
from textwrap import indent
from types import MappingProxyType
from typing import Self

from msgspec import Struct

from misstep_harness import beneath
from misstep_harness.errors import InputError, UnsafePath, UsageError
from misstep_harness.workspace.git_safety import copied_git_folder, git_environment, git_folders

_COMPILED = (".so", ".pyd", ".mo")
_METADATA = (".egg-info",)
_SKIPPED = re.compile(r"(?:^|/)(?:\.|__pycache__|node_modules|build/|dist/|target/|site-packages)")
_VERSION = re.compile(r"_{0,2}version(?:_info)?_{0,2}\.py")
_SAYS_SO = re.compile(rb"(?i)generated|do(?:n't| not) (?:edit|change|modify)")
_START = 1_000
_LARGEST = 64 << 20
_MOST = 2_000


def built_files(checkout: Path, ignored: Callable[[], Iterator[str]]) -> tuple[str, ...]:
    """Return the ignored files, folders among them, that an installation has built."""
    files = (file for path in ignored() if not _SKIPPED.search(path) for file in _beneath(checkout, path.rstrip("/")))
    return tuple(sorted(islice((file for file in files if _is_built(checkout / file)), _MOST)))


def _beneath(checkout: Path, path: str) -> Iterator[str]:
    place = checkout / path
    if place.is_symlink() or (place / "pyvenv.cfg").exists():
        return
    if place.is_dir():
        inner = (f"{path}/{each.name}" for each in sorted(place.iterdir()))
        yield from (file for each in inner if not _SKIPPED.search(f"{each}/") for file in _beneath(checkout, each))
    elif place.is_file() and place.stat().st_size <= _LARGEST:
        yield path


def _is_built(file: Path) -> bool:
    if file.name.endswith(_COMPILED) or file.parent.name.endswith(_METADATA):
        return True
    if file.suffix != ".py" or _VERSION.fullmatch(file.name):
        return file.suffix == ".py"
    with file.open("rb") as opened:
        return _SAYS_SO.search(opened.read(_START)) is not None


_FORMAT = "%H%x00%P%x00%an%x00%ae%x00%ct%x00%s"
_FILE, _PROGRAM, _LINK, _SUBMODULE = b"100644", b"100755", b"120000", b"160000"
_STATUS = ("--no-renames", "--untracked-files=all", "--ignore-submodules=all")
_NOBODY = {"NAME": "uncommitted", "EMAIL": ""}
UNCOMMITTED = "uncommitted changes"
MOST_BYTES = 4 << 30
"""Bytes of the files of one commit that are written into a folder."""

_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")


class Commit(Struct, frozen=True):
    """One commit as its history names it.

    - `parents`: The merged ones, the one that it landed on first; none at the first commit of all, and where a shallow
      clone ends, which `is_cut` says.
    """

    id: str
    parents: tuple[str, ...]
    author: str
    email: str
    committed: datetime
    subject: str
    is_cut: bool = False

    @property
    def short(self) -> str:
        """Return the start of its id, as people write it."""
        return self.id[:10]


class ChangedFile(Struct, frozen=True):
    """One file in a change; `is_text` where a text diff says all of what was changed in it."""

    path: str
    is_text: bool


class Repository:
    """The commits of a repository (a checkout, a linked worktree or a bare one), as a context manager that owns a copy.

    With `uncommitted` the files as they are make the head, as a commit that only the copy has.
    """

    def __init__(self, folder: Path, *, uncommitted: bool = False) -> None:
        self.folder = folder
        git, shared = git_folders(folder)
        self._own = Path(tempfile.mkdtemp(prefix="misstep-git-"))
        try:
            self._git = copied_git_folder(shared, self._own / "git")
            if git != shared:
                (self._git / "HEAD").write_bytes(beneath.file_of(git, "HEAD") or b"")
            self._empty = self._own / "empty"
            self._empty.mkdir()
            shallow = self._git / "shallow"
            self._cut = set(shallow.read_text().split()) if shallow.is_file() else set()
            self.head = self.commit("HEAD")
            self.has_files = (folder / ".git").exists()
            if uncommitted and self.has_files and self.uncommitted_paths():
                self.head = self.commit(self._committed())
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the copy."""
        shutil.rmtree(self._own, ignore_errors=True)

    def commit(self, name: str) -> Commit:
        """Return the commit of a name: an id, a branch, a tag, `HEAD~3`."""
        output = self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", check=False)
        if not output.strip():
            named = f"no commit {name!r}", "Name a commit, a branch or a tag."
            message, advice = ("has no commit yet", "Commit the files first.") if name == "HEAD" else named
            raise InputError(message, advice, file=self.folder)
        return next(self._log("--no-walk", output.decode().strip()))

    def uncommitted_paths(self) -> list[str]:
        """Return the files of the checkout that are not as at its head, without those that it ignores."""
        if not self.has_files:
            return []
        self._read_head()
        output = self._ask("status", "--porcelain", "-z", *_STATUS, at=self.folder)
        return sorted(_name(entry[3:]) for entry in output.split(b"\0") if entry)

    def _read_head(self) -> None:
        """Make the index that of the head; git never looks into submodules, whose own settings it would obey."""
        self._ask("read-tree", "HEAD", at=self.folder)
        inner = [os.fsencode(path) for mode, _, path in self._entries("HEAD") if mode == _SUBMODULE]
        if inner:
            self._ask("update-index", "--skip-worktree", "-z", "--stdin", at=self.folder, stdin=b"\0".join(inner))

    @cached_property
    def built(self) -> tuple[str, ...]:
        """The files that the project's installation wrote into the checkout, which no commit has."""
        return built_files(self.folder, self._ignored) if self.has_files else ()

    def _ignored(self) -> Iterator[str]:
        self._read_head()
        ignored = ("--others", "--ignored", "--exclude-standard", "--directory", "-z")
        return map(_name, filter(None, self._ask("ls-files", *ignored, at=self.folder).split(b"\0")))

    def _committed(self) -> str:
        """The id of a commit of the files as they are, whose time is that of the head: it is the same each time."""
        self._ask("add", "--all", at=self.folder)
        tree = self._ask("write-tree").decode().strip()
        when = f"{int(self.head.committed.timestamp())} +0000"
        person = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _NOBODY.items()}
        dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        arguments = ("commit-tree", tree, "-p", self.head.id, "-m", UNCOMMITTED)
        return self._ask(*arguments, variables={**person, **dates}).decode().strip()

    def first_parents(self, newest: str, most: int, *, after: str = "") -> list[Commit]:
        """Return the commits that landed, oldest first, along first parents: a merge is one change as it landed."""
        commits = list(self._log("--first-parent", f"--max-count={most}", newest))
        places = [place for place, commit in enumerate(commits) if commit.id == after]
        return commits[: places[0] + 1][::-1] if places else commits[::-1]

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Return whether a commit is another one or among those that it rests on."""
        return self._ask("merge-base", older, newer, check=False).decode().strip() == older

    def side_branch(self, merge: Commit) -> list[Commit]:
        """Return the commits that a merge brought, oldest first, after the one at which they left; else none."""
        if len(merge.parents) != 2:
            return []
        base = self._ask("merge-base", *merge.parents, check=False).decode().strip()
        brought = list(self._log("--first-parent", f"{merge.parents[0]}..{merge.parents[1]}"))[::-1]
        return [self.commit(base), *brought] if base and brought else []

    def renames(self, oldest: str, newest: str) -> dict[tuple[str, str], str]:
        """Return the path before each rename of a file along first parents, by commit and new path."""
        shown = ("-m", "--first-parent", "-M", "--diff-filter=R", "--name-status", "-z", "--format=%H")
        earlier, commit = dict[tuple[str, str], str](), ""
        fields = iter(self._ask("log", *shown, f"{oldest}..{newest}").split(b"\0"))
        for field in map(bytes.strip, fields):
            if field.startswith(b"R"):
                old = _name(next(fields))
                earlier[commit, _name(next(fields))] = old
            elif field:
                commit = field.decode("ascii")
        return earlier

    def diff(self, commit: Commit) -> str:
        """Return what a commit changed of what it landed on, as a unified diff."""
        return self._ask("diff-tree", "-p", *_PLAIN, "--full-index", *_from(commit)).decode("utf-8", "surrogateescape")

    def described(self, commit: Commit) -> str:
        """Return a commit as people are shown it: its title, author, summary, files, and what it changed."""
        message = self._ask("log", "--no-walk", "--format=%B", commit.id).decode("utf-8", "replace").strip()
        title, _, summary = message.partition("\n")
        head = [f"Title: {title}", f"Author: {commit.author}, {commit.committed:%Y-%m-%d}"]
        if summary.strip():
            head += ["Summary:", indent(summary.strip(), "    ")]
        if files := self.changed_files(commit):
            head += ["Files changed:", *(f"    {file.path}" for file in files)]
        return "\n".join([*head, "", self.diff(commit)])

    def changed_files(self, commit: Commit) -> list[ChangedFile]:
        """Return the files that a commit changed of what it landed on."""
        fields = self._ask("diff-tree", "-r", "--raw", "--numstat", "-z", *_PLAIN, *_from(commit)).split(b"\0")
        if not commit.parents:
            fields = fields[1:]  # a root commit's own id comes first
        texts: dict[str, bool] = {}
        counts: set[str] = set()
        rest = iter(fields)
        for entry in rest:
            if entry.startswith(b":"):
                modes = set(entry[1:].split(b" ")[:2]) - {b"000000"}
                texts[_name(next(rest))] = len(modes) == 1 and modes <= {_FILE, _PROGRAM}
            elif entry:
                added, _, path = entry.split(b"\t", 2)
                if added != b"-":
                    counts.add(_name(path))
        return [ChangedFile(path, plain and path in counts) for path, plain in texts.items()]

    def authors(self, commit: str, path: str) -> Iterator[Commit]:
        """Return the commits that changed a file, newest first."""
        return self._log("--max-count=20", commit, "--", f":(literal){path}")

    def line_author(self, commit: str, path: str, line: int) -> Commit | None:
        """Return the commit that wrote a line of a file; none where the file has no such line."""
        span = f"{line},{line}"
        blamed = self._ask("blame", "--porcelain", "-w", f"-L{span}", commit, "--", path, check=False)
        name = blamed.partition(b" ")[0].decode("ascii", "replace")
        return self.commit(name) if name else None

    def text(self, commit: str, path: str) -> str | None:
        """Return the text of a file at a commit; none if there is none."""
        if self._ask("cat-file", "-t", f"{commit}:{path}", check=False).strip() != b"blob":
            return None
        return self._ask("cat-file", "blob", f"{commit}:{path}").decode("utf-8", "replace")

    def paths(self, commit: str) -> list[str]:
        """Return the paths of the files of a commit."""
        return [path for _, _, path in self._entries(commit)]

    def export(self, commit: str, folder: Path) -> Path:
        """Write the tree of a commit and what is built into a folder, which is made; submodules stay empty."""
        if (size := self._bytes(commit)) > MOST_BYTES:
            advice = "Take large files out of the repository."
            raise InputError(f"the files of {commit[:10]} have {size:,} bytes", advice, file=self.folder)
        folder.mkdir(parents=True)
        entries = [entry for entry in self._entries(commit) if entry[0] in (_FILE, _PROGRAM, _LINK)]
        wanted = b"".join(name + b"\n" for _, name, _ in entries)
        output, at, contents = self._ask("cat-file", "--batch", stdin=wanted), 0, []
        while at < len(output):
            start = output.index(b"\n", at) + 1
            size = int(output[at:start].rsplit(b" ", 1)[1])
            contents.append(output[start : start + size])
            at = start + size + 1
        for (mode, _, path), content in zip(entries, contents, strict=True):
            if beneath.relative(path) != path or ".git" in path.lower().split("/"):
                raise UnsafePath(f"the tree of {commit} names {path!r}")
            parent, _, name = path.rpartition("/")
            try:
                beneath.make_folders(folder, parent, None)
                with beneath.folder_at(folder, parent) as into:
                    if mode == _LINK:
                        beneath.make_link(into, name, os.fsdecode(content), None)
                    else:
                        beneath.write_file(into, name, content, 0o755 if mode == _PROGRAM else 0o644, None)
            except OSError as error:
                raise UnsafePath(f"the tree of {commit} cannot be written: {path!r}: {error.strerror}") from error
        self._add_built(folder, {path for _, _, path in entries})
        return folder

    def _bytes(self, commit: str) -> int:
        """Return the bytes that the files of a commit unpack to: they are packed, and few may become very many."""
        heads = (entry.partition(b"\t")[0].split() for entry in self._ask("ls-tree", "-rlz", commit).split(b"\0"))
        return sum(int(head[3]) for head in heads if head and head[3] != b"-")

    def _add_built(self, folder: Path, paths: set[str]) -> None:
        """Write what is built beside code that the commit has; a file of the commit's own counts."""
        for path in self.built:
            parent, _, name = path.rpartition("/")
            around = parent.rpartition("/")[0] if parent.endswith(".egg-info") else parent
            there = beneath.status(folder, around)
            if path in paths or there is None or not stat.S_ISDIR(there.st_mode):
                continue
            beneath.make_folders(folder, parent, None)
            with suppress(FileNotFoundError), beneath.folder_at(folder, parent) as into:
                beneath.write_file(into, name, beneath.read_file(self.folder, path), 0o644, None)

    def _entries(self, commit: str) -> Iterator[tuple[bytes, bytes, str]]:
        for entry in self._ask("ls-tree", "-r", "-z", commit).split(b"\0"):
            if entry:
                about, _, path = entry.partition(b"\t")
                mode, _, name = about.split(b" ")
                yield mode, name, _name(path)

    def _log(self, *arguments: str) -> Iterator[Commit]:
        output = self._ask("log", "-z", f"--format={_FORMAT}", *arguments).decode("utf-8", "replace")
        fields = output.split("\0")
        for at in range(0, len(fields) - 5, 6):
            name, parents, author, email, seconds, subject = fields[at : at + 6]
            when = datetime.fromtimestamp(int(seconds), UTC)
            yield Commit(name, tuple(parents.split()), author, email, when, subject, name in self._cut)

    def _ask(
        self,
        *arguments: str,
        check: bool = True,
        stdin: bytes = b"",
        at: Path | None = None,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> bytes:
        place = (at or self._empty).resolve()
        environment = {**git_environment(self._git, place), **variables}
        line = ["git", *arguments]
        try:
            done = subprocess.run(line, cwd=place, env=environment, input=stdin, capture_output=True, check=False)  # noqa: S603
        except FileNotFoundError as error:
            raise UsageError("`git` is not installed", "Install git.") from error
        if check and done.returncode:
            errors = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise InputError(f"git cannot read it: {errors[-1] if errors else arguments[0]}", file=self.folder)
        return done.stdout


def _from(commit: Commit) -> tuple[str, ...]:
    return (commit.parents[0], commit.id) if commit.parents else ("--root", commit.id)


def _name(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
