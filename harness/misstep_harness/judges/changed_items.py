"""Items made from other items, each with a note of what was done to it.

    container_gone                    the plain item
    container_gone~copy-1             the same but for an empty line at its end: does the judge say the same twice?
    container_gone~authority          changed by the probe of that name

An item's `extra`, which no shipped prompt shows, has `cluster` and `change`, an `ItemChange`.
"""

from typing import Literal

import msgspec
from msgspec import Struct, structs

from misstep_harness.items import Item
from misstep_harness.judges.judge_file import JudgeSpec
from misstep_harness.judges.prompted import requests_of
from misstep_harness.trajectory import Trajectory

_TEXTS = ("task", "text", "patch", "output_a", "output_b")


class ItemChange(Struct, frozen=True, omit_defaults=True):
    """What was done to an item; `twin` is the id of the item that it is compared with."""

    role: Literal["plain", "copy", "base", "changed"]
    twin: str
    probe: str = ""


class Subject(Struct, frozen=True):
    """An item and the run that it is about, if there is one."""

    item: Item
    run: Trajectory | None


class Plain(Struct, frozen=True):
    """An item before anything is done to it."""

    subject: Subject
    truth: str | None
    cluster: str


def copy(one: Plain) -> Item:
    """Return an item again, as another question to a cache: with an empty line at the end of all that it says."""
    item, run = one.subject.item, one.subject.run
    texts = {name: getattr(item, name) + "\n" for name in _TEXTS if getattr(item, name)}
    if run is not None and run.steps:
        last = structs.replace(run.steps[-1], text=run.steps[-1].text + "\n")
        run = structs.replace(run, steps=(*run.steps[:-1], last))
    return marked(one, Subject(structs.replace(item, **texts), run), ItemChange("copy", item.id), "~copy-1")


def marked(one: Plain, subject: Subject, change: ItemChange, suffix: str = "") -> Item:
    """Return an item with its run in it, its own id, and a note of what was done to it."""
    item = subject.item
    return structs.replace(
        item,
        id=item.id + suffix,
        trajectory=None if subject.run is None else msgspec.to_builtins(subject.run),
        trajectory_id=None,
        extra=item.extra | {"cluster": one.cluster, "change": msgspec.to_builtins(change)},
    )


def prompt_text(spec: JudgeSpec, subject: Subject) -> str:
    """Return the message in which a judge is asked about an item."""
    return requests_of(spec, subject.item, subject.run).requests[0].messages[-1].content
