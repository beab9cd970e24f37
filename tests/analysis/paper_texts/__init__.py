"""The papers' texts, cut into the places that the published figures name, and the numbers that are in each place.

A module a paper says where each place opens, which numbers there are no results and why, and what a converter broke;
its `further_places`, where it has them, are places outside the paper.
"""

import os
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from msgspec import Struct

from misstep_analysis.published import Figure, load_paper

LEFT_OUT = None
"""The place of what is not part of the specification: authors, thanks, references, formulas."""

_SPACES = re.compile(r"[\s\u2009\u200a\u202f\u00a0]+")
_WORDS = (
    "zero two three four five six seven eight nine ten eleven twelve fifteen twenty thirty fifty half twice dozens "
    "tens hundred hundreds thousand thousands million millions"
)
_NUMBER = re.compile(
    r"(?<![A-Za-z_\d.])\d+(?:,\d{3})*(?:\.\d+)?"  # a digit behind a letter belongs to a name: RQ1, A2
    rf"|(?<![A-Za-z\d])\.\d+|\b(?:{'|'.join(_WORDS.split())})\b",
    re.IGNORECASE,
)
_REFERENCES = re.compile(
    r"\[\d+(?:, ?\d+)*\]"  # cited works by number
    r"|\b(?:19|20)\d\d[a-z]?(?=[),;])"  # cited works by year
    r"|§\d+(?:\.\d+)*|\b(?:Section|Table|Figure|Equation|equation)s? \(?(?:[IVX]+\b|\d+(?:\.\d+)*\)?(?: and \d+)?)",
    re.IGNORECASE,
)


class PaperText(Struct, frozen=True):
    """How a paper's text is read.

    `file` is how its name opens; `places` are (place, opening words) in the order of the text, where a place may come
    back after a table that interrupts it; `no_results` has phrases with numbers, between bars, by why they are none;
    `artefacts` is what a converter wrote, and what is in the paper; `line_numbers` where the margin's numbers are
    mixed with the lines.
    """

    file: str
    places: tuple[tuple[str | None, str], ...]
    no_results: dict[str, str]
    artefacts: dict[str, str] = {}
    line_numbers: bool = False


def places(text: str) -> tuple[tuple[str | None, str], ...]:
    """(place, opening words) of a text that has them as `place = opening`, between bars; `-` is `LEFT_OUT`."""
    pairs = (part.strip().split(" = ", 1) for part in text.split("|"))
    return tuple((LEFT_OUT if place == "-" else place, opening) for place, opening in pairs)


def paper_text(slug: str) -> PaperText:
    """How the text of a paper is read."""
    result = _module(slug).TEXT
    assert isinstance(result, PaperText)
    return result


def _module(slug: str) -> ModuleType:
    return import_module(f"tests.analysis.paper_texts.{slug}")


def places_of(slug: str, data_folder: Path) -> dict[str, str]:
    """Place → its text without markup, of a paper; skips where the paper is not available."""
    text = paper_text(slug)
    further = getattr(_module(slug), "further_places", None)
    files = list((data_folder.parent / "seeds").glob(f"{text.file}_*.txt"))
    if not files and not os.environ.get("CI"):
        pytest.skip("the papers' texts are not available")
    places = cut(_plain(files[0].read_text(), text), text.places)
    return places | (further(data_folder) if further else {})


def cut(text: str, places: tuple[tuple[str | None, str], ...]) -> dict[str, str]:
    """The text of each place, from behind its opening words to the next opening; `LEFT_OUT` is dropped."""
    starts, position = [], 0
    for place, opening in places:
        position = text.find(opening, position)
        assert position >= 0, f"{place} does not open with {opening!r}"
        starts.append(position)
        position += 1
    results: dict[str, str] = {}
    for (place, opening), start, end in zip(places, starts, [*starts[1:], len(text)], strict=True):
        if place is not LEFT_OUT:
            results[place] = results.get(place, "") + text[start + len(opening) : end] + " "
    return results


def _plain(text: str, how: PaperText) -> str:
    if how.line_numbers:
        text = re.sub(r"^\s*(?:- )?\d{3}(?=\s)", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\s*\d+\.(?: \d+\.)?\s*$", "", text, flags=re.MULTILINE)
    text = _SPACES.sub(" ", text.replace("$", "").replace("\\", ""))
    for written, meant in how.artefacts.items():
        assert written in text, f"the text no longer has {written!r}"
        text = text.replace(written, meant)
    return text


def stands_in(printed: str, text: str) -> bool:
    """Whether a figure is in a text as it is printed, and not as a part of a longer number or word."""
    return re.search(rf"(?<![\w.,]){re.escape(printed)}(?!\w|[.,]\d)", text, re.IGNORECASE) is not None


def numbers(text: str) -> set[str]:
    """The numbers in a text, in digits and in words; those that only refer to another place are none."""
    return {number.lower() for number in _NUMBER.findall(_REFERENCES.sub(" ", text))}


def unrecorded(slug: str, place: str, text: str) -> set[str]:
    """The numbers of a place that neither a figure of that place nor a phrase without a result has."""
    for phrases in paper_text(slug).no_results.values():
        for phrase in phrases.split("|"):
            text = text.replace(phrase, " ")
    recorded = {number for figure in figures_at(slug, place) for number in numbers(figure.printed)}
    return numbers(text) - recorded


def is_printed(figure: Figure) -> bool:
    """Whether a figure is printed, not worked out."""
    return not figure.place.startswith(
        ("worked out:", "journey/", "architecture/", "improvements/", "deferred", "brief")
    )


def figures_at(slug: str, place: str) -> list[Figure]:
    """The published figures of a place."""
    return [figure for figure in load_paper(slug).figure if figure.place == place]
