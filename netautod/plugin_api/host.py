"""What the service lends to a plugin, and the objects of plugins that live as long as the service."""

from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from netautod.outbound.client import GuardedClient

S = TypeVar("S")


@dataclass(frozen=True, kw_only=True)
class PluginHost(Generic[S]):
    """`settings` is the plugin's own section, of the class that it registered; None if it registered none.

    `http` is the only way to make requests. `instance_name` is what clients show as the name of this
    installation.
    """

    settings: S
    http: GuardedClient
    instance_name: str = "netautod"


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
