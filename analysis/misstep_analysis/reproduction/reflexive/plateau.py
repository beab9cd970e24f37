"""Detectors of plateaus against each other, on generated reflections with known truth and on those that pages quote."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from msgspec import Struct

from misstep_analysis.reflexive.paper.plateau import DetectorAnswers, PlateauAnswer, PlateauExample
from misstep_harness.datasets import gemmaforge
from misstep_harness.datasets.benchmark import Facts
from misstep_harness.errors import MissingPrerequisite
from misstep_harness.generate.voice import WordingSet
from misstep_harness.reflexive.plateau import COSINE_AT_LEAST, EMBEDDINGS_AT_LEAST, PlateauDetector, detector
from misstep_harness.reflexive.reflections import WINDOW, ReflectionCase, form_words, generate_reflections

T = TypeVar("T")

CASES, SEED = 1_800, 0

SOURCE = f"seed {SEED}, {CASES:,} cases of the set scoring"

DRAWN = 10

DATASETS = (gemmaforge.NAME,)

_ASKED = ("exact", "exact_as_printed", "keywords_as_printed", "keywords", "cosine", "embeddings")
_EMBEDDINGS = "embeddings"
"""The detector that needs an extra: its answers are a table apart, and the recorded ones where it is not installed."""

_TOLD = ("keywords", "cosine")
"""The detectors that are asked once more with the layouts' words left out, as a skill knows those of its own prompts
(`Skill.words`)."""

_EXAMPLES: Mapping[str, tuple[tuple[str, ...], bool]] = {
    "Partition: three first sentences in a row": (("r002", "r003", "r004"), True),
    "Partition: the next three": (("r003", "r004", "r005"), True),
    "Partition: three variations that the project tests its detector on": (("r030", "r031", "r032"), True),
    "Database of files: three attempts, each sharper than the last": (("r033", "r034", "r035"), False),
    "Name resolution: first three tips of an arc of causes": (("r063", "r064", "r065"), False),
    "Name resolution: last three tips of the arc": (("r065", "r066", "r067"), False),
}
"""Three quoted texts in a row → whether the pages say that they are one diagnosis."""


def generated_answers(n: int = CASES, seed: int = SEED, wordings: WordingSet = "scoring") -> list[DetectorAnswers]:
    """Return what each detector says of generated cases; clusters are the pieces of work."""
    cases = list(generate_reflections(n, seed, wordings))
    return _answers(cases, form_words(wordings))


class ReadReflection(Struct, frozen=True):
    """What kind of quotation a text is, the diagnosis that one person reads in it, and what was worked on if known."""

    id: str
    kind: str
    diagnosis: str
    rule: str | None = None


class SeenWindow(Struct, frozen=True):
    """Three quoted texts in a row, by their names, and the detectors that see one diagnosis in them."""

    reflections: str
    detectors: str = ""


def _read(folder: Path) -> Iterator[ReadReflection]:
    return (
        ReadReflection(reflection.id, reflection.kind, reflection.diagnosis, reflection.rule)
        for reflection in gemmaforge.quoted_reflections(folder)
    )


def _seen(names: Sequence[str], folder: Path) -> Iterator[SeenWindow]:
    texts = {reflection.id: reflection.text for reflection in gemmaforge.quoted_reflections(folder)}
    detectors = {name: detector(name) for name in names}
    cases = quoted_cases(list(_read(folder)), DRAWN, SEED)
    for window in dict.fromkeys([case.reflections for case in cases] + [ids for ids, _ in _EXAMPLES.values()]):
        quoted = [texts[id_] for id_ in window]
        seeing = (name for name, one in detectors.items() if one.shared(quoted) is not None)
        yield SeenWindow(" ".join(window), " ".join(seeing))


_CODE = ("misstep_harness.reflexive.plateau", "misstep_harness.reflexive.reflections")
_BY_WORDS = tuple(name for name in _ASKED if name != _EMBEDDINGS)
_READ = Facts(gemmaforge.NAME, "reflections", ReadReflection, _read)
_SEEN = Facts(gemmaforge.NAME, "windows", SeenWindow, partial(_seen, _BY_WORDS), _CODE)
_EMBEDDED = Facts(gemmaforge.NAME, "windows_by_embeddings", SeenWindow, partial(_seen, (_EMBEDDINGS,)), _CODE)
FACTS: tuple[Facts[Any], ...] = (_READ, _SEEN, _EMBEDDED)
"""The tables that the quoted reflections are read from."""


def quoted_answers() -> list[DetectorAnswers]:
    """What each detector says of threes of quoted texts, clustered by the group of the last."""
    cases, seen = quoted_cases(_READ.rows(), DRAWN, SEED), _detectors_by_window()
    return [
        DetectorAnswers(called, tuple(_quoted_answer(case, name in seen[case.reflections]) for case in cases))
        for called, name in _named().items()
    ]


def _quoted_answer(case: ReflectionCase, flagged: bool) -> PlateauAnswer:
    return PlateauAnswer(case.id, case.family, case.kind, case.same, flagged)


def quoted_examples() -> list[PlateauExample]:
    """What each detector says of the threes of which the pages say themselves what they are."""
    seen = _detectors_by_window()
    return [
        PlateauExample(title, same, {called: name in seen[window] for called, name in _named().items()})
        for title, (window, same) in _EXAMPLES.items()
    ]


def _detectors_by_window() -> dict[tuple[str, ...], set[str]]:
    """Return three names of texts → the detectors that see one diagnosis in them."""
    by_embeddings = _EMBEDDED.recorded() if isinstance(_detector(_EMBEDDINGS), str) else _EMBEDDED.rows()
    seen: dict[tuple[str, ...], set[str]] = {}
    for row in (*_SEEN.rows(), *by_embeddings):
        seen.setdefault(tuple(row.reflections.split()), set()).update(row.detectors.split())
    return seen


def thresholds_note() -> str:
    """Return where the thresholds of the detectors by angles come from, as a sentence."""
    return (
        f"Cosine takes {COSINE_AT_LEAST:.2f} and more for one diagnosis, embeddings {EMBEDDINGS_AT_LEAST:.2f}: chosen "
        f"on {CASES:,} generated cases of the other set of texts, told the layout, where recall less false alarms is "
        "largest."
    )


ONE_GROUP, OWN_WORDS = "Three of one group, some in the authors' words", "Three of one group, in the reflector's words"
ONE_NEW = "Two of one group, the last of another"
THREE_GROUPS, ONE_RULE = "Three groups", "Three groups of one rule"

_BY_REFLECTOR = frozenset(
    {
        "full_quote",
        "first_sentence",
        "top10_pattern_first_80_chars",
        "variation_fragment",
        "test_fixture_described_as_real_variation",
        "tip",
    }
)
"""Kinds of quotation that keep the words of the reflector; in the others the authors say what reflections said."""


def quoted_cases(quoted: Sequence[ReadReflection], draws: int, seed: int) -> list[ReflectionCase]:
    """Threes of quoted texts by their names: each text is the last of some of each kind that it can be the last of."""
    random = Random(seed)  # noqa: S311 (a sample)
    return [
        _case(kind, number, texts)
        for last in quoted
        for kind in (ONE_GROUP, ONE_NEW, THREE_GROUPS, ONE_RULE)
        for number in range(draws)
        if (texts := _ending_with(last, kind, quoted, random))
    ]


def _case(kind: str, number: int, texts: Sequence[ReadReflection]) -> ReflectionCase:
    same, last = kind == ONE_GROUP, texts[-1]
    if same and all(text.kind in _BY_REFLECTOR for text in texts):
        kind = OWN_WORDS
    return ReflectionCase(f"{last.id} {kind} {number}", kind, last.diagnosis, same, tuple(text.id for text in texts))


def _ending_with(
    last: ReadReflection, kind: str, quoted: Sequence[ReadReflection], random: Random
) -> list[ReadReflection]:
    if kind == ONE_GROUP:
        pool = [one for one in quoted if one.diagnosis == last.diagnosis and one.id != last.id]
        chosen = _sample(random, pool)
    elif kind == ONE_NEW:
        pairs = [texts for texts in _other_groups(last, quoted) if len(texts) >= WINDOW - 1]
        chosen = _sample(random, random.choice(pairs))
    else:
        of_rule = [one for one in quoted if one.rule == last.rule and one.rule is not None]
        groups = _other_groups(last, of_rule if kind == ONE_RULE else quoted)
        chosen = [random.choice(texts) for texts in _sample(random, groups)]
    return [*chosen, last] if chosen else []


def _sample(random: Random, population: Sequence[T]) -> list[T]:
    return random.sample(population, WINDOW - 1) if len(population) >= WINDOW - 1 else []


def _other_groups(last: ReadReflection, quoted: Iterable[ReadReflection]) -> list[list[ReadReflection]]:
    groups: dict[str, list[ReadReflection]] = {}
    for one in quoted:
        if one.diagnosis != last.diagnosis:
            groups.setdefault(one.diagnosis, []).append(one)
    return list(groups.values())


def _named() -> dict[str, str]:
    """Return what a detector is called in a table → its name."""
    return {name.replace("_as", ", as").replace("_", " "): name for name in _ASKED}


def _detectors(layout: frozenset[str]) -> dict[str, PlateauDetector | str]:
    """Return what a detector is called in a table → the detector, or why it cannot be asked."""
    told = {f"{name}, told the layout": _detector(name, layout) for name in _TOLD}
    return {called: _detector(name) for called, name in _named().items()} | told


def _detector(name: str, ignored: frozenset[str] = frozenset()) -> PlateauDetector | str:
    try:
        return detector(name, ignored=ignored)
    except MissingPrerequisite as missing:
        return missing.line()


def _answers(cases: Sequence[ReflectionCase], layout: frozenset[str]) -> list[DetectorAnswers]:
    return [
        DetectorAnswers(called, missing=one)
        if isinstance(one, str)
        else DetectorAnswers(called, tuple(_answer(one, case) for case in cases))
        for called, one in _detectors(layout).items()
    ]


def _answer(plateau_detector: PlateauDetector, case: ReflectionCase) -> PlateauAnswer:
    flagged = plateau_detector.shared(case.reflections) is not None
    return PlateauAnswer(case.id, case.family, case.kind, case.same, flagged)
