"""What a test command needs is shown to it, and a home is not."""

import sys
from pathlib import Path

from misstep.harness.workspace import program_folders, python_toolchain


def test_a_virtual_environment_brings_the_interpreter_that_it_was_made_of(tmp_path: Path) -> None:
    real, made = tmp_path / "real", tmp_path / "made"
    for folder in (real / "bin", real / "lib", made / "bin", made / "lib", made / "private"):
        folder.mkdir(parents=True)
    (real / "bin/python3").touch(mode=0o755)
    (made / "bin/python").symlink_to(real / "bin/python3")
    (made / "pyvenv.cfg").write_text(f"home = {real}/bin\n")
    expected = {made / "bin", made / "lib", made / "pyvenv.cfg", real / "bin", real / "lib"}
    assert set(program_folders([str(made / "bin/python"), "-m", "pytest"])) == expected


def test_a_program_in_a_home_shows_nothing_else_of_it(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / ".ssh").mkdir()
    (tmp_path / "bin/check").touch(mode=0o755)
    assert program_folders(["check"], path=str(tmp_path / "bin")) == (tmp_path / "bin",)


def test_a_program_of_the_system_or_of_the_workspace_needs_nothing() -> None:
    assert program_folders(["sh"], path="/usr/bin") == program_folders(["./check"]) == program_folders([]) == ()


def test_the_toolchain_is_the_running_interpreter() -> None:
    assert python_toolchain().python == sys.executable
