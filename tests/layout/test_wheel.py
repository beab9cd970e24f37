"""The built wheel has all that Misstep needs: it runs where the checkout cannot be seen."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
from email.parser import BytesParser
from pathlib import Path

import pytest

from misstep import __version__

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel made of the source archive of this checkout, without its dependencies, into a folder."""
    tmp_path = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path / "dist"), "-t"]
    _run([*build, "sdist"], cwd=ROOT)
    with tarfile.open(tmp_path / f"dist/misstep-{__version__}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    _run([*build, "wheel"], cwd=tmp_path / f"misstep-{__version__}")
    (wheel,) = (tmp_path / "dist").glob("misstep-*.whl")
    options = ["-q", "--disable-pip-version-check", "--no-deps", "--no-index", "--no-compile"]
    _run(
        [sys.executable, "-m", "pip", "install", *options, "--target", str(tmp_path / "site"), str(wheel)], cwd=tmp_path
    )
    return tmp_path / "site"


def _run(line: list[str], cwd: Path, code: int = 0, **environment: str) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(line, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done


def test_the_wheel_runs_every_kind_of_command_without_the_checkout(installed: Path, tmp_path: Path) -> None:
    paths = sysconfig.get_paths()
    dependencies = os.pathsep.join(map(str, [installed, paths["purelib"], paths["platlib"]]))

    def misstep(*arguments: str, code: int = 0) -> "subprocess.CompletedProcess[str]":
        # Without `site` no .pth file leads an import to the checkout.
        line = [sys.executable, "-S", str(installed / "bin" / "misstep"), *arguments]
        return _run(line, tmp_path, code, PYTHONPATH=dependencies)

    packages = {place.name for place in installed.iterdir() if place.is_dir()} - {"bin"}
    own = {name for name in packages if not name.endswith(".dist-info")}
    assert own == {"misstep", "misstep_analysis", "misstep_harness"}

    assert "classify" in misstep("--help").stdout
    assert "aggregate" in misstep("help", "judge-file").stdout
    misstep("generate", "trajectories", "--n", "5", "--out", "made")
    assert json.loads(misstep("classify", "made", "--out", "run", "--json").stdout)["n"] == 5
    assert misstep("export", "run", "--to", "notebook", "--out", "run.ipynb").stdout.strip().endswith(".ipynb")
    listed = misstep("reproduce", "no-such-notebook", code=2).stderr
    assert all(notebook.stem in listed for notebook in (ROOT / "notebooks").glob("*.ipynb"))
    assert json.loads(misstep("audit", "wink", "--json").stdout)["checked"] > 0


@pytest.mark.parametrize("room", ["harness", "analysis", "studies"])
def test_a_folder_of_the_users_own_works_beside_misstep(installed: Path, tmp_path: Path, room: str) -> None:
    """The user's folder has the name of one of our rooms, and a script in it imports both."""
    (tmp_path / room).mkdir()
    (tmp_path / room / "__init__.py").write_text('NAME = "my own"\n')
    script = tmp_path / "script.py"
    script.write_text(f"import {room}\nfrom misstep import Item, Judge, open\nprint({room}.NAME, Item.__module__)\n")
    paths = sysconfig.get_paths()
    dependencies = os.pathsep.join(map(str, [installed, paths["purelib"], paths["platlib"]]))
    done = _run([sys.executable, "-S", str(script)], tmp_path, PYTHONPATH=dependencies)
    assert done.stdout == "my own misstep_harness.items\n"
    in_folder = [sys.executable, "-S", "-m", "misstep", "audit", "wink", "--json"]
    assert json.loads(_run(in_folder, tmp_path, PYTHONPATH=dependencies).stdout)["checked"] > 0


def test_the_package_says_its_version_and_shows_the_readme_with_whole_addresses(installed: Path) -> None:
    (info,) = installed.glob("misstep-*.dist-info")
    metadata = BytesParser().parsebytes((info / "METADATA").read_bytes())
    (address,) = [one.removeprefix("Repository, ") for one in metadata.get_all("Project-URL", [])]
    assert metadata["Version"] == __version__
    shown = metadata.get_payload()
    assert f"({address}/raw/v{__version__}/docs/view.png)" in shown
    assert re.findall(r"\]\((?!https?://|#)[^)]{1,200}\)", shown) == []


def test_no_document_names_another_version_than_this() -> None:
    named = re.compile(r"(?:misstep-|rev: v|^version: |^version = \"|releases/tag/v)(\d+\.\d+\.\d+)", re.MULTILINE)
    files = [ROOT / "pyproject.toml", ROOT / "CITATION.cff", *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    assert {version for file in files for version in named.findall(file.read_text("utf-8"))} == {__version__}
    changes = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert changes[:2] == ["Unreleased", __version__]
