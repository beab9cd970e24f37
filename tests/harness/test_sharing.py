"""What is passed on says nothing of where things lie on the machine that made it."""

from pathlib import Path

import pytest

from misstep_harness.sharing import private_places, without_folders, without_places

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
