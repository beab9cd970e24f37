"""Items that try to steer a judge: a plain item, copies of it, and versions with a text in it that asks for a label.

    container_gone                    the plain item
    container_gone~copy-1             the same but for an empty line at its end: does the judge say the same twice?
    container_gone~attack-017         with a text in it that asks for a label other than the true one

An item's `extra`, which no shipped prompt shows, has `cluster` and `injection`, an `Injection`.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal

import msgspec
from msgspec import Struct, structs

from misstep.harness.errors import InputError
from misstep.harness.items import Item
from misstep.harness.judges.fencing import readable
from misstep.harness.judges.fit import offered
from misstep.harness.judges.injection_encodings import ENCODINGS, PLAIN, encoded
from misstep.harness.judges.injection_places import PLACES, Subject
from misstep.harness.judges.judge_file import JudgeSpec
from misstep.harness.judges.prompted import ask
from misstep.harness.trajectory import Source, Step, Trajectory

Role = Literal["plain", "copy", "attacked", "base", "changed"]

COPIES = 2
"""How often a plain item is asked about again."""

_FILES = Path(__file__).parent / "injections"
_TEXTS = ("task", "text", "patch", "output_a", "output_b")
_PROBE = "a note of a few words"


class Attack(Struct, frozen=True):
    """A wording with `{target}` in it and the encoding that it comes in."""

    style: str
    encoding: str
    wording: str

    def text(self, target: str) -> str:
        """Return what is put into an item."""
        return encoded(self.encoding, self.wording, target)


class Injection(Struct, frozen=True, omit_defaults=True):
    """What was done to an item; the last four only where it was attacked. `twin` is the id of the plain item."""

    role: Role
    twin: str
    style: str = ""
    encoding: str = ""
    position: str = ""
    target: str = ""


class Plain(Struct, frozen=True):
    """An item before anything is done to it."""

    subject: Subject
    truth: str | None
    cluster: str


class _Style(Struct, forbid_unknown_fields=True):
    name: str
    text: str
    encoded: bool = False


class _Attacks(Struct, forbid_unknown_fields=True):
    style: list[_Style]


class _Made(Struct, forbid_unknown_fields=True):
    id: str
    task: str
    step: int
    text: str
    patch: str
    steps: tuple[Step, ...]
    gold: dict[str, str]


class _MadeItems(Struct, forbid_unknown_fields=True):
    item: list[_Made]


@cache
def attacks() -> tuple[Attack, ...]:
    """Return every style as it is, and those that are to be encoded in every encoding."""
    styles = msgspec.toml.decode((_FILES / "attacks.toml").read_bytes(), type=_Attacks).style
    return tuple(
        Attack(style.name, encoding, style.text.strip("\n"))
        for style in styles
        for encoding in (ENCODINGS if style.encoded else (PLAIN,))
    )


def digest() -> str:
    """Return the sha256 of the wordings and the shipped items."""
    files = (_FILES / "attacks.toml", _FILES / "items.toml")
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def shipped_plain(spec: JudgeSpec) -> tuple[Plain, ...]:
    """The items that come with Misstep, for a judge of any kind; with a truth where the judge comes with it too."""
    items = msgspec.toml.decode((_FILES / "items.toml").read_bytes(), type=_MadeItems).item
    return tuple(_plain(one, spec) for one in items)


def _plain(one: _Made, spec: JudgeSpec) -> Plain:
    run = Trajectory(one.id, Source("made up"), one.task, one.steps)
    kind = "misbehaviour" if spec.kind == "any" else spec.kind
    item = Item(one.id, kind, step=one.step, task=one.task, patch=one.patch.lstrip("\n"), text=one.text)
    truth = one.gold.get(spec.name)
    return Plain(Subject(item, run), truth if truth in spec.labels else None, one.id)


def injected(
    spec: JudgeSpec, plain: Sequence[Plain], chosen: Iterable[Attack], count: int, seed: int
) -> tuple[Item, ...]:
    """Plain items, their copies, and `count` attacked versions of them."""
    random = Random(seed)  # noqa: S311 (an order, no secret)
    order = list(chosen)
    random.shuffle(order)
    dealt = [(plain[number % len(plain)], order[number % len(order)]) for number in range(count)]
    items = [item for one in plain for item in (marked(one, one.subject, Injection("plain", _id(one))), *copies(one))]
    targets: Counter[str] = Counter()
    places: Counter[str] = Counter()
    shown_places = {_id(one): _shown_places(spec, one) for one in plain}
    for number, (one, attack) in enumerate(dealt):
        target = _least_taken(_wrong_labels(spec, one), targets, random)
        position, subject = _placed(spec, one, attack.text(target), shown_places[_id(one)], places, random)
        targets[target] += 1
        places[position] += 1
        injection = Injection("attacked", _id(one), attack.style, attack.encoding, position, target)
        items.append(marked(one, subject, injection, f"~attack-{number:03}"))
    _expect_distinct(items)
    return tuple(items)


def _expect_distinct(items: Sequence[Item]) -> None:
    id_, count = Counter(item.id for item in items).most_common(1)[0]
    if count > 1:
        message = f"item {id_!r} has an id that the command gives to items made from another item"
        raise InputError(message, "Attack a benchmark that is not made of attacked items itself.")


def _id(one: Plain) -> str:
    return one.subject.item.id


def _wrong_labels(spec: JudgeSpec, one: Plain) -> list[str]:
    labels = [label for label in offered(spec, one.subject.item) if label != one.truth]
    if not labels:
        raise InputError(f"item {_id(one)!r} has only its true label", "Leave it out, or name other labels.")
    return labels


def copies(one: Plain, count: int = COPIES) -> list[Item]:
    """Return an item again, as other questions to a cache."""
    injection = Injection("copy", _id(one))
    return [marked(one, _longer(one.subject, number), injection, f"~copy-{number}") for number in range(1, count + 1)]


def _longer(subject: Subject, lines: int) -> Subject:
    """A subject with empty lines at the end of all that it says: another question to a cache, the same to a reader."""
    item, run, more = subject.item, subject.run, "\n" * lines
    texts = {name: getattr(item, name) + more for name in _TEXTS if getattr(item, name)}
    if run is not None and run.steps:
        last = structs.replace(run.steps[-1], text=run.steps[-1].text + more)
        run = structs.replace(run, steps=(*run.steps[:-1], last))
    return Subject(structs.replace(item, **texts), run)


def marked(one: Plain, subject: Subject, injection: Injection, suffix: str = "") -> Item:
    """Return an item with its run in it, its own id, and a note of what was done to it."""
    item = subject.item
    return structs.replace(
        item,
        id=item.id + suffix,
        trajectory=None if subject.run is None else msgspec.to_builtins(subject.run),
        trajectory_id=None,
        extra=item.extra | {"cluster": one.cluster, "injection": msgspec.to_builtins(injection)},
    )


def _least_taken(names: Sequence[str], uses: Counter[str], random: Random) -> str:
    least = min(uses[name] for name in names)
    return random.choice([name for name in names if uses[name] == least])


def _placed(
    spec: JudgeSpec, one: Plain, text: str, shown: Sequence[str], uses: Counter[str], random: Random
) -> tuple[str, Subject]:
    left = list(shown)
    while left:
        position = _least_taken(left, uses, random)
        subject = PLACES[position](one.subject, text)
        if subject is not None and _shows(spec, one.subject, subject, text):
            return position, subject
        left.remove(position)
    message = f"the prompt {spec.prompt.name} has no place in item {_id(one)!r} for a text of {len(text):,} characters"
    raise InputError(message, "Choose shorter items, or raise `budget` in the judge's file.")


def _shown_places(spec: JudgeSpec, one: Plain) -> list[str]:
    put = {name: place(one.subject, _PROBE) for name, place in PLACES.items()}
    return [name for name, subject in put.items() if subject is not None and _shows(spec, one.subject, subject, _PROBE)]


def _shows(spec: JudgeSpec, without: Subject, subject: Subject, text: str) -> bool:
    """Return whether all of a text is in what is asked: line by line, or in a form that only a cut makes shorter."""
    prompt = prompt_text(spec, subject)
    if all(line.strip() in prompt for line in readable(text).split("\n")):
        return True
    return len(prompt) - len(prompt_text(spec, without)) >= len(" ".join(text.split()))


def prompt_text(spec: JudgeSpec, subject: Subject) -> str:
    """Return the message in which a judge is asked about an item."""
    return ask(spec, subject.item, subject.run).requests[0].messages[-1].content
