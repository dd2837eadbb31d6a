"""What the replaying inventory servers share: the token, the log of requests, scripted answers, the lists."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tornado.web import Application, RequestHandler

from tests.support.servers.http import serve

DATA = Path(__file__).parents[2] / "data"
HTML = b"<!DOCTYPE html><html><body>Page not found</body></html>"
OTHER_HOST = "http://attacker.example"
Query = Mapping[str, Sequence[str]]
Row = dict[str, Any]


def recorded(system: str, name: str) -> Any:
    return json.loads((DATA / system / f"{name}.json").read_text())


@dataclass(frozen=True, kw_only=True)
class Answer:
    """`seconds`: how long the server takes for it."""

    status: int = 200
    seconds: float = 0.0
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request: the path behind `/api/`, its parameters, and its Authorization header."""

    path: str
    query: Query
    authorization: str | None


class ReplayServer(ABC):
    """Answers GET below `<prefix>/api/` on a random port of loopback, until `close`.

    `scripted`: these come first, for lists only. `before_list` is called before a list of devices is made.
    `authorized` are the whole header values that are let in; `hidden` the lists that they may not see.
    """

    def __init__(self, *, authorized: Iterable[str], prefix: str = "") -> None:
        self.authorized = set(authorized)
        self.asked: list[Asked] = []
        self.scripted: deque[Answer] = deque()
        self.hidden: set[str] = set()
        self.before_list: Callable[[], None] = lambda: None
        routes = [(rf"{prefix}/api/(.*?)/", _Handler, {"server": self})]
        self._server, url = serve(Application(routes, log_function=lambda handler: None))
        self.url = url + prefix

    def close(self) -> None:
        self._server.stop()

    def lists(self, path: str = "dcim/devices") -> list[Query]:
        """The parameters of each request for that list."""
        return [asked.query for asked in self.asked if asked.path == path]

    def respond(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        if asked.authorization not in self.authorized:
            return json_answer(self.refusal(asked.authorization), status=403)
        if asked.path == "status":
            return json_answer(self.status())
        if asked.path in self.hidden:
            return json_answer({"detail": "You do not have permission to perform this action."}, status=403)
        if asked.path.startswith("dcim/") and self.scripted:
            return self.scripted.popleft()
        return self.listed(asked.path, asked.query)

    @abstractmethod
    def refusal(self, authorization: str | None) -> Any: ...

    @abstractmethod
    def status(self) -> Any: ...

    @abstractmethod
    def listed(self, path: str, query: Query) -> Answer: ...


class _Handler(RequestHandler):
    def initialize(self, server: ReplayServer) -> None:
        self._server = server

    async def get(self, path: str) -> None:
        query = {name: self.get_arguments(name) for name in self.request.arguments}
        authorization = self.request.headers.get("Authorization")
        answer = self._server.respond(Asked(path=path, query=query, authorization=authorization))
        await asyncio.sleep(answer.seconds)
        self.set_status(answer.status)
        self.set_header("Content-Type", "application/json")
        for name, value in answer.headers.items():
            self.set_header(name, value)
        self.finish(answer.body or None)


def json_answer(value: Any, *, status: int = 200) -> Answer:
    return Answer(status=status, body=json.dumps(value).encode())


def list_answer(count: int, rows: Iterable[bytes], *, has_more: bool) -> Answer:
    """`next` is made from the Host header by the real ones; here it points to another host."""
    following = f"{OTHER_HOST}/api/dcim/devices/?offset=1" if has_more else None
    head = b'{"count": %d, "next": %s, "previous": null, "results": [' % (
        count,
        json.dumps(following).encode(),
    )
    return Answer(body=head + b", ".join(rows) + b"]}")


def number(query: Query, name: str, default: int) -> int:
    """The last value if it is a number, as both systems read `limit` and `offset`."""
    text = query.get(name, [""])[-1]
    return int(text) if text.isdigit() else default


def no_choice(name: str, value: str) -> Answer:
    """As recorded for values that do not exist."""
    text = f"Select a valid choice. {value} is not one of the available choices."
    return json_answer({name: [text]}, status=400)
