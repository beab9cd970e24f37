"""What an agent's calls show of files before they change them: which were there, which it made itself.

ls tests                    → tests/test_a.py was there
mkdir /w/scratch            → /w/scratch is the agent's own, and all that it puts there
rm -rf /w/scratch           → removes what is its own
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from fnmatch import fnmatchcase
from itertools import chain
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.classifiers.effects import CHANGES_FILES, Effect, effects, made_folders
from misstep_harness.classifiers.failures import failed
from misstep_harness.classifiers.history import Act, History, once
from misstep_harness.classifiers.prose import has, parts_of
from misstep_harness.classifiers.tools import path_of

_READ = 20_000
"""Characters of an answer in which a file's name is looked for."""

_ABSENT = ("o such file", "annot access", "oes not exist", "ile not found")
_WORD = re.compile(r"[\w.@+~-]+")
_DEEPEST = 40
"""Parts of a path that are looked at, from its end on."""

Parts = tuple[str, ...]


def _first_named(acts: Iterable[Act], paths: Iterable[str]) -> dict[frozenset[str], float]:
    names = {_name(path) for path in paths}
    every = frozenset().union(*names)
    steps: dict[str, set[int]] = defaultdict(set)
    for act in acts if every else ():
        text = f"{act.line or path_of(act.call)}\n{act.result.text[:_READ] if act.result is not None else ''}"
        if has(text, _ABSENT):  # a look for a file that is not there names it as well
            text = "\n".join(line for line in text.split("\n")[1:] if not has(line, _ABSENT))
        for word in every.intersection(word.rstrip(".") for word in _WORD.findall(text)):
            steps[word].add(act.step)
    together = {name: sorted((steps[word] for word in name), key=len) for name in names if name}
    return {name: min(set.intersection(*each), default=inf) for name, each in together.items()}


def _name(path: str) -> frozenset[str]:
    last_two = "/".join(parts_of(path)[-2:])
    return frozenset(word.rstrip(".") for word in _WORD.findall(last_two)) - {""}


class Places:
    """Files and folders, to be found again by the name that another call gives them."""

    def __init__(self) -> None:
        self._noted: set[Parts] = set()
        self._short: set[Parts] = set()  # those that another path may end with
        self._ends: set[Parts] = set()

    def add(self, path: str, *, folder: bool = False) -> None:
        """Note a file or a folder."""
        parts = tuple(parts_of(path))[-_DEEPEST:]
        least = 1 if folder else 2
        if parts and parts not in self._noted:
            self._noted.add(parts)
            if len(parts) >= least:
                self._short.add(parts)
            self._ends.update(parts[start:] for start in range(1, len(parts) - least + 1))

    def holds(self, path: str) -> bool:
        """Return whether a path is one that was noted, or lies in a folder that was."""
        parts = tuple(parts_of(path))[-_DEEPEST:]
        return any(self._is_noted(parts[:end]) for end in range(len(parts), 0, -1))

    def _is_noted(self, parts: Parts) -> bool:
        if parts in self._noted or parts in self._ends:
            return True
        return any(parts[start:] in self._short for start in range(1, len(parts)))


class FileChange(Struct, frozen=True):
    """One effect of one call: its place, whether the file is the agent's own, and whether it is gone later.

    - `stood`: Whether the file was there before, by what the agent's calls had shown; an edit is of a file that was.
    """

    step: int
    effect: Effect
    own: bool
    gone: bool
    stood: bool = False


@once
def changes_of(history: History) -> list[FileChange]:
    """Return every change that the run's calls made, with what is known of the file's life in this run."""
    by_act = [(act, effects(act), made_folders(act)) for act in history.acts]
    paths_written = [effect.target for _, done, _ in by_act for effect in done if effect.verb in ("write", "create")]
    named_by_user = {word for turn in history.turns for word in _WORD.findall(turn.text)} if paths_written else set()
    paths = chain(paths_written, map(_folder, paths_written), *(folders for *_, folders in by_act))
    first_named = _first_named(history.acts, paths)

    def named_before(act: Act, path: str) -> bool:
        return first_named.get(_name(path), inf) < act.step

    known: set[str] = set()
    own, own_folders, made = Places(), Places(), set[str]()
    changes: list[FileChange] = []
    for act, done, folders in by_act:
        for effect in done:
            path, folder = "/".join(parts_of(effect.target)), _folder(effect.target)
            unseen = path not in known and not named_before(act, path) and not _overwrites(act)
            new = effect.verb == "create" or (effect.verb == "write" and unseen)
            mine = own.holds(path) or (effect.verb == "delete" and own_folders.holds(path))
            if "*" in path:
                meant = {one for one in known if fnmatchcase(one, path)}
                mine = mine or (bool(meant) and meant <= made)
            stood = effect.verb in ("edit", "delete") or (effect.verb == "write" and not unseen)
            changes.append(FileChange(act.step, effect, mine, gone=new or mine, stood=stood and not mine))
            if new and path not in known:
                own.add(path)
                made.add(path)
                if not named_before(act, folder) and folder.rsplit("/", 1)[-1] not in named_by_user:
                    own_folders.add(folder, folder=True)
            if effect.verb in CHANGES_FILES:
                known.add(path)
        for path in folders:
            if not named_before(act, path):
                own.add(path, folder=True)
        if act.kind == "read" and not failed(act):
            known.add("/".join(parts_of(path_of(act.call))))
    removed = Places()
    for place, change in reversed(list(enumerate(changes))):
        if change.effect.verb == "delete":
            removed.add(change.effect.target)
        if change.gone:
            changes[place] = replace(change, gone=removed.holds(change.effect.target))
    return changes


def _folder(path: str) -> str:
    return "/".join(parts_of(path)[:-1])


def _overwrites(act: Act) -> bool:
    answer = act.result.text[:200].lower() if act.result is not None else ""
    return "has been updated" in answer or "overwr" in answer
