"""What the service lends to a plugin, and the objects of plugins that live as long as the service."""

import logging
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from netautod.core.clock import Clock, SystemClock
from netautod.outbound.client import GuardedClient
from netautod.plugin_api.storage import NoStorage, PluginStorage

S = TypeVar("S")


@dataclass(frozen=True, kw_only=True)
class PluginHost(Generic[S]):
    """The same for every hook of a plugin, as long as the service runs.

    `settings` is the plugin's own section, of the class that it registered; None if it registered none. Of
    a secret it has the value, wherever the administrator keeps it. `http` is the only way to make requests.
    `instance_name` is what clients show as the name of this installation. `name` is the plugin's own, that
    of its entry point. `clock` tells the time that leases and schedules go by, and stands still in tests.
    `logger` writes lines as all of the service, with the ids of the request or run they belong to; values
    of secret settings never show in them. `storage` keeps records in the database, between starts and over
    all nodes.
    """

    settings: S
    http: GuardedClient
    instance_name: str = "netautod"
    name: str = ""
    clock: Clock = field(default_factory=SystemClock, compare=False)
    logger: logging.Logger = field(default_factory=lambda: logging.getLogger("plugin"), compare=False)
    storage: PluginStorage = field(default_factory=NoStorage, compare=False)


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
