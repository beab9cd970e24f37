"""A test command is shown its interpreter and packages, a project its own, and no home."""

import base64
import hashlib
import os
import sys
from pathlib import Path

import pytest

from misstep_harness.errors import InputError, UsageError
from misstep_harness.workspace import (
    Sandbox,
    Toolchain,
    install_line,
    open_workspace,
    own_command,
    project_toolchain,
    python_toolchain,
)
from misstep_harness.workspace.showing import Showing


def environment(place: Path) -> Path:
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
    (place / "pyvenv.cfg").write_text(f"home = {Path(os.path.realpath(sys.executable)).parent}\n")
    packages = place / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "fruit.py").write_text("PRICE = 7\n")
    return packages


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    folder = tmp_path / "shop"
    (folder / "src" / "shop").mkdir(parents=True)
    (folder / "src" / "shop" / "__init__.py").write_text("NAME = 'as the user has it'\n")
    return folder


def tree(checkout: Path) -> Path:
    folder = checkout.parent / "tree"
    (folder / "src" / "shop").mkdir(parents=True)
    (folder / "src" / "shop" / "__init__.py").write_text("NAME = 'as it was committed'\n")
    return folder


def ran(toolchain: Toolchain, base: Path, sandbox: Sandbox, *command: str) -> str:
    opened = open_workspace(
        base,
        sandbox=sandbox,
        read_only=toolchain.read_only,
        environment=toolchain.environment,
        checkout=toolchain.checkout,
    )
    with opened as workspace:
        done = workspace.run(command)
        assert workspace.files() == sorted(path.relative_to(base).as_posix() for path in base.rglob("*.*"))
    return done.output.strip()


def test_an_editable_install_imports_the_tree_that_is_tested_and_packages_are_those_of_the_project(checkout, sandbox):
    (environment(checkout / ".venv") / "shop.pth").write_text(f"{checkout}/src\n")
    toolchain = project_toolchain(checkout)
    assert toolchain.python == str(checkout / ".venv/bin/python")
    program = "import sys; sys.path.remove('/ws/src'); import fruit, shop; print(fruit.PRICE, shop.NAME)"
    assert ran(toolchain, tree(checkout), sandbox, "python", "-c", program) == "7 as it was committed"


def test_an_older_copy_of_the_project_that_is_installed_does_not_count(checkout: Path, sandbox: Sandbox) -> None:
    (environment(checkout / ".venv") / "shop.py").write_text("NAME = 'as it was installed'\n")
    program = "import shop; print(shop.NAME)"
    assert ran(project_toolchain(checkout), tree(checkout), sandbox, "python", "-c", program) == "as it was committed"


def test_packages_of_node_are_read_and_caches_beside_them_are_thrown_away(checkout: Path, sandbox: Sandbox) -> None:
    (checkout / "node_modules" / "fruit").mkdir(parents=True)
    (checkout / "node_modules" / "fruit" / "price").write_text("7")
    command = "mkdir node_modules/.vite && cat node_modules/fruit/price && ! rm node_modules/fruit/price 2> /dev/null"
    assert ran(project_toolchain(checkout), tree(checkout), sandbox, "sh", "-c", command) == "7"
    assert not (checkout / "node_modules" / ".vite").exists()


