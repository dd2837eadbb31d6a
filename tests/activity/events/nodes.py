"""Nodes that stream events, each over HTTP, of one database; their callers are made up."""

from collections.abc import Collection, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from netautod.activity.events.publishing import EventPublisher
from netautod.activity.events.service import EventService
from netautod.activity.events.settings import EventSettings
from netautod.assembly.activity import build_events
from netautod.assembly.settings import Settings
from netautod.core.errors import Unauthenticated
from netautod.core.identity.caller import Caller, OrgId, RequestInfo
from netautod.store.client import Database
from tests.support.client import ApiClient
from tests.support.execution import World
from tests.support.installation import bare_base
from tests.support.listening import Listening, ReceivedEvent, listening
from tests.support.serving import Servers

OPERATE, DEVICES = "tasks.operate", "devices.access"


@dataclass(kw_only=True)
class Callers:
    """The callers of all tokens, on all nodes."""

    by_token: dict[str, Caller] = field(default_factory=dict)

    def add(self, org_id: OrgId, *permissions: str) -> str:
        token = uuid4().hex
        self.by_token[token] = Caller(
            user_id=str(uuid4()), org_id=org_id, username="ann", permissions=frozenset(permissions)
        )
        return token

    def change(self, token: str, *permissions: str) -> None:
        self.by_token[token] = replace(self.by_token[token], permissions=frozenset(permissions))

    async def authenticate(self, token: str, info: RequestInfo) -> Caller:
        if token not in self.by_token:
            raise Unauthenticated("Invalid or expired token")
        return self.by_token[token]

    async def callers(self, tokens: Collection[str]) -> Mapping[str, Caller]:
        return {token: self.by_token[token] for token in tokens if token in self.by_token}


@dataclass(frozen=True, kw_only=True)
class Node:
    streams: EventService
    publisher: EventPublisher
    api: ApiClient

    def listen(self, token: str, **options: Any) -> AbstractAsyncContextManager[Listening]:
        return listening(self.api.base_url, token, **options)


@dataclass(kw_only=True)
class Nodes:
    """The nodes of one organization: `first` and `second` follow by change streams, `looking` looks every
    second.
    """

    database: Database
    servers: Servers
    stack: AsyncExitStack
    callers: Callers = field(default_factory=Callers)
    org_id: OrgId = field(default_factory=lambda: OrgId(str(uuid4())))

    async def start(
        self, *, listeners: int = 100, change_streams: bool = True, database: Database | None = None
    ) -> Node:
        own = database or self.database
        settings = Settings(events=EventSettings(listeners=listeners, change_streams=change_streams))
        parts = build_events(bare_base(own, settings=settings), self.callers)
        await self.stack.enter_async_context(parts.streams)
        api = self.servers.listen([parts.streams], authenticate=self.callers.authenticate)
        return Node(streams=parts.streams, publisher=parts.publisher, api=api)

    @property
    def world(self) -> World:
        return World(database=self.database)

    def token(self, *permissions: str) -> str:
        return self.callers.add(self.org_id, *(permissions or ("*",)))

    async def publish(self, node: Node, *names: str, permission: str | None = None) -> None:
        for name in names:
            await node.publisher.publish(
                org_id=self.org_id, name=f"plugin.{name}", data={"name": name}, permission=permission
            )


def content_of(received: ReceivedEvent) -> tuple[str | None, str, Any]:
    return received.id, received.name, received.data
