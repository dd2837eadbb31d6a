"""A language model of a test: an OpenAI-compatible server on loopback that says what the test tells it to.

Each answer is one of: a text (the final answer), a list of calls, a status, or a function of the request that
answers one of these. What it received stays readable, byte for byte.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tornado.web import Application, RequestHandler

from tests.support.servers.http import serve


@dataclass(frozen=True)
class Call:
    """A tool call as the model writes it; `arguments` that are a text are sent as they are."""

    name: str
    arguments: Any = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True)
class Status:
    """An answer that is none: its status, headers and body."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b'{"error": {"message": "not now"}}'


@dataclass(frozen=True)
class Broken:
    """The connection ends in the middle of an answer."""


Answer = str | Sequence[Call] | Status | Broken
Say = Answer | Callable[[Any], Answer]


@dataclass(kw_only=True)
class ModelServer:
    """`script` are the next answers; after them `otherwise`. Nothing is answered while `free` is cleared."""

    url: str
    script: list[Say] = field(default_factory=list)
    otherwise: Say = "That is all."
    requests: list[Any] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    free: asyncio.Event = field(default_factory=asyncio.Event)
    news: asyncio.Condition = field(default_factory=asyncio.Condition)
    tokens: int = 10

    def begin_anew(self) -> None:
        """As if nothing had been asked for and nothing was to be said."""
        for each in (self.script, self.requests, self.bodies, self.keys):
            each.clear()
        self.otherwise = "That is all."
        self.free.set()

    async def until(self, count: int) -> None:
        """Until that many requests have come."""
        async with asyncio.timeout(30), self.news:
            await self.news.wait_for(lambda: len(self.requests) >= count)

    @property
    def variables(self) -> dict[str, str]:
        """The settings of a service that uses this model."""
        return {
            "NETAUTOD_AGENT_BASE_URL": self.url,
            "NETAUTOD_AGENT_MODEL": "scripted",
            "NETAUTOD_AGENT_API_KEY": "canary-key-of-the-model",
            "NETAUTOD_OUTBOUND_ALLOW": "127.0.0.1",
        }

    def results(self, number: int = -1) -> dict[str, str]:
        """What tools returned, by the ids of their calls, as that request told it."""
        return {
            message["tool_call_id"]: message["content"]
            for message in self.requests[number]["messages"]
            if message["role"] == "tool"
        }

    async def take(self, handler: RequestHandler) -> None:
        body = handler.request.body
        async with self.news:
            self.bodies.append(body)
            self.requests.append(json.loads(body))
            self.keys.append(handler.request.headers.get("Authorization"))
            self.news.notify_all()
        await self.free.wait()
        said = self.script.pop(0) if self.script else self.otherwise
        answer = said(self.requests[-1]) if callable(said) else said
        if isinstance(answer, Broken):
            handler.set_header("Content-Length", "1000")
            handler.write(b'{"choices": [')
            await handler.flush()
            connection: Any = handler.request.connection
            connection.stream.close()
            return
        if isinstance(answer, Status):
            handler.set_status(answer.status)
            for name, value in answer.headers.items():
                handler.set_header(name, value)
            handler.write(answer.body)
            return
        handler.write(_completion(answer, len(self.requests), self.tokens))


def _completion(answer: str | Sequence[Call], number: int, tokens: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer if isinstance(answer, str) else None}
    if not isinstance(answer, str):
        message["tool_calls"] = [_call(call, f"call_{number}_{place}") for place, call in enumerate(answer)]
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "model": "scripted-1",
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "stop" if isinstance(answer, str) else "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": tokens, "completion_tokens": tokens, "total_tokens": 2 * tokens},
    }


def _call(call: Call, call_id: str) -> dict[str, Any]:
    written = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
    return {
        "id": call_id if call.id is None else call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": written},
    }


class _Handler(RequestHandler):
    def initialize(self, model: ModelServer) -> None:
        self.model = model

    async def post(self) -> None:
        await self.model.take(self)


@asynccontextmanager
async def model_server(*script: Say) -> AsyncIterator[ModelServer]:
    model = ModelServer(url="", script=list(script))
    model.free.set()
    server, url = serve(Application([(r"/v1/chat/completions", _Handler, {"model": model})]))
    model.url = f"{url}/v1"
    try:
        yield model
    finally:
        model.free.set()
        server.stop()
        await server.close_all_connections()
