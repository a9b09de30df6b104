"""The server over streamable HTTP: on loopback, and only for whoever sends the token."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import uvicorn

if TYPE_CHECKING:
    from mcp.server import MCPServer

    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]
    App = Callable[[Any, Any, Any], Awaitable[None]]

LEAST_TOKEN = 16
"""Characters of a token that nobody guesses."""


class ForToken:
    """An ASGI application that answers 401 before anything else, unless ``Authorization: Bearer`` has the token.

    Other accounts of the machine, and pages of a browser on it, reach a port of the loopback interface too.
    """

    def __init__(self, app: App, token: str) -> None:
        self._app, self._expected = app, f"Bearer {token}".encode()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Pass on what carries the token, and the start and end of the server."""
        if scope["type"] == "lifespan" or self._knows(scope):
            await self._app(scope, receive, send)
            return
        head = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 401, "headers": head})
        await send({"type": "http.response.body", "body": b"Send the token of ctxweb mcp: Authorization: Bearer ...\n"})

    def _knows(self, scope: dict[str, Any]) -> bool:
        sent = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(sent) == 1 and hmac.compare_digest(sent[0], self._expected)


def serve(server: MCPServer, host: str, port: int, token: str) -> None:
    """Answer until Ctrl-C; the SDK checks Host and Origin of what has the token."""
    app = ForToken(server.streamable_http_app(host=host), token)
    uvicorn.run(app, host=host, port=port, log_level="warning")
