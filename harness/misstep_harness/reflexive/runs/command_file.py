"""The file of the skill `command`: a checkout, its items, and the shell lines that check them (TOML)."""

import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from misstep_harness.beneath import inside
from misstep_harness.errors import InputError, UsageError
from misstep_harness.forms import toml_form
from misstep_harness.reflexive.protocols import HealthProbe
from misstep_harness.reflexive.records import WorkItem
from misstep_harness.workspace import Limits, own_command

_FORM = "See `misstep help reflect-command`."
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}")


class CommandItem(Struct, frozen=True, forbid_unknown_fields=True, rename={"attempts": "try"}):
    """One thing to bring about in the checkout.

    - `id`: The item's name, unique in the file: letters, digits, `.`, `_`, `+` and `-`.
    - `description`: The words for agents, which know nothing else of it.
    - `after`: The ids of its prerequisites: it is worked on once they are solved.
    - `check`: The shell line that checks it, in the place of the file's own `check`.
    - `category`: Its kind, for lessons and reports.
    - `last`: It is worked on after all items that are not marked so.
    - `attempts`: Shell lines to try without a model: one for each attempt, in their order.
    """

    id: str
    description: str
    after: tuple[str, ...] = ()
    check: str = ""
    category: str = "command"
    last: bool = False
    attempts: tuple[str, ...] = ()