def test_an_environment_elsewhere_is_named(checkout: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    environment(tmp_path / "elsewhere")
    toolchain = project_toolchain(checkout, python=tmp_path / "elsewhere")
    assert ran(toolchain, tree(checkout), sandbox, "python", "-c", "import fruit; print(fruit.PRICE)") == "7"


def test_a_checkout_without_an_environment_has_misstep_s_interpreter(checkout: Path) -> None:
    assert project_toolchain(checkout).python == python_toolchain().python
    with pytest.raises(InputError, match="bin/python"):
        project_toolchain(checkout, python=checkout)


@pytest.mark.parametrize(
    ("command", "own"),
    [
        ("uv run pytest -q", "pytest -q"),
        ("uv run --frozen pytest", "pytest"),
        ("cd app && poetry run python -m pytest", "cd app && python -m pytest"),
        ("python -m pytest", "python -m pytest"),
        ("uv run --group test pytest -q", "pytest -q"),
        ("uv run -p 3.12 --with hypothesis -- python -m pytest", "python -m pytest"),
        ("uv run --directory packages/fruit pytest", "cd packages/fruit && pytest"),
        ("python -m pytest -k tox", "python -m pytest -k tox"),
    ],
)
def test_the_program_that_builds_an_environment_is_left_out_with_its_options(command: str, own: str) -> None:
    assert own_command(command) == own


def test_a_program_that_builds_environments_needs_one_that_is_built(checkout: Path) -> None:
    with pytest.raises(UsageError, match="uv has no environment"):
        project_toolchain(checkout, "uv run pytest")
    with pytest.raises(UsageError, match="tox builds environments"):
        own_command("tox -e py311")


def test_a_virtual_environment_brings_the_interpreter_that_it_was_made_of(tmp_path: Path) -> None:
    real, made = tmp_path / "real", tmp_path / "made"
    for folder in (real / "bin", real / "lib", made / "bin", made / "lib", made / "private"):
        folder.mkdir(parents=True)
    (real / "bin/python3").write_text(f"""#!/bin/sh\necho '["{real}", "cpython"]'\n""")
    (real / "bin/python3").chmod(0o755)
    (made / "bin/python").symlink_to(real / "bin/python3")
    (made / "pyvenv.cfg").write_text(f"home = {real}/bin\n")
    expected = {made / "bin", made / "lib", made / "pyvenv.cfg", real / "bin", real / "lib"}
    assert set(Showing().program(made / "bin/python")) == expected


def test_a_program_in_a_home_shows_nothing_else_of_it(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / ".ssh").mkdir()
    (tmp_path / "bin/check").touch(mode=0o755)
    assert Showing().program(tmp_path / "bin/check") == (tmp_path / "bin/check",)


def test_a_program_of_the_system_needs_nothing() -> None:
    assert Showing().program(Path("/usr/bin/sh")) == ()


def test_the_toolchain_is_the_running_interpreter() -> None:
    assert python_toolchain().python == sys.executable


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT", "POETRY_CACHE_DIR", "WORKON_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "farm"
    (folder / "packages/fruit/src/fruit").mkdir(parents=True)
    (folder / "packages/fruit/src/fruit/__init__.py").touch()
    return folder


@pytest.mark.parametrize("command", ["tox", "cd farm && A=1 nox -s tests", "python -m tox -e py311"])
def test_a_program_that_runs_others_is_refused_with_what_to_name(command: str) -> None:
    with pytest.raises(UsageError, match=r"--python \.(tox|nox)/"):
        own_command(command)


@pytest.mark.parametrize("place", [".venv", "packages/.venv", "packages/fruit/venv"])
def test_a_folder_of_a_monorepo_has_the_environment_and_the_source_that_are_nearest(top: Path, place: str) -> None:
    environment(top / place)
    toolchain = project_toolchain(top, "cd packages/fruit && python -m pytest")
    assert toolchain.python == str(top / place / "bin/python")
    assert toolchain.environment["PYTHONPATH"] == "/ws/packages/fruit/src"
    assert project_toolchain(top, "uv run --directory packages/fruit pytest").python == toolchain.python


def test_the_environment_that_poetry_keeps_elsewhere_is_that_of_the_project(top: Path, tmp_path: Path) -> None:
    digest = base64.urlsafe_b64encode(hashlib.sha256(os.fsencode(os.path.realpath(top))).digest()).decode()[:8]
    kept = tmp_path / "cache/pypoetry/virtualenvs"
    environment(kept / f"farm-{digest}-py3.11")
    environment(kept / "farm-other123-py3.12")
    assert project_toolchain(top, "poetry run pytest").python == str(kept / f"farm-{digest}-py3.11/bin/python")


def test_the_line_that_installs_is_that_of_the_environment(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without = f"cd {top} && python3 -m venv .venv && .venv/bin/pip install"
    assert install_line(project_toolchain(top)) == without
    environment(top / ".venv")
    assert install_line(project_toolchain(top)) == f"cd {top} && uv pip install --python .venv/bin/python"
    (top / ".venv/bin/pip").touch()
    assert install_line(project_toolchain(top)) == f"cd {top} && .venv/bin/python -m pip install"
    environment(top.parent / "elsewhere")
    monkeypatch.setenv("VIRTUAL_ENV", str(top.parent / "elsewhere"))
    assert project_toolchain(top, python=top.parent / "elsewhere").python == str(top.parent / "elsewhere/bin/python")
