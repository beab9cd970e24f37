"""The registry of data sets is whole: every set has a licence, a pinned origin and a list of safe files with hashes."""

import re
from pathlib import Path

import pytest

from misstep_harness.catalogue import (
    address_template,
    data_set,
    data_sets,
    fetched_folder,
    files_of,
    inputs_of,
    locate,
    named_data_folder,
)
from misstep_harness.datasets import LOADERS
from misstep_harness.datasets.derived import DERIVATIONS
from misstep_harness.datasets.fetching import address_of, check, inside, state_of
from misstep_harness.errors import MissingPrerequisite, UsageError

EVERY = sorted(data_sets())
SHA256 = re.compile(r"[0-9a-f]{64}\Z")


def test_every_loader_has_a_set() -> None:
    assert set(LOADERS) <= set(EVERY)


@pytest.mark.parametrize("name", EVERY)
def test_a_set_has_a_title_a_licence_a_citation_and_origins_pinned_to_a_commit(name: str) -> None:
    entry = data_set(name)
    assert entry.title
    assert entry.licence
    assert entry.citation
    assert entry.sources
    for source in entry.sources.values():
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", source.repository)
        assert re.fullmatch(r"[0-9a-f]{40}", source.commit)


@pytest.mark.parametrize("name", EVERY)
def test_a_file_has_a_hash_and_an_origin_or_a_rule(name: str, tmp_path: Path) -> None:
    entry = data_set(name)
    files = files_of(name)
    assert files
    assert len({file.file for file in files}) == len(files)
    for file in files:
        assert SHA256.match(file.sha256)
        assert inside(tmp_path, file.file)
        assert (file.form == "redacted") == bool(file.upstream_sha256)
        if file.form == "derived":
            assert entry.derived[file.file]
        else:
            assert address_of(address_template(), *_origin(name, file.source), file.upstream_path).startswith(
                "https://"
            )
            assert (file.form == "gzip") <= file.file.endswith(".gz")
    assert set(entry.derived) == {file.file for file in files if file.form == "derived"}


def _origin(name: str, source: str) -> tuple[str, str]:
    origin = data_set(name).sources[source]
    return origin.repository, origin.commit


@pytest.mark.parametrize("name", EVERY)
def test_inputs_are_listed_for_exactly_the_derived_files_that_can_be_made(name: str) -> None:
    derived = {file.file for file in files_of(name) if file.form == "derived"}
    assert {known.file for known in inputs_of(name)} == set(DERIVATIONS.get(name, {}))
    assert set(DERIVATIONS.get(name, {})) <= derived
    for known in inputs_of(name):
        assert known.source in data_set(name).sources
        assert known.bytes is not None or not known.sha256


@pytest.mark.data
@pytest.mark.parametrize("name", EVERY)
def test_the_public_data_at_hand_are_what_is_registered(name: str, data_folder: Path) -> None:
    checked = check(name, locate(name, data_folder))
    assert (checked.differs, checked.missing) == ((), ())
    assert checked.ok == len(files_of(name))


def test_a_set_is_looked_for_in_the_folder_that_is_named_and_nowhere_else(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MISSTEP_DATA", str(tmp_path / "elsewhere"))
    made(tmp_path / "elsewhere" / "mast")
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingPrerequisite, match="misstep datasets fetch mast"):
        locate("mast", tmp_path / "empty")


def test_without_a_named_folder_the_environment_comes_before_the_cache(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MISSTEP_DATA", str(tmp_path))
    made(fetched_folder("mast"))
    assert locate("mast") == fetched_folder("mast")
    made(tmp_path / "mast")
    assert locate("mast") == tmp_path / "mast"


def made(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "human_labels.csv").write_text("")


@pytest.mark.parametrize("wrong", ["nowhere", "file", "no\0name", "x" * 300])
@pytest.mark.parametrize("named_by", ["the option", "the environment"])
def test_a_folder_of_data_sets_that_is_none_is_an_error_though_the_set_lies_in_the_cache(
    wrong: str, named_by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    made(fetched_folder("mast"))
    monkeypatch.delenv("MISSTEP_DATA", raising=False)
    if named_by == "the environment" and "\0" not in wrong:
        monkeypatch.setenv("MISSTEP_DATA", str(tmp_path / wrong))
        with pytest.raises(UsageError, match=f"MISSTEP_DATA {tmp_path}"):
            locate("mast")
    else:
        with pytest.raises(UsageError, match=f"--data {tmp_path}"):
            locate("mast", tmp_path / wrong)


def test_an_empty_folder_of_a_set_holds_no_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mast").mkdir()
    monkeypatch.setenv("MISSTEP_DATA", str(tmp_path))
    with pytest.raises(MissingPrerequisite, match=f"{tmp_path}/mast, which is empty"):
        locate("mast")


def test_an_environment_variable_without_a_value_names_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISSTEP_DATA", "")
    assert named_data_folder() is None


def test_an_unknown_set_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"unknown data set 'moon'\. Known: agent_as_a_judge"):
        locate("moon")


def test_a_file_that_was_changed_differs_and_one_that_is_cut_off_differs(tmp_path: Path) -> None:
    file = next(file for file in files_of("agentrx") if file.file.endswith(".gz"))
    path = inside(tmp_path, file.file)
    assert state_of(file, tmp_path) == "missing"
    path.parent.mkdir()
    path.write_bytes(b"\x1f\x8b\x08")
    assert state_of(file, tmp_path) == "differs"
