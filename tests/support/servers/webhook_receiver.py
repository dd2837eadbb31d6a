"""A real HTTP server that receives deliveries, answers as the test says, and checks signatures by itself."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes, hmac
from tornado.web import Application, RequestHandler

from tests.support.servers.http import serve


@dataclass(frozen=True, kw_only=True)
class Delivery:
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def content(self) -> Any:
        return json.loads(self.body)

    def is_signed_with(self, secret: str) -> bool:
        """By the cryptography package, where the plugin uses the standard library."""
        scheme, _, digits = self.headers["X-Netautod-Signature"].partition("=")
        assert scheme == "sha256"
        code = hmac.HMAC(secret.encode(), hashes.SHA256())
        code.update(self.headers["X-Netautod-Timestamp"].encode() + b"." + self.body)
        return code.finalize().hex() == digits


@dataclass(kw_only=True)
class WebhookReceiver:
    """`answers` are the statuses and headers of the next answers; after them it is what `answer` says.

    Nothing is answered while `free` is cleared.
    """

    url: str
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    received: list[Delivery] = field(default_factory=list)
    news: asyncio.Condition = field(default_factory=asyncio.Condition)
    free: asyncio.Event = field(default_factory=asyncio.Event)
    answer: Callable[[Delivery], tuple[int, dict[str, str]]] = lambda delivery: (204, {})

    async def until(self, count: int, *, seconds: float = 30) -> list[Delivery]:
        """What was received, once it is that much."""
        await self.until_that(lambda: len(self.received) >= count, seconds=seconds)
        return self.received

    async def until_events(self, *events: str) -> list[Any]:
        """The contents, once each of the events was received as often as it is named."""

        def are_there() -> bool:
            seen = [delivery.headers["X-Netautod-Event"] for delivery in self.received]
            return all(seen.count(event) >= events.count(event) for event in events)

        await self.until_that(are_there)
        return [delivery.content for delivery in self.received]

    async def until_that(self, there: Callable[[], bool], *, seconds: float = 30) -> None:
        async with asyncio.timeout(seconds), self.news:
            await self.news.wait_for(there)

    async def take(self, handler: RequestHandler) -> None:
        request = handler.request
        async with self.news:
            delivery = Delivery(path=request.path, headers=request.headers, body=request.body)
            self.received.append(delivery)
            self.news.notify_all()
        await self.free.wait()
        status, headers = self.answers.pop(0) if self.answers else self.answer(delivery)
        handler.set_status(status)
        for name, value in headers.items():
            handler.set_header(name, value)


@asynccontextmanager
async def receiving(
    path: str = "/hook", *, certificate: tuple[Path, Path] | None = None
) -> AsyncIterator[WebhookReceiver]:
    """With a certificate and its key it speaks TLS."""
    tls = None
    if certificate is not None:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(*certificate)

    class Taking(RequestHandler):
        async def post(self) -> None:
            await receiver.take(self)

    server, url = serve(Application([(".*", Taking)]), tls=tls)
    receiver = WebhookReceiver(url=url + path)
    receiver.free.set()
    try:
        yield receiver
    finally:
        receiver.free.set()
        server.stop()
        await server.close_all_connections()
