"""What every reader of other tools' verdicts keeps, found by the registry: a new one is tested once it is in it."""

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.errors import InputError
from misstep_harness.runs.judging.judge_import import written_verdicts
from misstep_harness.verdict_readers import VERDICT_READERS, Place
from tests.families.recordings import verdicts_of

FORMS = sorted(VERDICT_READERS)
ODD: tuple[Any, ...] = (None, True, 7, -1.5, "", "odd", [], [None], [[]], {}, {"odd": []})


def file_of(name: str, folder: Path) -> Path:
    """The made-up file of a form, under a name that tells nothing."""
    file = folder / "recording"
    file.write_bytes(verdicts_of(name))
    return file


def changed(value: Any) -> Iterator[Any]:
    """A value with each of its fields, at any depth, left out and replaced by something odd."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            without = copy.copy(value)
            del without[key]
            yield without
            for other in (*ODD, *changed(value[key])):
                replaced = copy.copy(value)
                replaced[key] = other
                yield replaced


@pytest.mark.parametrize("name", FORMS)
def test_a_file_is_recognised_by_its_reader_and_no_other(name: str, tmp_path: Path, monkeypatch) -> None:
    reader = VERDICT_READERS.load(name)
    assert written_verdicts(file_of(name, tmp_path)).forms == (reader.NAME,)
    assert reader.NAME.startswith(("a ", "an "))
    others = {other: target for other, target in VERDICT_READERS.items() if other != name}
    monkeypatch.setattr(VERDICT_READERS, "names", lambda: others)
    with pytest.raises(InputError, match="no form of verdicts that is known"):
        written_verdicts(file_of(name, tmp_path))


@pytest.mark.parametrize("name", [name for name in FORMS if name != "table"])
def test_a_reader_shows_a_made_up_file_and_names_where_the_form_is_described(name: str) -> None:
    text = VERDICT_READERS.load(name).__doc__ or ""
    assert "(made up)::" in text
    assert "\nSources: https://" in text


@pytest.mark.parametrize("name", FORMS)
def test_a_missing_answer_never_becomes_a_label(name: str, tmp_path: Path) -> None:
    result = written_verdicts(file_of(name, tmp_path)).verdicts
    assert any(one.status == "answered" for one in result)
    missing = [one for one in result if one.label is None]
    assert missing, "the sample has an answer that is none"
    assert all(one.error and one.status != "answered" for one in missing)
    assert all(one.score is None for one in missing)


@pytest.mark.parametrize("name", [name for name in FORMS if name != "table"])
def test_whatever_stands_in_a_field_the_reader_gives_verdicts_or_an_error_that_names_the_place(name: str) -> None:
    reader, place = VERDICT_READERS.load(name), Place("results.json", 3)
    first = verdicts_of(name).splitlines()[0]
    read = 0
    for value in changed(json.loads(first, parse_constant=lambda _: None)):
        if not (isinstance(value, dict) and reader.is_own(value)):
            continue
        with suppress(InputError):
            results = list(reader.verdicts(value, place))
            assert all(isinstance(one.item, str) and isinstance(one.judge, str) for one in results)
            assert all(one.label is None or isinstance(one.label, str) for one in results)
            read += 1
    assert read > len(ODD)
