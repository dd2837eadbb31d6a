"""What the replaying inventory servers share: the token, the log of requests, scripted answers, the lists."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

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

    `rows` are its devices, which may be changed at any time; `largest` is its MAX_PAGE_SIZE.
    `device_seconds`: how long each row of a list takes; 0.003 as recorded of NetBox.
    `scripted`: these answers come first, for lists only. `before_list` is called before a list of devices.
    `authorized` are the whole header values that are let in; `hidden` the lists that they may not see.
    """

    system: ClassVar[str]

    def __init__(
        self,
        rows: Iterable[Row],
        *,
        authorized: Iterable[str],
        version: str,
        largest: int = 1000,
        prefix: str = "",
    ) -> None:
        self.rows = list(rows)
        self.authorized = set(authorized)
        self.largest = largest
        self.device_seconds = 0.0
        self._version = version
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

    def page(self, found: list[Row], query: Query, write: Callable[[Row], Any]) -> Answer:
        """The part of a list that is asked for, in the order of `found`.

        The real ones make `next` from the Host header; here it points to another host.
        """
        limit = min(number(query, "limit", 50) or self.largest, self.largest)
        offset = number(query, "offset", 0)
        shown = [write(row) for row in found[offset : offset + limit]]
        following = f"{OTHER_HOST}/api/dcim/devices/?offset=1" if offset + limit < len(found) else None
        content = {"count": len(found), "next": following, "previous": None, "results": shown}
        return replace(json_answer(content), seconds=len(shown) * self.device_seconds)

    def status(self) -> Any:
        return {**recorded(self.system, "status"), f"{self.system}-version": self._version}

    @abstractmethod
    def refusal(self, authorization: str | None) -> Any: ...

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


def number(query: Query, name: str, default: int) -> int:
    """The last value if it is a number, as both systems read `limit` and `offset`."""
    text = query.get(name, [""])[-1]
    return int(text) if text.isdigit() else default


def no_choice(name: str, value: str) -> Answer:
    """As recorded for values that do not exist."""
    text = f"Select a valid choice. {value} is not one of the available choices."
    return json_answer({name: [text]}, status=400)
