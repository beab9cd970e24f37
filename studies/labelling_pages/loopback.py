"""Pages for the person at this machine alone: served on the loopback address, closed to other machines and origins.

Three things keep others out. The server listens on 127.0.0.1 only. A request names this server as its host, so that a
name that somebody points at this machine (DNS rebinding) leads nowhere. And a browser says where a request is from
(`Origin`, `Sec-Fetch-Site`): nothing from another origin is answered, and a write that does not say it is refused.
What serves pages keeps their addresses unguessable besides.
"""

import asyncio
from collections.abc import Awaitable, Callable

from aiohttp import web

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
"""What every reply says; the policy of a page's scripts is in the page."""

_LARGEST = 1 << 18
_NAMES = (HOST, "localhost")
_OWN = ("same-origin", "none")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(routes: web.RouteTableDef) -> web.Application:
    """Return a server's routes behind these checks."""
    app = web.Application(client_max_size=_LARGEST, middlewares=[_guarded])
    app.router.add_routes(routes)
    return app


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


@web.middleware
async def _guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        _check(request)
        reply = await handler(request)
    except web.HTTPException as error:
        error.headers.update(HEADERS)
        raise
    reply.headers.update(HEADERS)
    return reply


def _check(request: web.Request) -> None:
    """Refuse a request for another host, or from another origin."""
    name, _, port = (request.host or "").partition(":")
    taken = request.transport.get_extra_info("sockname")[1] if request.transport else None
    if name not in _NAMES or (port and port != str(taken)):
        raise web.HTTPForbidden(text="This page is for this machine alone.")
    origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
    foreign = origin is not None and origin != f"http://{request.host}"
    silent = request.method not in ("GET", "HEAD") and origin is None and site is None
    if foreign or silent or (site is not None and site not in _OWN):
        raise web.HTTPForbidden(text="This page answers to itself alone; open its address in a browser.")
