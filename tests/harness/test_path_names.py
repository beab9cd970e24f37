"""Copies of what lies at an address: they are named by the address, and the address comes back from their path."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.errors import InputError
from misstep_harness.journal.inputs import name_of
from misstep_harness.path_names import (
    FOLDER,
    address_text,
    folder_names,
    private_places,
    without_folders,
    without_places,
)
from misstep_harness.places import cache_folder, path_text

LINE = [
    "classify",
    "/srv/data/runs",
    "--base-url=http://10.0.0.5:8000/v1",
    "--out",
    "/srv/data/runs old",
    "s3://own/logs",
]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("/srv/data/runs/a/b.jsonl:3: cut off", "runs/a/b.jsonl:3: cut off"),
        ("classify /srv/data/runs --out '/srv/data/runs old'", "classify runs --out 'runs old'"),
        ("cannot reach http://10.0.0.5:8000/v1/chat", "cannot reach [base-url]/v1/chat"),
        ("s3://own/logs/x.eval, s3://own/other", "logs/x.eval, s3://own/other"),
        ("/srv/data/runs-2 and /srv/data/runsome", "/srv/data/runs-2 and /srv/data/runsome"),
        ("the agent wrote /app/main.py", "the agent wrote /app/main.py"),
        (f"in {Path.cwd()}/notes.md and {Path.cwd()}", "in notes.md and ."),
    ],
)
def test_what_a_line_names_is_left_by_its_last_name(text: str, left: str) -> None:
    assert without_places(text, private_places(LINE)) == left


@pytest.mark.parametrize(
    ("place", "left"),
    [
        ("/home/kim/app", "app"),
        ("/home/kim/app/", "app"),
        ("C:\\work\\app", "app"),
        ("gs://own/logs", "logs"),
        ("hf://datasets/public/set", "hf://datasets/public/set"),
        ("runs/a.jsonl", "runs/a.jsonl"),
        ("", ""),
    ],
)
def test_of_a_place_alone_the_last_name_is_left(place: str, left: str) -> None:
    assert without_folders(place) == left


NO_GLOB = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="*?["), max_size=300)
ADDRESSES = st.builds("://".join, st.tuples(st.sampled_from(["s3", "gs", "memory"]), NO_GLOB))


@given(ADDRESSES, st.lists(st.text("ab%2F .", min_size=1, max_size=9), min_size=1, max_size=3))
def test_the_path_of_a_copy_gives_its_address_back(address: str, names: list[str]) -> None:
    top, name = address if address.endswith("/") else f"{address}/", "/".join(names)
    folders = folder_names(top)
    assert all(len(folder) <= 200 for folder in folders)
    assert address_text("/".join(("/home/kim/.cache/misstep", FOLDER, *folders, name))) == top + name


def test_records_and_errors_name_the_address_and_no_path_of_the_cache() -> None:
    copy = cache_folder().joinpath(FOLDER, *folder_names("s3://bucket/logs/"), "a", "run.jsonl")
    assert path_text(copy) == name_of(copy) == "s3://bucket/logs/a/run.jsonl"
    assert InputError("broken", file=copy, line=3).line() == "s3://bucket/logs/a/run.jsonl:3: broken"
    assert path_text(copy.parent.parent) == "s3://bucket/logs"


def test_a_file_of_a_pattern_is_named_by_its_own_address_and_the_pattern_by_its() -> None:
    pattern = cache_folder().joinpath(FOLDER, *folder_names("s3://bucket/logs/*/run-?.jsonl/"))
    assert path_text(pattern) == "s3://bucket/logs/*/run-?.jsonl"
    assert path_text(pattern / "may" / "run-1.jsonl") == "s3://bucket/logs/may/run-1.jsonl"


def test_other_paths_stay_as_they_are() -> None:
    for path in ("/home/kim/addresses/run.jsonl", "addresses/s3%3A%2F%2Fbucket/run.jsonl", "run.jsonl"):
        assert address_text(path) == path
