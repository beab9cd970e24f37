"""Packages are taken only with their registered hash, and nothing of an archive lands outside its folder."""

import io
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.errors import InputError, MissingPrerequisite
from misstep_harness.places import data_folder
from misstep_harness.repair.build import sets
from misstep_harness.repair.build.sets import check_hash, known_packages, package_tree, unpack
from tests.harness.repair.build.made_up_package import FILES, archive, made_up


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache/packages").mkdir(parents=True)
    return tmp_path / "cache/packages"


def test_an_archive_is_unpacked_without_its_top_folder(tmp_path: Path) -> None:
    archive(tmp_path / "a.tar.gz")
    unpack(tmp_path / "a.tar.gz", tmp_path / "tree")
    results = {file.relative_to(tmp_path / "tree").as_posix() for file in (tmp_path / "tree").rglob("*.py")}
    assert results == {*FILES}


@pytest.mark.parametrize("name", ["../../outside", "shop/../../outside", "/shop/../../../outside", ".."])
def test_a_file_that_would_land_outside_is_refused(tmp_path: Path, name: str) -> None:
    archive(tmp_path / "a.tar.gz", {name: "x"}, top="")
    with pytest.raises(InputError, match="leads out of its folder"):
        unpack(tmp_path / "a.tar.gz", tmp_path / "deep/er/tree")
    assert not (tmp_path / "deep/outside").exists()


def test_links_in_an_archive_are_left_out(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as opened:
        link = tarfile.TarInfo("shop/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        opened.addfile(link)
        inside = tarfile.TarInfo("shop/link/passwd")
        inside.size = 1
        opened.addfile(inside, io.BytesIO(b"x"))
    unpack(tmp_path / "a.tar.gz", tmp_path / "tree")
    assert (tmp_path / "tree/link/passwd").read_text() == "x"


def test_an_archive_with_too_much_in_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "_LARGEST", 10)
    archive(tmp_path / "a.tar.gz")
    with pytest.raises(InputError, match="holds more than"):
        unpack(tmp_path / "a.tar.gz", tmp_path / "tree")


def test_another_hash_is_refused_and_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    with pytest.raises(InputError, match=r"sha256 2d711642.* where 0{64} is registered"):
        check_hash(tmp_path / "a", "0" * 64)


def test_a_package_in_the_cache_is_unpacked_once_and_stripped(cache: Path) -> None:
    package = made_up(sha256=archive(cache / "shop-1.0.tar.gz"), removed=("tests",))
    tree = package_tree(package, {"shop": package})
    assert (tree / "src/shop.py").is_file()
    assert not (tree / "tests").exists()
    (cache / "shop-1.0.tar.gz").unlink()
    assert package_tree(package, {"shop": package}) == tree


def test_what_a_package_needs_lies_beside_it(cache: Path) -> None:
    needed = made_up("@made/up", file="up.tgz", sha256=archive(cache / "up.tgz", {"index.js": "1\n"}))
    package = made_up(sha256=archive(cache / "shop-1.0.tar.gz"), needs=("@made/up",))
    tree = package_tree(package, {"shop": package, "@made/up": needed})
    assert (tree / "node_modules/@made/up/index.js").is_file()


def test_a_client_that_fails_is_told_with_what_it_said(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(command: tuple[str, ...], **_: Any) -> subprocess.CompletedProcess[str]:
        assert "--require-hashes" in command
        return subprocess.CompletedProcess(command, 1, "", "no route to it")

    monkeypatch.setattr(subprocess, "run", failing)
    with pytest.raises(MissingPrerequisite, match="no route to it"):
        package_tree(made_up(), {"shop": made_up()})
    assert not list(cache.glob("shop-1.0-*"))


def test_the_projects_list_pins_packages_of_two_languages_with_free_licences() -> None:
    known = known_packages()
    broken = [package for package in known.values() if not package.only_needed]
    assert len(broken) >= 8
    assert {package.language for package in broken} == {"python", "javascript"}
    for package in known.values():
        assert len(package.sha256) == 64
        assert package.licence in ("MIT", "BSD-3-Clause", "Apache-2.0", "ISC")
        assert all(name in known for name in package.needs)


def test_the_recipes_name_no_registry() -> None:
    for file in (data_folder() / "repair").glob("*.toml"):
        assert "://" not in file.read_text()
