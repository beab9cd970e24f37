"""The page of labels, served on the loopback address alone, under a path that nobody can guess."""

import asyncio
import secrets
from collections.abc import Callable

from aiohttp import web

from harness.errors import MisstepError
from studies.labelling import Labelling

_HOST = "127.0.0.1"
_LARGEST = 1 << 16


async def serve(labelling: Labelling, port: int, ready: Callable[[str], None]) -> None:
    """Serve until every item is labelled.

    Parameters
    ----------
    labelling
        What is labelled.
    port
        The port; 0 takes a free one.
    ready
        Gets the address.

    Raises
    ------
    OSError
        The port is taken.
    """
    path = f"/{secrets.token_urlsafe(16)}/"
    done = asyncio.Event()

    async def show(request: web.Request) -> web.Response:
        _check_host(request)
        headers = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"}
        page = labelling.page()
        if labelling.done:
            done.set()
        return web.Response(text=page, content_type="text/html", headers=headers)

    async def label(request: web.Request) -> web.Response:
        _check_host(request)
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

    app = web.Application(client_max_size=_LARGEST)
    app.router.add_get(path, show)
    app.router.add_post(f"{path}label", label)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, _HOST, port)
        await site.start()
        taken = runner.addresses[0][1]
        ready(f"http://{_HOST}:{taken}{path}")
        await done.wait()
    finally:
        await runner.cleanup()


def _check_host(request: web.Request) -> None:
    """Refuse a request that another site's name led here."""
    if (request.host or "").partition(":")[0] not in (_HOST, "localhost"):
        raise web.HTTPForbidden(text="This page is for this machine alone.")
