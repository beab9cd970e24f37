"""Addresses: each file there is copied once a version and up to a limit; one line says what cannot be reached."""

import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest

from misstep_harness import addresses
from misstep_harness.addresses import local_copies, redirected
from misstep_harness.errors import InputError, MissingPrerequisite, MisstepError, UnsafePath, UsageError
from misstep_harness.path_names import is_address
from misstep_harness.places import path_text
from tests.harness.web_server import Page, WebServer, web_server

HOSTS = {"store.example": "93.184.216.34", "other.example": "2606:2800:220:1::1", "inner.example": "10.0.0.8"}


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of hosts that resolve without a network; an address resolves to itself."""
    original = socket.getaddrinfo

    def resolved(host: str, port: int, **options: Any) -> Any:
        return original(HOSTS.get(host, host), port, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)


@pytest.mark.parametrize(
    "target",
    [
        *("http://store.example/a", "file:///etc/passwd", "ftp://store.example/a", "data:,x", "//127.0.0.1/a"),
        *("https://127.0.0.1/a", "https://localhost:9200/a", "https://[::1]/a", "https://[::ffff:127.0.0.1]/a"),
        *("https://169.254.169.254/latest/meta-data", "https://10.1.2.3/a", "https://[fe80::1]/a", "https://0.0.0.0/"),
        *("https://2130706433/a", "https://inner.example/a", "https://192.168.0.1:443/a", "https://100.64.0.1/a"),
    ],
)
@pytest.mark.usefixtures("names")
def test_a_redirect_into_this_machine_or_its_network_is_refused(target: str) -> None:
    with pytest.raises(InputError, match="it redirects to"):
        redirected("https://store.example/sessions.jsonl", target)


@pytest.mark.parametrize("target", ["/b", "b?x=1", "https://other.example/b", "https://store.example:8443/b"])
@pytest.mark.usefixtures("names")
def test_a_redirect_in_the_public_network_is_followed(target: str) -> None:
    assert redirected("https://store.example/a", target).startswith("https://")


def test_a_server_of_this_machine_that_was_asked_may_lead_to_itself() -> None:
    assert redirected("http://127.0.0.1:8000/a", "/b") == "http://127.0.0.1:8000/b"
    with pytest.raises(InputError, match="localhost"):
        redirected("http://127.0.0.1:8000/a", "http://localhost:9200/b")


class _Leading(BaseHTTPRequestHandler):
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.path == "/secret.jsonl":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"secret")
            return
        self.send_response(302)
        self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/secret.jsonl")  # type: ignore[attr-defined]
        self.end_headers()

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def leading() -> Iterator[str]:
    """A server at one name of this machine that leads to another of its names."""
    _Leading.asked = []
    with HTTPServer(("127.0.0.1", 0), _Leading) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/sessions.jsonl"
        server.shutdown()


def test_nothing_is_fetched_from_where_an_address_leads_to(
    leading: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path))
    with pytest.raises(MisstepError, match=r"it redirects to 127\.0\.0\.1"):
        local_copies(leading)
    assert set(_Leading.asked) == {"/sessions.jsonl"}


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def store() -> Iterator[fsspec.AbstractFileSystem]:
    """A store in memory with files below `memory://logs`, one of them in a folder, and a hidden one."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    for name in ("b.jsonl", "a/run.jsonl", "notes.txt", ".git/config"):
        system.pipe(f"/logs/{name}", name.encode())
    yield system
    system.store.clear()


@pytest.fixture
def web() -> Iterator[WebServer]:
    with web_server({"/runs.jsonl": Page(b"{}\n", fields={"ETag": '"1"'})}) as server:
        yield server


