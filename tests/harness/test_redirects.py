"""An address of a stranger leads to nothing that only this machine or its network can reach."""

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import pytest

from misstep_harness.addresses import local_copies
from misstep_harness.errors import InputError, MisstepError
from misstep_harness.redirects import redirected

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
