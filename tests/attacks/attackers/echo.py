"""A route that says how it was asked, and requests to it as bytes."""

from netautod.core.schema.bases import JsonObject, Request
from netautod.http.access import public
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route

HOST = b"Host: a\r\n"
JSON = b"Content-Type: application/json\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"


class EchoRequest(Request):
    said = JsonObject()


class EchoHandler(JsonHandler):
    @public()
    async def get(self) -> None:
        """Says how it was asked."""
        self.answer({"query": self.request.query, "host": self.request.host})

    @public(body=EchoRequest)
    async def post(self) -> None:
        """Says what it was told."""
        self.answer(self.body)


def get(target: bytes = b"/api/echo", headers: bytes = HOST, version: bytes = b"HTTP/1.1") -> bytes:
    return b"GET " + target + b" " + version + b"\r\n" + headers + b"\r\n"


def post(headers: bytes, body: bytes) -> bytes:
    return b"POST /api/echo HTTP/1.1\r\n" + HOST + JSON + headers + b"\r\n" + body


ECHO = Route(path="/api/echo", handler=EchoHandler)
