"""A web server on this machine: pages with their fields, an endless body, redirects, and a part of the hub's API."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import repeat
from urllib.parse import urlsplit

from msgspec import Struct

ENDLESS = repeat(b"x" * 65536)


class Page(Struct, frozen=True):
    """An answer; a body that has no length is sent until the reader hangs up."""

    body: bytes | None = b""
    status: int = 200
    fields: dict[str, str] = {}


class WebServer(ThreadingHTTPServer):
    """Pages by path; `asked` has each request."""

    daemon_threads = True

    def __init__(self, pages: dict[str, Page]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages = pages
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: WebServer

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer()

    def _answer(self) -> None:
        path = urlsplit(self.path).path
        self.server.asked.append(f"{self.command} {path}")
        page = self.server.pages.get(path, Page(status=404))
        self.send_response(page.status)
        length = {} if page.body is None else {"Content-Length": str(len(page.body))}
        for name, value in (length | page.fields).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        try:
            for chunk in ENDLESS if page.body is None else [page.body]:
                self.wfile.write(chunk)
        except OSError:  # the reader has hung up
            return


@contextmanager
def web_server(pages: dict[str, Page]) -> Iterator[WebServer]:
    """Serve pages while the block runs; more can be added to them."""
    server = WebServer(pages)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