def names_in(folder: Path) -> list[str]:
    files = (file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    return sorted(str(file) for file in files if file.parts[0] != ".versions")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("s3://b", True), ("hf://datasets/o/n@1", True), ("HTTPS://host/x", True), ("c:/x", False), ("a/b://c", False)],
)
def test_an_address_begins_with_a_scheme(text: str, *, expected: bool) -> None:
    assert is_address(text) == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("memory://logs", ["a/run.jsonl", "b.jsonl", "notes.txt"]),
        ("memory://logs/", ["a/run.jsonl", "b.jsonl", "notes.txt"]),
        ("memory://logs/*.jsonl", ["b.jsonl"]),
        ("memory://logs/**/*.jsonl", ["a/run.jsonl", "b.jsonl"]),
    ],
)
@pytest.mark.usefixtures("store")
def test_a_folder_or_a_pattern_is_the_folder_of_the_copies_of_its_files(address: str, expected: list[str]) -> None:
    folder = local_copies(address)
    assert names_in(folder) == expected
    assert path_text(folder / expected[-1]) == f"memory://logs/{expected[-1]}"


@pytest.mark.usefixtures("store")
def test_a_file_is_its_copy_with_the_time_and_the_address_of_the_file() -> None:
    copy = local_copies("memory://logs/b.jsonl")
    assert (copy.read_bytes(), path_text(copy)) == (b"b.jsonl", "memory://logs/b.jsonl")
    created = fsspec.filesystem("memory").info("/logs/b.jsonl")["created"].timestamp()
    assert copy.stat().st_mtime == pytest.approx(created, abs=1e-3)


@pytest.mark.parametrize("address", ["file://{}/my%20runs.jsonl", "file://localhost{}/my%20runs.jsonl"])
def test_a_file_of_this_machine_is_read_where_it_is(address: str, tmp_path: Path) -> None:
    assert local_copies(address.format(tmp_path)) == tmp_path / "my runs.jsonl"


def test_a_file_is_fetched_again_only_where_its_version_changed(web: WebServer) -> None:
    for _ in range(2):
        copy = local_copies(f"{web.address}/runs.jsonl")
    assert web.asked.count("GET /runs.jsonl") == 1
    web.pages["/runs.jsonl"] = Page(b"[]\n", fields={"ETag": '"2"'})
    assert local_copies(f"{web.address}/runs.jsonl") == copy
    assert copy.read_bytes() == b"[]\n"
    for body in (b"1", b"2"):
        web.pages["/runs.jsonl"] = Page(body)
        assert local_copies(f"{web.address}/runs.jsonl").read_bytes() == body, "without a version it is fetched anew"


def test_a_copy_whose_file_is_gone_goes_as_well(store: fsspec.AbstractFileSystem) -> None:
    folder = local_copies("memory://logs")
    store.rm("/logs/b.jsonl")
    assert names_in(local_copies("memory://logs")) == ["a/run.jsonl", "notes.txt"]
    assert names_in(folder) == ["a/run.jsonl", "notes.txt"]


def test_a_database_comes_with_its_latest_writes_until_they_are_in_it(store: fsspec.AbstractFileSystem) -> None:
    store.pipe({"/logs/state.db": b"tables", "/logs/state.db-wal": b"writes"})
    copy = local_copies("memory://logs/state.db")
    assert copy.with_name("state.db-wal").read_bytes() == b"writes"
    store.rm("/logs/state.db-wal")
    local_copies("memory://logs/state.db")
    assert not copy.with_name("state.db-wal").exists()


@pytest.mark.parametrize(
    ("page", "fetched"),
    [
        (Page(fields={"Content-Length": str(5 * 10**12)}), False),
        (Page(None), True),
        (Page(None, fields={"Content-Type": "application/json", "ETag": '"1"'}), True),
        (Page(b"x" * (3 << 20)), False),
    ],
    ids=["announced", "endless", "endless with a version", "a little over"],
)
def test_more_than_the_limit_is_refused_at_once_or_cut_where_it_is_passed(page, fetched, web, tmp_path, monkeypatch):
    monkeypatch.setattr(addresses, "LARGEST", 2 << 20)
    web.pages["/large.jsonl"] = page
    with pytest.raises(InputError, match="more than 2,097,152 bytes"):
        local_copies(f"{web.address}/large.jsonl")
    assert ("GET /large.jsonl" in web.asked) == fetched
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


