"""`misstep datasets`: what is listed, verified and fetched, and what is refused."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from misstep.command_line import app
from misstep_harness import catalogue
from misstep_harness.catalogue import how_to_get
from misstep_harness.datasets.fetching import address_of, inside
from misstep_harness.datasets.upstream import file_bytes
from misstep_harness.errors import CannotWrite, InputError, MissingPrerequisite, UsageError
from tests.misstep.as_a_user import files_end_at
from tests.misstep.served import COMMIT, MARKS, MARKS_MADE, UPSTREAM, Served, lay_out, registry, served, sha256


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["datasets", *map(str, arguments)])


def answer(*arguments: str | Path) -> Any:
    result = run(*arguments, "--json")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return json.loads(result.stdout)


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A registry of made-up sets instead of the shipped one, and no folder of data sets."""
    monkeypatch.delenv("MISSTEP_DATA", raising=False)
    folder = registry(tmp_path / "registry")
    monkeypatch.setattr(catalogue, "data_folder", lambda: folder)
    caches = (catalogue._registry, catalogue.files_of, catalogue.inputs_of)
    for one in caches:
        one.cache_clear()
    yield folder
    for one in caches:
        one.cache_clear()


@pytest.fixture
def upstream(made_up: Path) -> Iterator[Served]:  # noqa: ARG001 (the registry is in place)
    with served(UPSTREAM | {"marks.json": MARKS}) as what:
        yield what


def fetch(upstream: Served, out: Path, *names: str) -> Result:
    return run("fetch", *names, "--out", out, "--address", upstream.template)


def test_fetch_lays_files_out_unchanged_or_compressed_the_same_each_time(upstream: Served, tmp_path: Path) -> None:
    results = [fetch(upstream, tmp_path / time, "small") for time in ("first", "second")]
    assert [result.exit_code for result in results] == [0, 0]
    first, second = (
        {path.relative_to(tmp_path / time).as_posix(): path.read_bytes() for path in (tmp_path / time).rglob("*.*")}
        for time in ("first", "second")
    )
    assert first == second
    assert first["small/plain.json"] == UPSTREAM["data/a b&c.json"]
    assert gzip.decompress(first["small/below/runs.json.gz"]) == UPSTREAM["data/runs.json"]
    assert len(first) == 3


def test_what_is_there_and_right_is_not_fetched_again(upstream: Served, tmp_path: Path) -> None:
    fetch(upstream, tmp_path, "small")
    (tmp_path / "small" / "plain.json").write_bytes(b"changed")
    upstream.asked.clear()
    result = run("fetch", "small", "--out", tmp_path, "--address", upstream.template, "--json")
    assert upstream.asked == ["data/a b&c.json"]
    (fetched,) = json.loads(result.stdout)
    assert (fetched["fetched"], len(fetched["kept"])) == (["plain.json"], 2)


def test_a_fetch_that_broke_off_keeps_what_came(upstream: Served, tmp_path: Path) -> None:
    del upstream.files["data/runs.json"]
    broken = fetch(upstream, tmp_path, "small")
    assert isinstance(broken.exception, MissingPrerequisite)
    assert "data/runs.json" in broken.exception.line()
    upstream.files.update(UPSTREAM)
    upstream.asked.clear()
    assert fetch(upstream, tmp_path, "small").exit_code == 0
    assert "data/runs.json" in upstream.asked
    assert "data/a b&c.json" not in upstream.asked


def test_a_fetch_that_the_disk_had_no_room_for_names_the_file_and_goes_on_when_there_is_room(upstream, tmp_path):
    with files_end_at(10):
        full = fetch(upstream, tmp_path, "small")
    assert isinstance(full.exception, CannotWrite)
    assert full.exception.line().startswith(f"{tmp_path / 'small'}/")
    assert ": cannot write: " in full.exception.line()
    left = [path for path in (tmp_path / "small").rglob("*") if path.is_file()]
    assert all(path.stat().st_size for path in left)
    assert not any(path.name.endswith(".part") for path in left)
    upstream.asked.clear()
    assert fetch(upstream, tmp_path, "small").exit_code == 0
    assert run("verify", "small", "--data", tmp_path).exit_code == 0


def test_a_set_that_cannot_be_fetched_does_not_keep_the_others_away(upstream: Served, tmp_path: Path) -> None:
    del upstream.files["data/runs.json"]
    result = fetch(upstream, tmp_path, "small", "mast")
    assert isinstance(result.exception, MissingPrerequisite)
    assert "data/runs.json" in result.exception.line()
    assert (tmp_path / "mast" / "human_labels.csv").read_bytes() == MARKS_MADE
    assert "mast: 1 file fetched" in result.stdout


