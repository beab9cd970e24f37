"""The skill `hardening`: the rules of a guide as work items on a root file system in the sandbox."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Literal

import msgspec

from misstep.harness import beneath
from misstep.harness.agent.clocks import Clock
from misstep.harness.records.loop_events import WorkItem
from misstep.harness.reflexive.hardening.rules import rules
from misstep.harness.reflexive.hardening.target import HardeningTarget
from misstep.harness.reflexive.hardening.vital_signs import VITAL_SIGNS
from misstep.harness.reflexive.hardening.workers import WORDS, WORKERS, make_agents
from misstep.harness.reflexive.protocols import MakeAgents, Target, VitalSign
from misstep.harness.workspace import Sandbox, open_workspace


class Shipped(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The entry at a path of the target as it is shipped."""

    path: str
    mode: str = "0644"
    kind: Literal["file", "folder", "link"] = "file"
    text: str = ""


class _Tree(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    entry: list[Shipped]


@cache
def shipped() -> tuple[Shipped, ...]:
    """Return the target as it is shipped, each folder before what is in it; all of it is written for this purpose."""
    entries = msgspec.toml.decode(Path(__file__).with_name("tree.toml").read_bytes(), type=_Tree).entry
    named = {entry.path for entry in entries}
    above = {str(parent) for path in named for parent in PurePosixPath(path).parents} - named - {"."}
    folders = (Shipped(path, "0755", "folder") for path in above)
    return tuple(sorted((*entries, *folders), key=lambda entry: entry.path))


class HardeningSkill:
    """The rules of the guide, or some of them."""

    name = "hardening"
    vital_signs: Sequence[VitalSign] = VITAL_SIGNS
    words = WORDS

    def __init__(self, sandbox: Sandbox, ids: Sequence[str] | None = None) -> None:
        self._sandbox = sandbox
        self.items: Sequence[WorkItem] = tuple(rule.item for rule in rules() if ids is None or rule.id in ids)
        self.agents: Mapping[str, MakeAgents] = {name: partial(make_agents, name) for name in WORKERS}

    def settings(self) -> dict[str, Any]:
        """Return the rules and the sandbox."""
        return {"rules": [item.id for item in self.items], "sandbox": self._sandbox.name}

    @contextmanager
    def open(self, kept: Path, clock: Clock) -> Iterator[Target]:  # noqa: ARG002
        """Return the target as it is shipped."""
        with (
            TemporaryDirectory(prefix="misstep-hardening-") as empty,
            open_workspace(Path(empty), sandbox=self._sandbox) as workspace,
        ):
            workspace.lay_out_anew(laying_out(self._sandbox.owner), modes_shipped())
            yield HardeningTarget(workspace, {rule.id: rule for rule in rules()}, kept)


def modes_shipped() -> dict[str, int]:
    """Return the full modes of the target as it is shipped."""
    return {"": 0o755, **{one.path: int(one.mode, 8) for one in shipped() if one.kind != "link"}}


def laying_out(owner: int | None) -> Callable[[Path], None]:
    """Return what writes the target as it is shipped into an empty folder; its files belong to `owner`."""

    def fill(folder: Path) -> None:
        for entry in shipped():
            parent, _, name = entry.path.rpartition("/")
            with beneath.folder_at(folder, parent) as into:
                if entry.kind == "folder":
                    beneath.make_folder(into, name, 0o700, owner)
                elif entry.kind == "link":
                    beneath.make_link(into, name, entry.text, owner)
                else:
                    beneath.write_file(into, name, entry.text.encode(), 0o600, owner)

    return fill
