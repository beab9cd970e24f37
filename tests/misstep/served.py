"""A public repository on this machine, and a registry of two made-up data sets that points at it."""

import gzip
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote

COMMIT = "0123456789" * 4
UPSTREAM = {
    "data/a b&c.json": b'{"n": 1}',
    "data/runs.json": b"[1, 2, 3]" * 100,
    "data/private.json": b'{"task": "the task text"}',
}
REDACTED = b'{"task": "[left out]"}'


class Served:
    """What is served: path → bytes, where a path may instead lead elsewhere; and the paths that were asked for."""

    def __init__(self, files: dict[str, bytes], redirects: dict[str, str], template: str) -> None:
        self.files = files
        self.redirects = redirects
        self.template = template
        self.asked: list[str] = []


@contextmanager
def served(files: dict[str, bytes]) -> Iterator[Served]:
    """Serve files on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = unquote(self.path).removeprefix(f"/own/er/{COMMIT}/")
            what.asked.append(path)
            data = what.files.get(path)
            self.send_response(302 if path in what.redirects else 404 if data is None else 200)
            if path in what.redirects:
                self.send_header("Location", what.redirects[path])
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            self.wfile.write(data or b"")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        template = f"http://127.0.0.1:{server.server_port}/{{repository}}/{{commit}}/{{path}}"
        what = Served(dict(files), {}, template)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield what
        finally:
            server.shutdown()
            thread.join()


def registry(folder: Path) -> Path:
    """Write a registry with the sets `small` and `derived_set`."""
    (folder / "datasets").mkdir(parents=True)
    entry = 'title = "Some runs"\nlicence = "MIT"\ncitation = "A paper"\nleft_out = "much"\n'
    source = f'repository = "own/er"\ncommit = "{COMMIT}"\n'
    (folder / "datasets.toml").write_text(
        'address = "https://unreachable.invalid/{repository}/{commit}/{path}"\n'
        f"[sets.small]\n{entry}[sets.small.sources.main]\n{source}"
        f"[sets.mast]\n{entry}[sets.mast.sources.main]\n{source}"
        '[sets.mast.derived]\n"human_labels.csv" = "a row a mark"\n"other.csv" = "counted by hand"\n'
    )
    (folder / "datasets" / "small.csv").write_text(_list_of_small())
    (folder / "datasets" / "mast.csv").write_text(
        "file,form,bytes,sha256,source,upstream_path,upstream_bytes,upstream_sha256\n"
        f"human_labels.csv,derived,9,{sha256(MARKS_MADE)},,,,\nother.csv,derived,9,{sha256(b'other')},,,,\n"
    )
    (folder / "datasets" / "mast.inputs.csv").write_text(
        f"file,bytes,sha256,source,upstream_path\nhuman_labels.csv,{len(MARKS)},{sha256(MARKS)},main,marks.json\n"
    )
    return folder


def _list_of_small() -> str:
    plain, runs, private = UPSTREAM
    return (
        "file,form,bytes,sha256,source,upstream_path,upstream_bytes,upstream_sha256\n"
        f"plain.json,bytes,8,{sha256(UPSTREAM[plain])},main,{plain},,\n"
        f"below/runs.json.gz,gzip,{len(UPSTREAM[runs])},{sha256(UPSTREAM[runs])},main,{runs},,\n"
        f"private.json,redacted,{len(REDACTED)},{sha256(REDACTED)},main,{private},"
        f"{len(UPSTREAM[private])},{sha256(UPSTREAM[private])}\n"
    )


def sha256(data: bytes) -> str:
    """The hash as the registry writes it."""
    return hashlib.sha256(data).hexdigest()


def lay_out(folder: Path) -> Path:
    """The files of `small` as a folder of data sets has them."""
    (folder / "small" / "below").mkdir(parents=True)
    (folder / "small" / "plain.json").write_bytes(UPSTREAM["data/a b&c.json"])
    (folder / "small" / "below" / "runs.json.gz").write_bytes(gzip.compress(UPSTREAM["data/runs.json"]))
    (folder / "small" / "private.json").write_bytes(REDACTED)
    return folder


MARKS = json.dumps(
    [
        {
            "trace_id": 1,
            "round": "R",
            "mas_name": "S",
            "benchmark_name": "B",
            "annotations": [
                {"failure mode": "1.1 Loop\n…", "annotator_1": True, "annotator_2": False, "annotator_3": True}
            ],
        }
    ]
).encode()
MARKS_MADE = (
    b"trace_id,round,mas_name,benchmark_name,mode_code,mode_name,annotator_1,annotator_2,annotator_3\n"
    b"1,R,S,B,1.1,Loop,1,0,1\n"
)
