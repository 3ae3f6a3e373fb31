"""The local server of a live explorer: three addresses, on the loopback address alone.

A page of another site must not read what is served here, so a request has to name this server in its Host
header (which a name that was pointed at 127.0.0.1 does not), and nothing is allowed across origins.
"""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from slotproof.counterexamples.errors import TraceError
from slotproof.counterexamples.explorer.live import Ground, Place
from slotproof.counterexamples.explorer.page import render, served_policy

LOOPBACK = "127.0.0.1"
USUAL_PORT = 8741

Next = Callable[[Request], Awaitable[Response]]


def listening(port: int | None) -> socket.socket:
    """A socket on the loopback address: on this port, else on the usual one, or any if that is taken.

    ``OSError`` where the port that was asked for cannot be had.
    """
    if port is not None:
        return _bound(port)
    try:
        return _bound(USUAL_PORT)
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        return _bound(0)


def _bound(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((LOOPBACK, port))
        made.listen()
    except OSError:
        made.close()
        raise
    return made


def application(ground: Ground, port: int) -> Starlette:
    """The server's addresses: the page, the data of a walk, and the way on."""

    def page(request: Request) -> Response:
        place = Place.of(request.query_params, ground.first.subject)
        if not request.query_params:
            place = ground.first
        try:
            return HTMLResponse(render(ground.data(place)))
        except TraceError as error:
            return PlainTextResponse(f"{error}\n", 404)

    def walk(request: Request) -> Response:
        try:
            return JSONResponse(ground.data(Place.of(request.query_params, ground.first.subject)))
        except TraceError as error:
            return JSONResponse({"error": str(error)}, 404)

    def run(request: Request) -> Response:
        place = Place.of(request.query_params, ground.first.subject)
        try:
            return JSONResponse({"path": ground.run(place, request.query_params.get("to", ""))})
        except TraceError as error:
            return JSONResponse({"error": str(error)}, 404)

    routes = [Route("/", page), Route("/walk", walk), Route("/run", run)]
    return Starlette(routes=routes, middleware=[Middleware(_Guard, port=port)])


class _Guard(BaseHTTPMiddleware):
    """Refuses requests that were not meant for this server, and forbids what a page does not need."""

    def __init__(self, app: Any, port: int) -> None:
        super().__init__(app)
        self.hosts = {f"{name}:{port}" for name in (LOOPBACK, "localhost")}

    async def dispatch(self, request: Request, call_next: Next) -> Response:
        """Answer, or refuse."""
        if request.headers.getlist("host") != [request.headers.get("host", "")] or (
            request.headers.get("host") not in self.hosts
        ):
            return PlainTextResponse("this server answers to its own address only\n", 421)
        if request.method not in ("GET", "HEAD"):
            return PlainTextResponse("only GET\n", 405)
        if request.headers.get("sec-fetch-site", "none") == "cross-site" and request.url.path != "/":
            return PlainTextResponse("not across sites\n", 403)
        answer = await call_next(request)
        answer.headers["Content-Security-Policy"] = served_policy()
        answer.headers["X-Content-Type-Options"] = "nosniff"
        answer.headers["Referrer-Policy"] = "no-referrer"
        answer.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        answer.headers["Cache-Control"] = "no-store"
        return answer


def serve(ground: Ground, on: socket.socket, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; ``ready`` gets the address once it answers."""
    port = on.getsockname()[1]
    config = uvicorn.Config(
        application(ground, port), log_level="critical", access_log=False, lifespan="off", server_header=False
    )
    server = _Server(config, lambda: ready(f"http://{LOOPBACK}:{port}/"))
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[on])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to answer, and say so."""
        await super().startup(sockets=sockets)
        self.ready()
