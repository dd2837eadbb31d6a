"""The host that the service lends to a plugin, and the objects of plugins that live as long as the
service.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from netautod.core.clock import Clock, SystemClock
from netautod.plugin_api.storage import NoStorage, PluginStorage
from netautod.transport.outbound.client import GuardedClient

S = TypeVar("S")


class Publish(Protocol):
    """A publisher of events of the plugin, for listeners and webhooks of the organization."""

    async def __call__(self, name: str, data: Mapping[str, Any], *, org_id: str) -> None:
        """Publish an event; `name` as the plugin has registered it. Returns when the event is kept, not when
        it has arrived.

        Raises ValueError for an event that it has not registered, or data that the schema refuses.
        """
        ...


async def _no_service(name: str, data: Mapping[str, Any], *, org_id: str) -> None:
    """Refuse to publish where there is no service."""


@dataclass(frozen=True, kw_only=True)
class PluginHost(Generic[S]):
    """The same for every hook of a plugin, as long as the service runs.

    `settings` is the plugin's own section, of the class that it registered; None if it registered none. Of
    a secret it has the value, wherever the administrator keeps it. `http` is the only way to make requests.
    `instance_name` is what clients show as the name of this installation. `name` is the plugin's own, that
    of its entry point. `clock` tells the time that leases and schedules go by, and stands still in tests.
    `logger` writes lines as all of the service, with the ids of the request or run they belong to; values
    of secret settings never show in them. `storage` keeps records in the database, between starts and over
    all nodes. `publish` tells an event that the plugin has registered.
    """

    settings: S
    http: GuardedClient
    instance_name: str = "netautod"
    name: str = ""
    clock: Clock = field(default_factory=SystemClock, compare=False)
    logger: logging.Logger = field(default_factory=lambda: logging.getLogger("plugin"), compare=False)
    storage: PluginStorage = field(default_factory=NoStorage, compare=False)
    publish: Publish = field(default=_no_service, compare=False, repr=False)


class PluginService(Protocol):
    """An object with a lifetime: entered at the start of the service, left at its stop.

    Both are awaited on the event loop and have 30 seconds. Its methods with `@hookimpl` observe from the end
    of `__aenter__` on; they are called in a thread, the last time before `__aexit__`.
    """

    async def __aenter__(self) -> Any: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None: ...
