"""`misstep repair build` tells what it made, and says in one line what it cannot do."""

import json
from functools import partial
from pathlib import Path

import msgspec
import pytest
import tomli_w

from misstep.harness.repair.build.recipes import FaultPlace, Recipe
from tests.harness.repair.conftest import sandbox as sandbox
from tests.harness.repair.failure_bot.histories import BROKEN, COMMAND, PRICE, TESTS, MadeRepository

RECIPE = Recipe("shop-1", "shop", 0, 2, "0", ("t",), (FaultPlace("off_by_one", "a.py", "f", 1),), 1.0)


@pytest.fixture
def repair(in_process):
    return partial(in_process, "repair")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--recipes", "broken.toml"], "broken.toml: no recipes of repair cases"),
        (["--recipes", "r.toml"], "made of shop, which is not on the list"),
        (["--history", "."], "--history and --test-command go together"),
    ],
)
def test_what_cannot_be_made_is_said(repair, tmp_path, monkeypatch, arguments, text) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.toml").write_text("[[case]]\nid = 1\n")
    Path("r.toml").write_text(tomli_w.dumps({"case": [msgspec.to_builtins(RECIPE)]}))
    code, _, said = repair("build", *arguments, "--out", tmp_path / "out")
    assert code == 2
    assert text in said


@pytest.mark.usefixtures("sandbox")
def test_a_repository_s_own_mends_become_cases(repair, tmp_path: Path) -> None:
    repository = MadeRepository(tmp_path / "shop")
    repository.commit({"price.py": BROKEN, "test_price.py": TESTS})
    repository.commit({"price.py": PRICE}, "Count the first price too")
    code, printed, said = repair(
        "build", "--history", repository.folder, "--test-command", COMMAND, "--out", tmp_path / "cases", "--json"
    )
    assert code == 0
    assert json.loads(printed)["n"] == 1
    assert "is not a case: the first commit" in said
