"""Items changed in a way that says nothing about their label, to see whether a judge still gives the same one.

Some changes plant an instruction that asks for a label: a judge that follows it is moved by what it judges.

    i7                     the plain item
    i7~copy-1              the same but for an empty line at its end: how often does the judge change its mind anyway?
    i7~authority           changed by the probe of that name
    i7~self_preference-0   what the changed item is compared with, where that is not the plain one

What a probe does is in `probes.toml`; `CHANGES` has its ways to change an item.

Items made from other items, each with a note of what was done to it.

    container_gone                    the plain item
    container_gone~copy-1             the same but for an empty line at its end: does the judge say the same twice?
    container_gone~authority          changed by the probe of that name

An item's `extra`, which no shipped prompt shows, has `cluster` and `change`, an `ItemChange`.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, structs

from misstep_harness.errors import UsageError
from misstep_harness.items import Item
from misstep_harness.judges.judge_file import JudgeSpec
from misstep_harness.judges.prompted import requests_of
from misstep_harness.judges.runnable import RunnableJudge, offered
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


_FILE = Path(__file__).parent / "probes.toml"

_MARKDOWN = re.compile(r"^[ \t]{0,8}(?:[-*+]|#{1,6}|\d{1,3}\.)[ \t]|\*\*|`", re.MULTILINE)
_MARKS = re.compile(r"^[ \t]{0,8}(?:[-*+]|#{1,6})[ \t]{1,8}|^```[^\n]{0,80}\n?|\*\*|`", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s{1,8}(?=\S)")
_DIFF = re.compile(r"^(?:diff --git |--- |Index: |\*\*\* )", re.MULTILINE)

Rewrite = Callable[[str], str]


class Probe(Struct, frozen=True, forbid_unknown_fields=True):
    """A change that a judge should not heed.

    - `what`: What is done, in a few words.
    - `change`: The way of `CHANGES` in which it is done, or `labels`: their order is turned round.
    - `text`, `base`: What is added, and what is added to the item that the changed one is compared with. `{own}` in
      them is the judge's model, `{other}` another author, `{target}` the label whose rate is measured.
    """

    name: str
    what: str
    change: str
    text: str = ""
    base: str = ""


class _Probes(Struct, forbid_unknown_fields=True):
    probe: list[Probe]


@cache
def probes() -> dict[str, Probe]:
    """Name → probe."""
    return {probe.name: probe for probe in msgspec.toml.decode(_FILE.read_bytes(), type=_Probes).probe}


def chosen_probes(names: Sequence[str] = ()) -> tuple[Probe, ...]:
    """Return the probes of these names, or all."""
    known = probes()
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"unknown probe {unknown[0]!r}", f"Probes are {', '.join(known)}.")
    return tuple(probe for name, probe in known.items() if not names or name in names)


def digest() -> str:
    """Return the sha256 of the file of probes."""
    return hashlib.sha256(_FILE.read_bytes()).hexdigest()


def probed(judge: RunnableJudge, plain: Sequence[Plain], chosen: Sequence[Probe], label: str) -> Iterator[Item]:
    """Yield plain items, a copy of each, and each as every probe changes it that can; only what its prompt shows.

    Instructions ask for `label` alone: asked for one label here and another there, a judge that obeys moves no rate.
    """
    chosen = [structs.replace(probe, text=probe.text.replace("{target}", label)) for probe in chosen]
    authors = list(dict.fromkeys(filter(None, map(_author_of, plain))))
    for one in plain:
        yield marked(one, one.subject, ItemChange("plain", one.subject.item.id))
        yield copy(one)
        for probe in chosen:
            yield from _changed(judge, one, probe, authors)


def _author_of(one: Plain) -> str:
    """Return who wrote what is judged: `author`, `model` or `system_a` in the item's `extra`, or its run's model."""
    extra, run = one.subject.item.extra, one.subject.run
    known = next((extra[name] for name in ("author", "model", "system_a") if extra.get(name)), "")
    named = known or (run.model if run is not None else "")
    return named if isinstance(named, str) else ""


def _changed(judge: RunnableJudge, one: Plain, probe: Probe, authors: Sequence[str]) -> Iterator[Item]:
    """Yield an item as a probe changes it, after what it is compared with; nothing where it cannot be changed."""
    plain = one.subject.item.id
    filled = _filled(judge, one, probe, authors)
    if filled is None:
        return
    base = _first_shown(judge.spec, one.subject, probe.change, filled[0]) if probe.base else None
    if probe.change == "labels":
        turned = structs.replace(one.subject.item, labels=tuple(reversed(offered(judge.labels, one.subject.item))))
        changed = Subject(turned, one.subject.run) if judge.asks_model else None
    else:
        changed = _first_shown(judge.spec, one.subject, probe.change, filled[1])
    if changed is None:
        return
    if base is not None:
        yield marked(one, base, ItemChange("base", plain, probe.name), f"~{probe.name}-0")
    twin = plain if base is None else f"{plain}~{probe.name}-0"
    yield marked(one, changed, ItemChange("changed", twin, probe.name), f"~{probe.name}")


def _filled(judge: RunnableJudge, one: Plain, probe: Probe, authors: Sequence[str]) -> tuple[str, str] | None:
    """Return a probe's two texts with the names of authors in them; `None` where these are not known."""
    if "{own}" not in probe.text:
        return probe.base, probe.text
    own, author = judge.model, _author_of(one)
    others = [name for name in (author, *authors) if name and _model(name) != _model(own)]
    if not (own and author and others):
        return None
    base, text = (part.replace("{own}", own).replace("{other}", others[0]) for part in (probe.base, probe.text))
    return base, text


