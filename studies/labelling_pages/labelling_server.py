"""The page of labels, served on the loopback address alone, under a path that nobody can guess."""

import asyncio
import secrets
from collections.abc import Callable

from aiohttp import web

from misstep.harness.errors import MisstepError
from misstep.studies.labelling_pages import loopback
from misstep.studies.labelling_pages.labelling import Labelling


async def serve(labelling: Labelling, port: int, ready: Callable[[str], None]) -> None:
    """Serve until every item is labelled."""
    path = f"/{secrets.token_urlsafe(16)}/"
    done = asyncio.Event()
    routes = web.RouteTableDef()

    @routes.get(path)
    async def show(_: web.Request) -> web.Response:
        page = labelling.page()
        if labelling.done:
            done.set()
        return web.Response(text=page, content_type="text/html")

    @routes.post(f"{path}label")
    async def label(request: web.Request) -> web.Response:
        given = await request.post()
        item, chosen, move = (str(given.get(name, "")) for name in ("item", "label", "move"))
        try:
            if chosen:
                labelling.label(item, chosen)
            else:
                labelling.move(item, {"back": -1, "skip": 1}.get(move, 0))
        except MisstepError as error:
            raise web.HTTPBadRequest(text=error.line()) from error
        raise web.HTTPSeeOther(path)

    app = loopback.application(routes)
    await loopback.serve(app, port, lambda taken: ready(f"http://{loopback.HOST}:{taken}{path}"), done)
