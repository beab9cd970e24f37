"""A small server with the part of the Hugging Face hub's API that listing and fetching files of a data set take."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
NAME = "garden/sessions"

_API = f"/api/datasets/{NAME}"


class Hub(ThreadingHTTPServer):
    """One data set at one commit, beside one that is private and one that is gated; `asked` is what came in."""

    daemon_threads = True

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = files
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name is the library's)
        """Nothing is printed."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer(sent)

    def _answer(self, sent: bytes = b"") -> None:
        path = unquote(urlsplit(self.path).path)
        self.server.asked.append(f"{self.command} {path} {self.headers.get('Authorization', '')}")
        if path in (_API, f"{_API}/revision/main", f"{_API}/revision/{COMMIT}"):
            siblings = [{"rfilename": name} for name in self.server.files]
            return self._json({"id": NAME, "sha": COMMIT, "private": False, "tags": [], "siblings": siblings})
        if result := re.fullmatch(rf"{_API}/tree/{COMMIT}/?(.*)", path):
            return self._json(self._tree(result[1]))
        if path == f"{_API}/paths-info/{COMMIT}":
            asked = re.findall(r"paths=([^&]*)", sent.decode()) if b"=" in sent else json.loads(sent)["paths"]
            return self._json([one for name in asked for one in self._about(unquote(name))])
        if result := re.fullmatch(rf"/datasets/{NAME}/resolve/{COMMIT}/(.*)", path):
            return self._file(result[1])
        if "/private" in path:
            return self._send(401, b'{"error": "Invalid username or password."}', {"X-Error-Code": "RepoNotFound"})
        if "/gated" in path:
            return self._send(403, b'{"error": "gated"}', {"X-Error-Code": "GatedRepo"})
        return self._send(404, b'{"error": "not found"}', {"X-Error-Code": "RepoNotFound"})

    def _tree(self, folder: str) -> list[dict[str, object]]:
        names = [name for name in self.server.files if not folder or name.startswith(f"{folder}/")]
        folders = {name.rpartition("/")[0] for name in names if "/" in name.removeprefix(f"{folder}/")} - {folder}
        return [one for name in (*sorted(folders), *names) for one in self._about(name)]

    def _about(self, name: str) -> list[dict[str, object]]:
        if name in self.server.files:
            data = self.server.files[name]
            return [{"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}]  # noqa: S324
        if any(one.startswith(f"{name}/") for one in self.server.files):
            return [{"type": "directory", "path": name, "size": 0, "oid": "0" * 40}]
        return []

    def _file(self, name: str) -> None:
        if name not in self.server.files:
            return self._send(404, b"{}", {"X-Error-Code": "EntryNotFound"})
        data = self.server.files[name]
        oid = hashlib.sha1(data).hexdigest()  # noqa: S324 (git's own name of a file)
        return self._send(200, data, {"ETag": f'"{oid}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"})

    def _json(self, value: object) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _send(self, status: int, body: bytes, fields: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in (fields | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def hub(files: dict[str, bytes]) -> Iterator[Hub]:
    server = Hub(files)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
