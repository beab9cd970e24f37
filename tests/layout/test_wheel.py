"""The built wheel has all that Misstep needs: it runs where the checkout cannot be seen."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with the wheel of this checkout, installed without its dependencies."""
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")], cwd=ROOT)
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

    where = "import misstep, analysis, harness, studies as s; print(misstep.__file__, analysis.__file__, s.__file__)"
    places = _run([sys.executable, "-S", "-c", where], tmp_path, PYTHONPATH=dependencies).stdout.split()
    assert all(Path(place).is_relative_to(installed) for place in places)

    assert "classify" in misstep("--help").stdout
    assert "aggregate" in misstep("help", "judge-file").stdout
    misstep("generate", "trajectories", "--n", "5", "--out", "made")
    assert json.loads(misstep("classify", "made", "--out", "run", "--json").stdout)["n"] == 5
    assert misstep("notebook", "run").stdout.strip().endswith(".ipynb")
    listed = misstep("reproduce", "no-such-notebook", code=2).stderr
    assert all(notebook.stem in listed for notebook in (ROOT / "notebooks").glob("*.ipynb"))
    assert json.loads(misstep("audit", "wink", "--json").stdout)["checked"] > 0
