"""Serve pages to the person at this machine alone: on the loopback address, closed to other machines and origins.

A request names this server as its host, so that a name that somebody points at this machine (DNS rebinding) leads
nowhere. A browser says where a request is from (`Origin`, `Sec-Fetch-Site`): nothing from another origin is answered,
and a write that does not say it is refused.
"""

import asyncio
from collections.abc import Awaitable, Callable

from aiohttp import web

from misstep_harness.errors import CannotWrite, MisstepError

HOST = "127.0.0.1"

HEADERS = {
    "Cache-Control": "no-store",
    # With `no-referrer` a browser would hide the origin of a form from its own server.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "frame-ancestors 'none'",
}
"""The headers of every reply; the policy of a page's scripts is in the page."""

_LARGEST = 1 << 18
_NAMES = (HOST, "localhost")
_OWN = ("same-origin", "none")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Conflict(MisstepError):
    """An answer does not fit what the study holds by now, such as one from a page that was opened long ago."""


def application(routes: web.RouteTableDef, full: Callable[[CannotWrite], None]) -> web.Application:
    """Return a server's routes behind these checks; `full` gets the error of an answer that could not be written."""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            _check(request)
            reply = await _answered(request, handler, full)
        except web.HTTPException as error:
            error.headers.update(HEADERS)
            raise
        reply.headers.update(HEADERS)
        return reply

    app = web.Application(client_max_size=_LARGEST, middlewares=[guarded])
    app.router.add_routes(routes)
    return app


async def _answered(request: web.Request, handler: Handler, full: Callable[[CannotWrite], None]) -> web.StreamResponse:
    try:
        return await handler(request)
    except Conflict as error:
        raise web.HTTPConflict(text=error.line()) from error
    except CannotWrite as error:
        full(error)
        raise web.HTTPInsufficientStorage(text=error.line()) from error
    except MisstepError as error:
        raise web.HTTPBadRequest(text=error.line()) from error


def page(text: str) -> web.Response:
    """Return a page as a reply."""
    return web.Response(text=text, content_type="text/html")


async def serve(app: web.Application, port: int, ready: Callable[[int], None], done: asyncio.Event) -> None:
    """Serve on the loopback address until something is done."""
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, port).start()
        ready(runner.addresses[0][1])
        await done.wait()
    finally:
        await runner.cleanup()


def _check(request: web.Request) -> None:
    name, _, port = (request.host or "").partition(":")
    own_port = request.transport.get_extra_info("sockname")[1] if request.transport else None
    if name not in _NAMES or (port and port != str(own_port)):
        raise web.HTTPForbidden(text="This page is for this machine alone.")
    origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
    foreign = origin is not None and origin != f"http://{request.host}"
    silent = request.method not in ("GET", "HEAD") and origin is None and site is None
    if foreign or silent or (site is not None and site not in _OWN):
        raise web.HTTPForbidden(text="This page answers to itself alone; open its address in a browser.")
