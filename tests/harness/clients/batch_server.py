"""A server on loopback that has the Batch API and nothing else; tests say what its batches come to."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.harness.clients.faulty_server import completion

Lines = list[dict[str, Any]]


def answered(request: dict[str, Any], status: int = 200, body: Any = None) -> dict[str, Any]:
    reply = completion(request["body"]["messages"][-1]["content"].upper())
    response = {"status_code": status, "request_id": "1", "body": reply if body is None else body}
    return {"id": "batch_req_1", "custom_id": request["custom_id"], "response": response, "error": None}


class BatchServer:
    """The server: `output` and `errors` make its files, `broken` answers instead of it, `polls` delay the `status`."""

    def __init__(self) -> None:
        self.output: Callable[[Lines], Lines] = lambda lines: [answered(line) for line in lines]
        self.errors: Callable[[Lines], Lines] = lambda _: []
        self.status = "completed"
        self.polls = 0
        self.broken: Callable[[str, str], web.Response | None] = lambda *_: None
        self.files: dict[str, str] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.base_url = ""

    async def serve(self, request: web.Request) -> web.StreamResponse:
        path = request.path.removeprefix("/v1")
        if (instead := self.broken(request.method, path)) is not None:
            return instead
        match request.method, path.strip("/").split("/"):
            case "POST", ["files"]:
                content = str((await request.post())["file"].file.read().decode())  # type: ignore[union-attr]
                return web.json_response(self._file(self._keep(content), len(content)))
            case "POST", ["batches"]:
                return web.json_response(self._submitted((await request.json())["input_file_id"]))
            case "GET", ["batches"]:
                return web.json_response({"object": "list", "data": list(self.batches.values()), "has_more": False})
            case "GET", ["batches", name]:
                return web.json_response(self._looked_at(name))
            case "GET", ["files", name, "content"]:
                return web.Response(text=self.files[name])
        return web.json_response({"error": {"message": f"no {path}"}}, status=404)

    def _keep(self, content: str) -> str:
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return name

    def _file(self, name: str, size: int) -> dict[str, Any]:
        file = {"id": name, "object": "file", "bytes": size, "created_at": 1, "filename": "r"}
        return file | {"purpose": "batch", "status": "processed"}

    def _submitted(self, file: str) -> dict[str, Any]:
        name = f"batch-{len(self.batches)}"
        self.batches[name] = {
            "id": name,
            "object": "batch",
            "created_at": 1,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "input_file_id": file,
            "status": "validating",
        }
        return self.batches[name]

    def _looked_at(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        if self.polls:
            self.polls -= 1
            return batch | {"status": "in_progress"}
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        for field, made in (("output_file_id", self.output), ("error_file_id", self.errors)):
            if made(lines):
                batch[field] = self._keep("".join(json.dumps(line) + "\n" for line in made(lines)))
        if self.status == "failed":
            batch["errors"] = {"object": "list", "data": [{"code": "x", "message": "line 1 is not to our taste"}]}
        return batch | {"status": self.status}


@asynccontextmanager
async def batch_server() -> AsyncIterator[BatchServer]:
    server = BatchServer()
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", server.serve)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    server.base_url = f"http://{host}:{port}/v1"
    try:
        yield server
    finally:
        await runner.cleanup()