@pytest.mark.parametrize("changed", [b'{"n": 2}', b"", b'{"n": 1}' + b" " * 100])
def test_other_bytes_than_registered_are_refused_and_not_kept(upstream: Served, tmp_path: Path, changed: bytes) -> None:
    upstream.files["data/a b&c.json"] = changed
    result = fetch(upstream, tmp_path, "small")
    assert isinstance(result.exception, InputError)
    assert "registered" in result.exception.line()
    assert not (tmp_path / "small" / "plain.json").exists()


def test_a_redirect_to_where_is_not_fetched_from_is_refused(upstream: Served, tmp_path: Path) -> None:
    upstream.redirects["data/a b&c.json"] = "http://example.invalid/plain.json"
    error = fetch(upstream, tmp_path, "small").exception
    assert isinstance(error, MissingPrerequisite)
    assert "no host of the public network" in error.line()


def test_an_address_that_cannot_be_reached_is_named(made_up: Path, tmp_path: Path) -> None:  # noqa: ARG001
    address = "http://127.0.0.1:1/{repository}/{commit}/{path}"
    error = run("fetch", "small", "--out", tmp_path, "--address", address).exception
    assert isinstance(error, MissingPrerequisite)
    assert error.exit_code == 3
    assert "http://127.0.0.1:1/own/er/" in error.line()


def test_a_derived_file_is_made_of_its_inputs_and_checked_and_another_one_is_named_with_its_rule(upstream, tmp_path):
    result = fetch(upstream, tmp_path, "mast")
    assert (tmp_path / "mast" / "human_labels.csv").read_bytes() == MARKS_MADE
    assert result.exit_code == 3
    assert "to be made by hand: other.csv: counted by hand" in result.stdout
    assert "files that `fetch` cannot bring: 1 of mast." in result.stderr


def test_a_derived_file_that_comes_out_otherwise_is_refused(upstream: Served, made_up: Path, tmp_path: Path) -> None:
    path = made_up / "datasets" / "mast.csv"
    path.write_text(path.read_text().replace("human_labels.csv,derived,9,", "human_labels.csv,derived,9,0"))
    catalogue.files_of.cache_clear()
    error = fetch(upstream, tmp_path, "mast").exception
    assert isinstance(error, InputError)
    assert "the file made from the upstream files has sha256" in error.line()
    assert not (tmp_path / "mast" / "human_labels.csv").exists()


def test_without_a_place_a_set_goes_to_the_cache_where_it_is_found(upstream: Served, own_cache: Path) -> None:
    assert run("fetch", "small", "--address", upstream.template).exit_code == 0
    (row,) = [row for row in answer("list") if row["name"] == "small"]
    assert row["folder"] == str(own_cache / "datasets" / "small")


def test_verify_says_which_files_differ_and_which_are_missing(made_up: Path, tmp_path: Path) -> None:  # noqa: ARG001
    data = lay_out(tmp_path / "data")
    assert [row["status"] for row in answer("verify", "small", "--data", data)] == ["ok"]
    (data / "small" / "plain.json").write_bytes(b"changed")
    (data / "small" / "private.json").unlink()
    result = run("verify", "small", "--data", data)
    assert result.exit_code == 1
    assert result.stdout == "small: 1 differ (plain.json); 1 missing (private.json); 1 ok\n"
    (row,) = answer("verify", "small", "--data", data)
    assert (row["differs"], row["missing"]) == (["plain.json"], ["private.json"])
    assert (row["status"], row["ok"]) == ("differs", 1)


@pytest.mark.usefixtures("made_up")
def test_a_text_that_was_left_out_here_may_be_as_upstream_has_it(tmp_path: Path) -> None:
    data = lay_out(tmp_path / "data")
    (data / "small" / "private.json").write_bytes(UPSTREAM["data/private.json"])
    assert run("verify", "small", "--data", data).exit_code == 0


def test_verify_without_names_takes_the_sets_at_hand(made_up: Path, tmp_path: Path) -> None:  # noqa: ARG001
    assert [row["name"] for row in answer("verify", "--data", lay_out(tmp_path / "data"))] == ["small"]


@pytest.mark.parametrize("arguments", [("verify", "small"), ("verify",)])
@pytest.mark.usefixtures("made_up")
def test_what_is_not_at_hand_is_said_with_the_command_that_brings_it(arguments: tuple[str, ...]) -> None:
    error = run(*arguments).exception
    assert isinstance(error, MissingPrerequisite)
    assert "misstep datasets fetch" in error.line()