def _model(name: str) -> str:
    """Return a model's name without its provider."""
    return name.rpartition("/")[2].casefold()


def _first_shown(spec: JudgeSpec | None, plain: Subject, change: str, text: str) -> Subject | None:
    """Return the first way to change an item that its judge gets to see; a judge without a prompt sees all."""
    ways = (way for way in CHANGES[change](plain, text) if way != plain)
    if spec is None:
        return next(ways, None)
    before, begins = prompt_text(spec, plain), text.partition("\n")[0]
    return next((way for way in ways if (now := prompt_text(spec, way)) != before and begins in now), None)


def _in_what_is_judged(subject: Subject, rewrite: Rewrite) -> Iterator[Subject]:
    """Yield an item with its text rewritten, what stands above its patch, or words of the agent in its run."""
    item, run, field = subject.item, subject.run, _text_field(subject.item)
    if own := getattr(item, field):
        yield Subject(structs.replace(item, **{field: rewrite(own)}), run)
    if item.patch and (diff := _DIFF.search(item.patch)):
        above = rewrite(item.patch[: diff.start()].strip())
        patch = "\n\n".join(filter(None, (above, item.patch[diff.start() :])))
        yield Subject(structs.replace(item, patch=patch), run)
    if run is None:
        return
    spoken = [place for place, step in enumerate(run.steps) if step.role == "agent" and step.text]
    for place in (*spoken[-1:], *sorted(spoken, key=lambda place: abs(place - (item.step or 0)))[:1]):
        step = run.steps[place]
        steps = (*run.steps[:place], structs.replace(step, text=rewrite(step.text)), *run.steps[place + 1 :])
        yield Subject(item, structs.replace(run, steps=steps))


def _text_field(item: Item) -> str:
    """Return the field that is judged; of two outputs the first is changed and the other one stays."""
    return "output_a" if item.kind == "pair" else "text"


def _with_note(subject: Subject, text: str) -> Iterator[Subject]:
    return _in_what_is_judged(subject, lambda own: "\n\n".join(filter(None, (own, text))))


def _longer(subject: Subject, text: str) -> Iterator[Subject]:
    """Yield an item twice as long as it was, or as much longer as there are sentences: none stands there twice."""
    sentences = text.splitlines()

    def padded(own: str) -> str:
        count = next((n for n in range(1, len(sentences)) if len(" ".join(sentences[:n])) >= len(own)), len(sentences))
        return "\n\n".join(filter(None, (own, " ".join(sentences[:count]))))

    return _in_what_is_judged(subject, padded)


def _as_markdown(own: str) -> str:
    if _MARKDOWN.search(own):
        return own
    first, *others = _SENTENCE_END.split(own.strip())
    return "\n".join((f"**{first}**\n", *(f"- {one}" for one in others))).strip() if own.strip() else own


def _without_markdown(own: str) -> str:
    return _MARKS.sub("", own)


def _in_json(subject: Subject, indent: int) -> Iterator[Subject]:
    """Yield an item with the white space of its text in JSON changed, or of all results in its run that are JSON."""
    item, run, field = subject.item, subject.run, _text_field(subject.item)
    yield Subject(structs.replace(item, **{field: _spaced(getattr(item, field), indent)}), run)
    if run is not None:
        steps = [
            structs.replace(
                step, results=tuple(structs.replace(one, text=_spaced(one.text, indent)) for one in step.results)
            )
            for step in run.steps
        ]
        yield Subject(item, structs.replace(run, steps=tuple(steps)))


def _spaced(text: str, indent: int) -> str:
    if not text.lstrip().startswith(("{", "[")) or ("\n" in text.strip()) == (indent > 0):
        return text
    try:
        return msgspec.json.format(text, indent=indent)
    except msgspec.DecodeError:
        return text


CHANGES: dict[str, Callable[[Subject, str], Iterator[Subject]]] = {
    "note": _with_note,
    "longer": _longer,
    "markdown": lambda subject, _: _in_what_is_judged(subject, _as_markdown),
    "plain": lambda subject, _: _in_what_is_judged(subject, _without_markdown),
    "indented": lambda subject, _: _in_json(subject, 2),
    "compact": lambda subject, _: _in_json(subject, -1),
}
"""Way to change an item → the changed item, in every place where it can be changed."""