@pytest.mark.usefixtures("store")
def test_the_limit_is_of_all_files_of_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "LARGEST", len(b"b.jsonl" + b"a/run.jsonl" + b"notes.txt") - 1)
    with pytest.raises(InputError, match="the most that is fetched"):
        local_copies("memory://logs")


@pytest.mark.parametrize(
    ("page", "error", "message"),
    [
        (Page(status=404), InputError, "there is nothing at this address"),
        (Page(status=410), InputError, "there is nothing at this address"),
        (Page(status=401), MissingPrerequisite, "access is denied"),
        (Page(status=403), MissingPrerequisite, "access is denied"),
        (Page(status=500), MissingPrerequisite, r"cannot be reached \(status 500\)"),
        (Page(status=302, fields={"Location": "/page.jsonl"}), MissingPrerequisite, "TooManyRedirects"),
        (Page(status=302, fields={"Location": "http://localhost:9/x"}), InputError, "redirects to localhost"),
        (Page(status=301, fields={"Location": "http://10.0.0.8/x"}), InputError, r"redirects to 10\.0\.0\.8"),
        (Page(status=307, fields={"Location": "file:///etc/passwd"}), MisstepError, "redirects to|cannot be reached"),
        (Page(b"half", fields={"Content-Length": "9"}), MissingPrerequisite, "cannot be reached"),
    ],
)
def test_an_answer_without_the_file_is_one_sentence(page, error, message, web: WebServer, tmp_path: Path) -> None:
    web.pages["/page.jsonl"] = page
    with pytest.raises(error, match=message) as raised:
        local_copies(f"{web.address}/page.jsonl")
    assert "\n" not in str(raised.value)
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        ("memory://nothing", InputError, "there is nothing at this address"),
        ("memory://nothing/*.jsonl", InputError, "no file is at the address"),
        ("s3://bucket/x", MissingPrerequisite, "pip install s3fs"),
        ("gs://bucket/x", MissingPrerequisite, "pip install gcsfs"),
        ("nosuch://x", UsageError, "no file system nosuch://"),
        ("https://kim:hunter2@host/x", UsageError, "holds a login"),
        ("s3://AKIA:hunter2@bucket/x", UsageError, "holds a login"),
        ("https://host/x?sig=hunter2", UsageError, "a query"),
        ("https://host/logs/", UsageError, "does not list its files"),
        ("https://host/*.jsonl", UsageError, "does not list its files"),
        ("zip://a.jsonl::http://127.0.0.1/x.zip", UsageError, "joins several addresses"),
        ("http://127.0.0.1:9/x", MissingPrerequisite, "cannot be reached"),
        ("file://host/x", UsageError, "a file of another machine"),
        ("https://[host/x", UsageError, "is not an address of the web"),
    ],
)
@pytest.mark.usefixtures("store")
def test_what_cannot_be_had_is_said_in_one_line_without_keys(address, error, message) -> None:
    with pytest.raises(error, match=message) as raised:
        local_copies(address)
    assert "hunter2" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_without_fsspec_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingPrerequisite, match=r"pip install 'misstep\[files\]'"):
        local_copies("https://host/runs.jsonl")


def test_a_file_that_was_half_fetched_is_no_copy_and_a_key_stays_unsaid(store, monkeypatch, tmp_path) -> None:
    class Broken:
        def __enter__(self) -> "Broken":
            return self

        def __exit__(self, *_: object) -> None:
            """Close nothing."""

        def read(self, _: int) -> bytes:
            raise ConnectionResetError("key=secret")

    monkeypatch.setattr(type(store), "open", lambda *_, **__: Broken())
    with pytest.raises(MissingPrerequisite, match=r"memory://logs/b.jsonl cannot be reached") as raised:
        local_copies("memory://logs/b.jsonl")
    assert "secret" not in raised.value.line()
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def test_a_name_that_leads_out_of_its_folder_is_refused(store: fsspec.AbstractFileSystem) -> None:
    store.store["/logs/../../up.jsonl"] = store.store["/logs/b.jsonl"]
    with pytest.raises(UnsafePath, match="is not a name of a file"):
        local_copies("memory://logs")