def test_list_says_what_a_set_is_and_that_it_is_not_here(made_up: Path) -> None:  # noqa: ARG001
    text = run("list").stdout
    assert (
        "small  (MIT; 3 files, 0.0 MB; files only)\n    Some runs\n    not here: `misstep datasets fetch small`" in text
    )
    rows = {row["name"]: row for row in answer("list")}
    assert rows["small"]["to_make"] == {}
    assert rows["mast"]["to_make"] == {"other.csv": "counted by hand"}
    assert rows["small"]["folder"] is None


@pytest.mark.parametrize("command", ["fetch", "verify"])
def test_an_unknown_set_is_a_usage_error(command: str) -> None:
    error = run(command, "moon").exception
    assert isinstance(error, UsageError)
    assert "unknown data set 'moon'" in error.line()


@pytest.mark.parametrize(
    "template",
    [
        *("http://example.invalid/{path}", "file:///etc/{path}", "ftp://127.0.0.1/{path}", "{path}"),
        *("http://127.0.0.1.example.invalid/{path}", "https://example.invalid/{branch}"),
        *("https://a.invalid/{path.name}", "https://a.invalid/{path[x]}", "https://a.invalid/{path:9}", "https://a/{"),
        *("https://[::1/{path}", "https://hö.invalid/{path}"),
    ],
)
def test_only_https_is_fetched_from_and_templates_have_known_places(template: str) -> None:
    with pytest.raises(UsageError):
        address_of(template, "own/er", "0123", "a.json")


@pytest.mark.parametrize("file", ["../a", "/etc/a", "a/../../b", "..", "", "a\\..\\b"])
def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path: Path, file: str) -> None:
    with pytest.raises(InputError, match="leads out of its folder"):
        inside(tmp_path, file)


def test_a_link_that_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "below").symlink_to(tmp_path)
    with pytest.raises(InputError, match="through a link"):
        inside(tmp_path / "set", "below/a.json")


def test_nobody_is_sent_to_fetch_what_cannot_be_fetched(made_up: Path) -> None:
    assert how_to_get(["small"]) == "Run `misstep datasets fetch small`."
    assert how_to_get(["mast"]).startswith("`misstep datasets fetch mast` brings the set in part: 1 of its files")
    (made_up / "datasets" / "mast.inputs.csv").unlink()
    catalogue.inputs_of.cache_clear()
    assert how_to_get(["mast"]) == "The files of mast are made by hand: `misstep datasets list` has the rule of each."
    assert "not here, and made by hand" in run("list").stdout


def test_an_input_that_is_a_file_of_the_set_itself_is_not_fetched_twice(upstream, made_up, tmp_path) -> None:
    with (made_up / "datasets" / "mast.csv").open("a") as stream:
        stream.write(f"marks.json,bytes,{len(MARKS)},{sha256(MARKS)},main,marks.json,,\n")
    catalogue.files_of.cache_clear()
    fetch(upstream, tmp_path, "mast")
    assert upstream.asked == ["marks.json"]
    assert (tmp_path / "mast" / "human_labels.csv").read_bytes() == MARKS_MADE


@pytest.mark.data
def test_a_public_set_with_derived_files_is_fetched_whole(data_folder, tmp_path, monkeypatch) -> None:
    """Upstream is put together again from what is available, and served on this machine."""
    monkeypatch.setenv("MISSTEP_DATA", str(data_folder))
    name = "aider_swe_bench_lite"
    folder = data_folder / name
    files = {one.upstream_path: file_bytes(folder / one.file) for one in catalogue.files_of(name) if one.source}
    records = [json.loads(line) for line in file_bytes(folder / "records.jsonl.gz").splitlines()]
    chats = [json.loads(line) for line in file_bytes(folder / "chats.jsonl.gz").splitlines()]
    texts = [json.dumps(record, indent=4).encode() for record in records]
    by_hash = {sha256(text): text for text in [*texts, *(chat["chat_markdown"].encode() for chat in chats)]}
    files |= {one.upstream_path: by_hash[one.sha256] for one in catalogue.inputs_of(name)}
    with served(files) as what:
        template = what.template.format(repository="own/er", commit=COMMIT, path="{path}")
        result = run("fetch", name, "--out", tmp_path, "--address", template)
    assert result.exit_code == 0, result.exception
    assert run("verify", name, "--data", tmp_path).exit_code == 0
