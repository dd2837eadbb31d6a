"""What the service lends to a plugin; plugins import it from `netautod.plugin_api`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol

from netautod.outbound.client import GuardedClient


@dataclass(frozen=True, kw_only=True)
class PluginHost:
    """`section("ldap")` is that section of the settings, by setting name; `http` the only way to requests.

    `instance_name` is what clients show as the name of this installation.
    """

    section: Callable[[str], Mapping[str, Any]]
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