class CommandProbe(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing to look at when an attempt has failed.

    - `name`: Its name in the facts.
    - `command`: The shell line whose output is read.
    - `kind`: A `probe` answers by its exit code, where 0 means that all is well. A probe that holds at the start has to
      hold for every item that counts as solved. A `log` is shown from its end, a `configuration` from its start.
    """

    name: str
    command: str
    kind: Literal["probe", "log", "configuration"] = "log"

    @property
    def sign(self) -> HealthProbe:
        """Return it as the loop knows it."""
        return HealthProbe(self.name, self.kind, self.name if self.kind == "probe" else "")


class CommandLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """What one shell line may take, and how many commands a worker has.

    - `seconds`: The longest time of a line.
    - `memory_mb`, `processes`, `disk_mb`: The memory, processes and written megabytes of a line.
    - `commands`: The most commands of a worker in one attempt.
    """

    seconds: float = 120.0
    memory_mb: int = 2048
    processes: int = 128
    disk_mb: int = 512
    commands: int = 8

    @property
    def of_a_line(self) -> Limits:
        """Return the limits for the sandbox."""
        return Limits(self.seconds, self.memory_mb, self.processes, disk_mb=self.disk_mb)


class CommandFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A target of your own for `misstep reflect run command --target FILE.toml --out RUN`, without any Python.

    All lines run by `sh` in the sandbox, in the root of a copy of the checkout, which itself is never changed. The copy
    has the files that git tracks or would add, as they are now, and no `.git`. In a line, `$ITEM` is the item's id. In
    RUN, `patches/ID.diff` is what a solved item changed, and `changes.diff` what all of them changed: apply it by
    `git apply`. Without a model, the lines under `try` are entered. Before the work begins each check is tried once.

    - `checkout`: The folder of the project, relative to this file; beneath it, in its repository, where the command
      runs, or named by `--show`.
    - `check`: The line that checks an item: exit code 0 means that it is solved. Agents are shown what it prints.
    - `reset`: A line that runs before each check, in the copy in which the check is made and which is then thrown away:
      it clears or builds what a check needs. Files are put back after a failed attempt without it.
    - `item`: The items, in the order in which they are worked on.
    - `vital_sign`: The things to look at when an attempt has failed.
    - `protected`: Paths or patterns (`tests/**`) of what the checks consist of. An attempt that changes one has failed.
    - `limits`: The limits of each line.
    - `python`: The virtual environment or interpreter of the project, relative to this file; without it `.venv`, `venv`
      or `env` in the checkout, or the active one. One outside of the checkout has to be named by `--show` as well.

    Examples
    --------
        checkout = "../shop"
        check = "python -m pytest -q tests/test_$ITEM.py"
        protected = ["tests/**"]

        [[item]]
        id = "prices"
        description = "total() leaves out the first price."
        try = ["sed -i 's/prices[1:]/prices/' shop/total.py"]

        [[item]]
        id = "lint"
        description = "ruff finds nothing in shop/."
        after = ["prices"]
        check = "ruff check shop"

        [[vital_sign]]
        name = "imports"
        command = "python -c 'import shop'"
        kind = "probe"
    """

    checkout: str
    item: tuple[CommandItem, ...]
    check: str = ""
    reset: str = ""
    vital_sign: tuple[CommandProbe, ...] = ()
    protected: tuple[str, ...] = ()
    limits: CommandLimits = field(default_factory=CommandLimits)
    python: str = ""

    @property
    def items(self) -> tuple[WorkItem, ...]:
        """Return the work items, each told with its check."""
        return tuple(
            WorkItem(one.id, one.category, f"{one.description.rstrip()}\n\n{self._item_text(one)}", one.after, one.last)
            for one in self.item
        )

    def _item_text(self, item: CommandItem) -> str:
        lines = [f"It is checked by this line, with ITEM={item.id}: {self.line_of(item.id)}"]
        if self.protected:
            lines.append(f"You may not change: {', '.join(self.protected)}.")
        return "\n".join([*lines, "Commands run in the root of the project; paths start from there."])

    def line_of(self, item: str) -> str:
        """Return the line that checks an item."""
        return next(one.check for one in self.item if one.id == item) or self.check

    @property
    def lines(self) -> tuple[str, ...]:
        """Return every line but those of agents."""
        checks = [self.line_of(one.id) for one in self.item]
        return tuple(dict.fromkeys([*checks, *filter(None, [self.reset]), *(one.command for one in self.vital_sign)]))


def read_command_file(path: Path) -> CommandFile:
    """Return a file whose items can be worked on; an error names the file and the key."""
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise InputError(message, f"Name a TOML file with --target. {_FORM}", file=path) from error
    form = toml_form(data, CommandFile, path, _FORM)

    def refuse(key: str, message: str, advice: str = "") -> InputError:
        return InputError(message, f"{advice} {_FORM}".lstrip(), file=path, field=key)

    if not (path.parent / form.checkout).is_dir():
        message = f"the folder {form.checkout!r} does not exist"
        raise refuse("checkout", message, f"The path is relative to {path.resolve().parent}.")
    if ".." not in Path(form.checkout).parts and not Path(form.checkout).is_absolute():
        inside(path.parent, form.checkout)
    if Path.home().resolve().is_relative_to((path.parent / form.checkout).resolve()):
        raise refuse("checkout", f"{form.checkout!r} holds a home folder", "Name the folder of one project.")
    if not form.item:
        raise refuse("item", "the file has no items", "Give one at least.")
    times = known = Counter(one.id for one in form.item)
    for place, one in enumerate(form.item):
        key = f"item[{place}]"
        if not _ID.fullmatch(one.id) or times[one.id] > 1:
            raise refuse(f"{key}.id", f"{one.id!r} is {'not a name' if times[one.id] == 1 else 'the id of two items'}")
        if not one.description.strip():
            raise refuse(f"{key}.description", "it is empty", "Agents are told nothing else of an item.")
        if not (one.check or form.check).strip():
            raise refuse(f"{key}.check", f"nothing checks {one.id}", "Give the item or the file a `check`.")
        for name in one.after:
            if name not in known:
                raise refuse(f"{key}.after", f"unknown item {name!r}", f"Known: {', '.join(known)}.")
    try:
        TopologicalSorter({one.id: one.after for one in form.item}).prepare()
    except CycleError as error:
        raise refuse("item", f"these items wait for each other: {' → '.join(error.args[1])}") from None
    for key, line in (
        ("check", form.check),
        ("reset", form.reset),
        *((f"item[{at}].check", one.check) for at, one in enumerate(form.item)),
    ):
        try:
            own_command(line)
        except UsageError as error:
            raise refuse(key, error.found, "Give the line that it runs, and its environment by `python`.") from None
    if twice := [name for name, n in Counter(one.name for one in form.vital_sign).items() if n > 1]:
        raise refuse("vital_sign", f"two are called {twice[0]!r}", "Give each a name of its own.")
    for name, most in (("seconds", form.limits.seconds), ("commands", form.limits.commands)):
        if not most > 0:
            raise refuse(f"limits.{name}", f"{most:g} is not above 0")
    return form
