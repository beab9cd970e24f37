"""A small root file system of this machine's own shell and a few programs, as `docker export` would give it."""

import re
import shutil
import subprocess
import tarfile
from pathlib import Path

PROGRAMS = ("sh", "cat", "grep", "sort", "mkdir", "rm", "id", "env", "chmod")


def root_file_system(root: Path, files: dict[str, str] | None = None) -> Path:
    """A root file system in a new folder, with further files: path → text."""
    for folder in ("bin", "etc", "tmp", "proc", "dev", "app"):
        (root / folder).mkdir(parents=True)
    results = [str(shutil.which(name, path="/usr/bin:/bin")) for name in PROGRAMS]
    for program in results:
        shutil.copy(program, root / "bin")
    linked = subprocess.run(["ldd", *results], capture_output=True, text=True, check=True).stdout
    for library in set(re.findall(r"(?<=\s)/\S+(?= \()", linked)):
        (root / library[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, root / library[1:])
    for path, text in (files or {}).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def exported(root: Path, place: Path) -> Path:
    """The root file system as a tar."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(place, "w:gz" if place.suffix == ".gz" else "w") as tar:
        tar.add(root, ".")
    return place
