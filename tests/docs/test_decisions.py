"""Decisions are short: one paragraph each, with its outcome in bold, in the file of its room."""

import re
from pathlib import Path

import pytest

from tests.docs.documents import ROOT

FILES = sorted((ROOT / "docs" / "decisions").glob("*.md"))


def test_the_list_names_every_file() -> None:
    listed = re.findall(r"\]\((docs/decisions/[\w-]+\.md)\)", (ROOT / "DECISIONS.md").read_text("utf-8"))
    assert sorted(listed) == [file.relative_to(ROOT).as_posix() for file in FILES]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_decision_has_at_most_60_words(file: Path) -> None:
    title, *decisions = file.read_text("utf-8").strip().split("\n\n")
    assert title.startswith("# Decisions: ")
    assert [one for one in decisions if not one.startswith("**") or len(one.split()) > 60] == []
