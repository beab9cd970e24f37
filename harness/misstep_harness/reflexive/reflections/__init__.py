"""Generate reflections on one piece of work, three at a time, of which it is known whether they tell one diagnosis.

In `SAME` kinds the three are one diagnosis, reworded; in the others at least one is another, told in like words.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import TypeVar

import msgspec
from msgspec import Struct

from misstep_harness.generate.voice import SETS, WordingSet, fill

T = TypeVar("T")

WINDOW = 3
"""How many reflections a case has: as many as the document compares."""


class Diagnosis(Struct, frozen=True, forbid_unknown_fields=True):
    """One cause: in three grammatical voices with the same words, in other words, and what to do about it."""

    voices: tuple[str, str, str]
    causes: tuple[str, str, str]
    advice: tuple[str, str]


class Family(Struct, frozen=True, forbid_unknown_fields=True):
    """One piece of work: what is seen of its failure, what else is known, and the causes that it may have."""

    effects: tuple[str, str, str]
    asides: tuple[str, ...]
    diagnoses: dict[str, Diagnosis]


class ReflectionTexts(Struct, frozen=True, forbid_unknown_fields=True):
    """All texts of a set; `forms` are layouts with `$effect`, `$cause` and `$advice`."""

    forms: tuple[str, ...]
    families: dict[str, Family]


class ReflectionCase(Struct, frozen=True):
    """Three reflections in a row."""

    id: str
    kind: str
    family: str
    same: bool
    reflections: tuple[str, ...]


@cache
def reflection_texts(wordings: WordingSet) -> ReflectionTexts:
    """Return the texts of a set."""
    return msgspec.toml.decode((Path(__file__).parent / f"{wordings}.toml").read_bytes(), type=ReflectionTexts)


def form_words(wordings: WordingSet) -> frozenset[str]:
    """Return what the layouts of a set say beside what is filled in: the words that its reflections have in common."""
    empty = {"effect": "", "cause": "", "advice": ""}
    return frozenset(fill(form, empty) for form in reflection_texts(wordings).forms)


def generate_reflections(n: int, seed: int, wordings: WordingSet = "scoring") -> Iterator[ReflectionCase]:
    """Cases whose truth is known by construction, the kinds in turn."""
    texts, random = reflection_texts(wordings), Random(f"reflections {wordings} {seed}")  # noqa: S311 (a simulation)
    kinds = list(KINDS)
    for number in range(n):
        kind = kinds[number % len(kinds)]
        name = random.choice(sorted(texts.families))
        reflections = KINDS[kind](_Draw(random, texts, name))
        yield ReflectionCase(
            f"{wordings}-{number:05d}", kind, name, kind in SAME, tuple(_shuffled(random, reflections))
        )


class _Draw:
    def __init__(self, random: Random, texts: ReflectionTexts, family: str) -> None:
        self.random = random
        self.family = texts.families[family]
        self.others = [one for name, one in texts.families.items() if name != family]
        self.forms = _shuffled(random, texts.forms)
        self.effects = _shuffled(random, self.family.effects)
        self.diagnoses = _shuffled(random, list(self.family.diagnoses.values()))

    def told(self, form: str, effect: str, cause: str, diagnosis: Diagnosis, asides: int = 0) -> str:
        """Return one reflection, with advice that follows from its diagnosis, and with sentences that fit any."""
        advice = self.random.choice(diagnosis.advice)
        text = fill(form, {"effect": effect, "cause": cause, "advice": advice})
        return " ".join([text, *self.random.sample(self.family.asides, asides)])


def _order(draw: _Draw) -> list[str]:
    diagnosis = draw.diagnoses[0]
    return [draw.told(form, draw.effects[0], diagnosis.voices[0], diagnosis) for form in draw.forms[:WINDOW]]


def _voice(draw: _Draw) -> list[str]:
    diagnosis = draw.diagnoses[0]
    return [draw.told(draw.forms[0], draw.effects[0], cause, diagnosis) for cause in diagnosis.voices]


def _length(draw: _Draw) -> list[str]:
    diagnosis, form, effect = draw.diagnoses[0], draw.forms[0], draw.effects[0]
    cause = diagnosis.voices[0]
    return [cause, draw.told(form, effect, cause, diagnosis), draw.told(form, effect, cause, diagnosis, asides=3)]


def _synonyms(draw: _Draw) -> list[str]:
    diagnosis = draw.diagnoses[0]
    pairs = zip(draw.effects, diagnosis.causes, strict=True)
    return [draw.told(draw.forms[0], effect, cause, diagnosis) for effect, cause in pairs]


def _everything(draw: _Draw) -> list[str]:
    diagnosis = draw.diagnoses[0]
    causes = draw.random.sample([*diagnosis.voices, *diagnosis.causes], WINDOW)
    parts = zip(draw.forms, draw.effects, causes, range(WINDOW), strict=False)
    return [draw.told(form, effect, cause, diagnosis, asides) for form, effect, cause, asides in parts]


def _like_words(draw: _Draw) -> list[str]:
    return [draw.told(draw.forms[0], draw.effects[0], diagnose.voices[0], diagnose) for diagnose in draw.diagnoses]


def _like_words_in_other_order(draw: _Draw) -> list[str]:
    parts = zip(draw.forms, draw.effects, draw.diagnoses, strict=False)
    return [draw.told(form, effect, draw.random.choice(one.voices), one) for form, effect, one in parts]


def _one_is_new(draw: _Draw) -> list[str]:
    first, second = draw.diagnoses[:2]
    causes = ((first.voices[0], first), (first.causes[0], first), (second.voices[0], second))
    pairs = zip(draw.effects, causes, strict=True)
    return [draw.told(draw.forms[0], effect, cause, diagnosis) for effect, (cause, diagnosis) in pairs]


def _other_work(draw: _Draw) -> list[str]:
    families = [draw.family, *draw.random.sample(draw.others, WINDOW - 1)]
    chosen = [(family, draw.random.choice(list(family.diagnoses.values()))) for family in families]
    return [draw.told(draw.forms[0], one.effects[0], diagnosis.voices[0], diagnosis) for one, diagnosis in chosen]


KINDS: Mapping[str, Callable[[_Draw], list[str]]] = {
    "order": _order,
    "voice": _voice,
    "length": _length,
    "synonyms": _synonyms,
    "everything": _everything,
    "like_words": _like_words,
    "like_words_in_other_order": _like_words_in_other_order,
    "one_is_new": _one_is_new,
    "other_work": _other_work,
}
"""Kind → what makes the reflections of a case of it.

One diagnosis: its sentences in another order; in the active, the passive and as a noun; short and long; in other words;
all of that at once. Several: three causes of one failure under one layout with equal words; the same in other layouts;
a new cause after the same one twice; three unlike pieces of work under one layout.
"""

SAME = ("order", "voice", "length", "synonyms", "everything")
"""The kinds whose reflections are one diagnosis."""


def _shuffled(random: Random, items: Sequence[T]) -> list[T]:
    return random.sample(items, len(items))


__all__ = ["KINDS", "SAME", "SETS", "ReflectionCase", "form_words", "generate_reflections", "reflection_texts"]
